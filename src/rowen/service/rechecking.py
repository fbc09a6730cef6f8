"""Before a search answers: hits that may be outdated are asked for again, a few and within a time limit.

Each source is asked by a run for exactly these references: with the same client, robots.txt, pace and guards
as any run. What changed is taken in by that run, what is gone goes under the usual guards, and what was
confirmed is verified from then on. A source that cannot be asked now is told, never waited for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from rowen.core.document import Outcome
from rowen.core.freshness.recheck import MOST, WITHIN_S, Rechecked
from rowen.core.run import Event, RunStatus
from rowen.core.search.hit import Answer, Hit
from rowen.core.source import Source
from rowen.engine.kind import asks_named
from rowen.engine.ports import Ports
from rowen.engine.run import sync
from rowen.errors import RowenError
from rowen.records import dataclass
from rowen.service.attempts import pause_if_limited, pause_of

CHANGED = frozenset({Outcome.UPDATED, Outcome.METADATA_UPDATED, Outcome.SKIPPED, Outcome.CREATED})


@dataclass(slots=True)
class _Found:
    confirmed: int = 0
    changed: int = 0
    gone: int = 0
    failed: int = 0

    @property
    def asked(self) -> int:
        return self.confirmed + self.changed + self.gone + self.failed


async def recheck(
    ports: Ports, answer: Answer, wanted: float, *, on_change: Callable[[], None] = lambda: None
) -> Rechecked:
    """Ask again for the best hits that are not current with this probability; `on_change` after a change.

    How fast a page changes may not be known: then it is asked for.
    """
    best = answer.hits[:MOST]
    doubtful = [hit for hit in best if hit.p_fresh is None or hit.p_fresh < wanted]
    deadline = ports.clock.monotonic() + WITHIN_S
    found, notes, not_asked = _Found(), [], 0
    for source, references in await _by_source(ports, doubtful):
        left_s = deadline - ports.clock.monotonic()
        why = await _why_not(ports, source) if left_s > 0.0 else "no time was left"
        if why is not None:
            not_asked += len(references)
            notes.append(f"{source.label}: {why}")
            continue
        before = found.asked
        try:
            note = await _ask(ports, source, references, found, left_s, on_change)
        except RowenError as exc:
            # Another run is under way, or the source is: its hits are answered as they are.
            note = exc.message
        not_asked += len(references) - (found.asked - before)
        if note is not None:
            notes.append(f"{source.label}: {note}")
    return Rechecked(
        wanted=wanted,
        sure=len(best) - len(doubtful),
        asked=found.asked,
        confirmed=found.confirmed,
        changed=found.changed,
        gone=found.gone,
        failed=found.failed,
        not_asked=not_asked,
        notes=tuple(notes),
    )


async def _by_source(ports: Ports, hits: Sequence[Hit]) -> list[tuple[Source, list[str]]]:
    references: dict[int, list[str]] = defaultdict(list)
    for hit in hits:
        named = await ports.store.reference_of(hit.document_id)
        if named is not None:
            references[named[0]].append(named[1])
    found = [(await ports.store.source(number), names) for number, names in references.items()]
    return [(source, list(dict.fromkeys(names))) for source, names in found if source is not None]


async def _why_not(ports: Ports, source: Source) -> str | None:
    """Why a source is not asked now; None when it may be."""
    if source.is_pinned:
        return "pinned to what readers see"
    if source.paused:
        return "paused by a person"
    if not asks_named(ports.kinds.stored(source.kind), source):
        return f"its items (kind `{source.kind}`) have no address to be asked for by"
    pause = await pause_of(ports, source)
    return None if pause is None else pause.reason


async def _ask(
    ports: Ports,
    source: Source,
    references: Sequence[str],
    found: _Found,
    within_s: float,
    on_change: Callable[[], None],
) -> str | None:
    """A run for exactly these references; what a reader should know beside the counts."""
    wanted = set(references)

    def on_event(event: Event) -> None:
        if event.kind != "item" or event.reference not in wanted or event.outcome is None:
            return
        wanted.discard(event.reference)
        if event.outcome is Outcome.UNCHANGED:
            found.confirmed += 1
        elif event.outcome is Outcome.DELETED:
            found.gone += 1
        elif event.outcome in CHANGED:
            found.changed += 1
        else:
            found.failed += 1

    receipt = await sync(ports, source, only=references, within_s=within_s, on_event=on_event)
    await pause_if_limited(ports, source, receipt)
    if receipt.generation != source.active_generation:
        on_change()
    if receipt.status is RunStatus.HELD:
        return f"what changed is not shown: {receipt.error}"
    return receipt.error
