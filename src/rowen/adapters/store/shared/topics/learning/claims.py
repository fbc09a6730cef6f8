"""What the signals of a source claimed, and how far that was true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rowen.adapters.store.shared.database import Topic, reads, writes
from rowen.adapters.store.shared.topics.leases import fence
from rowen.adapters.store.shared.transaction import Transaction
from rowen.adapters.store.shared.values import value_in, value_out
from rowen.core.freshness.claims import Record, Signal
from rowen.core.lease import Lease


class Claims(Topic):
    @reads
    def claims(self, db: Transaction, source_id: int) -> dict[Signal, Record]:
        return _load(db, [source_id])[source_id]

    @reads
    def claims_of(self, db: Transaction, source_ids: Sequence[int]) -> dict[int, dict[Signal, Record]]:
        return _load(db, source_ids)

    @writes
    def save_claims(
        self, db: Transaction, lease: Lease, source_id: int, records: Mapping[Signal, Record]
    ) -> None:
        fence(db, lease)
        for signal, record in records.items():
            db.write("claims_save", source=source_id, signal=signal.value, **value_out(record))


def _load(db: Transaction, source_ids: Sequence[int]) -> dict[int, dict[Signal, Record]]:
    found: dict[int, dict[Signal, Record]] = {one: {} for one in source_ids}
    names = {signal.value: signal for signal in Signal}
    for source_id, signal, *values in db.rows("claims_of", sources=list(source_ids)) if source_ids else ():
        # A newer version may have written signals that this one does not know.
        if signal in names:
            found[source_id][names[signal]] = value_in(Record, values)
    return found
