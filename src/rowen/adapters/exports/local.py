"""Exports into local folders, in a thread of their own so that the event loop does not wait for the disk."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from rowen.adapters.exports import formats
from rowen.adapters.exports.draft import Draft, check_target, problem
from rowen.core.exchange.columns import Format
from rowen.ports.exports import ExportFile, Rows

T = TypeVar("T")


class LocalExports:
    def locate(self, path: str) -> str:
        # Not resolved: a link that is turned to another place is followed there.
        return os.path.abspath(Path(path).expanduser())  # noqa: PTH100

    def check(self, path: str, format: Format | None) -> None:  # noqa: A002
        formats.check(format)
        check_target(Path(path).resolve())

    def is_there(self, path: str) -> bool:
        return Path(path).is_file()

    @asynccontextmanager
    async def open(self, file: ExportFile) -> AsyncIterator[Rows]:
        formats.check(file.format)
        work = await _in_thread(file.path, lambda: _Work(file))
        try:
            yield work
            await _in_thread(file.path, work.keep)
        except BaseException:
            await asyncio.to_thread(work.drop)
            raise

    async def write_text(self, path: str, text: str) -> None:
        await _in_thread(path, lambda: _write_text(path, text))


class _Work:
    """A draft and the format that fills it; one thread at a time.

    A write that was cancelled goes on in its thread, so dropping the draft waits for it.
    """

    def __init__(self, file: ExportFile) -> None:
        self._path = file.path
        self._turn = threading.Lock()
        self._draft = Draft(file.path)
        try:
            self._writer = formats.writer(file, self._draft.file)
        except BaseException:
            self._draft.drop()
            raise

    async def write(self, rows: Sequence[Any]) -> None:
        await _in_thread(self._path, lambda: self._write(rows))

    def _write(self, rows: Sequence[Any]) -> None:
        with self._turn:
            self._writer.write(rows)

    def keep(self) -> None:
        with self._turn:
            self._writer.finish()
            self._draft.keep()

    def drop(self) -> None:
        with self._turn:
            self._writer.abandon()
            self._draft.drop()


def _write_text(path: str, text: str) -> None:
    draft = Draft(path)
    try:
        draft.file.write(text.encode())
        draft.keep()
    except BaseException:
        draft.drop()
        raise


async def _in_thread(path: str, work: Callable[[], T]) -> T:
    try:
        return await asyncio.to_thread(work)
    except OSError as exc:
        raise problem(exc, path) from exc
