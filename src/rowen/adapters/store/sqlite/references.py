"""Addresses and their ids in SQLite: each gets its number when it is first met."""

from __future__ import annotations

from collections.abc import Iterable

import apsw

from rowen.adapters.store.sqlite.queries import sql
from rowen.adapters.store.sqlite.rows import texts_parameter


def reference_ids(db: apsw.Connection, source_id: int, urls: Iterable[str]) -> dict[str, int]:
    """Ids of all these addresses; the ones met for the first time get theirs now."""
    wanted = dict.fromkeys(urls)
    if not wanted:
        return {}
    ids = dict(db.execute(sql("refs_find"), (source_id, texts_parameter(wanted))))
    missing = [url for url in wanted if url not in ids]
    if missing:
        db.executemany(sql("ref_insert"), ((source_id, url) for url in missing))
        ids.update(db.execute(sql("refs_find"), (source_id, texts_parameter(missing))))
    return ids
