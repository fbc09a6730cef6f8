"""The passages whose vectors are nearest to that of a question, best first.

Exact, by comparing all of them, unless the model has so many that it has an index. The index answers quick
looks only: it may miss a few, and it does not know where a list ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from rowen.adapters.store.postgres import halfvec
from rowen.adapters.store.shared.topics.search import Among, Ranked
from rowen.adapters.store.shared.transaction import Transaction

EF_SEARCH = 800
"""Of 200,000 vectors all but one in a hundred of the nearest ten are found; with 200 it is two in three."""
MOST_FROM_INDEX = 2000
"""Beyond this, comparing everything costs no more than walking the index."""

# The negative inner product of vectors of length 127 as their cosine; in 32 bits, as SQLite's matrix has it.
_COSINE = "greatest(-1, least(1, (-distance)::real / 16129::real))::double precision"


class Nearest:
    can_choose = True

    def __init__(self, db: Transaction, model_id: int, dimensions: int, vector: bytes) -> None:
        self._db = db
        self._model_id = model_id
        self._dimensions = dimensions
        self._vector = halfvec.as_text(vector)
        self._indexed = bool(db.value("model_indexed", model=model_id))

    def best(self, wanted: int, *, thorough: bool, among: Among | None) -> tuple[Ranked, bool]:
        indexed = self._indexed and wanted <= MOST_FROM_INDEX and among is None
        ranked = self._from_index(wanted) if indexed else self._from_all(wanted, among)
        return ranked, not indexed and len(ranked) < wanted

    def _from_index(self, wanted: int) -> Ranked:
        self._db.query(
            "SELECT set_config('hnsw.ef_search', :depth, true),"
            " set_config('hnsw.iterative_scan', 'relaxed_order', true)",
            {"depth": str(EF_SEARCH)},
        )
        # The model and the length stand in the text: only so does the planner recognise the partial index.
        distance = f"embedding::halfvec({self._dimensions:d}) <#> :vector::halfvec({self._dimensions:d})"
        return self._ranked(
            f"SELECT passage_id, {distance} AS distance FROM vectors"
            f" WHERE model_id = {self._model_id:d} ORDER BY {distance} LIMIT :wanted",
            wanted,
        )

    def _from_all(self, wanted: int, among: Among | None) -> Ranked:
        visible = self._db.queries.text("passages_visible")
        chosen = f" AND passage_id IN ({visible}{among.conditions})" if among else ""
        return self._ranked(
            "SELECT passage_id, embedding <#> :vector::halfvec AS distance FROM vectors"
            f" WHERE model_id = {self._model_id:d}{chosen} ORDER BY distance, passage_id LIMIT :wanted",
            wanted,
            among.values if among else {},
        )

    def _ranked(
        self, statement: str, wanted: int, values: Mapping[str, Any] = MappingProxyType({})
    ) -> Ranked:
        rows = self._db.query(
            f"SELECT passage_id, {_COSINE} FROM ({statement}) AS near ORDER BY distance, passage_id",
            {**values, "vector": self._vector, "wanted": wanted},
        )
        return [(int(row[0]), float(row[1])) for row in rows]
