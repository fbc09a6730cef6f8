from __future__ import annotations

import re
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.adapters.store.shared.search import stems
from rowen.adapters.store.shared.search.stems import Collected, hashed, stemmed
from rowen.adapters.store.shared.search.words import words
from rowen.core.search.query import indexable

typed = st.text(
    st.one_of(st.characters(max_codepoint=0x7F), st.sampled_from("äéßİ’“›—_大麦が각́"), st.characters())
)


def plainly(text: str) -> list[str]:
    """The rule of words without its short cuts."""
    plain = re.sub("[^\\w\u0300-\u036f]+|_+", " ", indexable(text)).lower()
    without = re.sub("(?<=[a-z])[\u0300-\u036f]+", "", unicodedata.normalize("NFD", plain))
    return unicodedata.normalize("NFC", without).split()


@given(typed)
def test_short_cuts_cut_the_same_words(text: str) -> None:
    assert words(text).split() == plainly(text)


def test_what_is_collected_is_what_the_index_gets() -> None:
    collected = Collected()
    gets = collected.add("Fields › Sown fields", "Barley is sown in fields of barley.").split()
    assert Counter(gets) == Counter({"field": 11, "sown": 6, "barley": 2, "is": 1, "in": 1, "of": 1})
    counted = dict(zip(collected.stems, collected.times, strict=True))
    assert counted == {hashed(stem): times for stem, times in Counter(gets).items()}
    assert collected.ends.tolist() == [6]
    assert collected.lengths.tolist() == [len(gets)]


def test_texts_without_words_are_counted_too() -> None:
    collected = Collected()
    assert [collected.add("", ""), collected.add("", "rye"), collected.add("", "…")] == ["", "rye", ""]
    assert collected.ends.tolist() == [0, 1, 1]
    assert collected.lengths.tolist() == [0, 1, 0]


def test_words_too_long_for_the_index_are_left_out() -> None:
    long = "x" * 200
    assert stemmed(f"rye {long} oats") == ["rye", "oat"]
    collected = Collected()
    assert collected.add(long, f"{long} rye") == "rye"
    assert collected.lengths.tolist() == [1]


def test_remembered_words_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    for kept in (stems._remembered_stem(), stems._remembered_hash()):
        monkeypatch.setattr(type(kept), "MOST", 3)
        kept.clear()
    collected = Collected()
    assert collected.add("", "one two three four five one") == "one two three four five one"
    assert len(stems._remembered_stem()) <= 3
    assert len(stems._remembered_hash()) <= 3
