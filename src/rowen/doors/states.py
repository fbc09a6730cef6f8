"""The state of a store: its sources, its models, its workers. `shapes` makes JSON of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rowen.core.freshness.claims import heard as signals
from rowen.core.lease import SOURCE as SOURCE_LEASES
from rowen.core.lease import source_lease_name
from rowen.core.rules.schedule import NextRun, next_run
from rowen.core.rules.standing import Progress, Standing, standing
from rowen.core.run import Result, Run, RunStatus, StopReason
from rowen.core.source import Status
from rowen.core.state import Step, after
from rowen.records import dataclass

if TYPE_CHECKING:  # a command that only reads must not load the modules that fetch
    from datetime import datetime

    from rowen.core.freshness.claims import Heard
    from rowen.core.source import Source
    from rowen.core.sync_request import SyncRequest
    from rowen.engine.ports import Ports
    from rowen.ports.store.notes import Notes, Pause

LOST_ERROR = "its process ended before it did"


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceStatus:
    """A source, how much of it readers see, the state it is in, and when it runs next."""

    source: Source
    documents: int
    sections: int
    running: bool
    standing: Standing
    """Its state in a word and a sentence; every door shows these."""
    next_run: NextRun | None = None
    """None while it waits for a person."""
    served: bool = True
    """A process runs sources by their schedule; if none does, `next_run` waits for `rowen serve`."""
    upstream_pause: Pause | None = None
    """Its upstream asked not to be called before a time."""
    kept_since: datetime | None = None
    """From when on what readers saw can be searched and shown again."""
    signals: tuple[Heard, ...] = ()
    """What was claimed of its pages, and how far that was true."""


async def statuses(
    ports: Ports, *, only: Sequence[Source] | None = None, sections: bool = True
) -> list[SourceStatus]:
    """Every source in the order of names, or these.

    Counting sections looks at every document. Without them the number of questions to the store depends only
    on how many sources are running or partial.
    """
    around = await _around(ports)
    sources = await ports.store.sources() if only is None else only
    if sections:
        heard = await ports.store.claims_of([source.id for source in sources])
        found = [await _status(ports, source, around) for source in sources]
        return [replace(one, signals=signals(heard[one.source.id])) for one in found]
    counts = await ports.store.document_counts()
    return [await _now(ports, source, around, documents=counts.get(source.id, 0)) for source in sources]


async def status_of(ports: Ports, source: Source) -> SourceStatus:
    found = await _status(ports, source, await _around(ports))
    return replace(found, signals=signals(await ports.store.claims(source.id)))


@dataclass(frozen=True, slots=True)
class _Around:
    """What is asked once for all sources."""

    pauses: Mapping[str, Pause]
    requests: Mapping[int, SyncRequest]
    served: bool
    held: Collection[str]
    """The names of the leases of sources that are run now."""
    kept_since: Mapping[int, datetime | None]


async def _around(ports: Ports) -> _Around:
    from rowen.engine.leases import ORCHESTRATOR, holder, holders

    return _Around(
        pauses=await ports.store.pauses(now=ports.clock.now()),
        requests={one.source_id: one for one in await ports.store.sync_requests()},
        served=await holder(ports, ORCHESTRATOR) is not None,
        held=await holders(ports, SOURCE_LEASES),
        kept_since={one.source_id: one.kept_since for one in await ports.store.shown_at(ports.clock.now())},
    )


async def standings(ports: Ports, sources: Sequence[Source]) -> dict[int, Standing]:
    """The states of these sources by id, without counting what they hold."""
    around = await _around(ports)
    return {source.id: (await _now(ports, source, around)).standing for source in sources}


async def _status(ports: Ports, source: Source, around: _Around) -> SourceStatus:
    stats = await ports.store.stats(source.id)
    found = await _now(ports, source, around, documents=stats.documents)
    return replace(found, sections=stats.sections)


async def _now(ports: Ports, source: Source, around: _Around, *, documents: int = 0) -> SourceStatus:
    now = ports.clock.now()
    running = source_lease_name(source.id) in around.held
    source = source if running else await without_lost(ports, source)
    pause = around.pauses.get(source.upstream)
    quiet_until = pause.until if pause else None
    following = next_run(
        source,
        now,
        default_every_s=ports.every_s,
        request=around.requests.get(source.id),
        quiet_until=quiet_until,
    )
    partial = source.result is not None and source.result.outcome is RunStatus.PARTIAL
    last = await ports.store.runs(source.id, limit=1) if running or partial else []
    progress = [Progress(started_at=run.started_at, counters=run.counters) for run in last if running]
    problems = await ports.store.problems(last[0].id) if last and not running else []
    # Newer generations may have been discarded, too; what was shown last tells.
    is_behind = not running and source.active_generation < source.last_generation
    shown = await ports.store.activations(source.id, limit=1) if is_behind else []
    said = standing(
        source,
        now,
        running=running,
        progress=progress[0] if progress else None,
        documents=documents,
        quiet_until=quiet_until,
        next_run=following if around.served else None,
        problems={one.reason: one.items for one in problems if one.outcome == "failed"},
        rollback=next((one for one in shown if one.cause.value == "rollback"), None),
    )
    return SourceStatus(
        source=source,
        documents=documents,
        sections=0,
        running=running,
        standing=said,
        next_run=following,
        served=around.served,
        upstream_pause=pause,
        kept_since=around.kept_since.get(source.id),
    )


async def without_lost(ports: Ports, source: Source) -> Source:
    """The source as it is: of a run that was left open by a process that ended, as the next run will say."""
    from rowen.engine.leases import holder

    if source.status is not Status.RUNNING or await holder(ports, source_lease_name(source.id)):
        return source
    # It may have ended between the two questions.
    source = await ports.store.source(source.id) or source
    if source.status is not Status.RUNNING:
        return source
    return replace(
        source,
        status=after(Status.RUNNING, Step.LOSE),
        last_error=LOST_ERROR,
        last_result=Result(RunStatus.LOST, StopReason.ERROR).as_dict(),
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
                run = replace(run, status=RunStatus.LOST, error=LOST_ERROR)
        shown.append(run)
    return shown
