"""Sinks: where changes are sent after readers see them, each at its own pace.

A sink remembers how far in the change feed it has come. What it could not send it sends next time; what it
sent it does not send again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from rowen.core.feed import START, Cursor
from rowen.records import dataclass

SUBSCRIPTION = "subscription"
"""The kind of sink that tells when the answer to one thing changes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sink:
    name: str
    kind: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    cursor: Cursor = START
    state: Mapping[str, Any] = field(default_factory=dict)
    """What the kind of sink wants to remember."""
    last_run_at: datetime | None = None
    last_success_at: datetime | None = None
    last_error: str | None = None
    failures: int = 0
    """In a row."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SinkEntry:
    """A sink as `rowen.toml` lists it."""

    name: str
    kind: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    """As they stand in the file; `sources`, if it was given, is among them."""


def sink_lease_name(name: str) -> str:
    return f"sink:{name}"
