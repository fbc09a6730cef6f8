"""What changed in a source since a time or a generation, in words for people: its changelog.

The change feed is for programs that follow it; this sums it up: each document once, as new, updated or
removed, with notes on the names and sections that differ in it as far as history is kept, and folders that
went as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from rowen.core.compare.notes import Folder, Note, compared, folders
from rowen.core.compare.outline import outline
from rowen.core.feed import Cursor, FeedItem, net, these
from rowen.core.generation import Activation, Cause, Change
from rowen.core.source import Source
from rowen.ports.store.feed import Feed
from rowen.ports.store.generations import Generations
from rowen.records import dataclass

SHOWN = 50
PAGE = 500
RELEASES = 20
"""Moments of a changelog."""
WORDS = {"added": "new", "changed": "updated", "removed": "removed"}
"""What every door calls a change; JSON keeps the names on the left."""


class ChangeStore(Feed, Generations, Protocol):
    """The feed, and the generations it is about."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangedDocument:
    change: str
    """`added`, `changed` or `removed`, over the whole stretch."""
    reference: str
    url: str
    title: str
    document_id: int | None
    """Of the visible version; None when it was removed."""
    at: datetime
    """When readers saw it last change."""
    sections: tuple[str, ...] = ()
    """Of an updated document: the heading paths whose text is new or gone, where history still has them."""
    notes: tuple[Note, ...] = ()
    """Of an updated document: names that it defines, with their signatures, and sections, where history has
    both versions."""

    @property
    def word(self) -> str:
        """`new`, `updated` or `removed`."""
        return WORDS[self.change]


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceChanges:
    source: str
    since: datetime | None
    """When the stretch begins; None for one that begins with the source."""
    until: datetime | None
    """When readers saw its last change; None when there was none."""
    from_generation: int
    to_generation: int
    counts: dict[str, int]
    """By change, of all documents, also of those that are not listed."""
    documents: tuple[ChangedDocument, ...]
    """The newest changes first."""
    more: int = 0
    """How many documents changed besides the listed ones."""
    folders: tuple[Folder, ...] = ()
    """Where many documents went from one folder, listed or not."""

    @property
    def summary(self) -> str:
        """`3 new, 12 updated, 2 removed`, or `nothing new`."""
        said = [f"{number:,} {WORDS[change]}" for change, number in self.counts.items() if number]
        return ", ".join(said) or "nothing new"

    @property
    def told(self) -> tuple[ChangedDocument, ...]:
        """The listed documents but for those that went with their folder."""
        return tuple(one for one in self.documents if one.reference not in self._gone)

    @property
    def untold(self) -> int:
        """How many documents changed that are neither told nor in a folder that is."""
        return sum(self.counts.values()) - len(self.told) - len(self._gone)

    @property
    def _gone(self) -> frozenset[str]:
        return frozenset(reference for folder in self.folders for reference in folder.references)


async def changes(
    store: ChangeStore,
    source: Source,
    *,
    since: datetime | None = None,
    limit: int = SHOWN,
) -> SourceChanges:
    """What readers saw change in a source since a time.

    Without one it is the last change. What came and went inside the stretch, or changed and changed back, is
    not told.
    """
    shown = await _stretch(store, source, since)
    start, later = shown[0], shown[1:]
    items = await _items(store, source, later[0]) if later else []
    first: dict[str, FeedItem] = {}
    last: dict[str, FeedItem] = {}
    for item in items:
        first.setdefault(item.reference, item)
        last[item.reference] = item
    stretch = (start.generation, source.active_generation)
    differences = await _differences(store, source, *stretch) if last else {}
    told = _told(first, last, differences, began_empty=start.generation == 0)
    counts = {change: sum(one == change for one in told.values()) for change in WORDS}
    newest = sorted((last[name] for name in told), key=lambda item: item.cursor, reverse=True)[:limit]
    shown_of = differences or {}
    documents = [_document(item, told[item.reference], shown_of.get(item.reference)) for item in newest]
    return SourceChanges(
        source=source.label,
        since=since or (start.at if start.id else None),
        until=later[-1].at if later else None,
        from_generation=start.generation,
        to_generation=source.active_generation,
        counts=counts,
        documents=tuple([await _with_notes(store, source, one, stretch) for one in documents]),
        more=len(told) - len(newest),
        folders=tuple(folders(name for name, change in told.items() if change == "removed")),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """One moment at which readers were shown another generation."""

    activation: Activation
    changes: tuple[Change, ...]
    notes: dict[str, tuple[Note, ...]]
    """Of updated documents, by reference."""
    folders: tuple[Folder, ...] = ()


async def releases(store: ChangeStore, source: Source) -> list[Release]:
    """The changelog by the moments readers saw it, the newest first, as far as history has both sides."""
    kept = {one.number for one in await store.generations(source.id)}
    found = []
    for shown in await store.activations(source.id, limit=RELEASES):
        if shown.generation not in kept or (shown.previous and shown.previous not in kept):
            continue
        stretch = (shown.previous, shown.generation)
        changed = await store.changes(source.id, *stretch)
        updated = [one for one in changed if one.kind == "changed"][:SHOWN]
        notes = {one.reference: await _notes(store, source, one.reference, stretch) for one in updated}
        gone = tuple(folders(one.reference for one in changed if one.kind == "removed"))
        found.append(Release(activation=shown, changes=tuple(changed), notes=notes, folders=gone))
    return found


async def all_changes(
    store: ChangeStore, sources: Sequence[Source], *, since: datetime | None = None, limit: int = SHOWN
) -> list[SourceChanges]:
    """The same for several sources; those without a change are left out."""
    found = [await changes(store, source, since=since, limit=limit) for source in sources]
    return [one for one in found if any(one.counts.values())]


async def _stretch(store: ChangeStore, source: Source, since: datetime | None) -> list[Activation]:
    """What was visible when the stretch begins, then everything that was shown after it."""
    if since is not None:
        shown = await store.activations_since(source.id, since)
        return shown if shown and shown[0].at < since else [_nothing(since), *shown]
    newest = await store.activations(source.id, limit=1)
    return [_before(newest[0]), newest[0]] if newest else [_nothing(source.created_at)]


def _nothing(at: datetime) -> Activation:
    return Activation(
        id=0, generation=0, previous=0, run_id=None, at=at, cause=Cause.RUN, by=None, documents=0
    )


def _before(one: Activation) -> Activation:
    """What the last activation took the place of."""
    return Activation(
        id=0, generation=one.previous, previous=0, run_id=None, at=one.at, cause=Cause.RUN, by=None
    )


async def _items(store: Feed, source: Source, first: Activation) -> list[FeedItem]:
    found: list[FeedItem] = []
    cursor = Cursor(first.id, 0)
    while page := await store.feed(cursor, **these([source]), limit=PAGE):
        found += [item for item in page if item.source_id == source.id]
        cursor = page[-1].cursor
    return found


def _told(
    first: Mapping[str, FeedItem],
    last: Mapping[str, FeedItem],
    differences: Mapping[str, Change] | None,
    *,
    began_empty: bool,
) -> dict[str, str]:
    """What became of each document that was touched, over the whole stretch.

    The generations say so as far as they are kept. Of a document that a rollback touched the feed does not
    know whether readers had seen it.
    """
    found: dict[str, str] = {}
    for reference, item in last.items():
        change = net(first[reference], item)
        if began_empty:
            change = "added" if item.document else None
        elif differences is not None:
            difference = differences.get(reference)
            change = difference.kind if difference and _differs(difference) else None
        if change is not None:
            found[reference] = change
    return found


def _differs(one: Change) -> bool:
    """A document that changed and changed back has another version, and nothing that is new in it."""
    return one.kind != "changed" or bool(one.fields)


async def _with_notes(
    store: Generations, source: Source, one: ChangedDocument, stretch: tuple[int, int]
) -> ChangedDocument:
    if one.change != "changed" or not one.sections:
        return one
    return replace(one, notes=await _notes(store, source, one.reference, stretch))


async def _notes(
    store: Generations, source: Source, reference: str, stretch: tuple[int, int]
) -> tuple[Note, ...]:
    """What differs in a document between two generations that are kept."""
    versions = await store.versions(source.id, reference, text_at=stretch)
    before, after = (
        next((one.text for one in versions if one.is_visible_at(number)), None) for number in stretch
    )
    if before is None or after is None:
        return ()
    return tuple(compared(outline(before), outline(after)))


async def _differences(
    store: Generations, source: Source, before: int, after: int
) -> dict[str, Change] | None:
    """Between two generations, by reference; None when the first one is not kept."""
    kept = {one.number for one in await store.generations(source.id)}
    if before not in kept:
        return None
    if before == after:
        return {}
    found = await store.changes(source.id, before, after)
    return {change.reference: change for change in found}


def _document(item: FeedItem, change: str, difference: Change | None) -> ChangedDocument:
    shown = item.document or difference
    sections: tuple[str, ...] = ()
    if change == "changed" and difference is not None:
        sections = tuple(dict.fromkeys((*difference.headings_added, *difference.headings_removed)))
    return ChangedDocument(
        change=change,
        reference=item.reference,
        url=shown.url if shown else item.reference,
        title=shown.title if shown else "",
        document_id=item.document.id if item.document else None,
        at=item.at,
        sections=sections,
    )
