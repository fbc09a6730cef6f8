"""Ports that are made when they are first used: most commands need few of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Later(Generic[T]):
    """Makes one thing, once."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: list[T] = []

    @property
    def made(self) -> T | None:
        """None while nobody needed it."""
        return self._made[0] if self._made else None

    @property
    def port(self) -> T:
        """Stands for the thing: to ask for one of its attributes makes it."""
        standing_for: Any = _Port(self._now)
        thing: T = standing_for
        return thing

    def _now(self) -> T:
        if not self._made:
            self._made.append(self._make())
        return self._made[0]


class _Port:
    def __init__(self, now: Callable[[], object]) -> None:
        self._now = now

    def __getattr__(self, name: str) -> Any:
        return getattr(self._now(), name)
