"""Every row of a store without what may differ between two stores: numbers given out, times, attempts."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import apsw
import psycopg

from rowen.adapters.store.postgres.address import read_address
from rowen.adapters.store.sqlite.texts import teach

Rows = dict[str, list[tuple[Any, ...]]]

WHOLE = {
    "sources": """SELECT name, version, location, active_generation, held_generation, status FROM sources""",
    "references": """
        SELECT s.name, r.reference, a.reference FROM refs r
        JOIN sources s ON s.id = r.source_id LEFT JOIN refs a ON a.id = r.alias_of""",
    "documents": """
        SELECT s.name, r.reference, d.url, d.title, c.hash, d.payload_hash, d.body_hash, d.etag, d.depth,
               d.content_type, d.born, d.died, d.links
        FROM documents d JOIN refs r ON r.id = d.ref_id JOIN sources s ON s.id = d.source_id
        JOIN contents c ON c.id = d.content_id""",
    "generations": """
        SELECT s.name, g.number, g.documents, g.activated_at IS NULL
        FROM generations g JOIN sources s ON s.id = g.source_id""",
    "contents": """SELECT hash, text, sectioned FROM contents""",
    "sections": """
        SELECT c.hash, x.position, x.level, x.parent, x.heading, x.anchor, x.start_at, x.end_at, p.hash
        FROM sections x JOIN contents c ON c.id = x.content_id JOIN passages p ON p.id = x.passage_id""",
    "passages": """SELECT hash, heading_path, text FROM passages""",
    "vectors": """
        SELECT p.hash, m.name, m.dimensions, v.vector
        FROM vectors v JOIN passages p ON p.id = v.passage_id JOIN models m ON m.id = v.model_id""",
    "handoffs": """
        SELECT s.name, r.reference, h.payload_hash, c.hash, h.status
        FROM handoffs h JOIN refs r ON r.id = h.ref_id JOIN sources s ON s.id = h.source_id
        JOIN contents c ON c.id = h.content_id""",
    "drafts": """
        SELECT s.name, r.reference, h.payload_hash, w.title, w.depth
        FROM drafts w JOIN handoffs h ON h.id = w.handoff_id JOIN refs r ON r.id = h.ref_id
        JOIN sources s ON s.id = h.source_id""",
    "open runs": """SELECT id FROM runs WHERE status = 'running'""",
    "leftovers": """SELECT host FROM questions UNION ALL SELECT host FROM shard_turns""",
}

WHOLE_OF_SQLITE = WHOLE | {"contents": """SELECT hash, text_of(text), sectioned FROM contents"""}
"""Texts are packed with what the first large batch had in common, and a kill may make that another batch."""

VISIBLE = """
SELECT d.source, d.url, c.hash FROM documents_active d JOIN contents c ON c.id = d.content_id
"""

BROKEN_CHAIN = """
SELECT count(*) FROM activations a JOIN activations b ON b.id = (
  SELECT min(id) FROM activations c WHERE c.source_id = a.source_id AND c.id > a.id
) WHERE b.previous <> a.generation
"""


def is_postgres(url: str) -> bool:
    return url.startswith("postgresql:")


@contextmanager
def asking(url: str) -> Iterator[Callable[[str], list[tuple[Any, ...]]]]:
    if is_postgres(url):
        address = read_address(url)
        with psycopg.connect(url.partition("&schema=")[0], autocommit=True) as db:
            db.execute(f"SET search_path TO {address.schema}, public")
            yield lambda statement: [tuple(row) for row in db.execute(statement.encode()).fetchall()]
    else:
        with closing(apsw.Connection(url.removeprefix("sqlite:///"))) as db:
            db.set_busy_timeout(60_000)
            teach(db)
            yield lambda statement: list(db.execute(statement))


def rows(url: str) -> Rows:
    """Every table that tells what Rowen knows; the database's own checks of itself are made on the way."""
    with asking(url) as ask:
        if not is_postgres(url):
            assert ask("PRAGMA integrity_check") == [("ok",)]
            assert ask("PRAGMA foreign_key_check") == []
        assert ask(BROKEN_CHAIN) == [(0,)], "each activation names the one before it"
        whole = WHOLE if is_postgres(url) else WHOLE_OF_SQLITE
        found = {name: ask(statement) for name, statement in whole.items()}
        names = dict(ask("SELECT id, reference FROM refs"))
    found["documents"] = [(*row[:-1], _linked(row[-1], names)) for row in found["documents"]]
    return {name: sorted(table, key=repr) for name, table in found.items()}


def _linked(links: bytes, names: dict[int, str]) -> tuple[str, ...]:
    """Links are stored as numbers of references."""
    return tuple(names[number] for number in array("q", links))


def visible(url: str) -> dict[str, bytes]:
    """What readers see: the hash of the text by source and address."""
    with asking(url) as ask:
        return {f"{source} {address}": digest for source, address, digest in ask(VISIBLE)}
