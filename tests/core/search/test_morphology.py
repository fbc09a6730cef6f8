"""Words of German and Arabic, told from one text or word alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.search.likelihood import coverage
from rowen.core.search.morphology import (
    arabic_stem,
    german_stem,
    has_arabic,
    is_german,
    is_part,
    plain_arabic,
)
from rowen.core.search.query import terms
from rowen.core.search.snippet import snippet
from tests.core.search.test_rank import place


@pytest.mark.parametrize(
    ("text", "german"),
    [
        ("die feuerwehr kommt und der schlauch ist nicht lang", True),
        ("haushalt der stadt", True),
        ("the server is not started when the port is taken by another one", False),
        (
            "under the mit license von neumann machines are free to use by any person in any way they want",
            False,
        ),
        ("le serveur est lance quand le port est libre", False),
        ("", False),
        ("der " + "server socket port " * 20, False),
    ],
)
def test_a_german_text_is_known_by_its_small_words(text: str, german: bool) -> None:
    assert is_german(text.split()) is german


@pytest.mark.parametrize(
    ("part", "word", "is_one"),
    [
        ("feuerwehr", "feuerwehrleitstelle", True),
        ("leitstellen", "feuerwehrleitstelle", True),
        ("feuerwehr", "feuerwehren", True),
        ("wehr", "feuerwehrleitstelle", False),
        ("leiter", "feuerwehrleitstelle", False),
    ],
)
def test_a_compound_has_a_word_at_its_beginning_or_end(part: str, word: str, is_one: bool) -> None:
    assert is_part(part, word) is is_one


def test_an_ending_is_taken_off_if_enough_is_left() -> None:
    words = ("verordnungen", "gassen", "hauser")
    assert [german_stem(word) for word in words] == ["verordnung", "gasse", "hauser"]


def test_the_small_words_of_a_german_question_are_left_out() -> None:
    assert terms("Wie melde ich den Hund an?") == ["melde", "hund"]
    assert terms("über die") == ["über", "die"], "nothing else was asked"
    assert terms("how does a server die in an hour") == ["server", "die", "hour"]


@pytest.mark.parametrize(
    ("written", "stem"),
    [
        ("\u0627\u0644\u0643\u062a\u0627\u0628", "\u0643\u062a\u0627\u0628"),
        ("\u0648\u0627\u0644\u0643\u062a\u0627\u0628", "\u0643\u062a\u0627\u0628"),
        ("\u0643\u0650\u062a\u064e\u0627\u0628", "\u0643\u062a\u0627\u0628"),
        ("\u0645\u0643\u062a\u0628\u0629", "\u0645\u0643\u062a\u0628"),
        ("\u0627\u0644\u0645\u0643\u062a\u0628\u0627\u062a", "\u0645\u0643\u062a\u0628"),
    ],
)
def test_an_arabic_word_is_the_same_with_article_marks_and_endings(written: str, stem: str) -> None:
    assert has_arabic(written)
    assert arabic_stem(plain_arabic(written)) == stem


@given(st.text(st.characters(min_codepoint=0x620, max_codepoint=0x6D3), max_size=12))
def test_a_stem_of_arabic_is_never_empty_where_the_word_is_not(word: str) -> None:
    plain = plain_arabic(word)
    assert bool(arabic_stem(plain)) == bool(plain)


def test_a_compound_is_shown_as_the_match_and_counts_as_found() -> None:
    text = "Die Feuerwehrleitstelle nimmt Notrufe an und ist immer besetzt."
    assert snippet(text, ["feuerwehr"]).matches == ((4, 23),)
    assert coverage(place(1, 1, text=text), ["feuerwehr", "pizza"]) == 0.5
    english = "The firewall listens on a port that nothing else has."
    assert snippet(english, ["listens", "wall"]).matches == ((13, 20),)
    assert snippet(english, ["walls"]).matches == ()
