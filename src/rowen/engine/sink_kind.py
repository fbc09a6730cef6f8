"""What every kind of sink promises: one turn of sending, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from rowen.core.exchange.sink import Sink, SinkEntry
from rowen.core.feed import Cursor
from rowen.core.lease import Lease
from rowen.core.params import Param
from rowen.core.source import Source
from rowen.engine.ports import Ports
from rowen.errors import RowenError
from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    sent: int
    """How many things arrived at the other end."""
    cursor: Cursor | None = None
    """How far in the feed the sink has come; None leaves it where it is."""
    state: Mapping[str, Any] | None = None
    """What the sink wants to remember; None leaves it as it is."""
    waiting_until: datetime | None = None
    """There may be more to send, and not before this time; None when everything was sent.

    With neither state nor error beside it, nothing was tried: there is nothing to record.
    """
    error: RowenError | None = None
    """What stopped it, when there is something to remember about that: how far it came, when to try again."""


class Send(Protocol):
    async def __call__(self, ports: Ports, sink: Sink, lease: Lease, *, force: bool) -> Sent:
        """Send what is due.

        What stopped it is raised, or comes as `Sent.error` beside a cursor or a state to keep. The caller
        treats both alike: records it, raises an alarm and tries later.
        """
        ...


def never_stale(sink: Sink, sources: Sequence[Source]) -> bool:
    """Of a sink that has everything when it has read the feed."""
    return False


@dataclass(frozen=True, kw_only=True, slots=True)
class SinkKind:
    send: Send
    check: Callable[[Ports, SinkEntry], dict[str, Any]]
    """The settings as they are stored. Raises `ConfigError`."""
    params: Sequence[Param] = ()
    """The settings that a sink of this kind has, for the reference."""
    from_beginning: bool = False
    """Where a sink of this kind begins that does not say."""
    writes_files: bool = False
    """It writes on this machine and waits for no other: a command waits until it is done."""
    stale: Callable[[Sink, Sequence[Source]], bool] = never_stale
    """Has it something to do although the feed did not move?"""
    not_before: Callable[[Sink, datetime], datetime | None] = lambda sink, now: None
    """Of a sink with hours of its own: when the next ones begin; None while it may be sent to."""
