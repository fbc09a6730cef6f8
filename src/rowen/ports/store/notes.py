"""What belongs to no source: notes by name, and upstreams that asked to be left alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

from rowen.records import NamedTuple, dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Pause:
    """An upstream that asked to be left alone."""

    upstream: str
    until: datetime
    reason: str


class TimeAhead(NamedTuple):
    """A stored time that lies in the future."""

    of: str
    """`source`, `sink`, `upstream` or `lease`."""
    name: str
    field: str
    at: datetime


class Notes(Protocol):
    async def pause_upstream(self, pause: Pause) -> None: ...

    async def lift_pause(self, upstream: str) -> None: ...

    async def pauses(self, *, now: datetime) -> dict[str, Pause]:
        """The upstreams that must be left alone now, by upstream.

        A pause that would last longer than any does is left out: a clock that was ahead wrote it.
        """
        ...

    async def times_ahead(self, *, now: datetime) -> list[TimeAhead]:
        """The times of all topics that a clock wrote which was ahead."""
        ...

    async def note(self, name: str) -> Any:
        """None when there is none."""
        ...

    async def notes(self, names: Sequence[str]) -> dict[str, Any]:
        """Those of these notes that there are."""
        ...

    async def notes_like(self, start: str) -> dict[str, Any]:
        """The notes whose names begin so."""
        ...

    async def save_note(self, name: str, value: Any) -> None:
        """None removes it."""
        ...
