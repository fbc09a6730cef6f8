"""Ranked passages and the places where readers can see them, inside one snapshot.

Both lists are ranked first and filtered by visibility after: joining before ranking costs twice as much.
When a filter leaves too few, the list is read deeper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import apsw

from rowen.adapters.store.sqlite.harvest import find_model
from rowen.adapters.store.sqlite.matrix import VectorMatrix
from rowen.adapters.store.sqlite.queries import sql
from rowen.adapters.store.sqlite.rows import ids_parameter, texts_parameter, time_in, time_out
from rowen.core.search.hit import Filters, Place
from rowen.core.search.query import fts5_match
from rowen.ports.store.search import SearchRequest, SearchResult

DEEPER = 8
"""How much further a list is read when its visible part was too short."""

Ranked = list[tuple[int, float]]
Matrices = dict[int, VectorMatrix]


def search_snapshot(db: apsw.Connection, matrices: Matrices, request: SearchRequest) -> SearchResult:
    keyword: Ranked = []
    dense: Ranked = []
    rows: dict[int, list[tuple[Any, ...]]] = {}
    if request.terms:
        match = fts5_match(request.terms)
        keyword = _visible(db, request, lambda k: list(db.execute(sql("keyword"), (match, k))), rows)
    model_id = find_model(db, request.model) if request.model and request.vector else 0
    if model_id and request.vector:
        matrix = matrices.setdefault(model_id, VectorMatrix())
        matrix.refresh(db, model_id)
        vector = request.vector
        dense = _visible(db, request, lambda k: matrix.nearest(vector, k), rows)
    ranked = {passage_id for passage_id, _ in (*keyword, *dense)}
    return SearchResult(
        keyword=dict(keyword),
        dense=dict(dense),
        places=_with_text(db, [row for passage_id in ranked for row in rows[passage_id]]),
    )


def document_sections(db: apsw.Connection, document_id: int) -> list[Place]:
    return _with_text(db, list(db.execute(sql("document_places"), (document_id,))))


def _visible(
    db: apsw.Connection,
    request: SearchRequest,
    best: Callable[[int], Ranked],
    rows: dict[int, list[tuple[Any, ...]]],
) -> Ranked:
    """The first `depth` visible passages of a ranking; `rows` collects their places."""
    wanted = request.depth
    while True:
        ranked = best(wanted)
        for row in _places(db, [pid for pid, _ in ranked if pid not in rows], request.filters):
            rows.setdefault(row[0], []).append(row)
        visible = [(pid, score) for pid, score in ranked if pid in rows]
        if len(visible) >= request.depth or len(ranked) < wanted:
            return visible[: request.depth]
        wanted *= DEEPER


def _places(db: apsw.Connection, passage_ids: list[int], filters: Filters) -> Iterable[tuple[Any, ...]]:
    if not passage_ids:
        return ()
    statement = sql("places")
    values: dict[str, Any] = {"passages": ids_parameter(passage_ids)}
    if filters.source_ids:
        statement += " AND d.source_id IN carray(:sources)"
        values["sources"] = ids_parameter(filters.source_ids)
    if filters.kinds:
        statement += " AND d.kind IN carray(:kinds)"
        values["kinds"] = texts_parameter(filters.kinds)
    if filters.since:
        statement += " AND d.fetched_at >= :since"
        values["since"] = time_out(filters.since)
    for number, (key, value) in enumerate(sorted(filters.metadata.items())):
        # One value, or one of a list of them.
        statement += (
            f" AND EXISTS (SELECT 1 FROM json_each(d.metadata, :key{number})"
            f" WHERE CAST(value AS TEXT) = :value{number})"
        )
        values[f"key{number}"] = '$."' + key.replace('"', "") + '"'
        values[f"value{number}"] = value
    return db.execute(statement, values)


def _with_text(db: apsw.Connection, rows: list[tuple[Any, ...]]) -> list[Place]:
    texts = {
        passage_id: (heading_path, text)
        for passage_id, heading_path, text in db.execute(
            sql("passage_texts"), (ids_parameter({row[0] for row in rows}),)
        )
    }
    return [_place(row, *texts[row[0]]) for row in rows]


def _place(row: tuple[Any, ...], heading_path: str, text: str) -> Place:
    fetched_at = time_in(row[9])
    if fetched_at is None:
        raise AssertionError("a document without its time of fetching")
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
        fetched_at=fetched_at,
        position=row[10],
        heading_path=heading_path,
        anchor=row[11],
        text=text,
    )
