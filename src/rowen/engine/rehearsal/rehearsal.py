"""What a sync would do now: the kind asks its source as in a run, and nothing that readers see is written.

The lease of the source is held meanwhile, so that no run changes what the rehearsal compares with. All parts
of a sync are gone through, history included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime
from functools import partial
from typing import cast

from rowen.core.document import Draft, Outcome
from rowen.core.rules.clocks import believed
from rowen.core.run import Counters, Event, Mode, Run, RunStatus
from rowen.core.source import Edited, Source
from rowen.engine.embedding import Filled
from rowen.engine.intake import Intake, OnEvent, unheard
from rowen.engine.kind import Harvested
from rowen.engine.leases import pinned, reloaded, run_lease
from rowen.engine.ports import Ports
from rowen.engine.rehearsal.answers import Answers, keeping
from rowen.engine.rehearsal.ingestion import CountedIngestion, Wanted
from rowen.engine.rehearsal.store import UntouchedStore
from rowen.engine.run import Execution
from rowen.ports.store.runs import RunEnd
from rowen.ports.store.store import Store
from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """What a sync would do to one item."""

    reference: str
    outcome: Outcome
    reason: str
    title: str = ""
    version: str = ""
    """The version that readers would see: the beginning of its payload hash. Empty for what goes or fails."""
    detail: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Rehearsed:
    source: Source
    """As it was when the rehearsal began."""
    asked_at: datetime
    lines: Mapping[str, Line]
    """By reference; unchanged items have none."""
    counters: Counters
    status: RunStatus
    held: str | None = None
    """Why the guard would hold what comes of it."""
    problem: str | None = None
    hint: str | None = None
    embedded_chars: int = 0
    versions: Mapping[str, frozenset[bytes]] = field(default_factory=dict)
    """The payload hashes an item had on its way, the last one included."""

    def allows(self, draft: Draft) -> bool:
        return draft.payload_hash in self.versions.get(draft.reference, ())

    def allows_deletion(self, reference: str) -> bool:
        line = self.lines.get(reference)
        return line is not None and line.outcome is Outcome.DELETED


async def rehearse(
    ports: Ports, source: Source, answers: Answers, *, full: bool = False, on_event: OnEvent = unheard
) -> Rehearsed:
    """Raises what asking the source raises, and `Conflict` while another process runs it."""
    async with run_lease(ports, source) as lease:
        source = await reloaded(ports.store, source)
        if source.is_pinned:
            raise pinned(source)
        store, wanted, asked_at = UntouchedStore(ports.store), Wanted(), ports.clock.now()
        quiet = replace(ports, store=cast(Store, store))
        told: dict[str, Event] = {}
        changed: dict[str, Event] = {}

        def hear(event: Event) -> None:
            if event.reference is not None:
                told[event.reference] = event
            on_event(event)

        counters, part, at = Counters(), 0, source
        ended: list[RunEnd] = []
        while True:
            run = _run(at, asked_at, owner=ports.owner, full=full and not part)
            intake = Intake(
                quiet,
                lease,
                run,
                source=source.label,
                full=(full and not part) or at.edited is Edited.READ,
                only=None,
                part=part,
                dispatch=False,
                on_event=hear,
                make_ingestion=partial(CountedIngestion, wanted=wanted),
            )
            execution = Rehearsal(
                quiet, believed(at, asked_at), intake, asking=partial(_keeping, answers=answers)
            )
            harvested, end = await execution.harvest()
            counters.join(end.counters)
            ended.append(end)
            store.show()
            # What one part brings and a later one finds unchanged is new all the same.
            changed |= {name: one for name, one in told.items() if one.outcome is not Outcome.UNCHANGED}
            told.clear()
            if not (harvested.more and end.status.is_good):
                break
            at, part = _after(at, end), part + 1
        await answers.save()
    return Rehearsed(
        source=source,
        asked_at=asked_at,
        lines=_lines(changed, store),
        counters=counters,
        status=ended[-1].status,
        held=ended[-1].hold_reason,
        problem=ended[-1].error,
        hint=harvested.hint,
        embedded_chars=sum(wanted.chars.values()),
        versions={name: frozenset(seen) for name, seen in store.seen.items()},
    )


class Rehearsal(Execution):
    """An execution up to the decision how it ends, which is not written down."""

    async def harvest(self) -> tuple[Harvested, RunEnd]:
        return await self._harvest()

    async def _caught_up(self) -> Filled:
        return Filled(0, None)


def _keeping(ports: Ports, *, answers: Answers) -> Ports:
    return keeping(ports, answers)


def _run(source: Source, at: datetime, *, owner: str, full: bool) -> Run:
    return Run(
        id=0,
        source_id=source.id,
        mode=Mode.FULL if full or not source.active_generation else Mode.INCREMENTAL,
        status=RunStatus.RUNNING,
        generation=source.last_generation + 1,
        stop_reason=None,
        started_at=at,
        finished_at=None,
        counters={},
        error=None,
        owner=owner,
    )


def _after(source: Source, end: RunEnd) -> Source:
    """The source as the next part of a sync would find it."""
    return replace(
        source,
        active_generation=end.activate or source.active_generation,
        last_generation=max(source.last_generation, end.activate or 0),
        watermark=end.watermark or source.watermark,
        last_processed_date=end.last_processed_date or source.last_processed_date,
        metadata=source.metadata if end.metadata is None else end.metadata,
    )


def _lines(told: Mapping[str, Event], store: UntouchedStore) -> dict[str, Line]:
    lines = {}
    for reference, event in sorted(told.items()):
        outcome = event.outcome
        if outcome is None:
            continue
        draft = store.drafts.get(reference)
        lines[reference] = Line(
            reference=reference,
            outcome=outcome,
            reason=event.reason or "",
            title=draft.title if draft else "",
            version=draft.payload_hash.hex()[:16] if draft else "",
            detail=event.detail,
        )
    return lines
