"""Hits that are the same dataset on several portals become one, with the others listed.

One read for the datasets that are shown, and none for pages; another round only when something was folded and
there may be more to show in its place.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from rowen.core.search import copies as rules
from rowen.core.search.copies import Copy
from rowen.core.search.hit import CopyAt, Filters
from rowen.core.search.rank import Group
from rowen.ports.store.search import Search

MORE = 3
"""How many times as many documents are looked at when some of them are copies of others."""
Copies = Mapping[int, Sequence[CopyAt]]
"""By the document that is shown."""
NO_COPIES: Copies = {}


async def folded(
    store: Search,
    groups: list[Group],
    more: Callable[[int], Awaitable[list[Group]]],
    limit: int,
    *,
    filters: Filters,
    shown: Mapping[int, int] | None,
) -> tuple[list[Group], Copies]:
    """The groups without copies of ones before them, and the copies of each. `more` has further groups."""
    kept, copies = await _fold(store, groups, filters, shown)
    if len(kept) < len(groups) == limit:
        kept, copies = await _fold(store, await more(limit * MORE), filters, shown)
    return kept[:limit], copies


async def _fold(
    store: Search, groups: list[Group], filters: Filters, shown: Mapping[int, int] | None
) -> tuple[list[Group], Copies]:
    ids = [one.best.place.document_id for one in groups if one.best.place.kind not in rules.NO_DATASETS]
    alike = await store.datasets_alike(ids, shown=shown) if ids else []
    if filters.source_ids:
        # Who asks for some sources is told of no others.
        alike = [one for one in alike if one.source_id in filters.source_ids]
    found = rules.copies(ids, alike) if len(alike) > 1 else {}
    if not found:
        return groups, NO_COPIES
    kept: list[Group] = []
    copies: dict[int, list[CopyAt]] = {}
    folded: set[int] = set()
    for one in groups:
        document = one.best.place.document_id
        if document in folded:
            continue
        kept.append(one)
        same = found.get(document, [])
        copies[document] = [_copy_at(other) for other in same]
        folded.update(other.dataset.document_id for other in same)
    return kept, copies


def _copy_at(copy: Copy) -> CopyAt:
    one = copy.dataset
    return CopyAt(
        document_id=one.document_id,
        source=one.source,
        version=one.version,
        url=one.url,
        title=one.title,
        by=copy.by,
    )
