"""Plans: what a sync of a source would do, written down, and then exactly that.

A plan belongs to one state of its source: what readers see and by which settings it is read. Applying it asks
the source again, conditionally, and compares line by line; only a plan that holds is applied, from the
answers that were compared, so what it does is what was looked at. Bodies that the plan fetched are kept in
the store for a day, without secrets, and not sent again by a server that says they are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from rowen.core import hashing
from rowen.core.document import Outcome
from rowen.core.source import Source
from rowen.engine.intake import OnEvent, unheard
from rowen.engine.leases import OnWait
from rowen.engine.ports import Ports
from rowen.engine.receipt import Receipt
from rowen.engine.rehearsal.answers import Answers, replaying
from rowen.engine.rehearsal.rehearsal import Line, Rehearsed, rehearse
from rowen.engine.run import Applied, sync
from rowen.errors import Conflict, UserError
from rowen.managing.estimate import embedding
from rowen.ports.store.learning.plans import Plans
from rowen.records import dataclass

FORMAT = 1
"""Of a plan file. Another number is another format."""
KEPT_FOR = timedelta(days=1)
"""How long answers are kept. An older plan can be applied; it costs its bodies again."""
SIGNS = {
    Outcome.CREATED: "new",
    Outcome.UPDATED: "changed",
    Outcome.METADATA_UPDATED: "metadata",
    Outcome.DELETED: "gone",
    Outcome.FAILED: "failed",
    Outcome.SKIPPED: "new",
}
"""The words of a plan for what becomes of an item."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedSync:
    id: str
    source: str
    made_at: datetime
    state: Mapping[str, Any]
    """What it is for: the source's key, its settings, and the generation readers see."""
    full: bool
    lines: tuple[Line, ...]
    unchanged: int
    requests: int
    bytes_received: int
    embeddings: int
    tokens: int
    calls: int
    cost: float | None
    """None when no price is set."""
    model: str
    held: str | None
    """Why the guard would hold it."""
    problem: str | None
    """What went wrong while it was asked."""
    not_kept: int = 0
    """Bodies that were not kept, for they are too many."""

    @property
    def counts(self) -> dict[str, int]:
        """How many items are `new`, `changed`, `metadata`, `gone` and `failed`."""
        counts = dict.fromkeys(("new", "changed", "metadata", "gone", "failed"), 0)
        for line in self.lines:
            counts[SIGNS[line.outcome]] += 1
        return counts


class Broken(NamedTuple):
    """A line that does not hold any more."""

    reference: str
    planned: str | None
    """`new`, `changed`, ...; None for an item that the plan does not have."""
    now: str | None
    """What a sync would do to it now; None for nothing."""

    @property
    def words(self) -> str:
        if self.planned is None:
            return f"not in the plan: {self.now}"
        if self.now is None:
            return f"planned as {self.planned}; now there is nothing to do"
        if self.now == self.planned:
            return f"planned as {self.planned}; it has changed again since"
        return f"planned as {self.planned}; now {self.now}"


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanApplied:
    """How applying a plan went: a receipt, or the lines that do not hold."""

    receipt: Receipt | None
    broken: tuple[Broken, ...] = ()
    checked_requests: int = 0
    """What it took to see whether the plan holds."""
    checked_bytes: int = 0


async def make(
    ports: Ports,
    source: Source,
    *,
    full: bool = False,
    price_per_million_tokens: float = 0.0,
) -> PlannedSync:
    """Ask the source what is new, and keep what it answers."""
    now = ports.clock.now()
    plan_id = hashing.of_text(f"{source.key} {now.isoformat()} {ports.clock.jitter()}").hex()[:24]
    await forget(ports.store, now=now, source=source)
    answers = Answers(ports.store, ports.clock, plan=plan_id, source_id=source.id)
    done = await rehearse(ports, source, answers, full=full)
    embedder = ports.embedder()
    gap = await ports.store.embedding_gap(embedder.model, source.id)
    texts = done.counters.embeddings_computed + gap.missing
    chars = done.embedded_chars + gap.missing_chars
    return PlannedSync(
        id=plan_id,
        source=source.label,
        made_at=done.asked_at,
        state=state_of(done.source),
        full=full,
        lines=tuple(done.lines.values()),
        unchanged=done.counters.unchanged - done.counters.metadata_updated,
        requests=done.counters.requests,
        bytes_received=done.counters.bytes_received,
        embeddings=texts,
        held=done.held,
        problem=done.problem,
        not_kept=answers.not_kept,
        **embedding(embedder, texts, chars, price_per_million_tokens),
    )


async def apply(
    ports: Ports,
    source: Source,
    plan: PlannedSync,
    *,
    anyway: bool = False,
    on_event: OnEvent = unheard,
    on_wait: OnWait | None = None,
) -> PlanApplied:
    """Do what the plan says, if it still holds; with `anyway`, what holds instead of it.

    Raises `Conflict` for a plan that was made for another state of the source.
    """
    refuse_other_state(source, plan)
    answers = Answers(ports.store, ports.clock, plan=plan.id, source_id=source.id)
    now = await rehearse(ports, source, answers, full=plan.full)
    broken = compare(plan.lines, now)
    spent = {
        "checked_requests": now.counters.requests,
        "checked_bytes": now.counters.bytes_received,
    }
    if broken and not anyway:
        return PlanApplied(receipt=None, broken=broken, **spent)
    receipt = await sync(
        ports,
        source,
        full=plan.full,
        on_event=on_event,
        on_wait=on_wait,
        applied=Applied(asking=lambda asking: replaying(asking, answers), agreed=now, asked_at=now.asked_at),
    )
    if receipt.good:
        await forget(ports.store, now=ports.clock.now(), source=source)
    return PlanApplied(receipt=receipt, broken=broken, **spent)


def compare(planned: Sequence[Line], now: Rehearsed) -> tuple[Broken, ...]:
    """The lines that differ, in the order of their references."""
    before = {line.reference: line for line in planned}
    broken = []
    for reference in sorted(before.keys() | now.lines.keys()):
        old, new = before.get(reference), now.lines.get(reference)
        if old and new and (old.outcome, old.version) == (new.outcome, new.version):
            continue
        broken.append(
            Broken(reference, SIGNS[old.outcome] if old else None, SIGNS[new.outcome] if new else None)
        )
    return tuple(broken)


def state_of(source: Source) -> dict[str, Any]:
    return {
        "key": source.key,
        "settings": hashing.of_mapping(dict(source.params)).hex()[:16],
        "generation": source.active_generation,
    }


def refuse_other_state(source: Source, plan: PlannedSync) -> None:
    now = state_of(source)
    again = f"make a new one: `rowen plan {source.label} --out FILE`"
    if plan.state["key"].split(":")[:2] != source.key.split(":")[:2]:
        raise UserError(f"the plan is for source `{plan.source}`, not for `{source.label}`")
    if (plan.state["key"], plan.state["settings"]) != (now["key"], now["settings"]):
        raise Conflict(
            f"source `{source.label}`: its settings were edited after the plan was made", hint=again
        )
    if plan.state["generation"] != now["generation"]:
        raise Conflict(
            f"source `{source.label}`: readers see generation {now['generation']}; the plan was made for"
            f" generation {plan.state['generation']}",
            hint=again,
        )


async def forget(store: Plans, *, now: datetime, source: Source | None = None) -> int:
    """Answers kept for other plans of a source, and those of any source that are too old."""
    return await store.forget_answers(source_id=source.id if source else None, before=now - KEPT_FOR)


def to_dict(plan: PlannedSync) -> dict[str, Any]:
    """As it is written to a file."""
    return {
        "rowen_plan": FORMAT,
        "id": plan.id,
        "source": plan.source,
        "made_at": plan.made_at.isoformat(),
        "state": dict(plan.state),
        "full": plan.full,
        "counts": {**plan.counts, "unchanged": plan.unchanged},
        **{name: getattr(plan, name) for name in _PLAIN},
        "lines": [
            {
                "do": SIGNS[line.outcome],
                "reference": line.reference,
                "outcome": line.outcome.value,
                "reason": line.reason,
                "title": line.title,
                "version": line.version,
                "detail": line.detail,
            }
            for line in plan.lines
        ],
    }


def from_dict(found: Any, *, name: str) -> PlannedSync:
    """Raises `UserError` for what is no plan, or one of another format."""
    if not isinstance(found, dict) or "rowen_plan" not in found:
        raise UserError(f"`{name}` is no plan of Rowen", hint="`rowen plan NAME --out FILE` makes one")
    if found["rowen_plan"] != FORMAT:
        raise UserError(
            f"`{name}` is a plan of format {found['rowen_plan']}; this version reads {FORMAT}",
            hint="make a new one: `rowen plan NAME --out FILE`",
        )
    try:
        lines = tuple(
            Line(
                reference=one["reference"],
                outcome=Outcome(one["outcome"]),
                reason=one["reason"],
                title=one["title"],
                version=one["version"],
                detail=one["detail"],
            )
            for one in found["lines"]
        )
        return PlannedSync(
            id=found["id"],
            source=found["source"],
            made_at=datetime.fromisoformat(found["made_at"]),
            state={**found["state"], "key": str(found["state"]["key"])},
            full=found["full"],
            lines=lines,
            unchanged=found["counts"]["unchanged"],
            **{name: found[name] for name in _PLAIN},
        )
    except (KeyError, TypeError, ValueError) as exc:
        raise UserError(f"`{name}` is damaged: {type(exc).__name__} at {exc}") from exc


_PLAIN = (
    "requests", "bytes_received", "embeddings", "tokens", "calls", "cost", "model", "held", "problem",
    "not_kept",
)  # fmt: skip
