"""The shape of a store: which one it has, and moving it up and down. What is stored is not looked at."""

from __future__ import annotations

from typing import Protocol

from rowen.records import dataclass


@dataclass(frozen=True, slots=True)
class Loss:
    """What taking a schema back forgets."""

    table: str
    column: str | None
    """None when the whole table goes."""
    rows: int
    """Those that have a value."""


class Schema(Protocol):
    @property
    def latest(self) -> int:
        """The newest schema this program knows."""
        ...

    async def version(self) -> int:
        """The one the store has."""
        ...

    async def losses(self, to: int) -> list[Loss]:
        """What is there now and would be gone."""
        ...

    async def missing(self) -> list[str]:
        """The parts that were taken down."""
        ...

    async def part_rows(self, part: str) -> int:
        """How many rows taking a part down would forget."""
        ...

    async def take_down(self, part: str) -> None:
        """Drop one part and leave the rest at its number. Raises like `downgrade`."""
        ...

    async def upgrade(self) -> None:
        """To the newest, with every part."""
        ...

    async def downgrade(self, to: int) -> None:
        """Raises `Conflict` while a process works on the store, `UserError` when it has no newer schema."""
        ...
