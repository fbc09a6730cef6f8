"""What changed lately, for readers with little room such as an assistant: each document once, as it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import Protocol

from rowen.core.feed import ALL_SOURCES, Chosen, Cursor, FeedItem, net
from rowen.core.generation import Change
from rowen.errors import UserError
from rowen.ports.store.feed import Feed
from rowen.ports.store.generations import Generations
from rowen.ports.store.search import Search
from rowen.records import dataclass

CHANGES_TOLD = 50
HEADINGS_TOLD = 8
_LIKE_A_CURSOR = re.compile(r"[0-9]*\.[0-9.]*")


class RecentStore(Feed, Generations, Search, Protocol):
    """What changed in visible documents, and what is kept of them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Touched:
    """A document that changed, as readers see it now."""

    change: str
    """`added`, `changed` or `removed`."""
    source: str
    reference: str
    url: str
    title: str
    document_id: int | None
    at: datetime
    headings: tuple[str, ...]
    """Of an added document its first ones, of a changed one those whose text is new or gone."""
    fields: tuple[str, ...] = ()
    """Of a changed document: `text`, `title`, `url` and names of metadata that differ."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    items: tuple[Touched, ...]
    cursor: Cursor
    """Where to go on."""
    more: bool


async def what_changed(store: RecentStore, chosen: Chosen = ALL_SOURCES, *, since: str = "") -> Changes:
    """What readers saw change in these sources, or in all, since a cursor, a date, or the change before last.

    A reference that was touched more than once is told once, by what became of it over all of them; one that
    came and went is not told.
    """
    start = await _start(store, chosen, since)
    page = await store.feed(start, **chosen, limit=CHANGES_TOLD + 1)
    more, page = len(page) > CHANGES_TOLD, page[:CHANGES_TOLD]
    latest = {(item.source, item.reference): item for item in page}
    first = {(item.source, item.reference): item for item in reversed(page)}
    changed = {key: change for key, item in latest.items() if (change := net(first[key], item))}
    differences = await _differences(store, latest.values())
    told = [
        await _touched(store, latest[key], change, differences.get(key)) for key, change in changed.items()
    ]
    return Changes(
        items=tuple(told),
        cursor=page[-1].cursor if page else start,
        more=more,
    )


async def _start(store: RecentStore, chosen: Chosen, since: str) -> Cursor:
    end = await store.feed_end()
    since = since.strip()
    if not since:
        # One before the first number from which nothing follows.
        after_last = await _first_activation(store, chosen, end, lambda item: item is None)
        return Cursor(after_last - 1, 0) if after_last > 1 else end
    if _LIKE_A_CURSOR.fullmatch(since):
        cursor = Cursor.parse(since)
        if cursor.activation > end.activation:
            raise UserError(f"cursor `{since}`: not one of this store", hint="leave it away to start over")
        return cursor
    moment = _moment(since)
    first = await _first_activation(store, chosen, end, lambda item: item is None or item.at >= moment)
    return Cursor(first, 0) if first <= end.activation else end


async def _first_activation(
    store: RecentStore, chosen: Chosen, end: Cursor, late_enough: Callable[[FeedItem | None], bool]
) -> int:
    """The first activation whose next item is late enough; found by halves, since times only grow."""
    low, high = 1, end.activation + 1
    while low < high:
        middle = (low + high) // 2
        following = await store.feed(Cursor(middle, 0), **chosen, limit=1)
        if late_enough(following[0] if following else None):
            high = middle
        else:
            low = middle + 1
    return low


def _moment(since: str) -> datetime:
    try:
        moment = datetime.fromisoformat(since)
    except ValueError:
        raise UserError(
            f"since `{since}`: neither a cursor that was given out nor a date",
            hint="give a date such as `2026-05-01`, or leave it away for the last change",
            since=since,
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


async def _differences(store: RecentStore, items: Collection[FeedItem]) -> dict[tuple[str, str], Change]:
    """What is new or gone inside changed documents, as far as history is kept."""
    found: dict[tuple[str, str], Change] = {}
    for source_id, label in {
        (item.source_id, item.source) for item in items if item.change in ("changed", "removed")
    }:
        generations = await store.generations(source_id)
        oldest = min(item.generation for item in items if item.source_id == source_id)
        before = max((g.number for g in generations if g.number < oldest and g.activated_at), default=0)
        active = next((g.number for g in generations if g.active), 0)
        if before and active > before:
            for change in await store.changes(source_id, before, active):
                found[label, change.reference] = change
    return found


async def _touched(store: RecentStore, item: FeedItem, change: str, difference: Change | None) -> Touched:
    document = item.document
    headings: Sequence[str] = ()
    if change == "changed" and difference is not None:
        headings = list(dict.fromkeys((*difference.headings_added, *difference.headings_removed)))
    elif change == "added" and document is not None:
        places = await store.document_sections(document.id)
        headings = list(dict.fromkeys(place.heading_path for place in places if place.heading_path))
    shown = document or difference
    return Touched(
        change=change,
        source=item.source,
        reference=item.reference,
        url=shown.url if shown else item.reference,
        title=shown.title if shown else "",
        document_id=document.id if document else None,
        at=item.at,
        headings=tuple(headings[:HEADINGS_TOLD]),
        fields=() if change == "added" else difference.fields if difference else item.fields,
    )
