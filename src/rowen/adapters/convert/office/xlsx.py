"""Excel workbooks: one section for each sheet, its rows as a table up to a limit that is said.

Values as they were last calculated; formulas, charts and comments are not read.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from rowen.adapters.convert.office.ooxml import Package
from rowen.adapters.convert.pieces import file_name, heading, one_line, table
from rowen.core.document import Converted

_MAIN = "xl/workbook.xml"
_MAX_ROWS = 1_000
_MAX_COLUMNS = 64
_MAX_CELL_CHARS = 500
_REFERENCE = re.compile(r"([A-Z]{1,3})\d+$")
_DATE_FORMATS = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_NO_DATE = re.compile(r"\[[^\]]*\]|\"[^\"]*\"|\\.")


def convert_xlsx(body: bytes, url: str) -> Converted:
    package = Package(body, url)
    book = package.tree(_MAIN)
    relations = package.relations(_MAIN)
    properties = book.find("workbookPr")
    epoch = (
        datetime(1904, 1, 1, tzinfo=UTC)
        if properties is not None and properties.get("date1904") in ("1", "true")
        else datetime(1899, 12, 30, tzinfo=UTC)
    )
    reader = _Reader(_shared_strings(package), _date_styles(package), epoch)
    title = package.core_properties().get("title") or file_name(url)
    pieces = [heading(1, title)]
    sheets = 0
    for sheet in book.iter("sheet"):
        target = relations.get(sheet.get("r:id") or "", ("", ""))[1]
        if target not in package.names or "worksheets" not in target:
            continue
        sheets += 1
        rows, total = reader.read(package, target)
        pieces.append(heading(2, sheet.get("name") or f"Sheet {sheets}"))
        pieces.append(table(rows) or "No cells.\n")
        if total > len(rows):
            pieces.append(f"{total - len(rows)} of {total} rows are left out.\n")
        if reader.widest > _MAX_COLUMNS:
            pieces.append(f"Columns after the first {_MAX_COLUMNS} are left out.\n")
    return Converted(title, "\n".join(pieces), metadata={"sheets": sheets})


class _Reader:
    """Reads sheets as a stream: a sheet may be far larger than what is kept of it."""

    def __init__(self, strings: list[str], date_styles: frozenset[int], epoch: datetime) -> None:
        self._strings = strings
        self._date_styles = date_styles
        self._epoch = epoch
        self.widest = 0

    def read(self, package: Package, name: str) -> tuple[list[list[str]], int]:
        """(the rows that are kept, how many there are); empty rows do not count."""
        self._rows: list[list[str]] = []
        self._total = 0
        self._row: dict[int, str] = {}
        self._column = -1
        self._kind = self._style = self._value = ""
        self._inline: list[str] = []
        self.widest = 0
        package.stream(name, self._start, self._end)
        return self._rows, self._total

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "row":
            self._row = {}
            self._column = -1
        elif tag == "c":
            found = _REFERENCE.match(attributes.get("r", ""))
            self._column = _column_number(found[1]) if found else self._column + 1
            self._kind, self._style = attributes.get("t", "n"), attributes.get("s", "")
            self._value = ""
            self._inline.clear()

    def _end(self, tag: str, text: str) -> None:
        if tag == "v":
            self._value = text
        elif tag == "t":
            self._inline.append(text)
        elif tag == "c":
            if (words := self._words()) and self._column >= 0:
                self.widest = max(self.widest, self._column + 1)
                if self._column < _MAX_COLUMNS:
                    self._row[self._column] = words
        elif tag == "row" and self._row:
            self._total += 1
            if len(self._rows) < _MAX_ROWS:
                self._rows.append([self._row.get(at, "") for at in range(max(self._row) + 1)])

    def _words(self) -> str:
        value = self._value
        if self._kind == "s":
            at = int(value) if value.isdigit() else -1
            words = self._strings[at] if 0 <= at < len(self._strings) else ""
        elif self._kind == "inlineStr":
            words = "".join(self._inline)
        elif self._kind == "b":
            words = "TRUE" if value == "1" else "FALSE" if value else ""
        elif self._kind == "n" and self._style.isdigit() and int(self._style) in self._date_styles:
            words = self._moment(value)
        else:
            words = value
        return one_line(words)[:_MAX_CELL_CHARS]

    def _moment(self, value: str) -> str:
        try:
            days = float(value)
            moment = self._epoch + timedelta(seconds=round(days * 86_400))
        except (ValueError, OverflowError):
            return value
        if days < 1:
            return moment.strftime("%H:%M:%S")
        return moment.strftime("%Y-%m-%d" if days.is_integer() else "%Y-%m-%d %H:%M:%S")


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1


def _shared_strings(package: Package) -> list[str]:
    name = "xl/sharedStrings.xml"
    if name not in package.names:
        return []
    strings: list[str] = []
    pieces: list[str] = []
    phonetic = 0

    def start(tag: str, _: dict[str, str]) -> None:
        nonlocal phonetic
        phonetic += tag == "rPh"

    def end(tag: str, text: str) -> None:
        nonlocal phonetic
        if tag == "t" and not phonetic:
            pieces.append(text)
        elif tag == "rPh":
            phonetic -= 1
        elif tag == "si":
            strings.append("".join(pieces))
            pieces.clear()

    package.stream(name, start, end)
    return strings


def _date_styles(package: Package) -> frozenset[int]:
    """Which of the styles of cells show a number as a date."""
    name = "xl/styles.xml"
    if name not in package.names:
        return frozenset()
    root = package.tree(name)
    dates = set(_DATE_FORMATS)
    for form in root.iter("numFmt"):
        code = _NO_DATE.sub("", form.get("formatCode") or "").lower()
        form_id = form.get("numFmtId") or ""
        if form_id.isdigit() and any(letter in code for letter in "ydhs") and "general" not in code:
            dates.add(int(form_id))
    cells = root.find("cellXfs")
    return frozenset(
        number
        for number, style in enumerate(cells if cells is not None else ())
        if (style.get("numFmtId") or "").isdigit() and int(style.get("numFmtId") or 0) in dates
    )
