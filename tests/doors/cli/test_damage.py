"""A damaged store, one that is not there, and one that cannot be written, as a user meets them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.doors.conftest import Rowen
from tests.support.damage import pages_of, spoil
from tests.support.site import Site

NOBODY = 65534


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rowen.db"


@pytest.mark.parametrize("table", ["contents", "documents", "passages", "sections"])
def test_a_damaged_store_answers_with_an_error_and_not_with_the_rest(
    rowen: Rowen, orchard: Site, file: Path, table: str
) -> None:
    for page in pages_of(file, table):
        spoil(file, page)
    ended = rowen("search", "plum") if table in ("passages", "sections") else rowen("export")
    assert (ended.code, ended.out) == (1, "")
    assert f"error: store `{file}`: damaged" in ended.err
    assert "hint: `rowen db check` says what is damaged; `rowen db rescue`" in ended.err
    assert "Traceback" not in ended.err
    checked = rowen("db", "check", "--json")
    assert (checked.code, checked.json["ok"]) == (1, False)
    assert any(one["part"] == "file" for one in checked.json["findings"])
    examined = rowen("doctor", "--json")
    assert (examined.code, [one["name"] for one in examined.json["checks"] if not one["ok"]]) == (
        1,
        ["store"],
    )


def test_an_export_of_a_store_that_lost_a_row_is_an_error(rowen: Rowen, orchard: Site, file: Path) -> None:
    db = sqlite3.connect(file)
    db.execute("DELETE FROM contents WHERE id = (SELECT max(content_id) FROM documents)")
    db.commit()
    db.close()
    ended = rowen("export")
    assert (ended.code, ended.out) == (1, "")
    assert "source `orchard`: damaged: 3 of 4 documents can be read" in ended.err


def test_a_rescue_says_what_it_saved_and_the_new_store_works(
    rowen: Rowen, orchard: Site, file: Path, tmp_path: Path
) -> None:
    new = f"sqlite:///{tmp_path / 'new.db'}"
    spoil(file, pages_of(file, "contents")[0])
    ended = rowen("db", "rescue", f"sqlite:///{file}", new)
    assert ended.code == 0, ended.err
    assert "contents: 0 rows saved, 4 lost, 1 page unreadable" in ended.out
    assert "source `orchard`: 0 of 4 documents saved, 4 lost" in ended.out
    assert rowen("db", "check", "--db", new).code == 0
    receipt = rowen("sync", "--json", "--db", new).json
    assert (receipt["status"], receipt["created"]) == ("completed", 4)
    assert rowen("search", "plum", "--json", "--db", new).json["hits"]
    again = rowen("db", "rescue", f"sqlite:///{file}", new)
    assert (again.code, "nothing is overwritten" in again.err) == (2, True)


@pytest.mark.parametrize(
    "command",
    [
        "search x",
        "status",
        "runs x",
        "diff x",
        "export",
        "handoffs",
        "plan x",
        "vacuum",
        "sinks",
        "companies",
    ],
)
def test_reading_a_store_that_is_not_there_is_an_error_with_the_nearest_one(
    rowen: Rowen, file: Path, command: str
) -> None:
    wrong = file.with_name("rowem.db")
    ended = rowen(*command.split(), "--db", f"sqlite:///{wrong}")
    assert (ended.code, ended.out) == (2, "")
    assert (
        f"error: store `{wrong}`: there is no such file\nhint: did you mean `sqlite:///{file}`?" in ended.err
    )
    assert not wrong.exists()


def test_an_empty_file_or_a_wrong_folder_is_told_as_such(rowen: Rowen, file: Path) -> None:
    empty = file.with_name("empty.db")
    empty.touch()
    assert "there is no such file" in rowen("status", "--db", f"sqlite:///{empty}").err
    meant = file.parent / "harvest" / "rowen.db"
    meant.parent.mkdir()
    shutil.copyfile(file, meant)
    ended = rowen("status", "--db", f"sqlite:///{file.parent / 'harvets' / 'rowen.db'}")
    assert f"did you mean `sqlite:///{meant}`?" in ended.err


def test_a_relative_address_is_said_in_full(
    rowen: Rowen, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    assert f"store `{file.parent}/other.db`" in rowen("status", "--db", "sqlite:///other.db").err


def test_an_address_in_a_settings_file_is_beside_it(
    rowen: Rowen, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.with_name("settings.toml").write_text('[store]\nurl = "sqlite:///rowen.db"\n')
    monkeypatch.delenv("ROWEN_DB")
    monkeypatch.setenv("ROWEN_CONFIG", str(file.with_name("settings.toml")))
    monkeypatch.chdir("/")
    assert f"no sources yet in `{file}`" in rowen("status").out


READING = (
    "search plum",
    "status",
    "runs orchard",
    "export",
    "handoffs",
    "db check",
    "diff orchard",
)
WRITING = ("sync", "pause orchard", "vacuum", "rollback orchard", "remove orchard --yes")


@contextmanager
def as_nobody() -> Iterator[None]:
    """An account without rights: to root every file is writable."""
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("way", ["asked for", "file", "folder", "folder with a log"])
def test_a_store_that_cannot_be_written_can_be_read(
    rowen: Rowen, orchard: Site, file: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "asked for":
        monkeypatch.setenv("ROWEN_DB", f"sqlite:///{file}?mode=ro")
        _reads_and_does_not_write(rowen)
        return
    if os.geteuid() != 0:
        file.chmod(0o444)
        file.parent.chmod(0o555)
        _reads_and_does_not_write(rowen)
        file.parent.chmod(0o755)
        return
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o777 if way == "file" else 0o755)
        copy = Path(shutil.copyfile(file, Path(folder) / "rowen.db"))
        writer = sqlite3.connect(copy)
        writer.execute("PRAGMA journal_mode = WAL")
        copy.chmod(0o444 if way == "file" else 0o666)
        if way == "folder with a log":
            copy.chmod(0o644)  # the log has the rights of the file
            writer.execute("UPDATE sources SET location = location")
            writer.commit()
        else:
            writer.close()
        for command in READING:
            rowen(*command.split())  # loads what it needs, which may lie where only root can read
        monkeypatch.setenv("ROWEN_DB", f"sqlite:///{copy}")
        with as_nobody():
            _reads_and_does_not_write(rowen)
        writer.close()


def _reads_and_does_not_write(rowen: Rowen) -> None:
    for command in READING:
        ended = rowen(*command.split())
        assert ended.code == 0, f"{command}: {ended.out}{ended.err}"
    for command in WRITING:
        ended = rowen(*command.split())
        assert ended.code in (1, 2), command
        assert "read-only" in ended.err + ended.out, f"{command}: {ended.err}"
        assert "Traceback" not in ended.err
