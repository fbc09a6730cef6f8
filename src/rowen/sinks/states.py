"""How each sink is doing: what waits for it, and until when."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from rowen.core.exchange.sink import Sink
from rowen.engine.register import Register
from rowen.engine.sink_kind import SinkKind
from rowen.ports.store.feed import Feed
from rowen.ports.store.sources import Sources
from rowen.records import dataclass
from rowen.sinks import declared as rules
from rowen.sinks.announce import is_disabled, waits_until

COUNTED = 1000
"""How many changes wait is counted to here; beyond, it is "more"."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SinkState:
    sink: Sink
    waiting: int
    """Changes of its sources that it did not get."""
    more: bool
    """There are more than could be counted."""
    until: datetime | None
    """When it is tried again, if not before a time."""
    disabled: bool


class SinkStore(Sources, Feed, Protocol):
    """Sinks, and the changes of the sources they are about."""


async def states(store: SinkStore, kinds: Register[SinkKind], now: datetime) -> list[SinkState]:
    found = []
    for sink in await store.sinks():
        chosen = await rules.chosen(store, sink.settings)
        items = await store.feed(sink.cursor, **chosen, limit=COUNTED + 1)
        found.append(
            SinkState(
                sink=sink,
                waiting=min(len(items), COUNTED),
                more=len(items) > COUNTED,
                until=waits_until(kinds, sink, now),
                disabled=is_disabled(sink),
            )
        )
    return found
