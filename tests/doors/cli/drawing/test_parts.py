"""Tables, margins and bars."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from rowen.doors.cli.drawing.console import Console
from rowen.doors.cli.drawing.parts import Bar, Column, Group, Indent, Table
from rowen.doors.cli.drawing.text import Text


def drawn(*parts: object, width: int = 40, colours: bool = False) -> str:
    console = Console(io.StringIO(), terminal=True, colours=colours, width=width)
    return console.drawn(*parts)  # type: ignore[arg-type]


def test_columns_are_as_wide_as_they_must_be() -> None:
    table = Table([Column("name"), Column("pages", justify="right")], heading_style="dim")
    table.row("docs", "1,204")
    table.row("a longer name", "7")
    assert drawn(table) == "name           pages\ndocs           1,204\na longer name      7\n"


def test_the_column_that_wraps_gives_way_first() -> None:
    table = Table([Column(), Column(wraps=True)])
    table.row("passages", "12 of 15 known, 3 stored")
    assert drawn(table, width=26) == "passages  12 of 15 known,\n          3 stored\n"


def test_what_does_not_wrap_is_cut_with_a_mark() -> None:
    table = Table([Column(), Column()])
    table.row("a very long title of a page", "ok")
    assert drawn(table, width=16) == "a very long…  ok\n"


def test_a_margin_stands_before_every_line() -> None:
    assert drawn(Indent("one two three", 4), width=12) == "    one two\n    three\n"
    assert drawn(Indent(Group("a", "b"), "▌ ")) == "▌ a\n▌ b\n"


def test_a_bar_is_full_when_all_is_done() -> None:
    assert drawn(Bar(5, 10, 8)) == "━━━━────\n"
    assert drawn(Bar(10, 10, 8)) == "━━━━━━━━\n"
    assert drawn(Bar(0, None, 8)) == "────────\n"


def test_without_colours_no_code_is_written() -> None:
    text = Text("new", "bold green").append(" page", "default")
    assert drawn(text, colours=True) == "\x1b[1;32mnew\x1b[0m page\n"
    assert drawn(text) == "new page\n"


@given(st.lists(st.text("abc ", max_size=30), min_size=1, max_size=5), st.integers(20, 60))
def test_a_table_is_never_wider_than_the_terminal(cells: list[str], width: int) -> None:
    table = Table([Column(str(at), wraps=at % 2 == 0) for at, _ in enumerate(cells)], heading_style="")
    table.row(*cells)
    assert all(len(line) <= width for line in drawn(table, width=width).splitlines())


def test_a_stream_that_knows_no_such_signs_gets_others() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    console = Console(stream, terminal=True, colours=False, width=20)
    console.write(console.drawn(Bar(1, 2, 4), "• plum · é"))
    assert raw.getvalue() == b"==--\n* plum - ?\n"
