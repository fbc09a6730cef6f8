"""The state of a store: its sources, its models, its workers. `shapes` makes JSON of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rowen.core.lease import source_lease_name
from rowen.core.run import Run, RunStatus

if TYPE_CHECKING:  # a command that only reads must not load the modules that fetch
    from rowen.core.source import Source
    from rowen.engine.ports import Ports
    from rowen.ports.store.notes import Notes, Pause


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceStatus:
    """A source, how much of it readers see, and whether a process runs it now."""

    source: Source
    documents: int
    sections: int
    running: bool
    upstream_pause: Pause | None = None
    """Its upstream asked not to be called before a time."""


async def statuses(ports: Ports) -> list[SourceStatus]:
    pauses = await ports.store.pauses(now=ports.clock.now())
    return [await _status(ports, source, pauses) for source in await ports.store.sources()]


async def status_of(ports: Ports, source: Source) -> SourceStatus:
    return await _status(ports, source, await ports.store.pauses(now=ports.clock.now()))


async def _status(ports: Ports, source: Source, pauses: Mapping[str, Pause]) -> SourceStatus:
    from rowen.engine.leases import holder

    stats = await ports.store.stats(source.id)
    return SourceStatus(
        upstream_pause=pauses.get(source.upstream),
        source=source,
        documents=stats.documents,
        sections=stats.sections,
        running=await holder(ports, source_lease_name(source.id)) is not None,
    )


async def embedding_status(notes: Notes) -> dict[str, Any]:
    """The model search uses, whether vectors are missing, and the circuits that are not closed."""
    model = await notes.note("search_model")
    circuits = await notes.notes_like("breaker:")
    return {
        "search_model": model["name"] if model else None,
        "vectors_pending": bool(await notes.note("vectors_pending")),
        "breakers": {name.removeprefix("breaker:"): value for name, value in circuits.items()},
    }


async def workforce(ports: Ports) -> dict[str, Any]:
    """The workers of this store, and how much waits for them."""
    from rowen.engine.leases import workers

    backlog = await ports.dispatcher().backlog()
    return {
        "workers": [lease.owner for lease in await workers(ports)],
        "waiting": backlog.waiting,
        "running": backlog.running,
        "oldest_at": backlog.oldest_at and backlog.oldest_at.isoformat(),
    }


async def with_lost(ports: Ports, runs: Sequence[Run]) -> list[Run]:
    """The runs as they are: one that was left open by a process that ended is lost."""
    from rowen.engine.leases import holder

    shown = []
    for run in runs:
        if run.status is RunStatus.RUNNING and not await holder(ports, source_lease_name(run.source_id)):
            # It may have ended between the two questions.
            run = await ports.store.run(run.id) or run
            if run.status is RunStatus.RUNNING:
                run = replace(run, status=RunStatus.LOST, error="its process ended before it did")
        shown.append(run)
    return shown
