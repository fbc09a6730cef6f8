"""Telling a person that something is wrong, or well again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Protocol

from rowen.core.exchange.alarm import Alarm
from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """A channel as it is used once."""

    name: str
    kind: str
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """With the values of its secrets, so they are not shown."""


class DeliverAlarm(Protocol):
    async def __call__(self, route: Route, alarm: Alarm) -> None:
        """One attempt. Raises `TransientError` when another may help, else another `RowenError`."""
        ...
