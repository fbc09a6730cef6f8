"""`rowen db`: looking at the schema, upgrading it, and taking it back without surprises."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rowen.adapters.store.postgres.migrate import migrations as postgres_migrations
from rowen.adapters.store.sqlite.database import migrations
from rowen.adapters.system import owner
from tests.doors.cli.test_process import Gate, started
from tests.doors.conftest import Rowen, fruit_page
from tests.support.postgres import Server
from tests.support.site import Site
from tests.support.stores import a_postgres_schema

LATEST = migrations()[-1].number
OLD = 3
"""The last schema without a change feed."""
BEFORE_HANDOFFS = next(step.number for step in migrations() if step.name == "handoffs") - 1


@pytest.fixture
def file(db: str) -> Path:
    return Path(db.removeprefix("sqlite:///"))


def schema_of(file: Path) -> int:
    with sqlite3.connect(file) as connection:
        (number,) = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    return int(number)


def execute(file: Path, statement: str, *values: object) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute(statement, values)
    connection.close()


def read(file: Path, statement: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(file) as connection:
        rows = connection.execute(statement).fetchall()
    connection.close()
    return rows


def test_the_schema_is_told(rowen: Rowen, orchard: Site) -> None:
    assert rowen("db", "version").out == f"schema {LATEST}, up to date\n"
    assert rowen("db", "version", "--json").json == {"version": LATEST, "latest": LATEST, "missing": []}


def test_a_store_that_is_not_there_is_not_made(rowen: Rowen, file: Path) -> None:
    file.unlink()
    for arguments in (("version",), ("upgrade",), ("downgrade", "--to", "1", "--yes")):
        ended = rowen("db", *arguments)
        assert (ended.code, ended.out) == (2, "")
        assert f"store `{file}`: there is no such file" in ended.err
    assert not file.exists()


def test_taking_it_back_keeps_what_the_older_schema_holds(rowen: Rowen, orchard: Site, file: Path) -> None:
    ended = rowen("db", "downgrade", "--to", str(OLD), "--yes")
    assert (ended.code, ended.out) == (0, f"schema {LATEST} is now {OLD}\n")
    assert "forgot 1 row of `verifications`, 4 rows of `handoffs`, 1 row of `activations`" in ended.err
    assert "upgrades it again" in ended.err
    assert schema_of(file) == OLD
    assert rowen("db", "version").out == f"schema {OLD}, the newest is {LATEST}\n"
    assert schema_of(file) == OLD, "looking does not upgrade"
    assert rowen("db", "upgrade", "--json").json == {"before": OLD, "version": LATEST}
    assert rowen("db", "upgrade").out == f"schema {LATEST} already\n"
    assert rowen("search", "plum", "--json").json["hits"]
    assert rowen("sync", "orchard", "--json").json["not_modified"] == 4


def test_it_goes_all_the_way_back_and_forth_with_data(rowen: Rowen, orchard: Site, file: Path) -> None:
    assert rowen("db", "downgrade", "--to", "1", "--yes").code == 0
    assert schema_of(file) == 1
    assert rowen("status", "--json").json["sources"][0]["documents"] == 4
    assert schema_of(file) == LATEST


def test_a_pause_is_kept_on_the_way_back_and_forth(rowen: Rowen, orchard: Site, file: Path) -> None:
    execute(file, "INSERT INTO pauses VALUES (?, '2030-01-01T00:00:00+00:00', 'RATE_LIMIT')", "d.example:443")
    before_upstreams = next(step.number for step in migrations() if step.name == "upstreams") - 1
    ended = rowen("db", "downgrade", "--to", str(before_upstreams), "--yes")
    assert (ended.code, "of `pauses`" in ended.err) == (0, False)
    assert read(file, "SELECT client FROM pauses") == [("d.example:443",)]
    assert rowen("db", "upgrade").code == 0
    assert read(file, "SELECT upstream, reason FROM pauses") == [("d.example:443", "RATE_LIMIT")]


def test_without_a_terminal_it_says_what_would_be_lost_and_does_nothing(
    rowen: Rowen, orchard: Site, file: Path
) -> None:
    ended = rowen("db", "downgrade", "--to", str(OLD))
    assert ended.code == 2
    assert (
        f"schema {LATEST} to {OLD}: this forgets 1 row of `verifications`,"
        " 4 rows of `handoffs`, 1 row of `activations`" in ended.err
    )
    assert "hint: say `--yes`" in ended.err
    assert schema_of(file) == LATEST


@pytest.mark.parametrize(("answer", "after"), [("y\n", OLD), ("n\n", LATEST)])
def test_on_a_terminal_it_asks(
    rowen: Rowen, orchard: Site, file: Path, monkeypatch: pytest.MonkeyPatch, answer: str, after: int
) -> None:
    read, write = os.pipe()
    os.write(write, answer.encode())
    os.close(write)
    with os.fdopen(read) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        monkeypatch.setattr("rowen.doors.cli.commands.db.is_terminal", lambda: True)
        ended = rowen("db", "downgrade", "--to", str(OLD))
    assert ended.code == 0
    assert (
        f"Take the schema from {LATEST} to {OLD}? This forgets 1 row of `verifications`,"
        " 4 rows of `handoffs`, 1 row of `activations`" in ended.err
    )
    assert ("nothing was changed" in ended.err) == (after == LATEST)
    assert schema_of(file) == after


def test_there_is_no_way_back_to_where_it_is(rowen: Rowen, orchard: Site, file: Path) -> None:
    for number in (LATEST, LATEST + 5):
        ended = rowen("db", "downgrade", "--to", str(number), "--yes")
        assert ended.code == 2
        assert f"has schema {LATEST}, which is not newer than {number}" in ended.err
    assert rowen("db", "downgrade", "--to", "0", "--yes").code == 2
    assert schema_of(file) == LATEST


def test_a_run_under_way_is_left_in_peace(rowen: Rowen, orchard: Site, file: Path) -> None:
    gate = Gate()
    orchard.set("/plum.html", fruit_page("plum", "May"), delay=gate)
    running = started("sync", "orchard")
    try:
        assert gate.reached.wait(120)
        ended = rowen("db", "downgrade", "--to", str(OLD), "--yes")
        assert ended.code == 2
        assert f"store `{file}`: a run is under way: `" in ended.err
        assert schema_of(file) == LATEST
    finally:
        gate.set()
        _, err = running.communicate(timeout=120)
    assert running.returncode == 0, err


def test_leases_count_while_somebody_may_hold_them(rowen: Rowen, orchard: Site, file: Path) -> None:
    later = (datetime.now(UTC) + timedelta(minutes=1)).isoformat(timespec="microseconds")
    take = "INSERT OR REPLACE INTO leases (name, owner, token, expires_at) VALUES (?, ?, 99, ?)"
    execute(file, take, "orchestrator", owner(), later)
    assert "`rowen serve` looks after it" in rowen("db", "downgrade", "--to", str(OLD), "--yes").err
    # The same machine, a process that cannot be: its lease holds nobody up.
    gone = owner().rsplit(":", 2)[0] + f":{2**31 - 2}:1"
    execute(file, take, "orchestrator", gone, later)
    assert rowen("db", "downgrade", "--to", str(OLD), "--yes").code == 0


def test_a_store_of_a_newer_rowen_is_refused(rowen: Rowen, orchard: Site, file: Path) -> None:
    execute(file, "PRAGMA user_version = 9999")
    for arguments in (("version",), ("upgrade",), ("downgrade", "--to", "1", "--yes")):
        ended = rowen("db", *arguments)
        assert ended.code == 2
        assert "made by a newer Rowen (schema 9999" in ended.err
    assert schema_of(file) == 9999


def test_a_store_on_postgresql_is_taken_back_and_forth_too(rowen: Rowen, postgres: Server) -> None:
    latest = postgres_migrations()[-1].number
    with postgres.schema() as schema:
        url = f"{postgres.url}&schema={schema}"
        missing = rowen("db", "version", "--db", url)
        assert (missing.code, missing.out) == (2, "")
        assert "not there yet" in missing.err
        assert "there is no store in its schema" in rowen("status", "--db", url).err
        assert rowen("token", "create", "reader", "--scope", "read", "--db", url).code == 0
        assert rowen("db", "downgrade", "--to", "1", "--yes", "--db", url).code == 0
        assert rowen("db", "version", "--json", "--db", url).json == {
            "version": 1,
            "latest": latest,
            "missing": [],
        }
        assert rowen("db", "upgrade", "--json", "--db", url).json == {"before": 1, "version": latest}
        assert rowen("status", "--db", url).code == 0


def test_only_how_items_came_in_is_lost_with_the_handoffs(rowen: Rowen, orchard: Site, file: Path) -> None:
    ended = rowen("db", "downgrade", "--to", str(BEFORE_HANDOFFS), "--yes")
    assert "forgot 1 row of `verifications`, 4 rows of `handoffs`" in ended.err
    assert rowen("handoffs", "--json").json["handoffs"] == []
    receipt = rowen("sync", "orchard", "--json").json
    assert (receipt["unchanged"], receipt["created"], receipt["embeddings_computed"]) == (4, 0, 0)
    assert rowen("search", "plum", "--json").json["hits"]


def test_a_database_that_does_not_answer_is_told_without_its_password(rowen: Rowen) -> None:
    ended = rowen("db", "version", "--db", "postgresql://me:secret@localhost:1/x")
    assert ended.code != 0
    assert "secret" not in ended.err


def test_a_locked_store_is_told_as_such(
    process: Rowen, orchard: Site, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROWEN_STORE_BUSY_TIMEOUT_S", "0.1")
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        ended = process("db", "downgrade", "--to", str(OLD), "--yes")
    finally:
        other.rollback()
        other.close()
    assert ended.code == 1
    assert f"locked by process {os.getpid()} (" in ended.err
    assert schema_of(file) == LATEST


@pytest.fixture(params=["sqlite", "postgres"])
def store_of_each_kind(
    request: pytest.FixtureRequest, rowen: Rowen, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    if request.param == "sqlite":
        yield
        return
    server: Server = request.getfixturevalue("postgres")
    with a_postgres_schema(server) as schema:
        monkeypatch.setenv("ROWEN_DB", f"{server.url}&schema={schema}")
        yield


@pytest.mark.usefixtures("store_of_each_kind")
def test_handoffs_can_be_taken_down_alone_and_sync_still_stores_items(
    rowen: Rowen, site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ROWEN_STORE_AUTO_UPGRADE", "false")
    assert rowen("add", site.url + "/", "--name", "orchard").code == 0
    assert rowen("sync", "orchard").code == 0
    shape = rowen("db", "version", "--json").json
    ended = rowen("db", "downgrade", "--part", "handoffs", "--yes")
    assert (ended.code, "forgot 4 rows of `handoffs`" in ended.err) == (0, True)
    assert rowen("db", "version", "--json").json == {**shape, "missing": ["handoffs"]}
    assert rowen("db", "downgrade", "--part", "handoffs", "--yes").code == 2

    ended = rowen("handoffs")
    assert (ended.code, "`rowen db upgrade` brings it back" in ended.err) == (2, True)
    assert "this store has no `handoffs`" in ended.err
    site.set("/plum.html", fruit_page("plum", "Easter"))
    site.remove("/pear.html")
    receipt = rowen("sync", "orchard", "--json").json
    assert (receipt["status"], receipt["updated"], receipt["deleted"]) == ("completed", 1, 1)
    assert len(rowen("search", "Easter", "--mode", "keyword", "--json").json["hits"]) == 1
    assert rowen("diff", "orchard", "--json").json["changes"]
    assert rowen("vacuum", "--keep", "1").code == 0
    assert rowen("search", "apple", "--json").json["hits"]
    assert rowen("status").code == 0
    checked = rowen("db", "check")
    assert (checked.code, "nothing is damaged" in checked.out) == (0, True), checked.err
    said = {check["name"]: check["said"] for check in rowen("doctor", "--json").json["checks"]}
    assert said["store"].endswith("1 source, without `handoffs`")
    copied = rowen("db", "copy", os.environ["ROWEN_DB"], f"sqlite:///{tmp_path / 'copy.db'}")
    assert (copied.code, "this store has no `handoffs`" in copied.err) == (2, True)

    ended = rowen("db", "upgrade")
    assert (ended.code, "`handoffs` is back, and empty" in ended.err) == (0, True)
    assert rowen("handoffs", "--json").json == {"handoffs": []}
    site.set("/plum.html", fruit_page("plum", "Whitsun"))
    assert rowen("sync", "orchard", "--json").json["updated"] == 1
    assert len(rowen("handoffs", "--status", "completed", "--json").json["handoffs"]) == 1


@pytest.mark.usefixtures("store_of_each_kind")
def test_a_store_without_handoffs_goes_back_and_forth_by_number_too(rowen: Rowen) -> None:
    assert rowen("status").code == 0
    latest = rowen("db", "version", "--json").json
    for below in (BEFORE_HANDOFFS, latest["version"] - 1):
        assert rowen("db", "downgrade", "--part", "handoffs", "--yes").code == 0
        assert rowen("db", "downgrade", "--to", str(below), "--yes").code == 0
        assert rowen("db", "upgrade").code == 0
        assert rowen("db", "version", "--json").json == latest
        assert rowen("handoffs", "--json").json == {"handoffs": []}


def test_an_older_schema_is_refused_where_upgrades_are_a_persons_business(
    rowen: Rowen, orchard: Site, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rowen("db", "downgrade", "--to", str(OLD), "--yes").code == 0
    monkeypatch.setenv("ROWEN_STORE_AUTO_UPGRADE", "false")
    ended = rowen("status")
    assert (ended.code, f"its schema is {OLD}, and this Rowen needs {LATEST}" in ended.err) == (2, True)
    assert schema_of(file) == OLD
    assert rowen("db", "upgrade").code == 0
    assert rowen("status").code == 0


def test_either_a_number_or_a_part_is_taken_back(rowen: Rowen) -> None:
    for arguments in ((), ("--to", "3", "--part", "handoffs")):
        ended = rowen("db", "downgrade", "--yes", *arguments)
        assert (ended.code, "either `--to N` or `--part handoffs`" in ended.err) == (2, True)
