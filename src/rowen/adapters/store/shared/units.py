"""Makes methods of a store from units of work.

A unit is written as a plain method that has an open transaction as its first argument:

    @reads
    def runs(self, db: Transaction, source_id: int, *, limit: int) -> list[Run]: ...

Callers see `async def runs(self, source_id: int, *, limit: int) -> list[Run]`, one transaction a call.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from rowen.adapters.store.shared.database import Database
from rowen.adapters.store.shared.transaction import Transaction

P = ParamSpec("P")
T = TypeVar("T")


class Topic(ABC):
    """A part of a store."""

    _db: Database[Any]


S = TypeVar("S", bound=Topic)
Tx = TypeVar("Tx", bound=Transaction)
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
