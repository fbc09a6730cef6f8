"""Short values of a source are packed with what they have in common, and read by whoever opens the file."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from rowen.adapters.store.sqlite import dictionaries, texts
from rowen.adapters.store.sqlite.dictionaries import NONE, UnreadableText

SOURCE = 7


def a_note(number: int) -> str:
    said = f"# Note {number}\n\nThe office of the town counts what came in, from station {number * 31 % 97}."
    return said + f"\n\n- Publisher: Office {number % 9}\n- Licence: Creative Commons Attribution 4.0\n" * 3


NOTES = [a_note(number) for number in range(200)]
SAMPLES = [note.encode() for note in NOTES]


@pytest.fixture(autouse=True)
def unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has opened no file yet."""
    _forget(monkeypatch)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[apsw.Connection]:
    made = _opened(tmp_path / "some.db")
    made.execute("CREATE TABLE dictionaries (id INTEGER PRIMARY KEY, source_id INTEGER UNIQUE, body BLOB)")
    yield made
    made.close()


def _opened(path: Path) -> apsw.Connection:
    made = apsw.Connection(str(path))
    texts.teach(made)
    return made


def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dictionaries, "_known", {})
    monkeypatch.setattr(dictionaries, "_samples", {})
    dictionaries._mine.__dict__.clear()


def test_short_texts_take_half_the_bytes_they_take_alone(db: apsw.Connection) -> None:
    number = dictionaries.of_source(db, SOURCE, SAMPLES)
    alone, together = (
        sum(len(texts.pack(note, one)) for note in NOTES) for one in (dictionaries.NONE, number)
    )
    assert together < alone / 2


def test_another_process_reads_what_was_packed(
    db: apsw.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = dictionaries.of_source(db, SOURCE, SAMPLES)
    stored = texts.pack(NOTES[3], number)
    record = dictionaries.compressed(SAMPLES[4], number)
    _forget(monkeypatch)
    other = _opened(tmp_path / "some.db")
    assert other.execute("SELECT text_of(?), text_bytes(?)", (stored, stored)).get == (
        NOTES[3],
        len(SAMPLES[3]),
    )
    assert dictionaries.inflated(record, other) == SAMPLES[4]
    assert texts.cut(stored, [(2, 6)], other) == [NOTES[3][2:6]]
    other.close()


def test_a_dictionary_is_made_once_and_stays(db: apsw.Connection) -> None:
    number = dictionaries.of_source(db, SOURCE, SAMPLES)
    assert number != NONE
    assert dictionaries.of_source(db, SOURCE, [note.upper().encode() for note in NOTES]) == number


def test_few_values_make_none(db: apsw.Connection) -> None:
    assert dictionaries.of_source(db, SOURCE, SAMPLES[:20]) == NONE
    assert db.execute("SELECT count(*) FROM dictionaries").get == 0


def test_small_batches_make_one_together(db: apsw.Connection) -> None:
    made = [dictionaries.of_source(db, SOURCE, SAMPLES[at : at + 20]) for at in range(0, len(SAMPLES), 20)]
    assert made[0] == NONE
    assert made[-1] != NONE
    assert dictionaries.of_source(db, SOURCE, SAMPLES) == made[-1], "one source has one"
    assert dictionaries.of_source(db, SOURCE + 1, SAMPLES[:20]) == NONE, "another has samples of its own"
    assert dictionaries._samples.keys() == {(db.filename, SOURCE + 1)}, "and those of the first are gone"


def test_long_texts_need_no_dictionary(db: apsw.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    number = dictionaries.of_source(db, SOURCE, SAMPLES)
    long = "".join(NOTES)
    stored = texts.pack(long, number)
    _forget(monkeypatch)
    assert texts.unpack(stored) == long


def test_a_text_whose_dictionary_is_lost_is_unreadable(
    db: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = texts.pack(NOTES[3], dictionaries.of_source(db, SOURCE, SAMPLES))
    _forget(monkeypatch)
    db.execute("DELETE FROM dictionaries")
    with pytest.raises(UnreadableText, match="there is no dictionary"):
        texts.unpack(stored, db)
    assert texts.opened(stored, db) == stored


def test_a_damaged_dictionary_is_not_used(db: apsw.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = texts.pack(NOTES[3], dictionaries.of_source(db, SOURCE, SAMPLES))
    _forget(monkeypatch)
    db.execute("UPDATE dictionaries SET body = zeroblob(length(body))")
    with pytest.raises(UnreadableText):
        texts.unpack(stored, db)


def test_records_of_older_files_are_read(db: apsw.Connection) -> None:
    assert dictionaries.inflated(zlib.compress(b"a record"), db) == b"a record"
    number = dictionaries.of_source(db, SOURCE, SAMPLES)
    deflated = dictionaries.deflated(dictionaries.compressed(SAMPLES[0], number), db)
    assert zlib.decompress(deflated) == SAMPLES[0]
