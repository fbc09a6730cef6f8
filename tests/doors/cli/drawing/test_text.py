"""Words with styles, broken into lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rowen.doors.cli.cells import cells
from rowen.doors.cli.drawing.text import Text, cut, width_of

WORDS = st.lists(st.text("abc漢é́", min_size=1, max_size=12), max_size=12).map(" ".join)


def plain(text: Text, width: int) -> list[str]:
    return ["".join(part for part, _ in line) for line in text.lines(width)]


def test_lines_are_broken_between_words() -> None:
    assert plain(Text("the plum is picked by hand"), 12) == ["the plum is", "picked by", "hand"]


def test_the_margin_of_a_line_stays_and_lines_of_the_text_stay() -> None:
    assert plain(Text("    a plum\n\nb"), 20) == ["    a plum", "", "b"]


def test_a_word_that_is_too_long_is_folded() -> None:
    folded = ["see", "https://exam", "ple.org/plum", "s now"]
    assert plain(Text("see https://example.org/plums now"), 12) == folded


def test_a_line_that_can_be_copied_leaves_words_whole() -> None:
    text = Text("see https://example.org/plums now")
    text.folds = False
    assert plain(text, 12) == ["see", "https://example.org/plums", "now"]
    assert plain(Text("see https://example.org/plums now", whole=True), 12) == [
        "see https://example.org/plums now"
    ]


def test_styles_follow_their_words_over_the_break() -> None:
    text = Text("all ", "dim").append("plums and pears", "red").append(" here")
    assert list(text.lines(10)) == [
        [("all ", "dim"), ("plums", "red")],
        [("and pears", "red")],
        [("here", "dim")],
    ]


def test_pieces_are_joined_by_a_piece() -> None:
    joined = Text(" · ", "dim").join([Text("1 new", "green"), Text("2 removed", "magenta")])
    assert joined.plain == "1 new · 2 removed"
    assert joined.pieces[1] == (" · ", "dim")


def test_a_wide_character_takes_two_columns() -> None:
    assert cells("漢字") == 4
    assert cells("é") == 1
    assert plain(Text("漢字漢字"), 5) == ["漢字", "漢字"]


def test_a_line_is_cut_with_a_mark() -> None:
    line = [("the plum ", ""), ("is picked", "bold")]
    assert cut(line, 12) == [("the plum ", ""), ("is", "bold"), ("…", "bold")]
    assert cut([("plum", "")], 4) == [("plum", "")]


@given(WORDS, st.integers(2, 40))
def test_no_word_is_lost_and_no_line_is_too_wide(text: str, width: int) -> None:
    lines = list(Text(text).lines(width))
    shown = "".join(part for line in lines for part, _ in line)
    assert shown.replace(" ", "") == text.replace(" ", "")
    assert all(width_of(line) <= width for line in lines)


def test_lines_behind_the_first_have_their_margin() -> None:
    text = Text("ok    disk  81 GB are free on this disk")
    text.hang = 12
    assert plain(text, 24) == ["ok    disk  81 GB are", "            free on this", "            disk"]
