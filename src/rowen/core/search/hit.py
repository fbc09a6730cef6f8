"""What a search asks and answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from rowen.core.freshness.recheck import Rechecked
from rowen.core.source import label_of
from rowen.records import dataclass

if TYPE_CHECKING:
    from rowen.core.search.as_of import AsOf


class SearchMode(StrEnum):
    HYBRID = "hybrid"
    KEYWORD = "keyword"
    VECTOR = "vector"


@dataclass(frozen=True, kw_only=True, slots=True)
class Filters:
    """Which documents a search may answer with. Empty means all."""

    source_ids: frozenset[int] = frozenset()
    kinds: frozenset[str] = frozenset()
    metadata: Mapping[str, str] = field(default_factory=dict)
    since: datetime | None = None
    language: str = ""
    """A tag as `core.search.languages` has it: only documents, and sections of them, that are in it."""

    @property
    def allow_all(self) -> bool:
        return not (self.source_ids or self.kinds or self.metadata or self.since or self.language)


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchCall:
    """A search that another process may answer."""

    query: str
    filters: Filters
    mode: SearchMode
    limit: int
    prefix: bool


Cut = tuple[int, int, bytes | None, str, str]
"""From which character of a content to which, which runs of them stay, the heading, and a text of its own."""
NOT_CUT: Cut = 0, 0, None, "", ""


class Place(NamedTuple):
    """A visible section that holds a passage: where a ranked passage can be shown.

    A tuple, because a search makes dozens.
    """

    passage_id: int
    document_id: int
    source: str
    version: str
    kind: str
    reference: str
    url: str
    title: str
    generation: int
    fetched_at: datetime
    position: int
    heading_path: str
    anchor: str | None
    text: str
    content_id: int = 0
    """The same for all documents with this text; 0 where that is not known."""
    link_share: int = 0
    """How much of the text is text of links, in percent."""
    symbol: str | None = None
    """What the section defines."""
    symbol_kind: str | None = None
    cut: Cut = NOT_CUT
    """By which the store finds the text, when it came without."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SectionHit:
    heading_path: str
    url: str
    snippet: str
    score: float
    matches: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class AlsoAt:
    """Another document with the very same text."""

    document_id: int
    source: str
    version: str
    url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyAt:
    """The same dataset on another portal."""

    document_id: int
    source: str
    version: str
    url: str
    title: str
    by: str
    """What tells that it is the same: `identifier`, `text`, `page` or `files`."""

    @property
    def label(self) -> str:
        """Of its source."""
        return label_of(self.source, self.version)


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    source: str
    version: str
    url: str
    """With the anchor of the best section."""
    title: str
    heading_path: str
    snippet: str
    """Plain text in one line."""
    score: float
    """How likely it is the answer, from 0 to 1."""
    generation: int
    fetched_at: datetime
    sections: tuple[SectionHit, ...] = ()
    """The other sections of the document that matched."""
    also_at: tuple[AlsoAt, ...] = ()
    copies: tuple[CopyAt, ...] = ()
    defines: str | None = None
    """What its section defines: `asyncio.TaskGroup`."""
    document_id: int = 0
    """To read the whole of it."""
    verified_at: datetime | None = None
    """When its document was last known to be right."""
    verified_by: str | None = None
    """How, as `core.web.verified` names the ways."""
    change_rate: float | None = None
    """Changes of its page per second, as learnt; None while that is not known."""
    p_fresh: float | None = None
    """The probability that it is current at the time of the answer; None where that cannot be told."""
    by_words: float | None = None
    """Where its section stands among all that were found by words, from 0 (the last) to 1 (the first); None
    when it was not found by them.
    """
    by_meaning: float | None = None
    """The same among those that were found by meaning."""
    matches: tuple[tuple[int, int], ...] = ()
    """Where words of the question stand in the snippet: start and end, the end not included."""
    language: str | None = None
    """Of its section, or of the document where that has one; None if it is not known."""
    old_version: bool = False
    """Its source has a newer version of this page (`core/search/references/page_versions.py`)."""

    @property
    def label(self) -> str:
        """Of its source."""
        return label_of(self.source, self.version)

    @property
    def same_text_at(self) -> tuple[AlsoAt, ...]:
        """`also_at` without the copies and its own address: for people, who need no address twice."""
        copies = {one.document_id for one in self.copies}
        others = (one for one in self.also_at if one.document_id not in copies)
        return tuple(one for one in others if not self._is_here(one))

    @property
    def same_page_in(self) -> tuple[str, ...]:
        """The other sources that have this very address with the same text."""
        here = (one for one in self.also_at if self._is_here(one))
        return tuple(
            dict.fromkeys(f"{one.source}@{one.version}" if one.version else one.source for one in here)
        )

    def _is_here(self, other: AlsoAt) -> bool:
        return other.url.partition("#")[0] == self.url.partition("#")[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    query: str
    mode: SearchMode
    """The mode that answered: `keyword` when vectors were asked for and could not be had."""
    degraded: str | None
    hits: tuple[Hit, ...]
    corrected: str | None = None
    """What was looked for in place of a name that nothing has."""
    on_topic: float = 1.0
    """How likely the question is about something that the sources speak of, from 0 to 1."""
    fits: bool = True
    """False when nothing that was found fits well: the hits are what comes nearest."""
    as_of: AsOf | None = None
    """From what it was answered, when the question was about an earlier time."""
    rechecked: Rechecked | None = None
    """What was asked for again before it was answered, when that was wanted."""

    @property
    def in_several_languages(self) -> bool:
        return len({hit.language for hit in self.hits if hit.language}) > 1
