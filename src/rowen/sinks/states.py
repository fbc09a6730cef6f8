"""How each sink is doing: what waits for it, and until when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from rowen.core.exchange.sink import Sink
from rowen.engine.ports import Ports
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


async def states(ports: Ports) -> list[SinkState]:
    sources = await ports.store.sources()
    now = ports.clock.now()
    found = []
    for sink in await ports.store.sinks():
        ids = rules.matching_ids(sink.settings, sources)
        items = await ports.store.feed(sink.cursor, source_ids=ids, limit=COUNTED + 1)
        found.append(
            SinkState(
                sink=sink,
                waiting=min(len(items), COUNTED),
                more=len(items) > COUNTED,
                until=waits_until(ports, sink, now),
                disabled=is_disabled(sink),
            )
        )
    return found
