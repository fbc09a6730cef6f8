"""Threads that carry whole units of work to a database: some write, some read, each unit one transaction.

A unit is written as a plain method of a topic that has an open transaction as its first argument:

    @reads
    def runs(self, db: Transaction, source_id: int, *, limit: int) -> list[Run]: ...

Callers see `async def runs(self, source_id: int, *, limit: int) -> list[Run]`, one transaction a call.
A unit that is called outside an event loop is done in the caller's thread.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, Generic, ParamSpec, TypeVar

from rowen.adapters.store.shared.transaction import Transaction
from rowen.eventloop import asyncio, in_thread, is_running

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

READERS = 4

P = ParamSpec("P")
T = TypeVar("T")
Tx = TypeVar("Tx", bound=Transaction)


class Database(ABC, Generic[Tx]):
    is_near: ClassVar[bool] = False
    """A small read takes less time than handing it to a thread."""

    def __init__(self, *, writers: int) -> None:
        self._local = threading.local()
        self._guard = threading.Lock()
        self._connections: set[Any] = set()
        self._most_writers = writers
        self._closed = False
        self.reads_at_once = False
        """A caller that does one thing after the other need not hand its reads to a thread."""

    @cached_property
    def _writers(self) -> ThreadPoolExecutor:
        return _threads(self._most_writers, "rowen-write")

    @cached_property
    def _readers(self) -> ThreadPoolExecutor:
        return _threads(READERS, "rowen-read")

    async def write(self, work: Callable[[Tx], T]) -> T:
        if not is_running():
            return self._write(work)
        return await self._ended(self._writers, lambda: self._write(work))

    async def read(self, work: Callable[[Tx], T]) -> T:
        if self.reads_at_once or not is_running():
            return self._read(work)
        return await self._ended(self._readers, lambda: self._read(work))

    async def read_briefly(self, work: Callable[[Tx], T]) -> T:
        """For a few rows of a small table, which no writer holds up."""
        return self._read(work) if self.is_near else await self.read(work)

    def read_here(self, work: Callable[[Tx], T]) -> T:
        """The same for a caller in a thread of its own."""
        return self._read(work)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        await in_thread(self._close)

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
        for pool in ("_readers", "_writers"):
            if pool in self.__dict__:
                getattr(self, pool).shutdown(wait=True)
        for db in self._connections:
            db.close()
        self._connections.clear()


def _threads(most: int, name: str) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(most, thread_name_prefix=name)


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


def reads_briefly(unit: Unit[S, Tx, P, T]) -> Method[S, P, T]:
    """The same for a few rows of a small table, asked for often: see `Database.read_briefly`."""

    @wraps(unit)
    def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
        return self._db.read_briefly(lambda db: unit(self, db, *args, **kwargs))

    return method


def writes(unit: Unit[S, Tx, P, T]) -> Method[S, P, T]:
    """All of the unit, or nothing of it."""

    @wraps(unit)
    def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
        return self._db.write(lambda db: unit(self, db, *args, **kwargs))

    return method
