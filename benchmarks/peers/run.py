"""Rowen beside CocoIndex, Scrapy, Crawlee, LangChain and LlamaIndex: the same pages, the same server, one go.

    make bench-peers                                    all of it, and then `benchmarks/exponents.py`
    python -m benchmarks.peers.run --pages 20 --repeat 1 --out DIR     a small one

Each contender runs in an environment of its own (`pins.toml`), in a new process each time, with what it kept
from its last run. All of them do one case before the next case begins, in another order each round. The
medians of the rounds go to `docs/performance.json`, and the page is written from there (`report.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.peers import environments, processes, report
from benchmarks.peers.pages import Pages, found

from rowen import __version__

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CASES = ("first", "unchanged", "edited", "redeployed")
FLOOR, ROWEN = "bare_loop", "rowen"
SCRIPTS = {
    "cocoindex": "cocoindex_folder",
    "scrapy": "scrapy_site",
    "crawlee": "crawlee_site",
    "langchain": "langchain_site",
    "llamaindex": "llamaindex_site",
    FLOOR: "bare_loop",
}


QUIET = {
    "COCOINDEX_DISABLE_USAGE_TRACKING": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "LANGSMITH_TRACING": "false",
    "SCARF_NO_ANALYTICS": "true",
}
"""No contender reports to its makers: everything here speaks to loopback alone."""


class Server:
    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "server.py"), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.address = f"http://127.0.0.1:{self._process.stdout.readline().strip()}/"

    def counted(self) -> dict[str, int]:
        """What was asked since the last call."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        counts: dict[str, int] = json.loads(self._process.stdout.readline())
        return counts

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)


@contextmanager
def served(folder: Path) -> Iterator[Server]:
    server = Server(folder)
    try:
        yield server
    finally:
        server.close()


def installed(folder: Path, wanted: list[str]) -> tuple[dict[str, environments.Environment], dict[str, str]]:
    """Environments of those that can be had here, and why the others cannot."""
    ready, missing = {}, {}
    for name, packages in environments.pins().items():
        if name not in wanted:
            continue
        environment = environments.made(folder, name, packages)
        if isinstance(environment, str):
            missing[name] = environment
            print(f"{name}: not run: {environment}")
        else:
            ready[name] = environment
            print(
                f"{name}: " + ", ".join(f"{one} {version}" for one, version in environment.versions.items())
            )
    return ready, missing


class Contender:
    """One of them in one round: its command, and what it keeps."""

    def __init__(self, name: str, python: str, state: Path) -> None:
        self.name, self._python, self._state = name, python, state
        state.mkdir(parents=True)

    def command(self, case: str, address: str, folder: Path) -> list[str]:
        if self.name == ROWEN:
            words = ["add", address, "--name", "site", "--sync"] if case == "first" else ["sync", "site"]
            return [self._python, "-m", "rowen", *words, "--json"]
        script = str(HERE / "contenders" / f"{SCRIPTS[self.name]}.py")
        kept = ["--state", str(self._state), "--model", str(model())]
        return [self._python, script, "--address", address, "--folder", str(folder), *kept]

    def run(self, case: str, server: Server, folder: Path) -> dict[str, float]:
        environment = {
            **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},  # noqa: TID251
            **QUIET,
            "ROWEN_DB": f"sqlite:///{self._state}/rowen.db",
        }
        server.counted()
        try:
            spent = processes.run(
                self.command(case, server.address, folder), environment=environment, folder=self._state
            )
        except subprocess.CalledProcessError as error:
            raise SystemExit(f"{self.name}, {case}: {error}\n{error.output}") from None
        asked = server.counted()
        said = counts(self.name, spent.said)
        return {
            "cpu_s": spent.cpu_s,
            "wall_s": spent.wall_s,
            "peak_mb": spent.peak_mb,
            "requests": asked.get("requests", 0),
            "not_modified": asked.get("304", 0),
            "bodies": asked.get("200", 0),
            **said,
        }


def counts(name: str, said: str) -> dict[str, float]:
    """What a contender says it did, from the last line it printed."""
    last: dict[str, Any] = json.loads(said.strip().splitlines()[-1])
    if name == ROWEN:
        if last["status"] != "completed":
            raise SystemExit(f"rowen: the run did not complete: {said}")
        return {"embeddings": last["embeddings_computed"]}
    return {"embeddings": last.get("embeddings", 0)}


def model() -> Path:
    """The folder of the weights that Rowen embeds with."""
    found = find_spec("wordllama")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


def measured(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The medians after each round: a run that is stopped early has those of the rounds it finished."""
    wanted = options.only or [*environments.pins(), ROWEN, FLOOR]
    ready, missing = installed(options.environments, wanted)
    pythons = {ROWEN: sys.executable, FLOOR: sys.executable, **{n: e.python for n, e in ready.items()}}
    pythons = {name: python for name, python in pythons.items() if name in wanted}
    source, described = (options.folder, str(options.folder)) if options.folder else found(options.cache)
    if options.pages is not None:
        described += ", as far as the first links lead"
    rounds: dict[str, dict[str, list[dict[str, float]]]] = {n: {c: [] for c in CASES} for n in pythons}
    loads = [os.getloadavg()[0]]
    with tempfile.TemporaryDirectory() as base:
        pages = Pages(source, Path(base, "pages").resolve(), options.pages)
        print(f"{described}: {len(pages.names)} pages, {pages.bytes / 1e6:.1f} MB", flush=True)
        with served(pages.folder) as server:
            for number in range(options.repeat):
                order = list(pythons)[number:] + list(pythons)[:number]
                contenders = [Contender(name, pythons[name], Path(base, str(number), name)) for name in order]
                for day, case in enumerate(CASES):
                    changed(pages, case, day)
                    loads.append(os.getloadavg()[0])
                    for one in contenders:
                        figures = one.run(case, server, pages.folder)
                        rounds[one.name][case].append(figures)
                        shown = "  ".join(f"{key} {value:.5g}" for key, value in figures.items())
                        print(f"round {number + 1}  {case:<11}{one.name:<11}{shown}", flush=True)
                yield {
                    "pages": {"what": described, "number": len(pages.names), "bytes": pages.bytes},
                    "machine": {
                        "python": platform.python_version(),
                        "cores": os.cpu_count(),
                        "load": [round(loads[0], 1), round(max(loads), 1)],
                    },
                    "repeat": number + 1,
                    "remark": options.remark,
                    "versions": {ROWEN: {"rowen": __version__}, **{n: e.versions for n, e in ready.items()}},
                    "missing": missing,
                    "figures": {
                        name: {case: middle(runs) for case, runs in cases.items()}
                        for name, cases in rounds.items()
                    },
                }


def changed(pages: Pages, case: str, day: int) -> None:
    if case == "first":
        pages.first()
    elif case == "edited":
        pages.edit(day)
    elif case == "redeployed":
        pages.redeploy(day)


def middle(runs: list[dict[str, float]]) -> dict[str, float]:
    return {key: round(median(run[key] for run in runs), 3) for key in runs[0]}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, help="at most so many")
    parser.add_argument("--repeat", type=int, default=3, help="rounds, of which the medians are taken")
    parser.add_argument("--folder", type=Path, help="HTML pages to take instead of the manual")
    parser.add_argument("--only", action="append", help="a contender; repeatable")
    parser.add_argument("--remark", default="", help="a sentence for the page about this machine")
    parser.add_argument("--out", type=Path, default=ROOT / "docs", help="where the page is written")
    parser.add_argument("--environments", type=Path, default=ROOT / "build" / "peers")
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/rowen-judge").expanduser())
    options = parser.parse_args()
    kept = options.out / "performance.json"
    options.out.mkdir(parents=True, exist_ok=True)
    for figures in measured(options):
        # Exponents of another day do not stand beside these figures: `exponents.py` adds its own.
        kept.write_text(json.dumps({"peers": figures}, indent=1) + "\n")
        report.write(options.out)


if __name__ == "__main__":
    main()
