"""The passages whose vectors are nearest to that of a question, best first.

Exact, by comparing all of them, unless the model has so many that it has an index. The index answers quick
looks only: it may miss a few, and it does not know where a list ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from rowen.adapters.store.postgres.keywords import Among
from rowen.adapters.store.postgres.texts import as_embedding
from rowen.adapters.store.postgres.transaction import Transaction

EF_SEARCH = 800
"""Of 200,000 vectors all but one in a hundred of the nearest ten are found; with 200 it is two in three."""
MOST_FROM_INDEX = 2000
"""Beyond this, comparing everything costs no more than walking the index."""

# The negative inner product of vectors of length 127 as their cosine; in 32 bits, as SQLite's matrix has it.
_COSINE = "greatest(-1, least(1, (-distance)::real / 16129::real))::double precision"


class Nearest:
    def __init__(self, db: Transaction, model_id: int, dimensions: int, vector: bytes) -> None:
        self._db = db
        self._model_id = model_id
        self._dimensions = dimensions
        self._vector = as_embedding(vector)
        self._indexed = bool(db.value("model_indexed", model=model_id))

    def best(
        self, wanted: int, thorough: bool, some: Among | None = None
    ) -> tuple[list[tuple[int, float]], bool]:
        indexed = self._indexed and wanted <= MOST_FROM_INDEX and some is None
        ranked = self._from_index(wanted) if indexed else self._from_all(wanted, some)
        return ranked, not indexed and len(ranked) < wanted

    def _from_index(self, wanted: int) -> list[tuple[int, float]]:
        self._db.query(
            "SELECT set_config('hnsw.ef_search', %(depth)s, true),"
            " set_config('hnsw.iterative_scan', 'relaxed_order', true)",
            {"depth": str(EF_SEARCH)},
        )
        # The model and the length stand in the text: only so does the planner recognise the partial index.
        distance = f"embedding::halfvec({self._dimensions:d}) <#> %(vector)s::halfvec({self._dimensions:d})"
        return self._ranked(
            f"SELECT passage_id, {distance} AS distance FROM vectors"
            f" WHERE model_id = {self._model_id:d} ORDER BY {distance} LIMIT %(wanted)s",
            wanted,
        )

    def _from_all(self, wanted: int, some: Among | None) -> list[tuple[int, float]]:
        among = f" AND passage_id IN ({some.statement})" if some else ""
        return self._ranked(
            "SELECT passage_id, embedding <#> %(vector)s::halfvec AS distance FROM vectors"
            f" WHERE model_id = {self._model_id:d}{among} ORDER BY distance, passage_id LIMIT %(wanted)s",
            wanted,
            some.values if some else {},
        )

    def _ranked(
        self, statement: str, wanted: int, values: Mapping[str, Any] = MappingProxyType({})
    ) -> list[tuple[int, float]]:
        rows = self._db.query(
            f"SELECT passage_id, {_COSINE} FROM ({statement}) AS near ORDER BY distance, passage_id",
            {**values, "vector": self._vector, "wanted": wanted},
        )
        return [(int(row[0]), float(row[1])) for row in rows]
