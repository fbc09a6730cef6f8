"""A search as every door asks it: sources by their names, and a model only where vectors are used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from rowen.core.search.hit import Filters, SearchCall, SearchMode
from rowen.core.search.languages import tag_of
from rowen.engine.embedding import for_search
from rowen.errors import UserError
from rowen.managing.find import choose_all
from rowen.reading import search as searching
from rowen.reading.as_of import resolve
from rowen.reading.proof import proven_hits

if TYPE_CHECKING:
    from rowen.core.search.hit import Answer
    from rowen.engine.ports import Ports


async def search(
    ports: Ports,
    query: str,
    *,
    sources: Sequence[str] = (),
    kinds: Iterable[str] = (),
    metadata: Mapping[str, str] | None = None,
    since: datetime | None = None,
    language: str = "",
    mode: SearchMode = SearchMode.HYBRID,
    limit: int = 10,
    prefix: bool = False,
    as_of: str | datetime | None = None,
    generation: int | None = None,
) -> Answer:
    """With `as_of` (a date, an instant, `2d`) or a `generation`, from what readers saw then."""
    wanted = tag_of(language)
    if language and not wanted:
        raise UserError(f"language `{language}`: expected a tag such as `de` or `pt-br`")
    chosen = await choose_all(ports.store, sources)
    then = await resolve(ports.store, chosen, at=as_of, generation=generation, now=ports.clock.now())
    filters = Filters(
        source_ids=frozenset(source.id for source in chosen),
        kinds=frozenset(kinds),
        metadata=dict(metadata or {}),
        since=since,
        language=wanted,
    )
    if ports.search_elsewhere is not None and then is None:
        call = SearchCall(query=query, filters=filters, mode=mode, limit=limit, prefix=prefix)
        answer = await ports.search_elsewhere(call)
        if answer is not None:
            return proven_hits(answer, ports.clock.now())
    # A keyword search never loads the model.
    embedder = await for_search(ports) if mode is not SearchMode.KEYWORD else None
    answer = await searching.search(
        ports.store, embedder, query, mode=mode, filters=filters, limit=limit, prefix=prefix, as_of=then
    )
    return proven_hits(answer, ports.clock.now())
