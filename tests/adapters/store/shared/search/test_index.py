from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rowen.adapters.store.shared.search import files
from rowen.adapters.store.shared.search.arrays import library
from rowen.adapters.store.shared.search.index import Text, WordIndex
from rowen.core.search.query import terms

TEXTS = [
    Text(11, "Barley", "Barley grows in spring."),
    Text(-12, "Rye", "Rye and barley are sown in autumn."),
    Text(13, "Oats", "Configuring the field for oats."),
    Text(14, "穀物", "大麦は春に育つ。"),
]


@pytest.fixture
def index(tmp_path: Path) -> WordIndex:
    index = WordIndex(tmp_path / "beside")
    assert index.add(TEXTS)
    return index


def found(index: WordIndex, query: str, **options: object) -> list[int]:
    best = index.best(terms(query), 10, **options)  # type: ignore[arg-type]
    assert best is not None
    return best[0].tolist()


def test_a_word_in_the_heading_weighs_more(index: WordIndex) -> None:
    assert found(index, "barley") == [11, -12]


def test_words_are_stemmed_and_characters_paired(index: WordIndex) -> None:
    assert found(index, "configuration") == [13]
    assert found(index, "大麦") == [14]
    assert found(index, "麦") == [14], "one character alone, the first of a pair"


GERMAN = [
    Text(21, "Recht", "Die Datenschutzgrundverordnung gilt seit einigen Jahren und ist streng."),
    Text(22, "Amt", "Der Datenschutz ist eine Aufgabe der Verwaltung, und Datenschutz wird gepr\u00fcft."),
    Text(23, "Protection", "A datenschutzgrundverordnung by its name in an English sentence."),
]


def test_compounds_of_german_texts_are_found_by_their_parts(index: WordIndex) -> None:
    index.add(GERMAN)
    assert found(index, "Datenschutz") == [22, 21], "the word itself before a compound"
    assert found(index, "Verordnungen") == [21], "by its end, in another form"
    assert found(index, "Grundverordnung") == [21]
    assert sorted(found(index, "Datenschutzgrundverordnung")) == [21, 23]
    assert found(index, "barley") == [11, -12]


def test_words_of_texts_that_are_not_german_have_no_parts(index: WordIndex) -> None:
    assert index.refresh().has_german is False  # type: ignore[union-attr]
    index.add(GERMAN[2:])
    assert found(index, "Datenschutz") == []


def test_an_arabic_word_is_found_without_its_article(index: WordIndex) -> None:
    index.add([Text(31, "", "\u0648\u0627\u0644\u0643\u0650\u062a\u0627\u0628 \u0647\u0646\u0627")])
    assert found(index, "\u0643\u062a\u0627\u0628") == [31]


def test_the_beginning_of_a_word_finds_it(index: WordIndex) -> None:
    assert found(index, "", prefix="bar") == [11, -12]
    assert found(index, "", prefix="configura") == [13]
    assert found(index, "", prefix="zz") == []
    assert found(index, "rye", prefix="bar")[0] == -12


def test_a_filter_names_blocks(index: WordIndex) -> None:
    assert found(index, "barley", blocks=[0]) == [11, -12]
    assert found(index, "barley", blocks=[1]) == []
    assert index.blocks_of(np.array([11, 14], np.int64)).tolist() == [0]


def test_another_process_sees_what_was_added(index: WordIndex, tmp_path: Path) -> None:
    other = WordIndex(tmp_path / "beside")
    assert found(other, "oats") == [13]
    index.add([Text(15, "More", "Oats again."), *TEXTS])
    assert sorted(found(other, "oats")) == [13, 15]
    assert len(other) == 5, "texts that are there are not added again"
    assert other.missing(np.array([11, 15, 16], np.int64)).tolist() == [2]


def test_while_one_process_writes_another_does_not_wait(index: WordIndex, tmp_path: Path) -> None:
    with files.writing(tmp_path / "beside") as mine:
        assert mine
        assert not WordIndex(tmp_path / "beside").add([Text(15, "More", "Oats")])
    assert index.add([Text(15, "More", "Oats")])


def test_what_a_killed_writer_left_does_not_count_and_is_written_over(
    index: WordIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(files.Stamped, "write", killed)
        with pytest.raises(KeyboardInterrupt):
            index.add([Text(15, "Left", "oats")])
    fresh = WordIndex(tmp_path / "beside")
    assert found(fresh, "oats") == [13]
    fresh.add([Text(16, "Spelt", "spelt"), Text(17, "More", "oats")])
    assert sorted(found(fresh, "oats")) == [13, 17]
    assert found(fresh, "left") == []


@pytest.mark.parametrize("damage", ["stamp", "keys", "words", "meta", "gone", "another format"])
def test_a_damaged_index_is_thrown_away_and_made_again(tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "beside"
    WordIndex(folder).add(TEXTS)
    (inside,) = folder.glob("*.index")
    if damage == "stamp":
        (folder / "words.json").write_text("{")
    elif damage == "another format":
        stamp = folder / "words.json"
        stamp.write_text(stamp.read_text().replace(f'"format": {files.WORDS_FORMAT}', '"format": 0'))
    elif damage == "keys":
        next(folder.glob("*.keys")).write_bytes(b"12345678")
    elif damage == "meta":
        (inside / "meta.json").write_text("nothing")
    else:
        for file in inside.iterdir():
            if damage == "gone":
                file.unlink()
            elif not file.name.endswith(".json"):
                file.write_bytes(b"nothing of the kind")
    index = WordIndex(folder)
    assert index.best(["barley"], 10) is None
    assert len(index.missing(np.array([11], np.int64))) == 1
    assert index.add(TEXTS)
    assert found(index, "barley") == [11, -12]
    assert len(list(folder.glob("*.index"))) == 1


def test_a_folder_that_cannot_be_made_is_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    index = WordIndex(tmp_path / "file" / "beside")
    assert not index.add(TEXTS)
    assert index.best(["barley"], 10) is None


def test_forgetting_leaves_no_word_behind(index: WordIndex, tmp_path: Path) -> None:
    assert index.forget()
    assert [path.name for path in (tmp_path / "beside").iterdir()] == ["lock"]
    assert index.best(["barley"], 10) is None


def test_an_index_that_has_grown_is_as_one_that_was_opened_anew(tmp_path: Path) -> None:
    grown = WordIndex(tmp_path / "beside")
    keys = np.random.default_rng(7).permutation(np.arange(-500, 500))
    for some in np.array_split(keys, 7):
        assert grown.add([Text(int(key), "Field", f"Field {key} has barley.") for key in some])
    anew = WordIndex(tmp_path / "beside").refresh()
    assert anew is not None and (held := grown.refresh()) is not None
    assert held.ascending.tolist() == anew.ascending.tolist() == sorted(keys.tolist())
    assert held.numbers.tolist() == anew.numbers.tolist()
    assert held.keys[held.numbers].tolist() == held.ascending.tolist()


def test_texts_added_to_an_open_index_are_sorted_in_and_the_others_are_not_sorted_again(
    index: WordIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    sorted_keys: list[int] = []
    argsort = np.argsort
    monkeypatch.setattr(
        np, "argsort", lambda keys, **how: sorted_keys.append(len(keys)) or argsort(keys, **how)
    )
    library.np.__dict__.clear()  # which may have kept the one that does not count
    assert index.add([Text(0, "Wheat", "Wheat is sown last.")])
    library.np.__dict__.clear()
    assert found(index, "wheat") == [0]
    assert max(sorted_keys) == 1
