"""Threads that carry whole units of work to a database: some write, some read, each unit one transaction.

A unit is written as a plain method of a topic that has an open transaction as its first argument:

    @reads
    def runs(self, db: Transaction, source_id: int, *, limit: int) -> list[Run]: ...

Callers see `async def runs(self, source_id: int, *, limit: int) -> list[Run]`, one transaction a call.
"""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from rowen.adapters.store.shared.transaction import Transaction

READERS = 4

P = ParamSpec("P")
T = TypeVar("T")
Tx = TypeVar("Tx", bound=Transaction)


class Database(ABC, Generic[Tx]):
    def __init__(self, *, writers: int) -> None:
        self._local = threading.local()
        self._guard = threading.Lock()
        self._connections: set[Any] = set()
        self._writers = ThreadPoolExecutor(writers, thread_name_prefix="rowen-write")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="rowen-read")
        self._closed = False
        self.reads_at_once = False
        """A caller that does one thing after the other need not hand its reads to a thread."""

    async def write(self, work: Callable[[Tx], T]) -> T:
        return await self._ended(self._writers, lambda: self._write(work))

    async def read(self, work: Callable[[Tx], T]) -> T:
        if self.reads_at_once:
            return self._read(work)
        return await self._ended(self._readers, lambda: self._read(work))

    def read_here(self, work: Callable[[Tx], T]) -> T:
        """The same for a caller in a thread of its own."""
        return self._read(work)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        await asyncio.get_running_loop().run_in_executor(None, self._close)

    @abstractmethod
    def rows_written(self) -> int: ...

    async def _ended(self, pool: ThreadPoolExecutor, unit: Callable[[], T]) -> T:
        """A unit of work that has begun ends, also when its caller is cancelled meanwhile."""
        working = asyncio.get_running_loop().run_in_executor(pool, unit)
        # No caller is left to ask for the error of this unit, such as a lease lost since.
        working.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(working)

    # below: runs in the threads

    @abstractmethod
    def _write(self, work: Callable[[Tx], T]) -> T: ...

    @abstractmethod
    def _read(self, work: Callable[[Tx], T]) -> T: ...

    def _close(self) -> None:
        self._readers.shutdown(wait=True)
        self._writers.shutdown(wait=True)
        for db in self._connections:
            db.close()
        self._connections.clear()


class Topic(ABC):
    """A part of a store."""

    _db: Database[Any]


S = TypeVar("S", bound=Topic)
Unit = Callable[Concatenate[S, Tx, P], T]
Method = Callable[Concatenate[S, P], Coroutine[Any, Any, T]]


def reads(unit: Unit[S, Tx, P, T]) -> Method[S, P, T]:
    """One snapshot for all statements of the unit."""

    @wraps(unit)
    def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
        return self._db.read(lambda db: unit(self, db, *args, **kwargs))

    return method


def writes(unit: Unit[S, Tx, P, T]) -> Method[S, P, T]:
    """All of the unit, or nothing of it."""

    @wraps(unit)
    def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
        return self._db.write(lambda db: unit(self, db, *args, **kwargs))

    return method
