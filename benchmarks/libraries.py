"""What the libraries below a first sync take by themselves, for the rows and texts of a store it has made.

    python benchmarks/libraries.py STORE.db      CPU seconds of each

SQLite puts the rows of the store into an empty one: each once, ready made, without looking anything up. The
index of words takes texts that are cut into words and stemmed. The model embeds what has a vector. Nothing is
fetched, parsed, compared, converted, hashed, packed or written twice, as a handoff is. A sync that keeps as
much takes more than this and the floor of `portal.py` together.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import tantivy

from rowen.adapters.embedders.static import BATCH, Weights, _wheel_folder
from rowen.adapters.store.shared.search.index import MEMORY, _spaces
from rowen.adapters.store.shared.search.proposals import BLOCK, BLOCK_BITS, BODY, NUMBER, schema
from rowen.adapters.store.shared.search.stems import Collected
from rowen.adapters.store.sqlite import database
from rowen.adapters.store.sqlite.texts import teach
from rowen.engine.ingest import BATCH as DOCUMENTS

INDEXED = 5_000
"""Texts that a harvest sends to the index together."""
SAID = """
SELECT p.heading_path, substr(text_of(c.text), s.start_at + 1, s.end_at - s.start_at), s.form
FROM sections s JOIN passages p ON p.id = s.passage_id JOIN contents c ON c.id = s.content_id
GROUP BY p.id ORDER BY p.id
"""
TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"


def alone(store: Path) -> dict[str, float]:
    """CPU seconds of SQLite, of the index of words and of the model."""
    db = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READONLY)
    teach(db)
    said = db.execute(SAID).fetchall()
    tables = [name for (name,) in db.execute(TABLES)]
    rows = {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in tables}
    db.close()
    return {
        "SQLite": timed(lambda folder: write(folder, rows)),
        "index of words": timed(prepared_index(said)),
        "model": timed(prepared_model(said)),
    }


def timed(work: Callable[[Path], None]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        before = time.process_time()
        work(Path(folder))
        return time.process_time() - before


def write(folder: Path, rows: dict[str, list[tuple[Any, ...]]]) -> None:
    db = apsw.Connection(str(folder / "alone.db"))
    teach(db)
    db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL").fetchall()
    db.execute(Path(database.__file__).with_name("schema.sql").read_text("utf-8"))
    batches = max(1, len(rows["documents"]) // DOCUMENTS)
    for number in range(batches):
        with db:
            for name, every in rows.items():
                some = every[number * len(every) // batches : (number + 1) * len(every) // batches]
                if some:
                    places = ", ".join("?" * len(some[0]))
                    db.executemany(f"INSERT INTO {name} VALUES ({places})", some)
    db.close()


def prepared_index(said: list[tuple[str, str, str]]) -> Callable[[Path], None]:
    collected = Collected()
    bodies = [collected.add(heading, text) for heading, text, _ in said]

    def work(folder: Path) -> None:
        index = tantivy.Index(schema(), str(folder))
        index.register_tokenizer("rowen", _spaces())
        for some in pieces(list(enumerate(bodies)), INDEXED):
            writer = index.writer(MEMORY, 1)
            for number, body in some:
                document = tantivy.Document()
                document.add_integer(NUMBER, number)
                document.add_integer(BLOCK, number >> BLOCK_BITS)
                document.add_text(BODY, body)
                writer.add_document(document)
            writer.commit()
            writer.wait_merging_threads()

    return work


def prepared_model(said: list[tuple[str, str, str]]) -> Callable[[Path], None]:
    weights = Weights.from_folder(_wheel_folder())
    texts = [f"{heading}\n{text}" for heading, text, form in said if form != "details"]

    def work(_folder: Path) -> None:
        for some in pieces(texts, BATCH):
            weights.embed(some)

    return work


def pieces(every: list[Any], size: int) -> Iterator[list[Any]]:
    return (every[start : start + size] for start in range(0, len(every), size))


def main() -> None:
    found = alone(Path(sys.argv[1]))
    if "--json" in sys.argv:
        print(json.dumps(found))
        return
    for name, seconds in found.items():
        print(f"{name:<16}{seconds:>8.2f} CPU s")


if __name__ == "__main__":
    main()
