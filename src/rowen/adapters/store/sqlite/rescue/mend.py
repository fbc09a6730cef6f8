"""Makes the rows that were saved belong together again, and makes the next sync ask for what is missing.

A row that points at a lost one goes too. Sections and passages are made again from their text, which is known
by its hash. A document whose text, address or metadata are not what its hash was made from goes: a sync that
does not know it fetches it. What is left has no claim that something lost were unchanged.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from typing import Any

import apsw

from rowen.adapters.store.shared.checking import Pointer
from rowen.adapters.store.shared.slices import packed, text_of
from rowen.adapters.store.shared.values import links_in, links_out
from rowen.adapters.store.sqlite.checking import POINTERS
from rowen.adapters.store.sqlite.rescue.salvage import fetch
from rowen.adapters.store.sqlite.texts import PACKED, opened, read
from rowen.core.exchange.store_check import has_payload, is_text_of, tiles, wrong_text, wrong_value
from rowen.core.exchange.store_copy import IDENTITY, PARTS, Part, Row
from rowen.core.split import passages, split

_VERSIONS = {
    "documents": ("id", "documents"),
    "drafts": ("handoff_id", "drafts JOIN handoffs ON handoffs.id = handoff_id"),
}
"""Tables with versions of items: their key, and where the hash of a version is."""
_NEEDED = {("records", "goes_on_from")}
"""Pointers that may be missing, but not point nowhere: such a record goes on from a text that is lost."""


class Mending:
    """On a connection inside a transaction, with foreign keys off."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self.lost: Counter[str] = Counter()
        self.rebuilt: Counter[str] = Counter()
        self.replaced: Counter[str] = Counter()
        self.touched: set[int] = set()
        """Sources that lack something readers saw."""
        self.visible_lost: Counter[int] = Counter()

    def mend(self) -> None:
        promised = self._promised()
        # It is another store from now on.
        self._db.execute("DELETE FROM notes WHERE name = ?", (IDENTITY,))
        for part in PARTS:
            if not part.later:
                self._drop_wrong(part)
        self._make_sections()
        self._drop_pointing_nowhere()
        self._drop_false("documents")
        self._drop_false("drafts")
        self._drop_unsaid()
        self._drop_odd_vectors()
        self._settle_sources(promised)
        self._ask_again()

    def _drop_wrong(self, part: Part) -> None:
        names = ", ".join(read(part.table, column.name) for column in part.columns)
        wrong = [
            part.key_of(row)
            for row in self._rows(part, names)
            if wrong_value(part, row) or wrong_text(part, row)
        ]
        where = " AND ".join(f'"{name}" = ?' for name in part.key)
        for key in wrong:
            self._delete(part.table, where, key)

    def _rows(self, part: Part, names: str) -> Iterator[Row]:
        packed = PACKED.get(part.name)
        place = -1 if packed is None else [column.name for column in part.columns].index(packed)
        for row in self._db.execute(f'SELECT {names} FROM "{part.table}"'):
            yield row if place < 0 else (*row[:place], opened(row[place], self._db), *row[place + 1 :])

    def _make_sections(self) -> None:
        """Sections that do not cover their text, or whose passage is lost, are cut anew."""
        broken = [
            (number, text)
            for number, text in fetch(self._db, "SELECT id, text_of(text) FROM contents WHERE sectioned")
            if not self._is_covered(number, text)
        ]
        for number, text in broken:
            self._db.execute("DELETE FROM sections WHERE content_id = ?", (number,))
            self.replaced["sections"] += self._db.changes()
            tree = split(text)
            ids = {digest: self._passage_id(digest, one) for digest, one in passages(tree).items()}
            self._db.executemany(
                "INSERT INTO sections (content_id, position, level, parent, heading, anchor, start_at,"
                " end_at, passage_id, kept) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (
                        number,
                        s.position,
                        s.level,
                        s.parent,
                        s.heading,
                        s.anchor,
                        s.start,
                        s.end,
                        ids[s.passage_hash],
                        packed(s.kept),
                    )
                    for s in tree
                ),
            )
            self.rebuilt["sections"] += len(tree)

    def _is_covered(self, content: int, text: str) -> bool:
        """And says each section its passage?"""
        found = fetch(
            self._db,
            "SELECT s.position, s.start_at, s.end_at, s.kept, s.heading, p.hash, p.heading_path, p.text"
            " FROM sections s JOIN passages p ON p.id = s.passage_id"
            " WHERE s.content_id = ? ORDER BY s.position",
            content,
        )
        slices = [row[:3] for row in found]
        return tiles(slices, len(text), blank=not text or text.isspace()) and all(
            bool(said)
            or (
                isinstance(kept, bytes)
                and is_text_of(digest, f"{path}\n{text_of(text[start:end], kept, heading)}")
            )
            for _, start, end, kept, heading, digest, path, said in found
        )

    def _passage_id(self, digest: bytes, passage: Any) -> int:
        found = self._db.execute(
            "SELECT id FROM passages WHERE substr(hash, 1, 12) = substr(?1, 1, 12) AND hash = ?1", (digest,)
        ).get
        if found is not None:
            return int(found)
        self.rebuilt["passages"] += 1
        self._db.execute(
            "INSERT INTO passages (hash, heading_path, text, chars) VALUES (?, ?, '', ?)",
            (digest, passage.heading_path, len(passage.text)),
        )
        return self._db.last_insert_rowid()

    def _drop_pointing_nowhere(self) -> None:
        order = [part.table for part in PARTS]
        found = [Pointer(*row) for row in self._db.execute(POINTERS)]
        # Rows come after those they point at, so that one pass is enough.
        for one in sorted(
            (one for one in found if one.table in order), key=lambda one: order.index(one.table)
        ):
            needed = self._db.execute(
                'SELECT "notnull" OR pk FROM pragma_table_info(?) WHERE name = ?', (one.table, one.column)
            ).get
            if needed or (one.table, one.column) in _NEEDED:
                self._delete(one.table, one.dangling)
            else:
                self._db.execute(f'UPDATE "{one.table}" SET "{one.column}" = NULL WHERE {one.dangling}')

    def _drop_false(self, table: str) -> None:
        refs = {number for (number,) in fetch(self._db, "SELECT id FROM refs")}
        hashes: dict[int, bytes] = dict(fetch(self._db, "SELECT id, hash FROM contents"))
        key, of = _VERSIONS[table]
        rows = fetch(
            self._db,
            f"SELECT {key}, source_id, content_id, title, url, text_of(metadata), payload_hash, links"
            f" FROM {of}",
        )
        for number, source, content, title, url, metadata, payload, links in rows:
            values = {"title": title, "url": url, "metadata": metadata, "payload_hash": payload}
            if content is not None and not has_payload(values, hashes[content]):
                self._delete(table, f"{key} = ?", (number,))
                continue
            known = [one for one in links_in(links) if one in refs]
            if len(known) * array("q").itemsize != len(links):
                # Its links are read from the page again: without validators the whole page comes.
                self._db.execute(
                    f"UPDATE {table} SET links = ?, etag = NULL, last_modified = NULL, body_hash = NULL"
                    f" WHERE {key} = ?",
                    (links_out(known), number),
                )
                self.touched.add(source)

    def _drop_unsaid(self) -> None:
        """Passages whose contents are lost, with their vectors: nothing knows their texts."""
        unsaid = "NOT EXISTS (SELECT 1 FROM sections s WHERE s.passage_id = passages.id)"
        self._delete("passages", f"text = '' AND {unsaid}")
        self._delete("vectors", "passage_id NOT IN (SELECT id FROM passages)")

    def _drop_odd_vectors(self) -> None:
        odd = "length(vector) <> (SELECT dimensions FROM models m WHERE m.id = vectors.model_id)"
        self._delete("vectors", odd)

    def _promised(self) -> dict[int, int]:
        """How many documents the generation that readers see should have, by source."""
        return dict(
            fetch(
                self._db,
                "SELECT s.id, g.documents FROM sources s"
                " JOIN generations g ON g.source_id = s.id AND g.number = s.active_generation",
            )
        )

    def _settle_sources(self, promised: dict[int, int]) -> None:
        self._db.execute(
            "INSERT OR IGNORE INTO generations (source_id, number, run_id, activated_at, documents)"
            " SELECT id, active_generation, 0, coalesce(last_success_at, last_run_at, created_at), 0"
            " FROM sources WHERE active_generation > 0"
        )
        self._db.execute(
            "UPDATE generations SET documents = (SELECT count(*) FROM documents d"
            " WHERE d.source_id = generations.source_id AND d.born <= generations.number"
            " AND (d.died IS NULL OR d.died > generations.number))"
        )
        self._db.execute(
            "UPDATE sources SET held_generation = NULL, held_reason = NULL WHERE held_generation IS NOT NULL"
            " AND NOT EXISTS (SELECT 1 FROM generations g"
            " WHERE g.source_id = sources.id AND g.number = held_generation)"
        )
        self._db.execute(
            "UPDATE sources SET last_generation = max(last_generation, active_generation,"
            " (SELECT coalesce(max(max(born, coalesce(died, 0))), 0) FROM documents d"
            " WHERE d.source_id = sources.id),"
            " (SELECT coalesce(max(number), 0) FROM generations WHERE source_id = sources.id))"
        )
        for source, now in self._promised().items():
            self.visible_lost[source] = max(0, promised.get(source, now) - now)
            if self.visible_lost[source] or source not in promised:
                self.touched.add(source)

    def _ask_again(self) -> None:
        """Forget what lets a run skip items: how far it came, and what it remembers of listings."""
        for source in self.touched:
            self._db.execute(
                "UPDATE sources SET watermark = NULL, last_processed_date = NULL, metadata = '{}'"
                " WHERE id = ?",
                (source,),
            )
            self._db.execute("DELETE FROM listings WHERE source_id = ?", (source,))

    def _delete(self, table: str, where: str, values: tuple[Any, ...] = ()) -> None:
        self._db.execute(f'DELETE FROM "{table}" WHERE {where}', values)
        self.lost[table] += self._db.changes()
