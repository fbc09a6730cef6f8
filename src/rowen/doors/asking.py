"""A search as every door asks it: sources by their names, and a model only where vectors are used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, TypedDict, Unpack

from rowen.core.search.hit import Filters, SearchCall, SearchMode
from rowen.core.search.languages import tag_of
from rowen.errors import UserError
from rowen.eventloop import loop_here
from rowen.managing.find import choose_all
from rowen.reading import search as searching
from rowen.reading.proof import proven_hits
from rowen.records import NamedTuple

if TYPE_CHECKING:
    from rowen.core.search.as_of import AsOf
    from rowen.core.search.hit import Answer
    from rowen.engine.ports import Ports
    from rowen.ports.embedder import Embedder


class Asking(TypedDict, total=False):
    """What callers may say beside the question."""

    sources: Sequence[str]
    kinds: Iterable[str]
    metadata: Mapping[str, str] | None
    since: datetime | None
    language: str
    mode: SearchMode
    limit: int
    prefix: bool
    as_of: str | datetime | None
    generation: int | None


class Asked(NamedTuple):
    """A question that is understood: its sources were found."""

    call: SearchCall
    then: AsOf | None
    """About an earlier time: what readers saw then."""


async def search(
    ports: Ports,
    query: str,
    *,
    fresh: float | None = None,
    on_change: Callable[[], None] = lambda: None,
    **asked: Unpack[Asking],
) -> Answer:
    """With `as_of` (a date, an instant, `2d`) or a `generation`, from what readers saw then.

    With `fresh`, hits that are not current with this probability are asked for again before it answers;
    `on_change` is called when readers see something new because of it.
    """
    question = await understood(ports, query, **asked)
    if fresh is None:
        return await _found(ports, question)
    return await current(ports, question, fresh, on_change=on_change)


async def current(
    ports: Ports, question: Asked, fresh: float, *, on_change: Callable[[], None] = lambda: None
) -> Answer:
    """The answer after doubtful hits were asked for again."""
    if question.then is not None:
        raise UserError("fresh: an earlier time is not asked for again", hint="omit one of the two")
    await loop_here()
    # Few searches want it, and it brings what makes runs.
    from rowen.service.rechecking import recheck

    answer = await _found(ports, question)
    rechecked = await recheck(ports, answer, fresh, on_change=on_change)
    if rechecked.asked:
        answer = await _found(ports, question)
    return replace(answer, rechecked=rechecked)


async def _found(ports: Ports, question: Asked) -> Answer:
    if ports.search_elsewhere is not None and question.then is None:
        answer = await ports.search_elsewhere(question.call)
        if answer is not None:
            return answer
    return await answered(ports, question.call, question.then)


async def understood(ports: Ports, query: str, **asked: Unpack[Asking]) -> Asked:
    language = asked.get("language", "")
    wanted = tag_of(language)
    if language and not wanted:
        raise UserError(f"language `{language}`: expected a tag such as `de` or `pt-br`")
    chosen = await choose_all(ports.store, asked.get("sources", ()))
    at, generation = asked.get("as_of"), asked.get("generation")
    then: AsOf | None = None
    if at is not None or generation is not None:
        from rowen.reading.as_of import resolve  # few searches are about an earlier time

        then = await resolve(ports.store, chosen, at=at, generation=generation, now=ports.clock.now())
    filters = Filters(
        source_ids=frozenset(source.id for source in chosen),
        kinds=frozenset(asked.get("kinds", ())),
        metadata=dict(asked.get("metadata") or {}),
        since=asked.get("since"),
        language=wanted,
    )
    call = SearchCall(
        query=query,
        filters=filters,
        mode=asked.get("mode", SearchMode.HYBRID),
        limit=asked.get("limit", 10),
        prefix=asked.get("prefix", False),
    )
    return Asked(call, then)


async def answered(ports: Ports, call: SearchCall, then: AsOf | None = None) -> Answer:
    """The answer of this process."""
    # A keyword search never loads the model.
    embedder: Embedder | None = None
    if call.mode is not SearchMode.KEYWORD:
        from rowen.engine.embedding import for_search

        embedder = await for_search(ports)
    answer = await searching.search(
        ports.store,
        embedder,
        call.query,
        mode=call.mode,
        filters=call.filters,
        limit=call.limit,
        prefix=call.prefix,
        as_of=then,
    )
    if then is None and not call.prefix:
        # Pages that readers are shown often are worth more requests.
        ports.shown.count(ports.store, ports.clock, [hit.document_id for hit in answer.hits])
    return proven_hits(answer, ports.clock.now())
