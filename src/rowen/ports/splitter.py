"""Cut texts into their sections, as `core/split.py` says, without holding up the process that asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rowen.core.section import Section


class Splitter(Protocol):
    async def split(self, texts: Sequence[str]) -> list[list[Section]]:
        """The sections of each text, the same as `rowen.core.split.split` makes of it."""
        ...

    async def close(self) -> None: ...
