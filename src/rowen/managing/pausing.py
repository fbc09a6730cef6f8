"""Whether `rowen serve` and workers run a source: pause it, pin it, let it go on.

A paused source can still be synced by name. A pinned one cannot: readers stay at the generation they see, and
the generations around it are kept. Both last until a person resumes the source; who decided it is kept.
"""

from __future__ import annotations

from typing import Protocol

from rowen.core.source import Source
from rowen.ports.clock import Clock
from rowen.ports.store.notes import Notes
from rowen.ports.store.sources import Sources


class SourcesAndPauses(Sources, Notes, Protocol):
    """Sources with the pauses of their upstreams."""


async def pause(store: Sources, clock: Clock, source: Source, *, by: str | None = None) -> None:
    """No run of the source begins by its schedule or by a request. `by` is who decided it."""
    await store.set_paused(source.id, True, by=by, now=clock.now())


async def pin(store: Sources, clock: Clock, source: Source, *, by: str | None = None) -> None:
    """Readers stay at what they see: no run of the source begins at all."""
    await store.set_pinned(source.id, True, by=by, now=clock.now())


async def unpin(store: Sources, source: Source) -> None:
    """Runs go on from what readers see; a source that is also paused stays so."""
    await store.set_pinned(source.id, False)


async def resume(store: SourcesAndPauses, source: Source) -> None:
    """Let a source be run again after a pause, a pin or an error, and lift the pause of its upstream."""
    await store.set_paused(source.id, False)
    await store.set_pinned(source.id, False)
    await store.lift_pause(source.upstream)
