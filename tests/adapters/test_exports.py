"""Files that appear whole or not at all: what the file system may do to them."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from rowen.adapters.exports import LocalExports, draft, formats
from rowen.core.exchange.columns import Column, Format
from rowen.errors import ConfigError, PermanentError
from rowen.ports.exports import ExportFile

pytestmark = pytest.mark.anyio
COLUMNS = (Column("a"), Column("b"))


def a_file(path: Path, format_: Format = Format.JSONL) -> ExportFile:
    return ExportFile(path=str(path), format=format_, columns=COLUMNS)


async def test_a_file_appears_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    async with LocalExports().open(a_file(path)) as rows:
        await rows.write([{"a": 1}])
        assert not path.exists()
    assert path.read_text() == '{"a":1}\n'


async def test_an_empty_page_is_no_row(tmp_path: Path) -> None:
    path = tmp_path / "all.parquet"
    async with LocalExports().open(a_file(path, Format.PARQUET)) as rows:
        await rows.write([])
        await rows.write([["x", None]])
    assert pyarrow.parquet.read_table(path).to_pylist() == [{"a": "x", "b": None}]


@pytest.mark.parametrize("format_", list(Format))
async def test_whoever_gives_up_leaves_nothing(tmp_path: Path, format_: Format) -> None:
    with pytest.raises(ZeroDivisionError):
        async with LocalExports().open(a_file(tmp_path / "all", format_)) as rows:
            await rows.write([["x", "y"]])
            raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


async def test_a_write_that_was_cancelled_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Slow(formats.JsonLines):
        def write(self, rows: Any) -> None:
            begun.set()
            assert go_on.wait(120)
            super().write(rows)

    monkeypatch.setattr(formats, "JsonLines", Slow)

    async def work() -> None:
        async with LocalExports().open(a_file(tmp_path / "all")) as rows:
            await rows.write([{"a": 1}])

    task = asyncio.create_task(work())
    assert await asyncio.to_thread(begun.wait, 5)
    task.cancel()
    asyncio.get_running_loop().call_soon(go_on.set)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert list(tmp_path.iterdir()) == []


async def test_a_format_that_cannot_begin_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(formats, "writer", broken)
    with pytest.raises(ZeroDivisionError):
        async with LocalExports().open(a_file(tmp_path / "all")):
            raise AssertionError
    assert list(tmp_path.iterdir()) == []


async def test_a_new_file_has_the_usual_rights(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        await LocalExports().write_text(str(tmp_path / "text"), "words")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "text").stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("number", "error", "message"),
    [
        (errno.ENOSPC, PermanentError, "the disk is full; the file that was there is unchanged"),
        (errno.EROFS, ConfigError, "may not be written to"),
        (errno.EIO, PermanentError, "cannot be written: Input/output error"),
    ],
)
async def test_what_the_file_system_says_is_translated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, error: type[Exception], message: str
) -> None:
    path = tmp_path / "text"
    path.write_text("old")

    def fail(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(draft.os, "fsync", fail)
    with pytest.raises(error, match=message):
        await LocalExports().write_text(str(path), "new")
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"]


async def test_a_folder_that_may_not_be_written_is_said_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The tests may run as root, who may write anywhere.
    monkeypatch.setattr(draft.os, "access", lambda path, mode: False)
    with pytest.raises(ConfigError, match="may not be written to"):
        LocalExports().check(str(tmp_path / "text"), None)


async def test_a_long_name_leaves_room_for_a_draft(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 250)
    await LocalExports().write_text(str(path), "words")
    assert path.read_text() == "words"


def test_a_path_is_found_from_where_it_was_typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/somebody")
    assert LocalExports().locate("a/../b.csv") == str(tmp_path / "b.csv")
    assert LocalExports().locate("~/b.csv") == "/home/somebody/b.csv"
