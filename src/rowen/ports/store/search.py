"""Ranked passages of what readers see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Protocol

from rowen.core.freshness.proof import Proof
from rowen.core.run import Run
from rowen.core.search.copies import Dataset
from rowen.core.search.hit import Filters, Place
from rowen.core.search.references.page_versions import Asked, PageVersion
from rowen.core.search.references.roles import ANYTHING, Wanted
from rowen.ports.embedder import Model
from rowen.records import NamedTuple, dataclass

DEPTH = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchRequest:
    terms: Sequence[str]
    """Words to look for, any of them; repeated words count twice. Empty: no keyword list."""
    vector: bytes | None
    """The query's vector under `model`. None: no vector list."""
    model: Model | None
    filters: Filters
    names: Sequence[str] = ()
    """Symbols to look up, by their words (`core/search/symbols.py`)."""
    depth: int = DEPTH
    """How many visible passages each list should hold."""
    prefix: str = ""
    """The beginning of one more word to look for, as it is being typed."""
    best: int | None = None
    """So many documents will be shown: places of documents that cannot be among them may be left out. None:
    all places, for a caller that chooses among them."""
    alpha: float = 0.5
    """How much the vector list weighs in telling which documents are the best."""
    per_document: bool = True
    """Documents are shown, and not sections on their own."""
    spells: bool = False
    """Words for mistyped terms are wanted, and names for mistyped names."""
    written: Sequence[str] = ()
    """Names of several words as the question has them: `lock_timeout`."""
    texts: bool = True
    """Places come with their texts. Else with empty ones, and `about` answers those that are shown."""
    asked_versions: Sequence[Asked] = ()
    """Versions of pages that the question names."""
    wanted: Wanted = ANYTHING
    """What the question says about the documents that answer it."""
    shown: Mapping[int, int] | None = None
    """Generations by source, to answer from what readers saw when these were visible. Other sources have
    nothing then. None: what readers see now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchResult:
    keyword: Mapping[int, float]
    """Passage id to score, higher is better."""
    dense: Mapping[int, float]
    places: Sequence[Place]
    """The visible places of ranked passages, of all or of the best documents, and those that define one of
    the names."""
    words_missing: bool = False
    """The index of words is being made, and the texts were too many to be looked through."""
    spelt: Mapping[str, str] = field(default_factory=dict)
    """For terms and names that no visible text has, one that a text has and that is a slip or two away."""
    versions: Mapping[int, PageVersion] = field(default_factory=dict)
    """Of the documents of these places, those of which their source has other versions."""
    weights: Mapping[int, float] = field(default_factory=dict)
    """Of the documents of these places, those that count less than others."""


class AboutDocument(NamedTuple):
    """A document of which a section is shown."""

    language: str | None = None
    """The one it is in, if it says so."""
    proof: Proof | None = None


class About(NamedTuple):
    """What is shown beside the places."""

    documents: Mapping[int, AboutDocument]
    texts: Mapping[int, str]
    """By passage; without those that were removed since."""


class Search(Protocol):
    async def search_snapshot(self, request: SearchRequest) -> SearchResult:
        """Rank by keyword and by vector inside one snapshot, visible sections only."""
        ...

    async def index_soon(self) -> None:
        """Go on indexing what a run has stored while it is looked through; `index_ahead` waits for it."""
        ...

    async def index_ahead(self, run: Run, generation: int) -> None:
        """Bring what searches keep beside the store in step with a generation that is about to be shown.

        A part of no transaction: where it fails or is left out, the next search catches up.
        """
        ...

    async def symbol_words(self, *, shortest: int, longest: int) -> list[str]:
        """The words by which symbols are looked up, of these lengths."""
        ...

    async def proofs(self, document_ids: Sequence[int]) -> dict[int, Proof]:
        """When and how these visible documents were last known to be right, and how fast they change."""
        ...

    async def about(
        self, document_ids: Sequence[int], places: Sequence[Place] = (), *, proven: bool
    ) -> About:
        """What is shown of these visible documents beside their places, and the texts of places without.

        `proven`: how the documents are known to be right, too.
        """
        ...

    async def datasets_alike(
        self, document_ids: Sequence[int], *, shown: Mapping[int, int] | None = None
    ) -> list[Dataset]:
        """Those of these documents that are datasets, and the visible ones that share a key with one of them.

        With their keys, less those that too many have. Empty when there is nothing to compare.
        """
        ...

    async def document_sections(
        self, document_id: int, *, shown: Mapping[int, int] | None = None
    ) -> list[Place]:
        """A visible document from its first section to its last; with `shown`, one that was visible then."""
        ...
