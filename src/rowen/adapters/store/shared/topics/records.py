"""Items as their sources sent them, stored once for each hash and found by the version made from them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping

from rowen.adapters.store.shared.transaction import Packing, Transaction
from rowen.core import hashing
from rowen.core.document import Draft
from rowen.core.search.copies import MOST_HOLDERS, Dataset, Sign, sign_of

Key = tuple[int, bytes]
"""Reference and payload hash: a version."""


def find_record(db: Transaction, document_id: int) -> bytes | None:
    row = db.row("record_of", document=document_id)
    return None if row is None else db.record(*row)


class Records:
    """Of a batch of drafts: which are stored already, and the ones to store."""

    def __init__(self, db: Transaction, drafts: Iterable[Draft]) -> None:
        self.ids: dict[bytes, int] = {}
        self.new: dict[bytes, Draft] = {}
        self.digests: dict[bytes, bytes] = {}
        """By the record itself: a draft does not know its hash."""
        for draft in drafts:
            if draft.record is not None:
                digest = self.digests[draft.record] = hashing.of_bytes(draft.record)
                self.new.setdefault(digest, draft)
        if self.new:
            self.ids = dict(db.rows("records_find", hashes=list(self.new)))
        self.new = {digest: draft for digest, draft in self.new.items() if digest not in self.ids}

    def by_text(self) -> dict[bytes, bytes]:
        """The new ones, by the hashes of the texts made from them."""
        return {draft.content_hash: draft.record for draft in self.new.values() if draft.record is not None}


def store_records(
    db: Transaction,
    drafts: Iterable[tuple[Key, Draft]],
    records: Records,
    contents: Mapping[bytes, tuple[int, bool]],
    packing: Packing,
) -> None:
    found = [(key, records.digests[draft.record]) for key, draft in drafts if draft.record is not None]
    if not found:
        return
    ids = records.ids
    missing = db.in_order(records.new)
    if missing:
        new = [(digest, records.new[digest]) for digest in missing]
        rows = (
            (digest, *packing.record(draft.record or b"", contents[draft.content_hash][0]))
            for digest, draft in new
        )
        db.copy("records_insert", rows)
        ids |= dict(db.rows("records_find", hashes=missing))
        db.copy("record_keys_insert", ((ids[digest], key) for digest, draft in new for key in draft.keys))
    db.write_many(
        "document_record_save",
        [
            {"ref": ref, "payload_hash": payload_hash, "record": ids[digest]}
            for (ref, payload_hash), digest in found
        ],
    )


def find_copies(db: Transaction, document_ids: Collection[int]) -> list[Dataset]:
    """These documents, of those that are datasets, and the visible ones that share a key with one of them."""
    shown = db.rows("keys_of_documents", documents=list(document_ids)) if document_ids else []
    if not shown:
        return []
    own = {row[1] for row in shown}
    common: dict[int, list[int]] = {}
    for key, holders in db.rows("holders_of_keys", keys=list({row[2] for row in shown})):
        having = [int(one) for one in holders.split(",")]
        if len(having) <= MOST_HOLDERS:
            common[key] = having
    records = own.union(*common.values())
    rows = db.rows("documents_with_records", records=list(records))
    if len({row[1] for row in rows}) <= 1:
        # Datasets of one source are different ones.
        return []
    looked_up = {row[2] for row in shown}
    keys: defaultdict[int, set[int]] = defaultdict(set)
    files: Counter[int] = Counter()
    for record, key in db.rows("keys_of_records", records=list(records)):
        if key in common:
            keys[record].add(key)
        # One that too many have does not tell a file of this dataset.
        files[record] += sign_of(key) is Sign.FILE and (key in common or key not in looked_up)
    return [
        Dataset(document, source_id, source, version, url, title, frozenset(keys[record]), files[record])
        for document, source_id, source, version, url, title, record in rows
    ]


def forget_records(db: Transaction, refs: Collection[int], *, everything: bool) -> None:
    """Those of versions that went."""
    if everything:
        db.rows("document_records_vacuum_all")
        db.write("records_delete_all")
    elif refs:
        gone = [row[0] for row in db.rows("document_records_vacuum", refs=list(refs))]
        if gone:
            db.write("records_delete", ids=gone)
