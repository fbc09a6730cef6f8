"""Items as their sources sent them, stored once for each hash and found by the version made from them."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable

from rowen.adapters.store.shared.transaction import Transaction
from rowen.core import hashing
from rowen.core.document import Draft

Key = tuple[int, bytes]
"""Reference and payload hash: a version."""
LEVEL = 2
"""Of the compression: records are small, and there are many."""


def find_record(db: Transaction, document_id: int) -> bytes | None:
    body = db.value("record_of", document=document_id)
    return None if body is None else zlib.decompress(body)


def store_records(db: Transaction, drafts: Iterable[tuple[Key, Draft]]) -> None:
    bodies: dict[bytes, bytes] = {}
    found: list[tuple[Key, bytes]] = []
    for key, draft in drafts:
        if draft.record is not None:
            digest = hashing.of_bytes(draft.record)
            bodies[digest] = draft.record
            found.append((key, digest))
    if not found:
        return
    ids: dict[bytes, int] = dict(db.rows("records_find", hashes=list(bodies)))
    missing = db.in_order(digest for digest in bodies if digest not in ids)
    if missing:
        db.copy("records_insert", ((digest, _compressed(bodies[digest])) for digest in missing))
        ids |= dict(db.rows("records_find", hashes=missing))
    db.write_many(
        "document_record_save",
        [
            {"ref": ref, "payload_hash": payload_hash, "record": ids[digest]}
            for (ref, payload_hash), digest in found
        ],
    )


def forget_records(db: Transaction, refs: Collection[int], *, everything: bool) -> None:
    """Those of versions that went."""
    if everything:
        db.rows("document_records_vacuum_all")
        db.write("records_delete_all")
    elif refs:
        gone = [row[0] for row in db.rows("document_records_vacuum", refs=list(refs))]
        if gone:
            db.write("records_delete", ids=gone)


def _compressed(record: bytes) -> bytes:
    from isal import isal_zlib

    return bytes(isal_zlib.compress(record, LEVEL))
