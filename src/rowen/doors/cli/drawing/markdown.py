"""Markdown for a terminal: headings, lists, code, tables and links, at the width of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rowen.doors.cli.drawing.console import LINK
from rowen.doors.cli.drawing.parts import Column, Group, Indent, Table, blank
from rowen.doors.cli.drawing.text import Drawable, Line, Text

if TYPE_CHECKING:
    from markdown_it.token import Token

READING_WIDTH = 100
"""Longer lines are hard to read, however wide the terminal is."""
HEADINGS = {"h1": "bold underline", "h2": "bold"}
INLINE = {"strong": "bold", "em": "italic", "s": "strike"}
_TAG = re.compile(r"<!--.*?-->|<[^<>]*>", re.DOTALL)
_PLACE = re.compile(r"\s*\{(?:#|\.[a-z-]+ name=)[^{}]*\}\s*\Z")
_ADDRESS = re.compile(r"https?://[!-~]+")


class Markdown:
    def __init__(self, text: str) -> None:
        self._text = text

    def lines(self, width: int) -> Iterator[Line]:
        from markdown_it import MarkdownIt

        parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
        tokens = parser.parse(self._text)
        yield from Group(*_blocks(tokens)).lines(min(width, READING_WIDTH))


def _blocks(tokens: Sequence[Token]) -> Iterator[Drawable]:
    """The blocks of one level, with an empty line between them; none in a list that has none."""
    close = True
    for opening, inner in _nested(tokens):
        block = _block(opening, inner)
        if block is None:
            continue
        if not close:
            yield blank()
        yield block
        close = opening.hidden


def _nested(tokens: Sequence[Token]) -> Iterator[tuple[Token, Sequence[Token]]]:
    """Each block with what stands in it."""
    at = 0
    while at < len(tokens):
        start = at
        depth: int = tokens[at].nesting
        while depth > 0:
            at += 1
            depth += tokens[at].nesting
        yield tokens[start], tokens[start + 1 : at]
        at += 1


def _block(opening: Token, inner: Sequence[Token]) -> Drawable | None:
    """None for what people do not read: a comment, tags around nothing."""
    match opening.type:
        case "heading_open":
            return _heading(_words(inner, HEADINGS.get(opening.tag, "bold dim")))
        case "html_block":
            said = _TAG.sub("", opening.content).strip()
            return Text(said) if said else None
        case "fence" | "code_block":
            return Indent(_code(opening.content), 4)
        case "bullet_list_open":
            return _list(inner, iter(lambda: "• ", ""))
        case "ordered_list_open":
            first = int(opening.attrGet("start") or 1)
            return _list(inner, (f"{number}. " for number in range(first, first + len(inner))))
        case "blockquote_open":
            return Indent(Group(*_blocks(inner)), "▌ ")
        case "table_open":
            return _table(inner)
        case "hr":
            return Text("─" * 20, "dim")
    return _words([opening, *inner], "")


def _heading(words: Text) -> Text:
    """Without the mark of its place, which links lead to."""
    if words.pieces:
        text, style = words.pieces.pop()
        words.append(_PLACE.sub("", text), style)
    return words


def _code(content: str) -> Drawable:
    return Group(*(Text(line, "cyan", whole=True) for line in content.rstrip("\n").split("\n")))


def _list(items: Sequence[Token], marks: Iterator[str]) -> Drawable:
    return Group(*(_Item(next(marks), Group(*_blocks(inner))) for _, inner in _nested(items)))


class _Item:
    """A mark, and what belongs to it set in behind it."""

    def __init__(self, mark: str, body: Drawable) -> None:
        self._mark = mark
        self._body = body

    def lines(self, width: int) -> Iterator[Line]:
        margin = " " * len(self._mark)
        for number, line in enumerate(self._body.lines(max(width - len(margin) - 1, 1))):
            yield [(" " + (margin if number else self._mark), "" if number else "dim"), *line] if line else []


def _table(inner: Sequence[Token]) -> Drawable:
    rows: list[list[Text]] = []
    for token in inner:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(_words([token], "" if len(rows) > 1 else "bold"))
    table = Table([Column(wraps=True) for _ in rows[0]])
    for row in rows:
        table.row(*row)
    return table


def _words(tokens: Sequence[Token], style: str) -> Text:
    """Inline text with the styles that are open at each word."""
    text = Text()
    opened: list[str] = [style]
    for token in (one for outer in tokens for one in outer.children or ()):
        name = token.type.removesuffix("_open").removesuffix("_close")
        if token.nesting == 1:
            opened.append(_link(token) if name == "link" else INLINE.get(name, ""))
        elif token.nesting == -1:
            opened.pop()
        elif token.type == "html_inline":
            continue
        elif token.type in ("softbreak", "hardbreak"):
            text.append(" " if token.type == "softbreak" else "\n", " ".join(opened))
        else:
            more = ["cyan"] if token.type == "code_inline" else []
            text.append(token.content, " ".join([*opened, *more]))
    return text


def _link(token: Token) -> str:
    address = str(token.attrGet("href") or "")
    # Only an address without blanks and control characters may stand in a terminal's code for a link.
    return f"blue {LINK}{address}" if _ADDRESS.fullmatch(address) else "blue"
