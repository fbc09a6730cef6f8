"""Texts in fewer bytes: nothing of them is lost, and damage is told."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.adapters.store.sqlite import texts
from rowen.adapters.store.sqlite.schema import SqliteSchema
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.adapters.store.sqlite.texts import (
    FRAME,
    SHORTEST,
    UnreadableText,
    cut,
    opened,
    pack,
    size,
    teach,
    unpack,
)
from tests.contract.helpers import a_generation, a_source

pytestmark = pytest.mark.anyio

BEFORE = 27
"""The last schema that held texts as they are."""
PAGES = {
    f"https://d.example/{number}": f"# Page {number}\n\n" + f"Field {number} gives. " * 3000
    for number in range(6)
}


@given(st.one_of(st.text(), st.builds(lambda text: text * 40, st.text(min_size=3))))
def test_a_text_comes_back_as_it_was(text: str) -> None:
    assert unpack(pack(text)) == text
    assert size(pack(text)) == len(text.encode())


@given(st.data(), st.sampled_from(["漢字 and words, ", "x\n", "🍎"]), st.integers(0, 3 * FRAME))
def test_a_part_is_cut_out_of_any_text(data: st.DataObject, words: str, length: int) -> None:
    text = (words * (length // len(words) + 1))[:length]
    end = data.draw(st.integers(0, length))
    start = data.draw(st.integers(0, end))
    places = [(start, end), (0, length), (end, length), (start, start)]
    assert cut(pack(text), places) == [text[low:high] for low, high in places]
    assert unpack(pack(text)) == text
    assert size(pack(text)) == len(text.encode())


def test_no_more_of_a_very_long_text_is_opened_than_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = pack("".join(f"line {number}\n" for number in range(20_000)))
    sizes: list[int] = []
    texts._held.cache_clear()
    one = texts._opened
    monkeypatch.setattr(texts, "_opened", lambda frame: sizes.append(len(one(frame))) or one(frame))  # type: ignore[func-returns-value]
    cut(stored, [(FRAME + 5, FRAME + 50), (2 * FRAME - 10, 2 * FRAME + 10)])
    assert sizes == [FRAME, FRAME]


def test_a_long_text_takes_less_and_a_short_one_stands_as_it_is() -> None:
    page = "The second crop of a field in one season is its rowen. " * 40
    assert len(pack(page)) < len(page) // 4
    assert pack(page[: SHORTEST - 1]) == page[: SHORTEST - 1]


@pytest.mark.parametrize(
    "spoilt",
    [b"", b"noise", pack("text " * 100)[:-3], pack("text " * 20_000)[:-3], pack("text " * 20_000)[:9]],
)
def test_what_cannot_be_read_is_told(spoilt: bytes) -> None:
    with pytest.raises(UnreadableText):
        unpack(spoilt)
    with pytest.raises(UnreadableText):
        cut(spoilt, [(0, 100_000)])
    assert opened(spoilt) == spoilt


def test_statements_pack_and_open_texts() -> None:
    db = apsw.Connection(":memory:")
    teach(db)
    page = "field " * 100
    assert db.execute("SELECT text_of(packed(?)), text_bytes(packed(?))", (page, page)).fetchall() == [
        (page, 600)
    ]
    assert db.execute("SELECT packed(NULL), text_of(NULL), text_bytes(NULL)").fetchall() == [
        (None, None, None)
    ]


async def test_an_upgrade_packs_the_texts_and_gives_the_room_back(tmp_path: Path) -> None:
    path = await an_old_store(tmp_path)
    before = path.stat().st_size
    schema = a_schema(path)
    await schema.upgrade()
    await schema.close()
    assert path.stat().st_size < before - sum(map(len, PAGES.values())) * 0.8
    store = SqliteStore(path)
    assert await told_by(store) == PAGES
    await store.close()


async def test_an_upgrade_that_is_broken_off_leaves_the_old_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = await an_old_store(tmp_path)
    packed = 0

    def pack_some(text: str) -> str | bytes:
        nonlocal packed
        packed += 1
        if packed == 4:
            raise KeyboardInterrupt
        return pack(text)

    with monkeypatch.context() as patched:
        patched.setattr(texts, "pack", pack_some)
        schema = a_schema(path)
        with pytest.raises(KeyboardInterrupt):
            await schema.upgrade()
        await schema.close()
    db = apsw.Connection(str(path))
    assert db.execute("PRAGMA user_version").get == BEFORE
    assert db.execute("SELECT count(*) FROM contents WHERE typeof(text) <> 'text'").get == 0
    db.close()
    store = SqliteStore(path)
    assert await told_by(store) == PAGES
    await store.close()


async def told_by(store: SqliteStore) -> dict[str, str]:
    (source,) = await store.sources()
    return {one.draft.reference: one.draft.text for one in await store.living(source.id, limit=10)}


async def an_old_store(folder: Path) -> Path:
    path = folder / "rowen.db"
    store = SqliteStore(path)
    await a_generation(store, await a_source(store), PAGES)
    await store.close()
    schema = a_schema(path)
    await schema.downgrade(BEFORE)
    await schema.close()
    return path


def a_schema(path: Path) -> SqliteSchema:
    return SqliteSchema(path, busy_timeout_s=5.0, now=lambda: datetime.now(UTC), is_dead=lambda owner: False)
