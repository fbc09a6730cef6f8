from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from rowen.adapters.store.shared.search import ahead as module
from rowen.adapters.store.shared.search import files, indexer
from rowen.adapters.store.shared.search.ahead import IndexAhead
from rowen.adapters.store.shared.search.index import Text, WordIndex, key_of
from rowen.core import hashing
from rowen.core.section import Passage

pytestmark = pytest.mark.anyio

DYING = "import sys; sys.stdout.write('rowen\\n'); sys.stdout.flush(); sys.stdin.buffer.read(4)"


def passage(text: str, heading_path: str = "Grain") -> Passage:
    return Passage(hashing.of_text(f"{heading_path}\n{text}"), heading_path, text)


GRAIN = [passage("Barley grows in spring."), passage("Rye is sown in autumn."), passage("Oats.", "")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(IndexAhead, "batch", 2)
    # A busy machine may take its time to start a child.
    monkeypatch.setattr(module, "LAST_S", 60.0)
    return tmp_path / "beside"


def held(folder: Path) -> list[int]:
    opened = WordIndex(folder).refresh()
    return opened.keys.tolist() if opened else []


async def test_a_child_indexes_texts_as_they_come_and_the_last_ones_with_the_end_of_the_run(
    folder: Path,
) -> None:
    ahead = IndexAhead(lambda: folder)
    await ahead.take(GRAIN[:2])
    await ahead.take(GRAIN[2:])
    await ahead.rest()
    assert held(folder) == [key_of(one.hash) for one in GRAIN]
    best = WordIndex(folder).best(["barley"], 10)
    assert best is not None
    assert best.keys.tolist() == [key_of(GRAIN[0].hash)]
    await ahead.close()


async def test_few_texts_start_no_child(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "command", lambda folder: pytest.fail("a child was started"))
    ahead = IndexAhead(lambda: folder)
    await ahead.take(GRAIN[:1])
    await ahead.rest()
    await ahead.take(GRAIN[1:2])
    await ahead.close()


async def test_where_nothing_may_be_written_texts_are_let_go(folder: Path) -> None:
    ahead = IndexAhead(lambda: None)
    await ahead.take(GRAIN)
    await ahead.rest()
    await ahead.close()
    assert not folder.exists()


async def test_a_child_that_dies_costs_the_run_nothing_and_the_next_run_tries_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = IndexAhead(lambda: folder)
    with monkeypatch.context() as patch:
        patch.setattr(module, "command", lambda folder: (sys.executable, "-c", DYING))
        await ahead.take(GRAIN)
        await ahead.take(GRAIN)
        await ahead.rest()
    assert held(folder) == []
    await ahead.take(GRAIN)
    await ahead.rest()
    assert len(held(folder)) == 3
    await ahead.close()


async def test_while_another_process_writes_the_child_leaves_it_at_that(folder: Path) -> None:
    ahead = IndexAhead(lambda: folder)
    with files.writing(folder) as mine:
        assert mine
        await ahead.take(GRAIN)
        await ahead.rest()
    await ahead.close()
    assert held(folder) == []


async def test_closing_waits_for_what_is_being_written(folder: Path) -> None:
    ahead = IndexAhead(lambda: folder)
    await ahead.take(GRAIN)
    await ahead.close()
    opened = WordIndex(folder).refresh()
    assert opened is not None
    assert opened.exact
    assert len(opened.keys) == 3


def test_a_frame_holds_any_text() -> None:
    odd = [passage(""), passage("half a pair \ud800 of surrogates"), passage("大麦\0", "穀物")]
    read = indexer.read_request(io.BytesIO(indexer.request(odd)))
    assert read is not None
    assert [one.key for one in read] == [key_of(one.hash) for one in odd]
    assert read[1:] == [
        Text(key_of(odd[1].hash), "Grain", "half a pair ? of surrogates"),
        Text(key_of(odd[2].hash), "穀物", "大麦\0"),
    ]
    assert indexer.read_request(io.BytesIO()) is None


@pytest.mark.parametrize("payload", [b"", b"\2", b"\1\1"])
def test_what_is_no_answer_is_refused(payload: bytes) -> None:
    with pytest.raises(ValueError, match="not an answer"):
        indexer.read_answer(payload)
