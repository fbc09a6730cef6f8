"""A sheet that people and Rowen keep together: what is written, and what is left alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.exchange import sheet as sheets
from rowen.core.exchange.sheet import COLUMNS, RESOLUTION, Batch, Block, Cell, Row

COLS = ("company_id", "company", "open_offers")
HEADER: list[Cell] = [*COLS, RESOLUTION]


def row(number: int, name: str = "", offers: int = 1) -> Row:
    return {"company_id": number, "company": name or f"Company {number}", "open_offers": offers}


def a_sheet(lines: Sequence[Sequence[Cell]]) -> list[Sequence[Cell]]:
    return [HEADER, *lines]


def planned(
    cells: Sequence[Sequence[Cell]], rows: Mapping[str, Row], columns: Sequence[str] = COLS, **options: Any
) -> list[Batch]:
    return sheets.plan(sheets.read(cells, columns), rows, columns=columns, **options)


def applied(cells: Sequence[Sequence[Cell]], batch: Batch) -> list[list[Cell]]:
    """What the service makes of a batch."""
    grid = [list(line) for line in cells]

    def put(down: int, right: int, value: Cell) -> None:
        while len(grid) <= down:
            grid.append([])
        grid[down] += [""] * (right + 1 - len(grid[down]))
        grid[down][right] = value

    for block in batch.blocks:
        for down, values in enumerate(block.values):
            for right, value in enumerate(values):
                put(block.row + down, block.column + right, value)
    for added in batch.rows:
        end = len(grid)
        for right, cell in enumerate(added):
            if cell is not None:
                put(end, right, cell)
    return grid


def synced(
    cells: Sequence[Sequence[Cell]], rows: Mapping[str, Row], columns: Sequence[str] = COLS
) -> list[list[Cell]]:
    grid = [list(line) for line in cells]
    for _ in range(50):
        batches = planned(grid, rows, columns)
        if not batches:
            return grid
        grid = applied(grid, batches[0])
    raise AssertionError("it never comes to an end")


def test_an_empty_sheet_gets_its_headers_first_and_then_its_rows() -> None:
    (headers,) = planned([], {"1": row(1)})
    assert headers.blocks == (Block(0, 0, ((*COLS, RESOLUTION),)),)
    assert headers.columns == 4
    grid = applied([], headers)
    (rows,) = planned(grid, {"1": row(1)})
    assert rows.rows == ((1, "Company 1", 1),)
    assert synced([], {"1": row(1)}) == [HEADER, [1, "Company 1", 1]]


def test_a_sheet_that_says_everything_needs_nothing() -> None:
    assert planned([HEADER, [1, "Company 1", 1]], {"1": row(1)}) == []


def test_only_changed_cells_are_written() -> None:
    cells: list[list[Cell]] = [HEADER, [1, "Company 1", 1], [2, "Company 2", 1]]
    (batch,) = planned(cells, {"1": row(1), "2": row(2, offers=5)})
    assert batch.blocks == (Block(2, 2, ((5,),)),)
    assert batch.size == 1


def test_our_columns_are_found_wherever_they_were_moved_and_however_they_are_spelt() -> None:
    cells: list[list[Cell]] = [
        ["notes", "Open Offers", "resolution", " COMPANY_ID ", "mine", "company"],
        ["call them", 1, "", 7, "x", "Company 7"],
    ]
    (batch,) = planned(cells, {"7": row(7, name="Acme", offers=2)})
    assert applied(cells, batch)[1] == ["call them", 2, "", 7, "x", "Acme"]


def test_titles_above_the_header_and_rows_without_an_id_stay() -> None:
    cells: list[list[Cell]] = [["Our companies"], [], HEADER, ["", "a note of mine", 3], [1, "Company 1", 9]]
    grid = synced(cells, {"1": row(1), "2": row(2)})
    assert grid[:4] == cells[:4]
    assert grid[4:] == [[1, "Company 1", 1], [2, "Company 2", 1]]


def test_a_deleted_row_comes_back_at_the_end() -> None:
    grid = synced([HEADER, [2, "Company 2", 1]], {"1": row(1), "2": row(2)})
    assert grid == [HEADER, [2, "Company 2", 1], [1, "Company 1", 1]]


def test_a_company_with_two_rows_is_kept_up_to_date_in_both() -> None:
    cells: list[list[Cell]] = [HEADER, [1, "Company 1", 1, "yes"], [1, "Company 1", 1, "", "my own"]]
    grid = synced(cells, {"1": row(1, offers=4)})
    assert grid == [HEADER, [1, "Company 1", 4, "yes"], [1, "Company 1", 4, "", "my own"]]


def test_ids_are_known_as_numbers_and_as_text_and_are_never_rewritten() -> None:
    cells: list[list[Cell]] = [HEADER, ["1", "Company 1", 1], [2.0, "Company 2", 1], [" 03 ", "Company 3", 1]]
    assert planned(cells, {"1": row(1), "2": row(2), "3": row(3)}) == []


def test_a_deleted_column_of_ours_comes_back_beyond_everything_that_is_there() -> None:
    cells: list[list[Cell]] = [
        ["company_id", "company", "resolution"],
        [1, "Company 1", "", "a note without a header"],
    ]
    grid = synced(cells, {"1": row(1)})
    assert grid[0] == ["company_id", "company", "resolution", "", "open_offers"]
    assert grid[1] == [1, "Company 1", "", "a note without a header", 1]


def test_a_column_that_is_left_out_is_not_made_again_and_not_touched() -> None:
    cells: list[list[Cell]] = [[*HEADER, "website"], [1, "Company 1", 1, "", "theirs.example"]]
    assert planned(cells, {"1": {**row(1), "website": "ours.example"}}) == []


def test_of_two_columns_with_one_name_the_left_one_is_ours() -> None:
    cells: list[list[Cell]] = [[*HEADER, "open_offers"], [1, "Company 1", 1, "", 99]]
    grid = synced(cells, {"1": row(1, offers=2)})
    assert grid[1] == [1, "Company 1", 2, "", 99]


def test_rows_whose_id_column_was_deleted_get_their_ids_back() -> None:
    cells: list[list[Cell]] = [
        ["company", "open_offers", "resolution", "notes"],
        ["Beta", 1, "", "likes us"],
        ["a row of mine", "", "", ""],
        ["Acme", 1, "no", ""],
    ]
    grid = synced(cells, {"1": row(1, "Acme"), "2": row(2, "Beta"), "3": row(3, "Gamma")})
    assert grid[0] == ["company", "open_offers", "resolution", "notes", "company_id"]
    assert [line[4] if len(line) > 4 else "" for line in grid[1:]] == [2, "", 1, 3]
    assert grid[1][3] == "likes us"


def test_an_id_is_not_guessed_among_companies_that_look_alike() -> None:
    cells: list[list[Cell]] = [
        ["company", "open_offers", "resolution"],
        ["Acme", 1],
        ["Beta", 1],
        ["Beta", 1],
    ]
    rows = {"1": row(1, "Acme"), "2": row(2, "Acme"), "3": row(3, "Beta")}
    (batch,) = planned(cells, rows)
    assert batch.blocks == (Block(0, 3, (("company_id",),)),)


def test_companies_that_are_not_wanted_get_no_row_but_keep_the_one_they_have() -> None:
    cells: list[list[Cell]] = [HEADER, [1, "Company 1", 1]]
    (batch,) = planned(cells, {"1": row(1, offers=0), "2": row(2, offers=0)}, add=())
    assert batch.blocks == (Block(1, 2, ((0,),)),)
    assert batch.rows == ()


def test_what_people_say_is_read_once_and_taken_back_only_where_it_was() -> None:
    sheet = sheets.read([HEADER, [1, "", 1, "agreed"], [2, "", 1], [3, "", 1, " 4 "]], COLS)
    anew, seen = sheets.said_anew(sheet, {}, {"1", "2", "3"})
    assert anew == {"1": "agreed", "3": "4"}
    again, same = sheets.said_anew(sheet, seen, {"1", "2", "3"})
    assert (again, same) == ({}, seen)
    cleared = sheets.read([HEADER, [1, "", 1], [2, "", 1]], COLS)
    assert sheets.said_anew(cleared, seen, {"1", "2", "3"})[0] == {"1": ""}


def test_a_row_or_column_that_came_back_empty_takes_nothing_back() -> None:
    full = sheets.read([HEADER, [1, "", 1, "agreed"]], COLS)
    _, seen = sheets.said_anew(full, {}, {"1"})
    without_row = sheets.read([HEADER], COLS)
    anew, seen_then = sheets.said_anew(without_row, seen, {"1"})
    assert (anew, seen_then) == ({}, {})
    without_column = sheets.read([HEADER[:3], [1, "", 1]], COLS)
    assert sheets.said_anew(without_column, seen, {"1"}) == ({}, {})
    back = sheets.read([HEADER, [1, "", 1]], COLS)
    assert sheets.said_anew(back, seen_then, {"1"})[0] == {}


def test_what_several_rows_say_about_a_company_is_taken_together() -> None:
    cells: list[list[Cell]] = [HEADER, [1, "", 1, "yes"], [1, "", 1, "yes"], [9, "", 1, "call"], [1, "", 1]]
    assert sheets.read(cells, COLS).resolutions == {"1": "yes", "9": "call"}
    merged = sheets.read(cells, COLS, merged={"9": "1"})
    assert merged.resolutions == {"1": "yes | call"}
    assert merged.rows == {"1": (1, 2, 3, 4)}


def test_what_people_say_about_nobody_we_know_is_left_alone() -> None:
    sheet = sheets.read([HEADER, ["my id", "", 1, "text"]], COLS)
    assert sheets.said_anew(sheet, {}, {"1"})[0] == {}


@pytest.mark.parametrize(
    ("cell", "wanted", "same"),
    [
        (1, 1, True),
        (1.0, 1, True),
        (0.33333333333333331, 0.3333333333333333, True),
        (True, 1, False),
        ("1", 1, False),
        (1, "1", False),
        ("Acme", "Acme", True),
        ("", "", True),
        ("=1+1", "=1+1", True),
    ],
)
def test_a_cell_is_the_same_by_kind_and_value(cell: Cell, wanted: str | int | float, same: bool) -> None:
    cells: list[list[Cell]] = [HEADER, [1, cell, 1]]
    batches = planned(cells, {"1": {"company_id": 1, "company": wanted, "open_offers": 1}})
    assert (batches == []) is same


def test_an_emptied_value_empties_its_cell() -> None:
    (batch,) = planned([HEADER, [1, "Old", 1]], {"1": {**row(1), "company": ""}})
    assert batch.blocks == (Block(1, 1, (("",),)),)


def test_neighbours_go_together_in_one_range() -> None:
    cells = a_sheet([[number, "old", 0] for number in range(1, 101)])
    (batch,) = planned(cells, {str(n): row(n) for n in range(1, 101)})
    assert len(batch.blocks) == 1
    assert batch.blocks[0].cells == 200


def test_many_scattered_cells_are_cut_into_calls_of_500_ranges() -> None:
    cells = a_sheet([[number, f"Company {number}", 0 if number % 2 else 1] for number in range(1, 2003)])
    batches = planned(cells, {str(n): row(n) for n in range(1, 2003)})
    assert [len(batch.blocks) for batch in batches] == [500, 500, 1]


def test_many_cells_are_cut_into_calls_of_a_megabyte() -> None:
    rows = {str(n): row(n) for n in range(1, 10_001)}
    batches = planned([HEADER], rows)
    assert [len(batch.rows) for batch in batches] == [3333, 3333, 3333, 1]
    cells = a_sheet([[number, "old", 1] for number in range(1, 10_011)])
    batches = planned(cells, {str(n): row(n) for n in range(1, 10_011)})
    assert [batch.size for batch in batches] == [10_000, 10]


def test_text_from_outside_becomes_one_visible_line() -> None:
    assert sheets.text(" a\r\n\tb\x00\u200bc ") == "a b c"
    assert len(sheets.text("x" * 100_000)) == sheets.MAX_TEXT


def test_all_columns_have_their_place_in_a_new_sheet() -> None:
    (headers,) = planned([], {}, COLUMNS)
    assert headers.blocks[0].values == ((*COLUMNS, RESOLUTION),)


CELLS = st.one_of(st.just(""), st.integers(0, 5), st.text(max_size=3), st.booleans(), st.floats(0, 9))
IDS = st.integers(1, 6)


@given(
    header=st.permutations([*HEADER, "notes", ""]),
    lines=st.lists(st.lists(CELLS, max_size=6), max_size=6),
    ids=st.sets(IDS),
)
def test_whatever_people_made_of_it_their_cells_stay_and_ours_become_right(
    header: list[Cell], lines: list[list[Cell]], ids: set[int]
) -> None:
    rows = {str(number): row(number) for number in ids}
    before = [header, *lines]
    after = synced(before, rows)
    sheet = sheets.read(after, COLS)
    ours = {sheet.columns[name] for name in COLS}
    for number, line in enumerate(before):
        company = (
            sheets.key(line[sheet.columns["company_id"]]) if len(line) > sheet.columns["company_id"] else ""
        )
        for column, cell in enumerate(line):
            if column not in ours or company not in rows or number == 0:
                assert after[number][column] == cell
    for company, wanted in rows.items():
        assert sheet.rows[company]
        for place in sheet.rows[company]:
            assert after[place][sheet.columns["company"]] == wanted["company"]
            assert after[place][sheet.columns["open_offers"]] == wanted["open_offers"]
    assert len(after) <= len(before) + len(ids)
