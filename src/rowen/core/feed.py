"""The change feed: what readers saw change, in the order in which it was shown to them.

Every activation (a run, an approval, a rollback) has a number; each carries the references it touched. A
cursor is a place in that order. Reading from a cursor gives every touched reference at least once, with what
is visible of it now: state, not history, so that reading late, or twice, does no harm.

The removal of a source has a number too. It is one item, which stands for everything that was told of the
source before: those items are not in the feed any more. A source that is added under the same label later is
another one, whose items follow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, TypedDict

from rowen.core.document import DETAILS, TEXT, Draft, changed_metadata
from rowen.core.section import prose_of
from rowen.core.source import Source
from rowen.errors import UserError
from rowen.records import dataclass


@dataclass(frozen=True, order=True, slots=True)
class Cursor:
    activation: int = 0
    item: int = 0

    def __str__(self) -> str:
        return f"{self.activation}.{self.item}"

    @classmethod
    def parse(cls, text: str) -> Cursor:
        activation, dot, item = text.partition(".")
        # `isdigit` also accepts the digits of other scripts; a database takes 18 digits.
        if dot and all(p.isascii() and p.isdigit() and len(p) <= 18 for p in (activation, item)):
            return cls(int(activation), int(item))
        raise UserError(f"cursor `{text}`: not one that was given out", hint="leave it away to start over")


START = Cursor()
SOURCE_REMOVED = "source_removed"
"""The change that says that a source is gone, with all its documents."""
LAST_ITEM = 10**17
"""Beyond every item: in the cursor of an activation that was read to its end."""


class Chosen(TypedDict):
    """Whose changes are read."""

    source_ids: Collection[int] | None
    """None for all sources, also for those that come later or were removed."""
    removed: Collection[str]
    """Labels: the removal of such a source is told. A number would not do, it may be another source's."""


ALL_SOURCES = Chosen(source_ids=None, removed=())


def these(sources: Collection[Source], *, removed: Collection[str] = ()) -> Chosen:
    """The changes of these sources, and their removal."""
    return Chosen(
        source_ids=[source.id for source in sources],
        removed=[*(source.label for source in sources), *removed],
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A visible version of a reference."""

    id: int
    source_id: int
    source: str
    """The label: name and version."""
    kind: str
    reference: str
    url: str
    title: str
    metadata: Mapping[str, Any]
    content_type: str
    content_hash: bytes
    generation: int
    """The one readers see."""
    born: int
    """The generation this version came with."""
    fetched_at: datetime
    text: str | None = None
    """Only when it was asked for."""
    verified_at: datetime | None = None
    """When it was last known to be right."""
    verified_by: str | None = None
    """How, as `core.web.verified` names the ways; None where that was not kept."""
    p_fresh: float | None = None
    """The probability that it is current; only when it was asked for, and None where it cannot be told."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedItem:
    cursor: Cursor
    source_id: int
    """0 for a source that was removed: its number may be another's by now."""
    source: str
    kind: str
    """Of the source."""
    generation: int
    """The one whose activation touched it; of a removed source, the last one that readers saw."""
    reference: str
    """Empty for a source that was removed."""
    change: str
    """`added`, `changed` or `removed`, as readers see it now, or `source_removed`."""
    at: datetime
    document: Document | None
    """None when readers do not see it any more."""
    fields: tuple[str, ...] = ()
    """Of a changed document: what differed from the version before, `text` first, then names of metadata."""
    came: bool = False
    """Readers had not seen it before this; they may see it no more by now."""


def net(first: FeedItem, last: FeedItem) -> str | None:
    """What became of a document between the first and the last time it was touched.

    None for one that came and went in between: neither those who looked before nor those who look now see it.
    """
    if last.change == SOURCE_REMOVED:
        return SOURCE_REMOVED
    if last.document is None:
        return None if first.came else "removed"
    return "added" if first.came else "changed"


def changed_fields(before: Document, after: Draft) -> Iterator[str]:
    """What differs between the version readers see (with its text) and a newer one."""
    same = before.content_hash == after.content_hash
    metadata = list(changed_metadata(before.metadata, after.metadata))
    if not same and prose_of(before.text or "") != prose_of(after.text):
        yield TEXT
    elif not same and not metadata:
        yield DETAILS
    if before.title != after.title:
        yield "title"
    if before.url != after.url:
        yield "url"
    yield from metadata
