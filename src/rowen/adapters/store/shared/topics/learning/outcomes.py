"""What runs said of single references: read from what they wrote down of their items."""

from __future__ import annotations

from collections.abc import Sequence

from rowen.adapters.store.shared.database import Topic, reads
from rowen.adapters.store.shared.transaction import Transaction
from rowen.adapters.store.shared.values import time_in
from rowen.core.document import Outcome
from rowen.ports.store.learning.outcomes import Said

MOST = 20


class Outcomes(Topic):
    @reads
    def last_said(self, db: Transaction, source_id: int, references: Sequence[str]) -> list[Said]:
        rows = db.rows("items_said", source=source_id, references=list(references), limit=MOST)
        return [Said(name, Outcome(outcome), why, more, time_in(at)) for name, outcome, why, more, at in rows]

    @reads
    def reference_of(self, db: Transaction, document_id: int) -> tuple[int, str] | None:
        row = db.row("document_reference", document=document_id)
        return None if row is None else (row[0], row[1])
