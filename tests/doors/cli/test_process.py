"""The command line as a process: signals, pipes, start-up, stores that cannot be used."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import apsw
import pytest

from tests.doors.conftest import Rowen
from tests.support.site import Site, html

HEAVY = (
    "mcp",
    "rowen.doors.cli.drawing",
    "aiohttp",
    "numpy",
    "apsw",
    "turbohtml",
    "tokenizers",
    "asyncio",
    "orjson",
    "rowen.engine",
    "rowen.kinds",
)


class Gate(threading.Event):
    """Holds a page back, and says when somebody stands before it."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = threading.Event()

    def is_set(self) -> bool:
        self.reached.set()
        return super().is_set()


def started(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "rowen", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_sync_ends_cleanly_and_is_taken_up(
    rowen: Rowen, orchard: Site, number: signal.Signals, code: int
) -> None:
    gate = Gate()
    before = rowen("search", "plum", "--json").json
    orchard.set("/plum.html", html("Plum", "Another plum"), delay=gate)
    running = started("sync", "orchard")
    try:
        assert gate.reached.wait(120)
        # To the whole group, as a terminal does it: the parsers get it too.
        os.killpg(running.pid, number)
        out, err = running.communicate(timeout=120)
    finally:
        running.kill()
        gate.set()
    assert running.returncode == code, err
    assert "what was visible before is unchanged; the next sync continues with what was stored" in err
    assert "Traceback" not in err
    assert out == ""
    assert rowen("runs", "orchard", "--json").json["runs"][0]["status"] == "cancelled"
    assert rowen("search", "plum", "--json").json == before
    assert rowen("status", "--json").json["sources"][0]["running"] is False
    assert rowen("sync", "orchard", "--json").json["updated"] == 1


@pytest.mark.torture
def test_a_job_in_the_background_ignores_ctrl_c_and_ends_with_sigterm(rowen: Rowen, orchard: Site) -> None:
    gate = Gate()
    orchard.set("/plum.html", html("Plum", "Another plum"), delay=gate)
    # As a shell starts `rowen sync &` in a script.
    running = subprocess.Popen(
        ["sh", "-c", 'trap "" INT; exec "$0" -m rowen sync', sys.executable],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert gate.reached.wait(120)
        running.send_signal(signal.SIGINT)
        running.send_signal(signal.SIGTERM)
        _, err = running.communicate(timeout=120)
    finally:
        running.kill()
        gate.set()
    assert running.returncode == 143, err
    assert rowen("runs", "orchard", "--json").json["runs"][0]["status"] == "cancelled"


def test_an_interruption_in_json_mode_is_json(rowen: Rowen, orchard: Site) -> None:
    gate = Gate()
    orchard.set("/plum.html", html("Plum", "Another plum"), delay=gate)
    running = started("sync", "--json")
    try:
        assert gate.reached.wait(120)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=120)
    finally:
        running.kill()
        gate.set()
    assert running.returncode == 130
    assert out == ""
    assert json.loads(err)["reason"] == "interrupted"


def test_without_a_terminal_progress_is_plain_lines_on_standard_error(rowen: Rowen, orchard: Site) -> None:
    ended = rowen("sync", "orchard")
    assert ended.code == 0
    assert ended.err.splitlines() == [
        "orchard: started",
        "orchard: completed, 0 changed, 4 not modified, 0 failed",
    ]
    assert "\x1b" not in ended.out + ended.err


def test_in_json_mode_standard_output_holds_nothing_but_json(
    rowen: Rowen, process: Rowen, orchard: Site
) -> None:
    ended = rowen("sync", "--json")
    assert (ended.code, ended.err) == (0, "")
    assert ended.json["source"] == "orchard"
    ended = process("sync", "--json", "--progress", "json")
    assert ended.json["source"] == "orchard"
    events = [json.loads(line) for line in ended.err.splitlines()]
    assert [event["event"] for event in events] == ["started", *["item"] * 4, "finished"]
    assert {event["outcome"] for event in events[1:-1]} == {"unchanged"}
    assert events[-1]["counters"]["not_modified"] == 4


@pytest.mark.torture
def test_a_reader_that_goes_away_is_no_error(rowen: Rowen, orchard: Site) -> None:
    for arguments in (
        ("search", "plum", "--mode", "keyword"),
        ("status", "--json"),
        ("sync", "--json"),
        ("--help",),
    ):
        read_end, write_end = os.pipe()
        os.close(read_end)
        done = subprocess.run(
            [sys.executable, "-m", "rowen", *arguments], stdout=write_end, stderr=subprocess.PIPE, text=True
        )
        os.close(write_end)
        assert "Traceback" not in done.stderr, arguments
        assert "BrokenPipe" not in done.stderr, arguments
        assert done.returncode in (0, 1), arguments
    assert len(rowen("runs", "orchard", "--json").json["runs"]) == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a disk that is always full")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_are_no_bug(rowen: Rowen, orchard: Site, db: str, closed: str) -> None:
    for call in ("--version", "status", "sync orchard", "search apples", "search --nonsense"):
        ended = subprocess.run(
            ["sh", "-c", f"{sys.executable} -m rowen --db {db} {call} {closed}"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (ended.returncode, "Traceback" in ended.stderr) == (2 if "nonsense" in call else 0, False)


def test_a_result_that_cannot_be_written_is_told_and_no_bug(rowen: Rowen, orchard: Site) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rowen", "status"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert "error: the output cannot be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_terminal_without_unicode_is_served_all_the_same(process: Rowen, orchard: Site) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ended = process("search", "plum cool", "--mode", "keyword", env=environment)
    assert ended.code == 0
    assert "\\u203a" in ended.out
    ended = process("search", "plum cool", "--mode", "keyword", "--json", env=environment)
    assert ended.json["hits"][0]["heading_path"] == "Plum › Storing"


def test_a_file_that_is_no_database_is_left_alone(rowen: Rowen, tmp_path: Path) -> None:
    wrong = tmp_path / "letter.txt"
    wrong.write_text("Dear Sir, " * 500)
    ended = rowen("status", "--db", f"sqlite:///{wrong}")
    assert ended.code == 2
    assert ended.err.startswith("error: ")
    assert "letter.txt" in ended.err
    assert "Traceback" not in ended.err
    assert wrong.read_text() == "Dear Sir, " * 500


def test_a_locked_database_is_told_as_such(
    rowen: Rowen, orchard: Site, db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROWEN_STORE_BUSY_TIMEOUT_S", "0.1")
    # The same library as the store's: another one in this process would not see its locks.
    other = apsw.Connection(db.removeprefix("sqlite:///"))
    other.execute("BEGIN IMMEDIATE")
    try:
        ended = rowen("sync", "orchard")
        assert ended.code == 1
        assert "error: " in ended.err
        assert "Traceback" not in ended.err
        # Readers never wait for writers.
        assert rowen("search", "plum", "--json").json["hits"]
    finally:
        other.close()
    assert rowen("sync", "orchard").code == 0


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["sync", "--help"], ["nonsense"]])
def test_nothing_heavy_is_imported_before_it_is_needed(arguments: list[str]) -> None:
    program = (
        "import sys; from rowen.doors.cli import main; main(sys.argv[1:]); "
        "print('IMPORTED', *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    imported = set(done.stderr.splitlines()[-1].split()[1:])
    # What the version is, the package itself knows.
    assert ("click" in imported) == ("rowen.doors.cli.app" in imported) == (arguments != ["--version"])
    assert not imported & set(HEAVY)


def imported_by(*arguments: str) -> set[str]:
    """The modules that a call in a pipe has loaded when it ends."""
    program = (
        "import sys; from rowen.doors.cli import main; code = main(sys.argv[1:]); "
        "print('IMPORTED', code, *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    _, code, *modules = done.stderr.splitlines()[-1].split()
    assert code == "0", done.stderr
    return set(modules)


NOT_FOR_READERS = {
    *("asyncio", "ssl", "socket", "selectors", "concurrent.futures", "subprocess", "logging", "tomllib"),
    *("rich", "aiohttp", "turbohtml", "tokenizers", "zipfile"),
    # What click and the module `inspect` import.
    *("click", "gettext", "locale", "ast", "dis", "tokenize"),
    *("rowen.registers", "rowen.engine.run", "rowen.kinds", "rowen.sinks", "rowen.service", "rowen.fetching"),
    *("rowen.adapters.convert", "rowen.adapters.files", "rowen.adapters.git", "rowen.adapters.http"),
    "rowen.adapters.split",
    *(f"rowen.adapters.store.shared.topics.{topic}" for topic in ("handoffs", "offers", "shards")),
}
"""Modules without which a store can be read."""


@pytest.mark.parametrize(
    "command",
    [["status"], ["status", "--json"], ["list"], ["list", "orchard"], ["show", "/plum.html"]],
    ids=" ".join,
)
def test_a_command_that_reads_loads_nothing_that_waits_fetches_or_ranks(
    rowen: Rowen, orchard: Site, command: list[str]
) -> None:
    ranking = {"numpy", "tantivy", "simsimd", "rowen.adapters.store.shared.search.finder"}
    # A document is drawn for people, so `show` is the one of these that needs rich.
    drawing = {"rich"} if command[0] == "show" else set()
    said = [orchard.url + word if word.startswith("/") else word for word in command]
    assert imported_by(*said) & (NOT_FOR_READERS | ranking) - drawing == set()


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_a_search_of_a_small_store_needs_no_numpy_and_answers_as_with_it(
    process: Rowen, orchard: Site, mode: str
) -> None:
    search = ["search", "storing plums cool", "--mode", mode, "--json"]
    process(*search)  # The first search makes the index of words.
    model = {"rowen.registers"} if mode == "hybrid" else set()
    unneeded = NOT_FOR_READERS | {"numpy", "hashlib"}
    assert imported_by(*search) & unneeded - model == set()
    program = "import sys, numpy; from rowen.doors.cli import main; main(sys.argv[1:])"
    with_it = subprocess.run([sys.executable, "-c", program, *search], capture_output=True, check=True)
    answers = [json.loads(with_it.stdout), process(*search).json]
    for hit in (hit for answer in answers for hit in answer["hits"]):
        hit.pop("p_fresh", None)  # by the clock
    assert answers[0] == answers[1]
    assert len(answers[0]["hits"]) == (3 if mode == "keyword" else 4)


def test_a_sync_without_changes_loads_no_model_no_parser_and_no_click(rowen: Rowen, orchard: Site) -> None:
    rowen("sync", "orchard")
    unneeded = {"click", "gettext", "numpy", "tantivy", "tokenizers", "turbohtml", "lxml", "selectolax"}
    assert imported_by("sync", "orchard") & unneeded == set()


COUNTING = """
import re, sys
from re import _compiler
compiled, compile_one = 0, _compiler.compile
def counted(pattern, flags=0):
    global compiled
    frame = sys._getframe(1)
    while frame.f_globals["__name__"] == "re":
        frame = frame.f_back
    compiled += frame.f_globals["__name__"].startswith("rowen")
    return compile_one(pattern, flags)
_compiler.compile = counted
from rowen.doors.cli import main
code = main(sys.argv[1:])
ours = sum(name.partition(".")[0] == "rowen" for name in sys.modules)
print("COUNTED", code, ours, compiled, file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("command", "modules", "patterns"),
    [(["status"], 110, 6), (["search", "plum", "--mode", "keyword"], 152, 16), (["search", "plum"], 160, 17)],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_a_command_that_reads_loads_few_modules_and_compiles_few_patterns(
    process: Rowen, orchard: Site, command: list[str], modules: int, patterns: int
) -> None:
    process(*command)  # The first search makes the index of words.
    done = subprocess.run(
        [sys.executable, "-c", COUNTING, *command], capture_output=True, text=True, check=True
    )
    code, loaded, compiled = map(int, done.stderr.splitlines()[-1].split()[1:])
    assert code == 0
    assert loaded <= modules
    assert 0 < compiled <= patterns


def test_a_search_in_a_pipe_draws_nothing_and_speaks_no_protocol(
    rowen: Rowen, orchard: Site, db: str
) -> None:
    program = (
        "import sys; from rowen.doors.cli import main; main(sys.argv[1:]); "
        "print('IMPORTED', *sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", program, "search", "plum", "--db", db]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    imported = set(done.stderr.splitlines()[-1].split()[1:])
    assert not imported & {"rowen.doors.cli.drawing", "mcp", "mcp_types", "pydantic", "fastapi", "jinja2"}
    assert "1. " in done.stdout


def test_no_color_means_none(rowen: Rowen, orchard: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;33m" in rowen("search", "plum").out
    assert "\x1b[1;33m" not in rowen("search", "plum", "--no-color").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;33m" not in rowen("search", "plum").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("apply", "missing.toml"), "registry `missing.toml`: cannot be read"),
        (("export", "--format", "parquet"), "not for standard output"),
        (("token", "create", "a b", "--scope", "read"), "name `a b`: expected up to 64 letters"),
    ],
)
def test_a_wrong_call_creates_no_store(
    rowen: Rowen, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    store = tmp_path / "none" / "rowen.db"
    ended = rowen("--db", f"sqlite:///{store}", *arguments)
    assert ended.code == 2
    assert said in ended.err
    assert not store.exists()
