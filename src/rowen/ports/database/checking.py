"""Damage in a store: a database's own look for it, and a new store from what can be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from rowen.core.exchange.store_check import Finding
from rowen.core.exchange.store_rescue import Rescued


class Checking(Protocol):
    async def structure(self, *, thorough: bool = True) -> list[Finding]:
        """What the database itself finds wrong, before any row is read; `thorough` takes longer."""
        ...

    async def references(self) -> list[Finding]:
        """Rows that point at rows which are not there."""
        ...

    async def texts(self) -> list[Finding]:
        """Passages that are not what their sections cut out of the contents."""
        ...


class Rescuing(Protocol):
    """The damaged store is only read."""

    async def save(self, tell: Callable[[str, int], None]) -> Rescued:
        """Build the new store beside its place.

        `tell` gets the table and how many of its rows were read, or no table when they are put in order.
        Raises `Conflict` when something is in its place, `StoreDamaged` when nothing can be read.
        """
        ...

    def place(self) -> None:
        """Put the new store in its place, whole or not at all."""
        ...

    def discard(self) -> None:
        """Delete what was made and not placed."""
        ...
