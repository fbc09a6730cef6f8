"""Steps between two schemas that no statement can make, each with the way back.

A step is part of the transaction of its migration: after the statements on the way up, before them on the
way down (`down_after` comes after them). It may use what its own schema has, and nothing that came later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from rowen.adapters.store.shared.slices import packed, text_of


class Tables(NamedTuple):
    """A database inside a transaction; `?` stands for a value."""

    ask: Callable[[str, Sequence[Any]], list[Any]]
    change: Callable[[str, Iterable[Sequence[Any]]], None]
    """A statement once for each of these rows of values."""
    stored_text: str
    """How a statement reads the text of a content."""


def _nothing(tables: Tables) -> None: ...


class Step(NamedTuple):
    up: Callable[[Tables], None]
    down: Callable[[Tables], None]
    down_after: Callable[[Tables], None] = _nothing


def _cut_passages(tables: Tables) -> None:
    """Say how each section cuts out its passage; texts that are cut out in this way go."""
    from rowen.core.split import split

    for (content,) in tables.ask("SELECT id FROM contents WHERE sectioned ORDER BY id", ()):
        ((text,),) = tables.ask(f"SELECT {tables.stored_text} FROM contents WHERE id = ?", (content,))
        rows = tables.ask(
            "SELECT s.position, s.start_at, s.end_at, s.heading, p.text FROM sections s"
            " JOIN passages p ON p.id = s.passage_id WHERE s.content_id = ?",
            (content,),
        )
        kept = {(one.start, one.end): packed(one.kept) for one in split(text)}
        found: list[tuple[bytes, int, int]] = []
        for position, start, end, heading, said in rows:
            # An older Rowen may have cut the same text in another way.
            runs = kept.get((start, end))
            if runs is None or text_of(text[start:end], runs, heading) != said:
                at = text.find(said, start, end) if said else -1
                if at < 0:
                    continue
                runs = packed((at - start, len(said)))
            found.append((runs, content, position))
        tables.change("UPDATE sections SET kept = ? WHERE content_id = ? AND position = ?", found)
    tables.ask("UPDATE passages SET chars = length(text)", ())
    tables.ask(
        "UPDATE passages SET text = ''"
        " WHERE EXISTS (SELECT 1 FROM sections s WHERE s.passage_id = passages.id)"
        " AND NOT EXISTS (SELECT 1 FROM sections s WHERE s.passage_id = passages.id AND s.kept IS NULL)",
        (),
    )


def _write_passages(tables: Tables) -> None:
    """Give passages their texts back, as far as a section says them."""
    for (content,) in tables.ask("SELECT id FROM contents WHERE sectioned ORDER BY id", ()):
        rows = tables.ask(
            "SELECT p.id, s.start_at, s.end_at, s.kept, s.heading FROM sections s"
            " JOIN passages p ON p.id = s.passage_id"
            " WHERE s.content_id = ? AND p.text = '' AND s.kept IS NOT NULL",
            (content,),
        )
        if rows:
            ((text,),) = tables.ask(f"SELECT {tables.stored_text} FROM contents WHERE id = ?", (content,))
            tables.change(
                "UPDATE passages SET text = ? WHERE id = ?",
                [(text_of(text[start:end], kept, heading), one) for one, start, end, kept, heading in rows],
            )


def _index_words(tables: Tables) -> None:
    """Fill the index of words that SQLite's own file had."""
    from rowen.core.search.query import indexable

    insert = "INSERT INTO passages_fts (rowid, heading, body) VALUES (?, ?, ?)"
    for (content,) in tables.ask("SELECT id FROM contents WHERE sectioned ORDER BY id", ()):
        ((text,),) = tables.ask(f"SELECT {tables.stored_text} FROM contents WHERE id = ?", (content,))
        rows = tables.ask(
            "SELECT p.id, p.heading_path, p.text, s.start_at, s.end_at, s.kept, s.heading FROM sections s"
            " JOIN passages p ON p.id = s.passage_id WHERE s.content_id = ?"
            " AND NOT EXISTS (SELECT 1 FROM passages_fts_docsize f WHERE f.id = p.id)",
            (content,),
        )
        said = {
            one: (one, indexable(path), indexable(own or text_of(text[start:end], kept or b"", heading)))
            for one, path, own, start, end, kept, heading in rows
        }
        tables.change(insert, said.values())


STEPS = {
    "slices": Step(_cut_passages, _write_passages),
    "words_beside": Step(_nothing, _nothing, _index_words),
}
"""By the name of their migration."""
