"""Scores that can be compared between questions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rowen.core.search.likelihood import NOTHING_FITS, coverage, likelihoods, on_topic
from rowen.core.search.rank import Ranked
from rowen.core.search.symbols import Fit
from tests.core.search.test_rank import place

PLACE = place(1, 1, title="Sleeping", heading_path="Tasks › Sleeping", text="Wait for *some* seconds.")


def test_words_are_looked_for_in_title_headings_and_text_by_their_stems() -> None:
    assert coverage(PLACE, ["sleep", "task", "second", "pizza"]) == 0.75
    assert coverage(PLACE, []) == 0


def test_a_question_whose_words_and_meaning_are_found_is_on_topic() -> None:
    best = Ranked(PLACE, 0.9)
    assert on_topic(best, ["sleep", "seconds"], nearest=0.6, related_from=0.41) > 0.9
    assert on_topic(best, ["best", "pizza"], nearest=0.3, related_from=0.41) < NOTHING_FITS
    assert on_topic(best, ["sleep", "seconds"], nearest=None, related_from=None) > NOTHING_FITS
    assert on_topic(best, ["pizza"], nearest=0.9, related_from=None) < NOTHING_FITS


def test_a_definition_of_the_name_asked_for_is_on_topic_whatever_else_it_says() -> None:
    assert on_topic(Ranked(PLACE, 0.1, Fit.FULL), ["x"], nearest=0.0, related_from=0.41) == 1.0


def test_a_question_that_is_the_heading_or_the_title_of_the_best_hit_is_on_topic() -> None:
    best = Ranked(place(1, 1, title="The file", heading_path="The file › Integrations"), 0.9)
    for words in (["integration"], ["file"]):
        assert on_topic(best, words, nearest=0.0, related_from=0.41) == 1.0
    for words in (["integrations", "pizza"], []):
        assert on_topic(best, words, nearest=0.0, related_from=0.41) < NOTHING_FITS


def test_a_flag_that_stands_in_the_text_is_on_topic() -> None:
    best = Ranked(PLACE, 1.2, has_name=True)
    assert on_topic(best, ["failure", "level"], nearest=0.1, related_from=0.41) == 1.0
    assert likelihoods([best], 1.0)[0] <= 1.0


@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0, 1))
def test_no_hit_is_more_likely_than_the_one_before_it(scores: list[float], topic: float) -> None:
    found = likelihoods([Ranked(PLACE, score) for score in scores], topic)
    assert all(0 <= one <= topic for one in found)
    assert found == sorted(found, reverse=True)
