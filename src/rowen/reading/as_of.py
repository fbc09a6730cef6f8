"""Which generations answer a question about an earlier time, or about a generation of a source.

Activations are recorded, rollbacks and approvals among them: the generation that was activated last before a
moment is what readers saw then.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from rowen.core.search import as_of as rules
from rowen.core.search.as_of import AsOf, SourceThen
from rowen.core.source import Source
from rowen.errors import NotFound, UserError
from rowen.ports.store.generations import Generations
from rowen.ports.store.sources import Sources


class ThenStore(Sources, Generations, Protocol):
    """Sources, and what was shown of them."""


async def resolve(
    store: ThenStore,
    chosen: Sequence[Source],
    *,
    at: str | datetime | None,
    generation: int | None,
    now: datetime,
) -> AsOf | None:
    """From what a question is answered; None when it is not about an earlier time.

    `chosen` are the sources that are asked, all of them if empty. Raises when none of them has anything.
    """
    if at is None and generation is None:
        return None
    if at is not None and generation is not None:
        raise UserError("both a time and a generation", hint="give one of them: what readers saw then, or it")
    every = await store.sources()
    if generation is not None:
        return await _generation(store, every, chosen or every, generation)
    assert at is not None
    moment = rules.moment(at if isinstance(at, str) else at.isoformat(), now)
    return await _moment(store, every, chosen, moment)


async def _moment(store: ThenStore, every: Sequence[Source], chosen: Sequence[Source], at: datetime) -> AsOf:
    shown = {one.source_id: one for one in await store.shown_at(at)}
    asked = [source for source in chosen or every if source.id in shown]
    sources = [rules.then(source.label, shown[source.id], at) for source in asked]
    if not chosen:
        known = {source.label for source in every}
        sources += [
            rules.removed(label, when)
            for label, when in await store.removed_since(at)
            # One that was added again speaks for itself.
            if label not in known
        ]
    if sources and all(one.generation is None for one in sources):
        raise NotFound(
            f"as of {_said(at)}: {'; '.join(one.says for one in sources)}",
            hint="give a later time; the setting `keep` of a source says how long history is kept",
            as_of=at.isoformat(),
        )
    visible = {one.source_id: one.generation for one in shown.values() if one.generation and one.kept}
    return AsOf(at=at, sources=tuple(sources), generations=visible)


async def _generation(
    store: ThenStore, every: Sequence[Source], asked: Sequence[Source], number: int
) -> AsOf:
    if not asked:
        raise NotFound(f"generation {number}: there are no sources yet", generation=number)
    if len(asked) > 1:
        raise UserError(
            f"generation {number}: of which source?",
            hint=f"generations belong to a source: name one of {len(asked)}, or give a time instead",
            generation=number,
        )
    source = asked[0]
    kept = {one.number: one for one in await store.generations(source.id)}
    found = kept.get(number)
    if found is None:
        numbers = ", ".join(str(one) for one in kept) or "none"
        raise NotFound(
            f"generation {number} of `{source.label}`: not kept"
            if number <= source.last_generation
            else f"generation {number} of `{source.label}`: there is no such generation yet",
            hint=f"kept: {numbers}",
            generation=number,
        )
    if found.activated_at is None:
        raise UserError(
            f"generation {number} of `{source.label}`: held, not shown yet",
            hint=f"`rowen diff {source.label}` tells what it would change",
            generation=number,
        )
    later: datetime | None = None
    then = SourceThen(source=source.label, generation=number, since=found.activated_at)
    for activation in await store.activations(source.id):
        if activation.generation == number:
            then = SourceThen(source=source.label, generation=number, since=activation.at, until=later)
            break
        later = activation.at
    # The words of other sources are weighed as they are now.
    visible = {one.id: one.active_generation for one in every if one.active_generation}
    return AsOf(at=None, sources=(then,), generations={**visible, source.id: number})


def _said(at: datetime) -> str:
    return AsOf(at=at, sources=()).says.removeprefix("as of ")
