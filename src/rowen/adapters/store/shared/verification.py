"""Reading and writing when the documents of a source were verified: one row a source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from rowen.adapters.store.shared.transaction import Row, Transaction
from rowen.adapters.store.shared.values import Json, json_in, time_in
from rowen.core.feed import Document
from rowen.core.freshness.source_rates import SourceRates
from rowen.core.web.looks import NO_LOOKS, Looks
from rowen.core.web.verified import Looked, LookedAtSome, Verification, after_run, after_some, way_of


def load(db: Transaction, source_id: int) -> Verification | None:
    return _verification(db.row("verification", source=source_id))


def load_with_rates(db: Transaction, source_id: int) -> tuple[Verification | None, SourceRates | None]:
    """The same, and what was learnt of how fast the pages of the source change."""
    row = db.row("verification", source=source_id)
    rates = row[4] if row is not None else None
    return _verification(row), None if rates is None else SourceRates.of_rows(json_in(rates))


def _verification(row: Row | None) -> Verification | None:
    if row is None:
        return None
    kept = json_in(row[2])
    exceptions = {name: None if way is None else (time_in(way[0]), way[1]) for name, way in kept.items()}
    looks = NO_LOOKS if row[3] is None else Looks(bytes(row[3]))
    return Verification(at=time_in(row[0]), by=row[1], exceptions=exceptions, looks=looks)


def record(
    db: Transaction,
    source_id: int,
    looked: Looked | LookedAtSome,
    at: datetime,
    rates: SourceRates | None = None,
) -> None:
    before = load(db, source_id)
    found = after_run(before, looked, at) if isinstance(looked, Looked) else after_some(before, looked, at)
    kept = {
        name: None if way is None else [way[0].isoformat(), way[1]] for name, way in found.exceptions.items()
    }
    db.write(
        "verification_save",
        source=source_id,
        at=found.at,
        way=found.by,
        exceptions=Json(kept),
        looks=found.looks.packed or None,
        rates=Json(rates.as_rows()) if rates else None,
        learnt_at=at if rates else None,
    )


def with_ways(db: Transaction, documents: Iterable[Document]) -> list[Document]:
    """The documents with when and how each was verified: one more question for each of their sources.

    That is known of what readers see now, and not of what they saw.
    """
    if db.then:
        return list(documents)
    known: dict[int, Verification | None] = {}
    found = []
    for one in documents:
        if one.source_id not in known:
            known[one.source_id] = load(db, one.source_id)
        at, by = way_of(known[one.source_id], one.reference, one.fetched_at)
        found.append(replace(one, verified_at=at, verified_by=by))
    return found
