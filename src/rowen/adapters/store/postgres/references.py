"""Addresses and their ids in PostgreSQL: each gets its number when it is first met."""

from __future__ import annotations

from collections.abc import Iterable

from rowen.adapters.store.postgres.transaction import Transaction
from rowen.core import hashing


def digests(urls: Iterable[str]) -> dict[bytes, str]:
    """Addresses by what they are found by."""
    return {hashing.of_text(url): url for url in urls}


def reference_ids(db: Transaction, source_id: int, urls: Iterable[str]) -> dict[str, int]:
    """Ids of all these addresses; the ones met for the first time get theirs now."""
    wanted = digests(urls)
    if not wanted:
        return {}
    ids = _found(db, source_id, wanted)
    # In one order for all, so that two who meet the same addresses wait for each other and do not lock up.
    missing = sorted(digest for digest in wanted if digest not in ids)
    if missing:
        db.copy("refs_insert", ((source_id, digest, wanted[digest]) for digest in missing))
        ids |= _found(db, source_id, missing)
    return {url: ids[digest] for digest, url in wanted.items()}


def _found(db: Transaction, source_id: int, wanted: Iterable[bytes]) -> dict[bytes, int]:
    return dict(db.rows("refs_find", source=source_id, digests=list(wanted)))
