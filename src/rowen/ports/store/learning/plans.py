"""Answers that were fetched for a plan, until the plan is applied or they are too old."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Protocol

from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptAnswer:
    status: int
    url: str
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


class Plans(Protocol):
    async def keep_answers(
        self, plan: str, source_id: int, answers: Mapping[bytes, KeptAnswer], *, now: datetime
    ) -> None:
        """By what was asked, in place of what was kept for it before."""
        ...

    async def kept_answer(self, plan: str, key: bytes) -> KeptAnswer | None: ...

    async def forget_answers(
        self, *, source_id: int | None = None, but: str = "", before: datetime | None = None
    ) -> int:
        """Those of a source but for one plan's, and those kept before a moment; says how many went."""
        ...
