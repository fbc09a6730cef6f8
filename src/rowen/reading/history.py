"""Generations of a source: diff, rollback, approve, vacuum."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from rowen.core.generation import Activation, Diff, Generation, GenerationHistory, oldest_kept
from rowen.core.source import Source
from rowen.engine.leases import pinned, reloaded, run_lease
from rowen.engine.ports import Ports
from rowen.errors import NotFound, UserError
from rowen.ports.store.generations import Generations, Vacuumed


async def diff(
    store: Generations,
    source: Source,
    *,
    from_generation: int | None = None,
    to_generation: int | None = None,
) -> Diff:
    """What changed between two generations, by default those of `span`."""
    before, after = await span(store, source, from_generation=from_generation, to_generation=to_generation)
    changes = await store.changes(source.id, before, after)
    held = source.held_generation is not None and after == source.held_generation
    return Diff(from_generation=before, to_generation=after, changes=tuple(changes), held=held)


async def span(
    store: Generations,
    source: Source,
    *,
    from_generation: int | None = None,
    to_generation: int | None = None,
) -> tuple[int, int]:
    """Two generations to compare: by default the one readers see and a held one; without a held one, the one
    before what readers see, and that. Raises `NotFound` for one that is not kept.
    """
    generations = await store.generations(source.id)
    held = source.held_generation
    if to_generation is None and from_generation is None and held is not None:
        from_generation = source.active_generation
    to = (held or source.active_generation) if to_generation is None else to_generation
    if from_generation is None and to == held:
        from_generation = source.active_generation
    if from_generation is None:
        from_generation = max((g.number for g in generations if g.number < to), default=0)
        if not from_generation and to > 1:
            raise NotFound(f"source `{source.label}`: no generation before {to} is kept", source=source.label)
    for number in (from_generation, to):
        if number:
            _existing(source, generations, number)
    return from_generation, to


async def generations(store: Generations, source: Source) -> list[GenerationHistory]:
    """The generations that can still be shown, oldest first, each with when, why and by whom it was shown."""
    shown: dict[int, list[Activation]] = {}
    for activation in await store.activations(source.id):
        shown.setdefault(activation.generation, []).append(activation)
    return [
        GenerationHistory(generation=one, activations=tuple(shown.get(one.number, ())))
        for one in await store.generations(source.id)
    ]


async def rollback(
    ports: Ports,
    source: Source,
    *,
    to_generation: int | None = None,
    pin: bool = False,
    by: str | None = None,
) -> int:
    """Show an older generation again, or a newer one that is still kept; the next sync builds on it.

    With `pin` there is no next sync: the source stays there until `managing.pausing.resume`. `by` is who
    decided it, as `core.rules.standing` names callers.
    """
    async with run_lease(ports, source):
        source = await reloaded(ports.store, source)
        generations = await ports.store.generations(source.id)
        if to_generation is None:
            older = [g.number for g in generations if g.number < source.active_generation and g.activated_at]
            if not older:
                raise NotFound(
                    f"source `{source.label}`: no generation before {source.active_generation} is kept",
                    source=source.label,
                )
            to_generation = max(older)
        target = _existing(source, generations, to_generation)
        if target.activated_at is None:
            raise UserError(
                f"generation {to_generation} of `{source.label}`: held, not shown yet",
                hint=f"show it with `rowen approve {source.label}`",
            )
        if to_generation != source.active_generation:
            await ports.store.activate(source.id, to_generation, now=ports.clock.now(), by=by, pin=pin)
        elif pin:
            await ports.store.set_pinned(source.id, True, by=by, now=ports.clock.now())
        return to_generation


async def approve(ports: Ports, source: Source, *, by: str | None = None) -> int:
    """Show the generation that the deletion guard held."""
    async with run_lease(ports, source):
        source = await reloaded(ports.store, source)
        if source.held_generation is None:
            raise NotFound(f"source `{source.label}`: nothing is held", source=source.label)
        if source.is_pinned:
            raise pinned(source)
        await ports.store.activate(source.id, source.held_generation, now=ports.clock.now(), by=by)
        return source.held_generation


async def vacuum(
    store: Generations,
    sources: Sequence[Source],
    *,
    keep: int,
    keep_s: float = 0.0,
    now: datetime | None = None,
    handoffs_before: datetime | None = None,
) -> Vacuumed:
    """Delete what died before the kept history, and what is not used any more.

    A generation is kept if it is among the last `keep`, or if readers saw it within the time of its source's
    setting `keep`, else within `keep_s`, before `now`.
    """
    floors = {}
    for source in sources:
        numbers = [g.number for g in await store.generations(source.id) if g.activated_at]
        own_s = source.params.get("keep") or keep_s
        seen = await store.oldest_seen(source.id, now - timedelta(seconds=own_s)) if own_s and now else None
        floors[source.id] = oldest_kept(numbers, active=source.active_generation, keep=keep, seen=seen)
    return await store.vacuum(floors, handoffs_before=handoffs_before, everything=True)


def _existing(source: Source, generations: list[Generation], number: int) -> Generation:
    for generation in generations:
        if generation.number == number:
            return generation
    kept = ", ".join(str(g.number) for g in generations) or "none"
    raise NotFound(
        f"generation {number} of `{source.label}`: not kept", hint=f"kept: {kept}", generation=number
    )
