"""Ranked passages and the places where readers can see them, inside one snapshot.

Texts are ranked first, by the followers beside the store (`shared/search/`) or by the database itself where a
follower is missing or behind, and filtered by what is visible after: joining before ranking costs
twice as much. Places are read for the documents that may be shown, and texts for what is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from rowen.adapters.store.shared.database import Topic, reads
from rowen.adapters.store.shared.search.arrays.library import NotFew, in_few, np, worth_trying_few
from rowen.adapters.store.shared.search.cut import Chosen, Scored, best, unlimited, unranked
from rowen.adapters.store.shared.search.seen.versions import versions_in
from rowen.adapters.store.shared.search.seen.weights import weights_in
from rowen.adapters.store.shared.slices import texts_of
from rowen.adapters.store.shared.topics.learning.rates import proofs_of
from rowen.adapters.store.shared.topics.records import find_copies
from rowen.adapters.store.shared.transaction import Row, Transaction
from rowen.adapters.store.shared.values import json_in, time_in
from rowen.core.freshness.proof import Proof
from rowen.core.search.copies import Dataset
from rowen.core.search.hit import Filters, Place
from rowen.core.search.languages import said_of
from rowen.errors import StoreDamaged
from rowen.eventloop import in_thread
from rowen.ports.store.search import About, AboutDocument, SearchRequest, SearchResult
from rowen.records import NamedTuple

if TYPE_CHECKING:
    from rowen.adapters.store.shared.search.finder import Finder
    from rowen.adapters.store.shared.search.seen.view import Allowed, Token, View

DEEPER = 8
"""How much further a list is read when its visible part was too short."""

MOST_DEFINITIONS = 200

Ranked = list[tuple[int, float]]
"""Passages with their scores, best first."""


class Among(NamedTuple):
    """More of a WHERE about a visible document `d`, and its values."""

    conditions: str
    values: dict[str, Any]


class Ranking(Protocol):
    """The passages that fit a question."""

    can_choose: bool
    """It can rank what passes a filter, and only that."""

    def best(self, wanted: int, *, thorough: bool, among: Among | None) -> tuple[Ranked, bool]:
        """So many of the best, looked for quickly or thoroughly; and whether there are no more."""
        ...


class Begins(NamedTuple):
    """What a search must know first, read with one statement."""

    token: Token
    """Which pointers the snapshot sees."""
    model_id: int
    """0 for a model that has no vectors here yet."""
    defined: bool
    """A section defines one of the names, visible or not."""
    listed: bool
    """An inventory has one of them."""


class Search(Topic):
    @abstractmethod
    def _open_finder(self) -> Finder: ...

    @cached_property
    def _finder(self) -> Finder:
        """Made for the first search or run: other commands do not wait for its imports."""
        return self._open_finder()

    @reads
    def search_snapshot(self, db: Transaction, request: SearchRequest) -> SearchResult:
        if self._ranks_few:
            try:
                with in_few():
                    return self._snapshot(db, request)
            except NotFew:
                self._ranks_few = False
                self.__dict__.pop("_finder").close()
        return self._snapshot(db, request)

    @cached_property
    def _ranks_few(self) -> bool:
        """On lists. What the finder holds are either lists or arrays of numpy, so this is decided once."""
        return worth_trying_few()

    def _snapshot(self, db: Transaction, request: SearchRequest) -> SearchResult:
        begins = _begins(db, request)
        view = self._finder.view(db, begins.token)
        if request.shown is not None:
            view = self._finder.view_then(db, view, request.shown)
            db = db.as_of(request.shown)
        allowed = view.allowed(db, request.filters)
        asks_words = bool(request.terms or request.prefix)
        by_words = self._by_words(db, view, allowed, request) if asks_words else unranked()
        keyword = unranked() if by_words is None else by_words
        dense = self._by_vector(db, view, allowed, begins.model_id, request)
        defining = _defining(db, request) if begins.defined else []
        versions = versions_in(view, allowed, request.asked_versions)
        weights = weights_in(view, request.wanted)
        if not len(keyword.slots) and not len(dense.slots):
            chosen = Chosen([], [])
        elif request.best is None:
            chosen = unlimited(view, [keyword, dense], allowed)
        else:
            chosen = best(
                view,
                keyword,
                dense,
                allowed,
                alpha=request.alpha,
                terms=request.terms,
                wanted=request.best,
                per_document=request.per_document,
                always={row[1] for row in defining},
                versions=versions,
                weights=weights,
            )
        rows = db.rows("places_in", documents=chosen.documents, passages=chosen.passages)
        seen = {(row[1], row[10]) for row in rows}
        # A definition may say little else, and be far down in both lists.
        rows += [row for row in defining if (row[1], row[10]) not in seen]
        if begins.listed:
            defined = {(row[1], row[14]) for row in defining}
            rows += [row for row in _inventoried(db, request) if (row[1], row[14]) not in defined]
        return SearchResult(
            keyword=_by_passage(view, keyword),
            dense=_by_passage(view, dense),
            places=_with_text(db, rows) if request.texts else list(map(_place, rows)),
            words_missing=by_words is None,
            versions=versions.of_documents([row[1] for row in rows]) if versions is not None else {},
            weights=weights.of_documents([row[1] for row in rows]) if weights is not None else {},
            spelt=self._spelt(db, view, keyword.unseen, request),
        )

    def _spelt(
        self, db: Transaction, view: View, unseen: Sequence[str], request: SearchRequest
    ) -> dict[str, str]:
        if not request.spells or not (unseen or request.written):
            return {}
        return self._finder.spelt(db, view, unseen, request.written)

    async def follow(self) -> None:
        """Bring what searches keep beside the store in step with it, now."""
        await in_thread(self._finder.follow)

    @reads
    def symbol_words(self, db: Transaction, *, shortest: int, longest: int) -> list[str]:
        return [row[0] for row in db.rows("symbol_words", shortest=shortest, longest=longest)]

    @reads
    def proofs(self, db: Transaction, document_ids: Sequence[int]) -> dict[int, Proof]:
        return proofs_of(db, db.rows("documents_proven", documents=list(document_ids)))

    @reads
    def about(
        self, db: Transaction, document_ids: Sequence[int], places: Sequence[Place] = (), *, proven: bool
    ) -> About:
        rows = db.rows("documents_about", documents=list(document_ids)) if document_ids else []
        visible = [(row[0], *row[5:]) for row in rows if row[4]]
        proofs = proofs_of(db, visible) if proven else {}
        return About(
            {
                row[0]: AboutDocument(
                    said_of(row[1] and json_in(row[1]), *row[2:4]) or None, proofs.get(row[0])
                )
                for row in rows
            },
            texts_of(db, places),
        )

    @reads
    def datasets_alike(
        self, db: Transaction, document_ids: Sequence[int], *, shown: Mapping[int, int] | None = None
    ) -> list[Dataset]:
        return find_copies(db if shown is None else db.as_of(shown), document_ids)

    @reads
    def document_sections(
        self, db: Transaction, document_id: int, *, shown: Mapping[int, int] | None = None
    ) -> list[Place]:
        db = db if shown is None else db.as_of(shown)
        return _with_text(db, db.rows("document_places", document=document_id))

    @abstractmethod
    def _keywords(self, db: Any, view: View, terms: Sequence[str], prefix: str) -> Ranking | None:
        """The best texts by their words without a follower. None: that would take too long."""

    def _nearest(self, db: Any, model_id: int, vector: bytes) -> Ranking:
        """The database's own way to compare vectors, where it has one."""
        raise AssertionError("this database compares no vectors")

    def _by_words(
        self, db: Transaction, view: View, allowed: Allowed | None, request: SearchRequest
    ) -> Scored | None:
        """None: more words are missing in the index than a search can wait for."""
        found = self._finder.keyword(
            db,
            view,
            allowed,
            request.terms,
            request.prefix,
            request.depth,
            patiently=request.shown is not None,
        )
        if found is not None:
            return found
        ranking = self._keywords(db, view, request.terms, request.prefix)
        return _ranked(db, view, allowed, ranking, request) if ranking is not None else None

    def _by_vector(
        self, db: Transaction, view: View, allowed: Allowed | None, model_id: int, request: SearchRequest
    ) -> Scored:
        if not model_id or not request.vector:
            return unranked()
        found = self._finder.dense(
            db,
            view,
            allowed,
            model_id,
            request.vector,
            request.depth,
            patiently=request.shown is not None,
        )
        if found is not None:
            return found
        return _ranked(db, view, allowed, self._nearest(db, model_id, request.vector), request)


def _begins(db: Transaction, request: SearchRequest) -> Begins:
    model = request.model if request.vector else None
    row = db.rows(
        "search_begins",
        model=model.name if model else "",
        digest=model.digest if model else "",
        dimensions=model.dimensions if model else 0,
        names=list(request.names),
    )[0]
    return Begins(row[:2], row[2] or 0, bool(row[3]), bool(row[4]))


def _ranked(
    db: Transaction, view: View, allowed: Allowed | None, ranking: Ranking, request: SearchRequest
) -> Scored:
    """The first `depth` visible texts of a ranking by the database.

    The first look is a quick one. When a filter leaves too few of it, the list is read deeper; when it leaves
    next to nothing and the ranking can choose among some passages only, it ranks all of those that pass.
    """
    wanted, thorough = request.depth, False
    among: Among | None = None
    while True:
        ranked, all_there_are = ranking.best(wanted, thorough=thorough, among=among)
        slots = view.slots_of_passages(np.array([passage for passage, _ in ranked], np.int64))
        passing = slots >= 0
        if allowed is not None:
            passing &= np.isin(slots, allowed.slots)
        if passing.sum() >= request.depth or all_there_are:
            scores = np.array([score for _, score in ranked], np.float64)
            return Scored(slots[passing][: request.depth], scores[passing][: request.depth])
        if (
            ranking.can_choose
            and allowed is not None
            and among is None
            and passing.sum() * DEEPER < request.depth
        ):
            among = _passing(db, request.filters)
        else:
            wanted *= DEEPER
        thorough = True


def _by_passage(view: View, ranked: Scored) -> dict[int, float]:
    if not len(ranked.slots):
        return {}
    return dict(zip(view.passages_of(ranked.slots).tolist(), ranked.scores.tolist(), strict=True))


def _defining(db: Transaction, request: SearchRequest) -> list[Row]:
    passing = _passing(db, request.filters)
    # With a number in place of a value: SQLite plans a statement anew when the value of its limit is bound.
    shortest_first = f" ORDER BY length(s.symbol), d.id LIMIT {MOST_DEFINITIONS}"
    statement = db.queries.text("symbol_places") + passing.conditions + shortest_first
    return db.query(statement, {**passing.values, "names": list(request.names)})


def _inventoried(db: Transaction, request: SearchRequest) -> list[Row]:
    passing = _passing(db, request.filters)
    shortest_first = f" ORDER BY length(i.name), d.id LIMIT {MOST_DEFINITIONS}"
    statement = db.queries.text("inventory_places") + passing.conditions + shortest_first
    return db.query(statement, {**passing.values, "names": list(request.names)})


def _passing(db: Transaction, filters: Filters) -> Among:
    conditions = ""
    values: dict[str, Any] = {}
    if filters.source_ids:
        conditions += " AND d.source_id IN list(:sources)"
        values["sources"] = list(filters.source_ids)
    if filters.kinds:
        conditions += " AND d.kind IN list(:kinds)"
        values["kinds"] = list(filters.kinds)
    if filters.since:
        conditions += " AND d.fetched_at >= :since"
        values["since"] = filters.since
    for number, (key, value) in enumerate(sorted(filters.metadata.items())):
        has = db.queries.text("metadata_has")
        conditions += " AND " + has.replace(":key", f":key{number}").replace(":value", f":value{number}")
        values[f"key{number}"] = key
        values[f"value{number}"] = value
    if filters.language:
        conditions += " AND " + db.queries.text("language_is")
        values["language"] = filters.language
    return Among(conditions, values)


def _with_text(db: Transaction, rows: list[Row]) -> list[Place]:
    places = list(map(_place, rows))
    texts = texts_of(db, places)
    if lost := sum(one.passage_id not in texts for one in places):
        raise StoreDamaged(f"store damaged: the texts of {lost} passages are missing")
    return [one._replace(text=texts[one.passage_id]) for one in places]


def _place(row: Row) -> Place:
    # One by one: a search makes dozens, and the reading of rows by their types takes ten times as long.
    return Place._make((*row[:9], time_in(row[9]), row[10], row[16], row[11], "", *row[12:16], row[17:]))
