"""How fast pages change: a row for each page that changed at least once, and what was learnt of a source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rowen.adapters.store.shared import verification
from rowen.adapters.store.shared.database import Topic, reads, writes
from rowen.adapters.store.shared.transaction import Row, Transaction
from rowen.adapters.store.shared.values import Json, json_in, maybe_time_in, time_in
from rowen.core.freshness.evidence import Evidence
from rowen.core.freshness.proof import Proof
from rowen.core.freshness.source_rates import SourceRates, seen_changed, seen_quiet
from rowen.core.search.shown import added
from rowen.core.web.verified import way_of
from rowen.ports.store.learning.rates import CheckedPage


class Rates(Topic):
    @reads
    def rates_learnt_at(self, db: Transaction, source_id: int) -> datetime | None:
        return maybe_time_in(db.value("rates_learnt_at", source=source_id))

    @reads
    def checked_pages(self, db: Transaction, source_id: int, *, most: int) -> list[tuple[str, Evidence]]:
        known = verification.load(db, source_id)
        if known is None:
            return []
        number = db.value("pages_visible", source=source_id)
        step = max(-(-number // most), 1)
        found = []
        for reference, fetched, *sums in db.rows("pages_checked", source=source_id, step=step):
            fetched_at = time_in(fetched)
            verified_at, _ = way_of(known, reference, fetched_at)
            found.append((reference, seen_quiet(_evidence(sums), fetched_at, verified_at)))
        return found

    @reads
    def pages_to_schedule(
        self, db: Transaction, source_id: int
    ) -> tuple[SourceRates | None, list[CheckedPage]]:
        known, rates = verification.load_with_rates(db, source_id)
        found = []
        for reference, fetched, *sums in db.rows("pages_checked", source=source_id, step=1):
            fetched_at = time_in(fetched)
            at, _ = way_of(known, reference, fetched_at)
            found.append(CheckedPage(reference, seen_quiet(_evidence(sums), fetched_at, at), at))
        return rates, found

    @reads
    def shown(self, db: Transaction, source_id: int) -> dict[str, float]:
        return _shown(db, source_id)[0]

    @writes
    def add_shown(self, db: Transaction, counts: Mapping[int, int], *, now: datetime) -> None:
        more: dict[int, dict[str, float]] = defaultdict(dict)
        for document_id, source_id, reference, *_ in db.rows("documents_proven", documents=list(counts)):
            more[source_id][reference] = float(counts[document_id])
        for source_id, new in more.items():
            before, at = _shown(db, source_id)
            found = added(before, new, (now - at).total_seconds() if at else 0.0)
            db.write("pages_shown_save", source=source_id, at=now, counts=Json(found))


def _shown(db: Transaction, source_id: int) -> tuple[dict[str, float], datetime | None]:
    row = db.row("pages_shown", source=source_id)
    return ({}, None) if row is None else (dict(json_in(row[1])), time_in(row[0]))


def proofs_of(db: Transaction, rows: Sequence[Row]) -> dict[int, Proof]:
    """How visible documents are known to be right, and how fast their pages change.

    The rows are those of `documents_proven`.
    """
    known = {source_id: verification.load_with_rates(db, source_id) for source_id in {row[1] for row in rows}}
    found: dict[int, Proof] = {}
    for document_id, source_id, reference, fetched, *sums in rows:
        looked, rates = known[source_id]
        fetched_at = time_in(fetched)
        at, by = way_of(looked, reference, fetched_at)
        evidence = seen_quiet(_evidence(sums), fetched_at, at)
        found[document_id] = Proof(at, by, None if rates is None else rates.rate(reference, evidence))
    return found


def record_changes(db: Transaction, source_id: int, run_id: int, generation: int, at: datetime) -> None:
    """What a run that is about to be shown says of the pages it found changed; `at` is when it began.

    To be called before the run's own look is recorded: the interval began when a page was verified before.
    """
    rows = db.rows("pages_changed", source=source_id, run=run_id, generation=generation)
    if not rows:
        return
    known = verification.load(db, source_id)
    values = []
    for ref_id, reference, fetched, *sums in rows:
        fetched_at = time_in(fetched)
        verified_at, _ = way_of(known, reference, fetched_at)
        evidence = seen_changed(_evidence(sums), fetched_at, verified_at, at)
        values.append(
            {
                "ref": ref_id,
                "source": source_id,
                "changes": evidence.changes,
                "changed_s": evidence.changed_s,
                "unchanged_s": evidence.unchanged_s,
            }
        )
    db.write_many("page_changes_save", values)


def forget_changes(db: Transaction, source_id: int) -> None:
    """Pages of which no version is kept have no history of changes either."""
    db.write("page_changes_forget", source=source_id)


def _evidence(sums: Sequence[Any]) -> Evidence | None:
    changes, changed_s, unchanged_s = sums
    if changes is None:
        return None
    return Evidence(changes=changes, changed_s=changed_s, unchanged_s=unchanged_s)
