"""What the documents say works: their commands run, their examples are read by the code they are for."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowen import registers
from rowen.doors.cli import main
from rowen.managing.add_many import rules as add_many
from rowen.sinks.builtin import BUILTIN
from tests.support.doc_blocks import (
    ROOT,
    Block,
    Guide,
    blocks,
    documents,
    guides,
    inline_commands,
    problem_of,
)
from tests.support.doc_world import stand_ins
from tests.support.in_process import stay_in_this_process

LANGUAGES = {"console", "python", "toml", "json", "sql", "http", "text", "yaml"}
FILE = re.compile(r"`((?:[\w.-]+/)+(?:[\w.-]+\.(?:py|sql|md|toml|yaml))?)`")
SHELL = re.compile(r"[|<>$;&]")
"""What a shell alone understands; commands without it are called in this process."""
BLOCKS = blocks()
RUN = [block for block in BLOCKS if block.outside is None]
GUIDES = guides()


def of(language: str) -> list[Block]:
    return [block for block in RUN if block.language == language]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to work in, with the variables that the documents refer to and no settings of the user."""
    for name in [name for name in os.environ if name.startswith("ROWEN_")]:
        monkeypatch.delenv(name)
    for name in ("DOCS_TOKEN", "KEY", "USER", "PASS", "DOCS_HOOK", "INDEX_SECRET", "SMTP_PASSWORD"):
        monkeypatch.setenv(name, f"value-of-{name.lower()}")
    monkeypatch.setenv("CHAT_HOOK", "https://chat.example.org/hook")
    monkeypatch.setenv("ROWEN_DB", f"sqlite:///{tmp_path / 'rowen.db'}")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("ROWEN_FETCH_RETRY_BASE_S", "0")
    monkeypatch.setenv("ROWEN_CONVERT_WORKERS", "1")
    monkeypatch.setenv("PATH", os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))
    monkeypatch.chdir(tmp_path)
    yield tmp_path


@pytest.fixture
def here(place: Path) -> Iterator[dict[str, str]]:
    """The addresses in the documents, and what answers for them here."""
    with stand_ins(place) as answers:
        yield answers


def test_every_block_says_what_it_is() -> None:
    assert [block.name for block in BLOCKS if block.language not in LANGUAGES] == []


@pytest.mark.parametrize(
    "block", [block for block in of("console") if not block.of_guide], ids=lambda block: block.name
)
def test_the_commands_of_a_block_work(
    block: Block, here: dict[str, str], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "\n".join(block.commands).replace(".venv/bin/rowen", "rowen")
    for address, answer in here.items():
        script = script.replace(address, answer)
    calls = [shlex.split(line, comments=True) for line in script.splitlines()]
    if SHELL.search(script) or {program for program, *_ in calls} != {"rowen"}:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, timeout=280, cwd=place
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
        return
    stay_in_this_process(monkeypatch)
    for _, *arguments in calls:
        assert main(arguments) == 0, arguments


@pytest.mark.guides
@pytest.mark.timeout(900)
@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.file)
def test_a_guide_can_be_followed_and_prints_what_it_says(
    guide: Guide, here: dict[str, str], place: Path
) -> None:
    script = guide.script
    for address, answer in here.items():
        script = script.replace(address, answer)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=840,
        cwd=place,
        check=False,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}"
    assert guide.missing(done.stdout) == []


@pytest.mark.parametrize("block", of("python"), ids=lambda block: block.name)
def test_python_in_the_documents_runs(block: Block, here: dict[str, str]) -> None:
    program = block.text
    for address, answer in here.items():
        program = program.replace(address, answer)
    exec(compile(program, block.name, "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize(
    "block", [block for block in of("toml") if not block.put_into], ids=lambda block: block.name
)
def test_a_list_in_the_documents_is_taken(block: Block, place: Path) -> None:
    tables = tomllib.loads(block.text)
    if "portals" in tables:
        assert add_many.parse(block.text, file=block.name)
    elif {"sources", "sinks", "alarms"} & set(tables):
        (place / "rowen.toml").write_text(block.text)
        assert main(["apply", "--dry-run"]) == 0


@pytest.mark.parametrize("block", of("json"), ids=lambda block: block.name)
def test_json_in_the_documents_is_json(block: Block) -> None:
    assert json.loads(block.text)


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.outside], ids=lambda block: block.name)
def test_a_block_that_is_not_run_calls_commands_that_exist(block: Block) -> None:
    for line in block.commands:
        for command in line.split("&&"):
            if command.split()[0].endswith("rowen"):
                assert problem_of(command.strip()) is None, command


@pytest.mark.parametrize(("file", "command"), sorted(set(inline_commands())))
def test_a_command_in_the_text_exists_with_its_options(file: str, command: str) -> None:
    assert problem_of(command) is None


def test_there_is_a_how_to_for_every_kind_of_source_and_sink() -> None:
    """Families of portals are in the table of docs/portals.md, which a test of its own holds to the code."""
    guides = [*ROOT.glob("docs/how-to/*.md"), ROOT / "docs" / "portals.md", ROOT / "docs" / "rest.md"]
    texts = "\n".join(path.read_text("utf-8") for path in guides)
    names = [*(one.name for one in registers.kinds().ours()), *BUILTIN]
    assert [name for name in names if f"`{name}`" not in texts and f'kind = "{name}"' not in texts] == []


def test_links_between_documents_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]
    links = [
        (page, link) for page in pages for link in re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8"))
    ]
    missing = [
        f"{page.relative_to(ROOT)}: {link}"
        for page, link in links
        if "://" not in link and not (page.parent / link).exists()
    ]
    assert missing == []


def test_the_name_of_a_sheets_sink_stands_once_in_its_error(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "rowen.toml").write_text(
        '[[sinks]]\nname = "people"\nkind = "sheets"\nspreadsheet = "x"\ncredentials = "${KEY}"\n'
    )
    assert main(["apply", "--dry-run"]) == 2
    assert capsys.readouterr().err.count("sink `people`") == 1


def test_files_that_the_documents_name_exist() -> None:
    """Paths in backticks: from the root, or from `src/rowen` as ARCHITECTURE.md writes them."""
    named = {
        (page.relative_to(ROOT).as_posix(), name)
        for page in documents()
        for name in re.findall(
            r"`((?:[\w.-]+/)+(?:[\w.-]+\.(?:py|sql|md|toml|yaml))?)`", page.read_text("utf-8")
        )
    }
    source = ROOT / "src" / "rowen"
    rooms = {path.name for path in [*ROOT.iterdir(), *source.iterdir()]}
    missing = [
        f"{page}: {name}"
        for page, name in sorted(named)
        if name.partition("/")[0] in rooms and not ((ROOT / name).exists() or (source / name).exists())
    ]
    assert missing == []


def test_each_promise_in_the_table_of_trust_names_tests_that_exist() -> None:
    page = (ROOT / "docs" / "trust.md").read_text("utf-8")
    table = page.partition("## Promises and their tests")[2].partition("\n## ")[0]
    rows = [row for row in table.splitlines() if row.startswith("| ") and not row.endswith("| |")]
    assert len(rows) > 50
    assert [row for row in rows[1:] if "::" not in row] == []
    named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", table)
    files = {file: ROOT / "tests" / file for file, _ in named}
    texts = {file: path.read_text("utf-8") for file, path in files.items() if path.exists()}
    assert [f"{file}::{name}" for file, name in named if f"def {name}(" not in texts.get(file, "")] == []
