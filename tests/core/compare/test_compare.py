"""Which words and sections of a document differ."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from rowen.core.compare.sections import SectionChange, compare, fold
from rowen.core.compare.words import Mark, Piece, diff, folded

WORDS = st.lists(st.sampled_from(["oats", "rye", "barley", "\n\n", ". ", " ", "\n"]), max_size=60).map(
    "".join
)


def marked(pieces: tuple[Piece, ...]) -> str:
    signs = {Mark.EQUAL: "{}", Mark.REMOVED: "[-{}-]", Mark.ADDED: "[+{}+]"}
    return "".join(
        f"<{one.words}>" if one.mark is Mark.FOLDED else signs[one.mark].format(one.text) for one in pieces
    )


def changes(before: str, after: str) -> list[tuple[str, str]]:
    return [(one.change.value, one.heading_path) for one in compare(before, after).sections]


@given(WORDS, WORDS)
def test_the_pieces_hold_both_texts_whole(before: str, after: str) -> None:
    pieces = diff(before, after)
    assert "".join(one.text for one in pieces if one.mark is not Mark.ADDED) == before
    assert "".join(one.text for one in pieces if one.mark is not Mark.REMOVED) == after


@given(WORDS)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert all(one.change is SectionChange.EQUAL for one in compare(text, text).sections)


def test_changed_words_are_marked_and_the_others_are_not() -> None:
    found = diff("The default is 30 seconds for each call.", "The default is 60 seconds for each call.")
    assert marked(found) == "The default is [-30 -][+60 +]seconds for each call."


def test_a_paragraph_that_has_nothing_in_common_is_removed_and_added_whole() -> None:
    found = diff("one two three four", "cinque sei sette otto")
    assert marked(found) == "[-one two three four-][+cinque sei sette otto+]"


def test_long_unchanged_stretches_are_folded_to_the_words_around_a_change() -> None:
    before = " ".join(f"w{n}" for n in range(100))
    found = folded(diff(before, before.replace("w50 ", "new ")), around=2)
    assert marked(found) == "<48>w48 w49 [-w50 -][+new +]w51 w52 <47>"


def test_ten_thousand_words_are_compared_in_moments() -> None:
    paragraphs = [" ".join(f"w{n * 37 % 9973}" for n in range(i, i + 100)) for i in range(100)]
    changed = [*paragraphs[:40], paragraphs[40].replace("w", "x", 3), *paragraphs[41:]]
    began = time.process_time()
    found = diff("\n\n".join(paragraphs), "\n\n".join(changed))
    assert time.process_time() - began < 2, "difflib by itself takes half a minute"
    assert sum(one.words for one in found if one.mark is Mark.ADDED) == 3


def test_sections_are_told_apart_by_their_headings() -> None:
    before = "# A\n\nintro\n\n## One\n\nold text here\n\n## Two\n\ntwo\n"
    after = "# A\n\nintro\n\n## One\n\nnew text here\n\n## Three\n\nthree\n"
    assert changes(before, after) == [
        ("equal", "A"),
        ("changed", "A › One"),
        ("added", "A › Three"),
        ("removed", "A › Two"),
    ]
    found = compare(before, after)
    assert (found.words_added, found.words_removed) == (3, 3), "headings are words too"


def test_a_section_at_another_place_is_moved_and_not_removed_and_added() -> None:
    one, two, three = ("## " + name + "\n\ntext of " + name + "\n\n" for name in ("One", "Two", "Three"))
    assert changes(one + two + three, three + one + two) == [
        ("moved", "Three"),
        ("equal", "One"),
        ("equal", "Two"),
    ]


def test_a_section_under_another_parent_is_moved() -> None:
    assert ("moved", "B › Part") in changes(
        "# A\n\na\n\n## Part\n\nsame words\n\n# B\n\nb\n", "# A\n\na\n\n# B\n\nb\n\n## Part\n\nsame words\n"
    )


def test_a_new_document_is_all_added_and_a_removed_one_all_removed() -> None:
    assert changes("", "# A\n\na\n") == [("added", "A")]
    assert compare("# A\n\na\n", None).count(SectionChange.REMOVED) == 1


def test_sections_far_from_a_change_are_folded() -> None:
    text = "".join(f"## S{n}\n\ntext {n}\n\n" for n in range(10))
    found = fold(compare(text, text.replace("text 5", "other 5")))
    assert [(one.change.value, one.sections) for one in found.sections] == [
        ("folded", 4),
        ("equal", 1),
        ("changed", 1),
        ("equal", 1),
        ("folded", 3),
    ]
    assert found.sections[1].pieces == (Piece(Mark.FOLDED, "", 3),)


def test_a_long_list_is_compared_line_by_line() -> None:
    lines = [f"- [item {number}](https://example.org/address/{number}.html)\n" for number in range(200)]
    after = "".join([*lines[:90], "- one more\n", *lines[90:]])
    pieces = diff("".join(lines), after)
    assert [(piece.mark.value, piece.text) for piece in pieces if piece.mark.value != "equal"] == [
        ("added", "- one more\n")
    ]
