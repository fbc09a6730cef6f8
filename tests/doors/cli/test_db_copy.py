"""`rowen db copy`: what is said on the way, how it ends, and what others say of a store half there."""

from __future__ import annotations

import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowen.doors.cli.commands.db_copy import STAGES, StageBar, StageLines
from rowen.doors.cli.drawing.console import Console
from rowen.managing.copy_store import CopyEvent
from tests.doors.conftest import Ended, Rowen
from tests.support.postgres import Server
from tests.support.site import Site

SECRET = "hunter2"


@pytest.fixture
def target(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'copy.db'}"


@pytest.fixture
def on_server(postgres: Server) -> Iterator[str]:
    with postgres.schema() as schema:
        url = postgres.url_of("postgres", password=SECRET)
        yield f"{url}&schema={schema}&password={SECRET}"


def found(ended: Ended) -> set[str]:
    return {hit["url"] for hit in ended.json["hits"]}


def test_a_store_goes_to_a_server_and_back(
    rowen: Rowen, orchard: Site, db: str, target: str, on_server: str
) -> None:
    there = rowen("db", "copy", db, on_server)
    assert there.code == 0, there.err
    assert there.out.startswith("copied ")
    assert "counts and digests agree" in there.out
    assert SECRET not in there.out + there.err
    back = rowen("db", "copy", on_server, target, "--json")
    assert back.code == 0, back.err
    assert SECRET not in back.out + back.err
    assert (back.json["resumed"], back.json["already"]) == (False, False)
    assert back.json["tables"]["documents"]["rows"] == 4
    for store in (on_server, target):
        assert found(rowen("search", "plum", "--db", store, "--json")) == found(
            rowen("search", "plum", "--json")
        )
        assert rowen("sync", "orchard", "--db", store, "--json").json["not_modified"] == 4
        assert rowen("status", "--db", store).code == 0


def test_a_complete_copy_is_told_as_such(rowen: Rowen, orchard: Site, db: str, target: str) -> None:
    first = rowen("db", "copy", db, target, "--json").json
    again = rowen("db", "copy", db, target, "--json").json
    assert (again["already"], again["tables"]) == (True, first["tables"])
    said = rowen("db", "copy", db, target)
    assert said.code == 0
    assert "is a complete copy of" in said.out
    assert "nothing was done" in said.out


def test_progress_is_told_in_lines_or_as_json(rowen: Rowen, orchard: Site, db: str, tmp_path: Path) -> None:
    def to(name: str) -> str:
        return f"sqlite:///{tmp_path / name}"

    lines = rowen("db", "copy", db, to("a.db")).err.splitlines()
    assert lines[:3] == [STAGES["copying"], STAGES["preparing"], STAGES["checking"]]
    ended = rowen("db", "copy", db, to("b.db"), "--json")
    events = [json.loads(line) for line in ended.err.splitlines()]
    assert {event["event"] for event in events} == {"copying", "preparing", "checking"}
    assert events[0] == {"event": "copying", "table": "sources", "rows": 1, "total": events[0]["total"]}
    assert events[-1]["rows"] == events[-1]["total"]
    assert rowen("db", "copy", db, to("c.db"), "--json", "--progress", "none").err == ""


def test_lines_are_few() -> None:
    said: list[str] = []
    moments = iter([0.0, 1.0, 2.0, 6.5, 7.0])
    show = StageLines(write=said.append, monotonic=lambda: next(moments))
    for rows in (1000, 2000, 3000, 4000):
        show(CopyEvent(kind="copying", part="refs", rows=rows, total=9000))
    show(CopyEvent(kind="checking", part="refs", rows=10, total=9000))
    assert said == ["copying", "copying: 4,000 of 9,000 rows, now `refs`", "checking"]


def test_a_bar_shows_where_it_is() -> None:
    screen = io.StringIO()
    with StageBar(Console(screen, terminal=True, colours=False, width=100)) as bar:
        bar(CopyEvent(kind="copying", part="contents", rows=40, total=80))
        assert bar._live is not None
        bar._live.refresh()
        bar(CopyEvent(kind="preparing"))
        bar._live.refresh()
    drawn = screen.getvalue()
    assert "copying contents" in drawn
    assert "40/80" in drawn
    assert STAGES["preparing"] in drawn


def test_a_store_that_is_not_there_is_not_made(rowen: Rowen, target: str, tmp_path: Path) -> None:
    (tmp_path / "rowen.db").unlink()
    ended = rowen("db", "copy", f"sqlite:///{tmp_path / 'nowhere.db'}", target)
    assert (ended.code, ended.out) == (2, "")
    assert "nowhere.db`: there is no such file" in ended.err
    assert list(tmp_path.iterdir()) == []


def test_addresses_are_checked(rowen: Rowen, orchard: Site, db: str) -> None:
    assert "did you mean `sqlite:///copy.db`?" in rowen("db", "copy", db, "copy.db").err
    wrong = rowen("db", "copy", db, f"mysql://me:{SECRET}@host/x")
    assert wrong.code == 2
    assert SECRET not in wrong.err
    same = rowen("db", "copy", db, db)
    assert same.code == 2
    assert "the same as" in same.err
    nobody = rowen("db", "copy", db, f"postgresql://me:{SECRET}@127.0.0.1:1/x")
    assert nobody.code == 1
    assert SECRET not in nobody.err


def test_a_store_that_has_something_is_refused(rowen: Rowen, orchard: Site, db: str, target: str) -> None:
    assert rowen("add", orchard.url + "/", "--name", "other", "--db", target).code == 0
    ended = rowen("db", "copy", db, target, "--json")
    assert ended.code == 2
    told = json.loads(ended.err)
    assert (told["reason"], "not empty" in told["error"]) == ("conflict", True)
    assert told["hint"]


def grown(file: Path, items: int) -> None:
    """A long history, so that copying it takes a while."""
    connection = sqlite3.connect(file)
    with connection:
        connection.executemany(
            "INSERT INTO run_items (run_id, reference, outcome, reason) VALUES (1, ?, 'failed', 'timeout')",
            ((f"https://x.example/{number}",) for number in range(items)),
        )
    connection.close()


def begun(db: str, target: str) -> subprocess.Popen[str]:
    """A process that is in the middle of its work."""
    running = subprocess.Popen(
        [sys.executable, "-m", "rowen", "db", "copy", db, target, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    assert running.stderr is not None
    for line in running.stderr:
        if json.loads(line).get("table") == "run_items":
            return running
    raise AssertionError(f"it ended: {running.communicate()}")


@pytest.mark.torture
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_killed_in_the_middle_it_is_no_store_until_it_was_run_to_its_end(
    rowen: Rowen, orchard: Site, db: str, target: str, kind: str, request: pytest.FixtureRequest
) -> None:
    to = target if kind == "sqlite" else request.getfixturevalue("on_server")
    grown(Path(db.removeprefix("sqlite:///")), 40_000)
    running = begun(db, to)
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=120)
    assert running.returncode == -signal.SIGKILL
    for arguments in (("status",), ("search", "plum"), ("sync",), ("add", orchard.url, "--name", "x")):
        ended = rowen(*arguments, "--db", to)
        assert ended.code == 2, arguments
        assert "into it is not complete" in ended.err
        assert "run the same `rowen db copy` again" in ended.err
        assert SECRET not in ended.err
    ended = rowen("db", "copy", db, to, "--json")
    assert ended.code == 0, ended.err
    done: dict[str, Any] = ended.json
    assert done["resumed"]
    stages = {json.loads(line)["event"] for line in ended.err.splitlines()}
    assert stages == {"verifying", "copying", "preparing", "checking"}, "it went on, it did not start again"
    assert done["tables"]["run_items"]["rows"] == 40_000 + 4
    assert found(rowen("search", "plum", "--db", to, "--json")) == found(rowen("search", "plum", "--json"))
    assert rowen("sync", "orchard", "--db", to, "--json").json["not_modified"] == 4


@pytest.mark.torture
def test_stopped_politely_it_says_how_to_go_on(rowen: Rowen, orchard: Site, db: str, target: str) -> None:
    grown(Path(db.removeprefix("sqlite:///")), 40_000)
    running = begun(db, target)
    running.send_signal(signal.SIGTERM)
    _, err = running.communicate(timeout=120)
    assert running.returncode == 143
    last = json.loads(err.splitlines()[-1])
    assert (last["reason"], "the same command continues" in last["error"]) == ("interrupted", True)
    assert rowen("sync", "orchard", "--json").json["status"] == "completed", "its leases were given back"
    restarted = rowen("db", "copy", db, target, "--json")
    assert restarted.code == 0
    assert '"restarted"' in restarted.err, "the sync changed what had been copied"
