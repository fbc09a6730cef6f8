"""Pieces of Markdown: how code, headings, tables and foreign prose are written so that they stay so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import unquote

from rowen.adapters.convert.formats import name_of
from rowen.core.section import Symbol

_TICKS = re.compile(r"`{3,}")
_MARKS = re.compile(r"([\\`*\[])")
# What a line of prose must not begin with: a heading, a fence, or the line under a heading.
_STRUCTURE = re.compile(r"^([ \t]*)(?=#{1,6}(?:[ \t]|$)|`{3}|~{3}|={2,}[ \t]*$|-{2,}[ \t]*$)", re.MULTILINE)
_LIKE_AN_ANCHOR = re.compile(r"\{#[^\s{}]+\}$")
_INLINE_MARKS = re.compile(r"`+([^`]*)`+|\[([^\]]*)\]\([^)]*\)|\*+([^*]+)\*+")
_SPACES = re.compile(r"\s+")
_NAMES_NOTHING = ("__init__.py", "index.", "mod.rs", "lib.rs", "main.")


def plain_line_breaks(text: str) -> str:
    """Ends with one line break when it is not empty."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd").removeprefix("\ufeff")
    return text if text.endswith("\n") or not text else text + "\n"


def file_name(url: str) -> str:
    """What to call a document that does not name itself."""
    return unquote(name_of(url.rstrip("/"))) or url


def source_name(url: str) -> str:
    """The name of a file of code; with its folder when the name alone says nothing.

    Not the whole path: the same file under two versions must be the same text.
    """
    name = file_name(url)
    folder = unquote(name_of(url.partition("#")[0].partition("?")[0].rpartition("/")[0]))
    return f"{folder}/{name}" if folder and name.startswith(_NAMES_NOTHING) else name


def fence(code: str, language: str = "") -> str:
    """A fenced block with its line breaks; the fence is longer than any inside."""
    longest = max((len(run) for run in _TICKS.findall(code)), default=2)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{code if code.endswith(chr(10)) else code + chr(10)}{ticks}\n"


def heading(level: int, title: str, anchor: str | None = None) -> str:
    """Always one line, with the marks of Markdown in the title escaped."""
    words = _MARKS.sub(r"\\\1", one_line(title))
    # Marks at the end would be taken for closing ones, or for an anchor.
    if words.endswith("#") or _LIKE_AN_ANCHOR.search(words):
        words = f"{words[:-1]}\\{words[-1]}"
    return f"{'#' * min(level, 6)} {words}{f' {{#{anchor}}}' if anchor else ''}\n"


def definition(level: int, title: str, symbol: Symbol) -> str:
    """A heading of what defines a name and has no anchor."""
    kind = symbol.kind.replace(" ", "-")
    return f"{heading(level, title)[:-1]} {{.{kind} name={symbol.name}}}\n"


def prose(text: str) -> str:
    """Foreign text whose lines must not turn into headings, fences or underlines."""
    return _STRUCTURE.sub(r"\1\\", text)


def titled(title: str, markdown: str) -> str:
    """With a title that the text does not have itself."""
    return f"# {title}\n\n{markdown}" if markdown else ""


def without_marks(markdown: str) -> str:
    """The words of a line, without code, links and emphasis."""
    return _INLINE_MARKS.sub(lambda found: found[1] or found[2] or found[3] or "", markdown)


def fenced_lines(lines: Sequence[str], language: str) -> list[str]:
    """A fenced block as lines, between blank ones."""
    return ["", *fence("\n".join(lines), language).rstrip("\n").split("\n"), ""]


def one_line(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


def table(rows: Sequence[Sequence[str]]) -> str:
    """The first row is the head. Rows may be ragged; nothing at all gives nothing."""
    width = max((len(row) for row in rows), default=0)
    if not width:
        return ""
    lines = [_row(rows[0], width), "| " + " | ".join(["---"] * width) + " |"]
    lines += [_row(row, width) for row in rows[1:]]
    return "\n".join(lines) + "\n"


def _row(cells: Iterable[str], width: int) -> str:
    words = [one_line(cell).replace("|", "\\|") for cell in cells]
    words += [""] * (width - len(words))
    return "| " + " | ".join(words) + " |"


def dedent(lines: Sequence[str]) -> list[str]:
    """Without the white space that all lines but the blank ones begin with."""
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    cut = min(indents, default=0)
    return [line[cut:] if line.strip() else "" for line in lines]


def trimmed(lines: Sequence[str]) -> list[str]:
    """Without blank lines at either end."""
    low, high = 0, len(lines)
    while low < high and not lines[low].strip():
        low += 1
    while high > low and not lines[high - 1].strip():
        high -= 1
    return list(lines[low:high])
