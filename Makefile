# Two commands do all the set-up: `make run` and `make test`. Everything lives in .venv.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
COVERED := $(addprefix tests/,core engine contract reading service managing alarms kinds/web kinds/crawl kinds/git)
RULES := $(shell find tests -name 'test_*rules.py' -not -path 'tests/core/*')

# Tests are spread over all cores; who has nothing left to do takes over from the others. Long tests go out one at
# a time, in their order: no worker keeps one that another could have begun.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal
ONE_BY_ONE := --dist load --maxschedchunk 1
# With AGAIN=1 only the tests that failed last, one after the other.
ifdef AGAIN
PYTEST := $(BIN)/python -m pytest --last-failed --last-failed-no-failures none
ONE_BY_ONE :=
endif

# All chance in `make torture` comes from this number: another one tries other moments and inputs.
ROWEN_TORTURE_SEED ?= 1
torture: export ROWEN_TORTURE_SEED := $(ROWEN_TORTURE_SEED)
torture: export ROWEN_TORTURE_FIGURES := .venv/torture.json

# Each worker reads every test, and tests start many processes: without compiled modules both take seconds more.
quick test browser guides torture coverage: export PYTHONDONTWRITEBYTECODE :=

# A store waits for the disk several times in each test. Where the machine keeps files in memory, has 2 GB for them and
# starts programs from there, the tests' own are there; those of `make torture` are large, and stay on the disk.
IN_MEMORY := $(shell grep ' /dev/shm ' /proc/mounts 2>/dev/null | grep -qv noexec && \
  df -Pm /dev/shm | awk 'NR == 2 && $$4 > 2000 { print $$6 }')
ifneq ($(IN_MEMORY),)
quick test coverage: export TMPDIR := $(IN_MEMORY)
endif

.PHONY: run cluster newcomer quick test browser guides screenshots torture check lint coverage fix golden reference docs bench bench-peers judge clean

run: $(STAMP)           ## the main job, embedded: harvest a bundled site twice, search it, show the diff
	@$(BIN)/rowen demo

cluster: $(STAMP)       ## the same on PostgreSQL with a server and two workers, all on this machine, for a minute
	@$(BIN)/python scripts/cluster.py

newcomer:               ## a fresh environment, install, add, sync, search, an assistant's answer: timed
	@$(PYTHON) scripts/newcomer.py

quick: $(STAMP)         ## the rules, the contract of the store on SQLite, one journey: under half a minute
	@$(PYTEST) -m "not torture" -k "not postgres" tests/core tests/contract tests/journeys/test_readers.py $(RULES)

test: $(STAMP)          ## the tests, without those of `make browser`, `make guides` and `make torture`
	@$(PYTEST) -m "not torture and not browser and not guides"

browser: $(STAMP)       ## what needs a real Chromium, which is installed where it can be
	@$(BIN)/python scripts/browser.py
	@$(PYTEST) -m browser

guides: $(STAMP)        ## the documentation followed step by step, as a reader would
	@$(PYTEST) $(ONE_BY_ONE) -m guides tests/test_docs.py

screenshots: $(STAMP)   ## the pictures in docs/images, taken by the tests of the page
	@ROWEN_SCREENSHOTS=docs/images $(BIN)/python -m pytest tests/doors/web/browser/test_pictures.py

torture: $(STAMP)       ## killed processes, restarted servers, full disks, full sizes; every property with many examples
	@$(PYTEST) $(ONE_BY_ONE) -m "torture or sliced or hypothesis" \
	  --hypothesis-profile thorough --hypothesis-seed $(ROWEN_TORTURE_SEED)

coverage: $(STAMP)      ## how much of core and engine their tests run, lines and branches; less than the bound fails
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest -n auto --dist worksteal -m "not torture" -k "not postgres" $(COVERED)
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report

check: lint docs guides test coverage torture ## what CI runs: format, lint, types, imports, documentation, tests, coverage, torture

lint: $(STAMP)          ## format, lint, types, imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m scripts.reference --check

fix: $(STAMP)           ## format and safe fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

golden: $(STAMP)        ## rewrite golden files; read the diff before you commit
	$(BIN)/python -m pytest tests/golden tests/doors/cli/test_terminal.py tests/doors/cli/test_word_diff.py --rewrite-golden

reference: $(STAMP)     ## write docs/reference/ and the map of ARCHITECTURE.md from the code
	$(BIN)/python -m scripts.reference
	$(BIN)/python scripts/tree.py --write

docs: $(STAMP)          ## the documentation as a site, in build/docs/site; a warning is an error
	@$(BIN)/python -m scripts.site

bench: $(STAMP)         ## the figures in docs/benchmarks.md
	$(BIN)/python benchmarks/refresh.py
	$(BIN)/python benchmarks/folder.py
	$(BIN)/python benchmarks/watch.py
	$(BIN)/python benchmarks/portal.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/store_size.py
	$(BIN)/python benchmarks/search.py --sections 200000 --questions 100
	$(BIN)/python benchmarks/api.py
	$(BIN)/python benchmarks/keys.py
	$(BIN)/python benchmarks/workers.py
	$(BIN)/python benchmarks/large_crawl.py

bench-peers: $(STAMP)   ## Rowen beside five other tools: docs/performance.md; installs them below build/peers
	$(BIN)/python -m benchmarks.peers.run
	$(BIN)/python benchmarks/exponents.py

judge: $(STAMP)         ## how well search answers questions with known answers, beside benchmarks/judged/baseline.json
	$(BIN)/python benchmarks/judge.py

clean:
	rm -rf .venv

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Rowen needs Python 3.11 or newer; this is $$($(PYTHON) --version). Try: make PYTHON=python3.12" >&2; exit 2; }
	@echo "Setting up .venv (once) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1' -c constraints.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[brotli,docs,parquet,postgres,quality,rdf,render,sheets]' --group dev -c constraints.txt
	@touch $(STAMP)
