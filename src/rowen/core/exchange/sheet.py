"""A table that people and Rowen keep together: which cells to write, which rows to add, what people said.

Our columns are found by the names in the header row, wherever people moved them, and rows by the company id
in them. Everything else (other columns, rows without an id, the order, the format) belongs to people. Pure:
the sheet as it was read comes in, what to write goes out.

A company that has several rows is kept up to date in all of them, and what people say in them is taken
together. Of two columns with one name, the left one is ours. Where people removed our id column, rows get
their ids back by company and website.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from rowen.core import hashing
from rowen.core.offers.company import said_together
from rowen.records import dataclass

Cell = str | int | float | bool
Row = Mapping[str, str | int | float]
"""The cells of one company, by column."""

ID = "company_id"
COLUMNS = (
    ID,
    "company",
    "website",
    "open_offers",
    "offers",
    "reposts",
    "posting_rate",
    "places",
    "first_seen",
    "last_seen",
)
RESOLUTION = "resolution"
"""The people's column: we make its header and read it. Below, we write only into rows that we add."""
OPEN = "open_offers"

MAX_RANGES = 500
MAX_CELLS = 10_000
"""Of one call: some 1 MB, half of what the service asks for."""
MAX_TEXT = 49_000
"""A cell of the service holds 50,000 characters."""
_HEADER_WITHIN = 20
"""People put titles above a table, but not more than this."""


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring cells, from a row and a column on."""

    row: int
    column: int
    values: tuple[tuple[Cell, ...], ...]

    @property
    def cells(self) -> int:
        return sum(len(row) for row in self.values)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sheet:
    """What we know in a sheet."""

    header: int
    """The row with the names of the columns."""
    columns: Mapping[str, int]
    """Ours, and the people's `resolution`, where they are there."""
    width: int
    """Beyond this column no cell holds anything."""
    rows: Mapping[str, tuple[int, ...]]
    """Where each company is, by id."""
    resolutions: Mapping[str, str]
    """What people say about each company that has a row; empty without the column."""
    cells: Sequence[Sequence[Cell]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """What goes in one call."""

    blocks: tuple[Block, ...] = ()
    rows: tuple[tuple[Cell | None, ...], ...] = ()
    columns: int = 0
    """How wide the sheet has to be; 0 when it is."""

    @property
    def size(self) -> int:
        """How many cells it changes."""
        return sum(block.cells for block in self.blocks) + sum(
            cell is not None for row in self.rows for cell in row
        )


def read(
    cells: Sequence[Sequence[Cell]],
    columns: Sequence[str] = COLUMNS,
    *,
    merged: Mapping[str, str] | None = None,
) -> Sheet:
    """Find our columns and the companies' rows; `merged` are ids that stand for another company by now."""
    header = _header(cells)
    wanted = {*columns, ID, RESOLUTION}
    found: dict[str, int] = {}
    for column, cell in enumerate(cells[header] if header < len(cells) else ()):
        name = _name(cell)
        if name in wanted:
            found.setdefault(name, column)
    rows: dict[str, list[int]] = {}
    said: dict[str, list[str]] = {}
    for row in range(header + 1, len(cells)):
        company = key(_at(cells, row, found.get(ID)))
        if company:
            company = (merged or {}).get(company, company)
            rows.setdefault(company, []).append(row)
            if RESOLUTION in found:
                said.setdefault(company, []).append(_words(_at(cells, row, found[RESOLUTION])))
    return Sheet(
        header=header,
        columns=found,
        width=max((_filled(row) for row in cells), default=0),
        rows={company: tuple(places) for company, places in rows.items()},
        resolutions={company: said_together(texts) for company, texts in said.items()},
        cells=cells,
    )


def plan(
    sheet: Sheet,
    rows: Mapping[str, Row],
    *,
    columns: Sequence[str] = COLUMNS,
    add: Collection[str] | None = None,
) -> list[Batch]:
    """The calls that make the sheet say what `rows` say; none when it does.

    Only companies in `add` get a new row; None for all of them. Missing columns come in a call of their own,
    after which the sheet is to be read again: what is below them depends on it.
    """
    missing = [name for name in _own(columns) if name not in sheet.columns]
    if RESOLUTION not in sheet.columns:
        missing.append(RESOLUTION)
    if missing:
        return [_new_columns(sheet, rows, missing)]
    changed: dict[tuple[int, int], Cell] = {}
    added: list[tuple[Cell | None, ...]] = []
    for company, row in rows.items():
        for place in sheet.rows.get(company, ()):
            for name in _own(columns):
                cell = _at(sheet.cells, place, sheet.columns[name])
                # invariant: the id in a row that is there is what makes it this company's: it is not written.
                if name != ID and name in row and not _same(cell, row[name]):
                    changed[sheet.columns[name], place] = row[name]
        if company not in sheet.rows and (add is None or company in add):
            added.append(_new_row(sheet, company, row, _own(columns)))
    return _batches(_blocks(changed), added)


def said_anew(
    sheet: Sheet, seen: Mapping[str, str], companies: Collection[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """What people said about these companies since the last reading, and what to remember of this one.

    `seen` holds a digest for each company about which the last reading found something. An empty cell takes
    back what was said only there: a row or a column that was deleted and came back empty takes nothing back.
    A cell that people did not change is not taken again, also when the store has another text meanwhile.
    """
    anew = {
        company: said
        for company, said in sheet.resolutions.items()
        if company in companies and _digest(said) != seen.get(company, "")
    }
    return anew, {company: _digest(said) for company, said in sheet.resolutions.items() if said}


def farewell(sheet: Sheet, companies: Iterable[str]) -> dict[str, Row]:
    """Rows of companies that the store has forgotten: no open offers, where the sheet still has a number."""
    column = sheet.columns.get(OPEN)
    return {
        company: {OPEN: 0}
        for company in companies
        if any(_is_some(_at(sheet.cells, place, column)) for place in sheet.rows.get(company, ()))
    }


def key(cell: Cell | None) -> str:
    """A company's id, however the sheet keeps it: `12`, `12.0` and ` 012 ` are one."""
    if cell is None or isinstance(cell, bool):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    shown = str(cell).strip()
    return shown.lstrip("0") or "0" if shown.isascii() and shown.isdigit() else shown


def text(value: str) -> str:
    """Text from outside as a cell takes it and gives it back: one line, nothing invisible, not endless."""
    line = " ".join("".join(c if c.isprintable() else " " for c in value).split())
    return line[:MAX_TEXT]


def _header(cells: Sequence[Sequence[Cell]]) -> int:
    names = [{_name(cell) for cell in row} for row in cells[:_HEADER_WITHIN]]
    for number, found in enumerate(names):
        if ID in found:
            return number
    for number, found in enumerate(names):
        if len(found & {*COLUMNS, RESOLUTION}) >= 2:
            return number
    return next((number for number, row in enumerate(cells) if _filled(row)), 0)


def _new_columns(sheet: Sheet, rows: Mapping[str, Row], missing: Sequence[str]) -> Batch:
    """The headers, to the right of everything that is there."""
    blocks = [Block(sheet.header, sheet.width, (tuple(missing),))]
    if ID in missing:
        column = sheet.width + missing.index(ID)
        ids = {
            (column, place): rows[company].get(ID, company) for place, company in _known_again(sheet, rows)
        }
        blocks += _blocks(ids)
    return Batch(blocks=tuple(blocks), columns=sheet.width + len(missing))


def _known_again(sheet: Sheet, rows: Mapping[str, Row]) -> list[tuple[int, str]]:
    """Rows whose id was lost with its column, by what else is ours in them; a guess is not good enough."""
    by = [name for name in ("company", "website") if name in sheet.columns]
    if "company" not in by:
        return []
    places: dict[tuple[str, ...], list[int]] = {}
    for place in range(sheet.header + 1, len(sheet.cells)):
        shown = tuple(_words(_at(sheet.cells, place, sheet.columns[name])) for name in by)
        places.setdefault(shown, []).append(place)
    wanted = {company: tuple(_words(row.get(name)) for name in by) for company, row in rows.items()}
    alike = Counter(wanted.values())
    return [
        (places[shown][0], company)
        for company, shown in wanted.items()
        if shown[0] and alike[shown] == 1 and len(places.get(shown, ())) == 1
    ]


def _new_row(sheet: Sheet, company: str, row: Row, columns: Iterable[str]) -> tuple[Cell | None, ...]:
    values = {sheet.columns[name]: None if row.get(name) == "" else row.get(name) for name in columns}
    values[sheet.columns[ID]] = row.get(ID, company)
    # A row that comes back says what people said in the one they deleted, or elsewhere.
    values[sheet.columns[RESOLUTION]] = row.get(RESOLUTION) or None
    last = max(column for column, value in values.items() if value is not None)
    return tuple(values.get(column) for column in range(last + 1))


def _blocks(changed: Mapping[tuple[int, int], Cell]) -> list[Block]:
    """Neighbours together: cells below each other, then columns of the same length beside each other."""
    runs: list[tuple[int, int, list[Cell]]] = []
    for column, row in sorted(changed):
        if runs and runs[-1][0] == column and runs[-1][1] + len(runs[-1][2]) == row:
            runs[-1][2].append(changed[column, row])
        else:
            runs.append((column, row, [changed[column, row]]))
    merged: dict[tuple[int, int], list[tuple[int, list[list[Cell]]]]] = {}
    for column, row, values in runs:
        beside = merged.setdefault((row, len(values)), [])
        if beside and beside[-1][0] + len(beside[-1][1]) == column:
            beside[-1][1].append(values)
        else:
            beside.append((column, [values]))
    return [
        Block(row, column, tuple(zip(*columns, strict=True)))
        for (row, _), found in sorted(merged.items())
        for column, columns in found
    ]


def _batches(blocks: Sequence[Block], rows: Sequence[tuple[Cell | None, ...]]) -> list[Batch]:
    batches: list[Batch] = []
    taken: list[Block] = []
    cells = 0
    for block in _cut(blocks):
        if taken and (len(taken) == MAX_RANGES or cells + block.cells > MAX_CELLS):
            batches.append(Batch(blocks=tuple(taken)))
            taken, cells = [], 0
        taken.append(block)
        cells += block.cells
    if taken:
        batches.append(Batch(blocks=tuple(taken)))
    at_once = max(1, MAX_CELLS // len(rows[0])) if rows else 1
    batches += [Batch(rows=tuple(rows[start : start + at_once])) for start in range(0, len(rows), at_once)]
    return batches


def _cut(blocks: Iterable[Block]) -> Iterable[Block]:
    for block in blocks:
        height = max(1, MAX_CELLS // len(block.values[0]))
        for start in range(0, len(block.values), height):
            yield Block(block.row + start, block.column, block.values[start : start + height])


def _digest(said: str) -> str:
    return hashing.of_text(said)[:6].hex() if said else ""


def _own(columns: Sequence[str]) -> tuple[str, ...]:
    return (ID, *(name for name in columns if name != ID))


def _at(cells: Sequence[Sequence[Cell]], row: int, column: int | None) -> Cell | None:
    if column is None or column >= len(cells[row]):
        return None
    return cells[row][column]


def _filled(row: Sequence[Cell]) -> int:
    return next((end for end in range(len(row), 0, -1) if row[end - 1] != ""), 0)


def _name(cell: Cell) -> str:
    return "_".join(str(cell).lower().split())


def _words(cell: Cell | None) -> str:
    if isinstance(cell, float):
        return key(cell)
    return "" if cell is None else str(cell).strip()


def _is_some(cell: Cell | None) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool) and cell > 0


def _same(cell: Cell | None, wanted: str | int | float) -> bool:
    if isinstance(wanted, str):
        return wanted == (cell if isinstance(cell, str) else "" if cell is None else None)
    # A sheet keeps fifteen digits of a number.
    return (
        isinstance(cell, int | float)
        and not isinstance(cell, bool)
        and math.isclose(cell, wanted, rel_tol=1e-9)
    )
