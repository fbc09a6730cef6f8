"""Ranked passages and the places where readers can see them, inside one snapshot.

Both lists are ranked first and filtered by visibility after: joining before ranking costs twice as much. The
first look is a quick one (the index of a large model, a bounded number of passages for common words). When a
filter leaves too few of it, the list is read deeper; when it leaves next to nothing, only what passes the
filter is ranked, all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rowen.adapters.store.postgres.keywords import Among, Keywords
from rowen.adapters.store.postgres.nearest import Nearest
from rowen.adapters.store.postgres.queries import sql
from rowen.adapters.store.postgres.rows import time_in
from rowen.adapters.store.postgres.texts import find_model
from rowen.adapters.store.postgres.transaction import Row, Transaction
from rowen.core.search.hit import Filters, Place
from rowen.ports.store.search import SearchRequest, SearchResult

DEEPER = 8
"""How much further a list is read when its visible part was too short."""

Ranked = list[tuple[int, float]]
Best = Callable[[int, bool, Among | None], tuple[Ranked, bool]]
"""So many of the best, looked for quickly or thoroughly, among all or some; and whether there are no more."""


def search_snapshot(db: Transaction, request: SearchRequest) -> SearchResult:
    keyword: Ranked = []
    dense: Ranked = []
    rows: dict[int, list[Row]] = {}
    if request.terms:
        keyword = _visible(db, request, Keywords(db, request.terms).best, rows)
    model_id = find_model(db, request.model) if request.model and request.vector else 0
    if model_id and request.model and request.vector:
        nearest = Nearest(db, model_id, request.model.dimensions, request.vector)
        dense = _visible(db, request, nearest.best, rows)
    ranked = {passage_id for passage_id, _ in (*keyword, *dense)}
    return SearchResult(
        keyword=dict(keyword),
        dense=dict(dense),
        places=_with_text(db, [row for passage_id in ranked for row in rows[passage_id]]),
    )


def document_sections(db: Transaction, document_id: int) -> list[Place]:
    return _with_text(db, db.rows("document_places", document=document_id))


def _visible(db: Transaction, request: SearchRequest, best: Best, rows: dict[int, list[Row]]) -> Ranked:
    """The first `depth` visible passages of a ranking; `rows` collects their places."""
    wanted, thorough = request.depth, False
    among: Among | None = None
    while True:
        ranked, all_there_are = best(wanted, thorough, among)
        for row in _places(db, [pid for pid, _ in ranked if pid not in rows], request.filters):
            rows.setdefault(row[0], []).append(row)
        visible = [(pid, score) for pid, score in ranked if pid in rows]
        if len(visible) >= request.depth or all_there_are:
            return visible[: request.depth]
        if among is None and request.filters != Filters() and len(visible) * DEEPER < request.depth:
            among = _passing(request.filters)
        else:
            wanted *= DEEPER
        thorough = True


def _places(db: Transaction, passage_ids: list[int], filters: Filters) -> Iterable[Row]:
    if not passage_ids:
        return ()
    conditions, values = _conditions(filters)
    return db.query(sql("places") + conditions, values | {"passages": passage_ids})


def _passing(filters: Filters) -> Among:
    """The passages in documents that pass the filters."""
    conditions, values = _conditions(filters)
    return Among(sql("passages_visible") + conditions, values)


def _conditions(filters: Filters) -> tuple[str, dict[str, Any]]:
    """More of a WHERE about a document `d`."""
    statement = ""
    values: dict[str, Any] = {}
    if filters.source_ids:
        statement += " AND d.source_id = ANY (%(sources)s)"
        values["sources"] = list(filters.source_ids)
    if filters.kinds:
        statement += " AND d.kind = ANY (%(kinds)s)"
        values["kinds"] = list(filters.kinds)
    if filters.since:
        statement += " AND d.fetched_at >= %(since)s"
        values["since"] = filters.since
    for number, (key, value) in enumerate(sorted(filters.metadata.items())):
        # One value, or one of a list of them.
        statement += (
            f" AND EXISTS (SELECT 1 FROM jsonb_path_query(d.metadata -> %(key{number})s, 'lax $[*]') AS one"
            f" WHERE one #>> '{{}}' = %(value{number})s)"
        )
        values[f"key{number}"] = key
        values[f"value{number}"] = value
    return statement, values


def _with_text(db: Transaction, rows: list[Row]) -> list[Place]:
    texts = {
        passage_id: (heading_path, text)
        for passage_id, heading_path, text in db.rows("passage_texts", ids=list({row[0] for row in rows}))
    }
    return [_place(row, *texts[row[0]]) for row in rows]


def _place(row: Row, heading_path: str, text: str) -> Place:
    return Place(
        passage_id=row[0],
        document_id=row[1],
        source=row[2],
        version=row[3],
        kind=row[4],
        reference=row[5],
        url=row[6],
        title=row[7],
        generation=row[8],
        fetched_at=time_in(row[9]),
        position=row[10],
        heading_path=heading_path,
        anchor=row[11],
        text=text,
    )
