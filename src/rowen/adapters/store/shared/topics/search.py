"""Ranked passages and the places where readers can see them, inside one snapshot.

Both lists are ranked first and filtered by visibility after: joining before ranking costs twice as much. The
first look is a quick one. When a filter leaves too few of it, the list is read deeper; when it leaves next to
nothing and a ranking can choose among some passages only, it ranks those that pass the filter, all of them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from rowen.adapters.store.shared.database import Topic, reads
from rowen.adapters.store.shared.topics.passages import find_model
from rowen.adapters.store.shared.transaction import Row, Transaction
from rowen.adapters.store.shared.values import value_in
from rowen.core.search.hit import Filters, Place
from rowen.errors import StoreDamaged
from rowen.ports.embedder import Model
from rowen.ports.store.search import SearchRequest, SearchResult

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


class Search(Topic):
    @reads
    def search_snapshot(self, db: Transaction, request: SearchRequest) -> SearchResult:
        return self._search(db, request)

    def _search(self, db: Transaction, request: SearchRequest) -> SearchResult:
        rows: dict[int, list[Row]] = {}
        keyword = _visible(db, request, self._keywords(db, request.terms), rows) if request.terms else []
        dense: Ranked = []
        if request.model and request.vector:
            model_id = find_model(db, request.model)
            if model_id:
                nearest = self._nearest(db, model_id, request.model, request.vector)
                dense = _visible(db, request, nearest, rows)
        ranked = {passage_id for passage_id, _ in (*keyword, *dense)}
        places = [row for passage_id in ranked for row in rows[passage_id]]
        if request.names:
            # A definition may say little else, and be far down in both lists.
            seen = {(row[1], row[10]) for row in places}
            defining = _defining(db, request)
            places += [row for row in defining if (row[1], row[10]) not in seen]
            defined = {(row[1], row[14]) for row in defining}
            places += [row for row in _inventoried(db, request) if (row[1], row[14]) not in defined]
        return SearchResult(keyword=dict(keyword), dense=dict(dense), places=_with_text(db, places))

    @reads
    def symbol_words(self, db: Transaction, *, shortest: int, longest: int) -> list[str]:
        return [row[0] for row in db.rows("symbol_words", shortest=shortest, longest=longest)]

    @reads
    def document_sections(self, db: Transaction, document_id: int) -> list[Place]:
        return _with_text(db, db.rows("document_places", document=document_id))

    @abstractmethod
    def _keywords(self, db: Any, terms: Sequence[str]) -> Ranking: ...

    @abstractmethod
    def _nearest(self, db: Any, model_id: int, model: Model, vector: bytes) -> Ranking: ...


def _visible(db: Transaction, request: SearchRequest, ranking: Ranking, rows: dict[int, list[Row]]) -> Ranked:
    """The first `depth` visible passages of a ranking; `rows` collects their places."""
    passing = _passing(db, request.filters)
    can_choose = ranking.can_choose and request.filters != Filters()
    wanted, thorough = request.depth, False
    among: Among | None = None
    while True:
        ranked, all_there_are = ranking.best(wanted, thorough=thorough, among=among)
        new = [passage_id for passage_id, _ in ranked if passage_id not in rows]
        if new:
            places = db.queries.text("places") + passing.conditions
            for row in db.query(places, {**passing.values, "passages": new}):
                rows.setdefault(row[0], []).append(row)
        visible = [(passage_id, score) for passage_id, score in ranked if passage_id in rows]
        if len(visible) >= request.depth or all_there_are:
            return visible[: request.depth]
        if can_choose and among is None and len(visible) * DEEPER < request.depth:
            among = passing
        else:
            wanted *= DEEPER
        thorough = True


def _defining(db: Transaction, request: SearchRequest) -> list[Row]:
    passing = _passing(db, request.filters)
    shortest_first = " ORDER BY length(s.symbol), d.id LIMIT :most"
    statement = db.queries.text("symbol_places") + passing.conditions + shortest_first
    return db.query(statement, {**passing.values, "names": list(request.names), "most": MOST_DEFINITIONS})


def _inventoried(db: Transaction, request: SearchRequest) -> list[Row]:
    passing = _passing(db, request.filters)
    shortest_first = " ORDER BY length(i.name), d.id LIMIT :most"
    statement = db.queries.text("inventory_places") + passing.conditions + shortest_first
    return db.query(statement, {**passing.values, "names": list(request.names), "most": MOST_DEFINITIONS})


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
    return Among(conditions, values)


def _with_text(db: Transaction, rows: list[Row]) -> list[Place]:
    texts = {
        passage_id: (heading_path, text)
        for passage_id, heading_path, text in db.rows("passage_texts", ids=list({row[0] for row in rows}))
    }
    lost = [row[0] for row in rows if row[0] not in texts]
    if lost:
        raise StoreDamaged(f"store damaged: the texts of {len(lost)} passages are missing")
    return [_place(row, *texts[row[0]]) for row in rows]


def _place(row: Row, heading_path: str, text: str) -> Place:
    *place, anchor, content_id, link_share, symbol, kind = row
    return value_in(Place, (*place, heading_path, anchor, text, content_id, link_share, symbol, kind))
