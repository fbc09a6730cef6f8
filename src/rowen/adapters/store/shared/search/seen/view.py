"""What readers see, as arrays: every visible section with its document, in the order of what it says.

A text is known by its key, the beginning of its hash, so that what follows the texts (an index of words, a
matrix of vectors) can never take one text for another, whichever numbers a store gives them. A view belongs
to one state of the pointers and is never changed; the next one takes over all but the documents that differ.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from rowen.adapters.store.shared.search.arrays.library import MOST_DOCUMENTS, MOST_SECTIONS, few_at_most, np
from rowen.adapters.store.shared.transaction import Row, Transaction
from rowen.core import hashing
from rowen.core.search import languages
from rowen.core.search.hit import Filters
from rowen.core.search.rank import title_stems
from rowen.core.search.references import page_versions
from rowen.core.search.references.roles import Role, role_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")

KEPT_FILTERS = 64
ROLE_BITS = 2
"""The lowest ones of a label."""
DOCUMENTS_AT_ONCE = 2_000
"""Documents whose sections are read with one statement."""

Token = tuple[Any, ...]
"""Which pointers a snapshot sees: the last activation and the last removal."""
Kept = dict[str, tuple[object, Any]]
"""What was worked out, by name, with the state of the follower it belongs to."""
DOCUMENTS = (
    "document",
    "born",
    "source",
    "content",
    "fetched",
    "page",
    "edition",
    "leaf",
    "label",
    "stems_before",
)
SECTIONS = ("key", "passage", "row", "position", "links", "heading")


@dataclass(frozen=True, eq=False)
class Allowed:
    """What passes a filter."""

    rows: NDArray[np.bool_]
    """Of each document of the view, whether it does."""
    slots: NDArray[np.int64]
    """The texts that stand in one of them."""
    texts: NDArray[np.bool_]
    """Of each text of the view, whether it is one of these."""
    _kept: Kept = field(default_factory=dict)

    def once(self, name: str, state: object, work: Callable[[], T]) -> T:
        """What follows from the filter and the state of a follower, worked out when that changes."""
        return _once(self._kept, name, state, work)


@dataclass(frozen=True, eq=False)
class View:
    """One state of the pointers, as arrays."""

    token: Token
    sources: dict[int, Row]
    """By number: its kind, its generation, when it was added (numbers may be given again), name, location."""

    document: NDArray[np.int64]
    born: NDArray[np.int64]
    source: NDArray[np.int64]
    content: NDArray[np.int64]
    fetched: NDArray[np.int64]
    """Microseconds."""
    page: NDArray[np.int64]
    """The same for documents that may be versions of one page (`core/search/references/page_versions.py`)."""
    edition: NDArray[np.int64]
    """Which of them it is; more is more current."""
    leaf: NDArray[np.int64]
    """The same for documents that may be translations of one page (`core/search/languages.py`)."""
    label: NDArray[np.int64]
    """The language that its reference says, and its role: see `weights.py`."""
    stems_before: NDArray[np.int64]
    """How many of `stems` belong to the titles of documents before this one."""
    stems: NDArray[np.uint32]

    key: NDArray[np.int64]
    """Ascending; the arrays below have a place for each visible section as well."""
    passage: NDArray[np.int64]
    row: NDArray[np.int32]
    """Of its document in the arrays above."""
    position: NDArray[np.int32]
    links: NDArray[np.uint8]
    """The share of its text that is links, in percent."""
    heading: NDArray[np.uint32]
    """Differs for different heading paths."""

    keys: NDArray[np.int64]
    """The different texts, ascending. A slot is a place in this array."""
    first: NDArray[np.int64]
    """Where the sections of a slot begin; the last number is where they end."""

    unsaved: int = 0
    """Sections that were read since the view was last put on the disk."""

    _allowed: dict[Any, Allowed] = field(default_factory=dict, init=False)
    _kept: Kept = field(default_factory=dict, init=False)

    def once(self, name: str, state: object, work: Callable[[], T]) -> T:
        """What follows from the view and the state of a follower, worked out when that changes."""
        return _once(self._kept, name, state, work)

    def slots_of_keys(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The slots of texts; -1 for those that readers cannot see."""
        return _found(self.keys, keys)

    def slots_of_passages(self, passages: NDArray[np.int64]) -> NDArray[np.int64]:
        ascending, slots = self._by_passage
        at = _found(ascending, passages)
        return np.where(at >= 0, slots[at], -1) if len(slots) else at

    def passages_of(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.passage[self.first[slots]]

    @cached_property
    def _by_passage(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        of_slot = self.passage[self.first[:-1]]
        order = of_slot.argsort()
        return of_slot[order], order

    def rows_of_documents(self, documents: Sequence[int]) -> NDArray[np.int64]:
        """The rows of documents; -1 for those that readers cannot see."""
        ascending, rows = self._by_document
        at = _found(ascending, np.array(documents, np.int64))
        return np.where(at >= 0, rows[at], -1) if len(rows) else at

    @cached_property
    def _by_document(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        order = self.document.argsort()
        return self.document[order], order

    def places_of(self, slots: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Every section with these texts; and for each, which of the slots it is of."""
        begin = self.first[slots]
        count = self.first[slots + 1] - begin
        of = np.repeat(np.arange(len(slots)), count)
        return np.arange(len(of)) + np.repeat(begin - np.cumsum(count) + count, count), of

    def title_shares(self, rows: NDArray[np.int32], wanted: Sequence[str]) -> NDArray[np.float64]:
        """How much the titles of documents are about these stems, as `rank.title_share` has it."""
        begin = self.stems_before[rows]
        count = self.stems_before[rows + 1] - begin
        of = np.repeat(np.arange(len(rows)), count)
        stems = self.stems[np.arange(len(of)) + np.repeat(begin - np.cumsum(count) + count, count)]
        # For each of a few words once: `np.isin` takes ten times as long to get ready.
        said = np.zeros(len(stems), bool)
        for one in hashed(wanted):
            said |= stems == one
        hits = np.bincount(of, said, len(rows))
        shares: NDArray[np.float64] = hits / np.maximum(len(wanted) + count - hits, 1)
        return shares

    def allowed(self, db: Transaction, filters: Filters) -> Allowed | None:
        """What passes, or None where everything does. Kept while the view lasts."""
        if filters.allow_all:
            return None
        asked = (
            filters.source_ids,
            filters.kinds,
            filters.since,
            tuple(sorted(filters.metadata.items())),
            filters.language,
        )
        known = self._allowed.get(asked)
        if known is None:
            known = self._allowed[asked] = self._passing(db, filters)
            if len(self._allowed) > KEPT_FILTERS:
                # Two threads may do so at once: a filter that is forgotten is worked out again.
                self._allowed.pop(next(iter(self._allowed)), None)
        return known

    def _passing(self, db: Transaction, filters: Filters) -> Allowed:
        passing = np.ones(len(self.document), bool)
        if filters.source_ids:
            passing &= np.isin(self.source, list(filters.source_ids))
        if filters.kinds:
            of_kind = [number for number, source in self.sources.items() if source[0] in filters.kinds]
            passing &= np.isin(self.source, of_kind)
        if filters.since:
            passing &= self.fetched >= _microseconds(filters.since)
        if filters.metadata or filters.language:
            passing &= np.isin(self.document, having(db, filters))
        slots = distinct(_slot_of_place(self)[passing[self.row]])
        texts = np.zeros(len(self.keys), bool)
        texts[slots] = True
        return Allowed(passing, slots, texts)


def _once(kept: Kept, name: str, state: object, work: Callable[[], T]) -> T:
    known = kept.get(name)
    if known is None or known[0] is not state:
        known = kept[name] = (state, work())
    found: T = known[1]
    return found


def having(db: Transaction, filters: Filters) -> list[int]:
    """The visible documents whose metadata have these values, and this language."""
    conditions = ""
    values: dict[str, Any] = {}
    if filters.source_ids:
        conditions += " AND d.source_id IN list(:sources)"
        values["sources"] = list(filters.source_ids)
    for number, (key, value) in enumerate(sorted(filters.metadata.items())):
        has = db.queries.text("metadata_has")
        conditions += " AND " + has.replace(":key", f":key{number}").replace(":value", f":value{number}")
        values |= {f"key{number}": key, f"value{number}": value}
    if filters.language:
        conditions += " AND " + db.queries.text("language_is")
        values["language"] = filters.language
    return [row[0] for row in db.query(db.queries.text("documents_shown") + conditions, values)]


def hashed(stems: Iterable[str]) -> NDArray[np.uint32]:
    return np.fromiter((zlib.crc32(stem.encode("utf-8", "replace")) for stem in stems), np.uint32)


def nothing() -> View:
    none = np.empty(0, np.int64)
    arrays: dict[str, Any] = dict.fromkeys((*DOCUMENTS, *SECTIONS), none)
    arrays |= {"stems_before": np.zeros(1, np.int64), "stems": none.astype(np.uint32)}
    return View(token=(), sources={}, **arrays, keys=none, first=np.zeros(1, np.int64))


def updated(db: Transaction, view: View, token: Token, shown: Mapping[int, int] | None = None) -> View:
    """The view of this snapshot: of sources whose pointer moved, the documents that differ are read.

    With `shown`, what readers saw when these were the visible generations; other sources have nothing then.
    """
    now = {row[0]: row[1:] for row in db.rows("sources_shown")}
    if shown is not None:
        now = {number: (row[0], shown.get(number, 0), *row[2:]) for number, row in now.items()}
    moved = [number for number, source in now.items() if view.sources.get(number) != source]
    changed = {*moved, *(view.sources.keys() - now.keys())}
    stays = ~np.isin(view.source, list(changed))
    added: list[int] = []
    for number in moved:
        before = view.sources.get(number)
        same = before is not None and before[2] == now[number][2]
        known = np.flatnonzero(view.source == number) if same else np.empty(0, np.int64)
        held = {(int(view.document[at]), int(view.born[at])): int(at) for at in known}
        for version in db.rows("source_documents_shown", source=number, generation=now[number][1]):
            at = held.get((version[0], version[1]))
            if at is None:
                added.append(version[0])
            else:
                stays[at] = True
    few_at_most(len(added), MOST_DOCUMENTS)
    return _joined(view, stays, _read(db, added), token, now)


def _read(db: Transaction, documents: list[int]) -> dict[str, NDArray[Any]]:
    """The arrays of these documents alone."""
    about: list[Row] = []
    stems: list[NDArray[np.uint32]] = []
    parts: list[tuple[NDArray[Any], ...]] = []
    for start in range(0, len(documents), DOCUMENTS_AT_ONCE):
        some = documents[start : start + DOCUMENTS_AT_ONCE]
        rows = db.rows("documents_to_show", documents=some)
        numbers = {row[0]: len(about) + at for at, row in enumerate(rows)}
        about += [(*row[:5], *_page_of(*row[2:3], *row[5:])) for row in rows]
        stems += [hashed(title_stems(row[5])) for row in rows]
        if found := db.rows("sections_to_show", documents=some):
            few_at_most(len(found), MOST_SECTIONS)
            of, positions, links, passages, hashes, headings = zip(*found, strict=True)
            parts.append(
                (
                    np.frombuffer(b"".join(one[:8] for one in hashes), ">i8").astype(np.int64),
                    np.array(passages, np.int64),
                    np.array([numbers[one] for one in of], np.int32),
                    np.array(positions, np.int32),
                    np.array(links, np.uint8),
                    hashed(headings),
                )
            )
    columns: list[Iterable[Any]] = list(zip(*about, strict=True)) or [()] * 9
    columns[4] = [_microseconds(datetime.fromisoformat(at)) for at in columns[4]]
    made: dict[str, NDArray[Any]] = {
        name: np.array(column, np.int64) for name, column in zip(DOCUMENTS[:-1], columns, strict=True)
    }
    made["stems_before"] = np.cumsum([0, *map(len, stems)]).astype(np.int64)
    made["stems"] = np.concatenate(stems) if stems else np.empty(0, np.uint32)
    empty = nothing()
    for number, name in enumerate(SECTIONS):
        made[name] = np.concatenate([part[number] for part in parts]) if parts else getattr(empty, name)
    return made


def _page_of(source: int, title: str, reference: str, kind: str) -> tuple[int, int, int, int]:
    if kind not in page_versions.KINDS:
        return 0, page_versions.UNVERSIONED, 0, 0
    named = page_versions.read(reference)
    page = page_versions.page_key(source, named.page, title_stems(title))
    translated = languages.of_reference(reference)
    leaf = hashing.short_of_text(f"{source}\n{languages.page_of(reference, translated)}")
    return page, named.edition, leaf, label_of(translated.language, role_in(kind, reference))


def label_of(language: str, role: Role) -> int:
    return (languages.CODES.index(language) + 1 if language else 0) << ROLE_BITS | role


def _joined(
    view: View,
    stays: NDArray[np.bool_],
    added: dict[str, NDArray[Any]],
    token: Token,
    sources: dict[int, Row],
) -> View:
    made: dict[str, NDArray[Any]] = {
        name: np.concatenate((getattr(view, name)[stays], added[name])) for name in DOCUMENTS[:-1]
    }
    lengths = np.diff(view.stems_before)
    made["stems"] = np.concatenate((view.stems[np.repeat(stays, lengths)], added["stems"]))
    all_lengths = np.concatenate((lengths[stays], np.diff(added["stems_before"])))
    made["stems_before"] = np.concatenate((np.zeros(1, np.int64), np.cumsum(all_lengths, dtype=np.int64)))
    moved_to = np.cumsum(stays) - 1
    visible = stays[view.row]
    kept = int(stays.sum())
    sections = {name: getattr(view, name)[visible] for name in SECTIONS}
    sections["row"] = moved_to[sections["row"]].astype(np.int32)
    more = {**{name: added[name] for name in SECTIONS}, "row": added["row"] + np.int32(kept)}
    together = {name: np.concatenate((sections[name], more[name])) for name in SECTIONS}
    # Two ascending stretches: a stable sort merges them.
    together_order = np.argsort(together["key"], kind="stable")
    made |= {name: column[together_order] for name, column in together.items()}
    return whole(token, sources, made, unsaved=view.unsaved + len(added["key"]))


def whole(
    token: Token, sources: dict[int, Row], arrays: dict[str, NDArray[Any]], *, unsaved: int = 0
) -> View:
    """A view of arrays that belong together."""
    key = arrays["key"]
    begins = np.flatnonzero(np.diff(key, prepend=key[:1] - 1) != 0) if len(key) else np.empty(0, np.int64)
    first = np.append(begins, len(key)).astype(np.int64)
    return View(token=token, sources=sources, **arrays, keys=key[begins], first=first, unsaved=unsaved)


def _slot_of_place(view: View) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(view.keys)), np.diff(view.first))


def _found(ascending: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each wanted number stands; -1 where it does not."""
    if not len(ascending):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    return np.where(ascending[at] == wanted, at, -1)


def _microseconds(at: datetime) -> int:
    return round(at.timestamp() * 1_000_000)


def distinct(numbers: NDArray[Any]) -> NDArray[Any]:
    """Each number once, in order. `np.unique` would import all of `numpy.ma` to ask whether one is masked."""
    ordered = np.sort(numbers)
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))] if len(ordered) else ordered
