"""Cut Markdown into the sections of its heading tree.

A scan for headings, not a Markdown parser: it knows fenced code, ATX headings (`## Heading {#anchor}`) and
one-line setext headings. Lists, tables and quotes are just text to it. HTML blocks are not looked into.

Definitions are headings with a kind, `#### `gather(*aws)` {#asyncio.gather .function}`, and with a `name=`
where their anchor is not their name, or where they have none. A definition ends at the next heading of its
level, or at the line `<!-- /asyncio.gather -->`: what follows belongs to the section around it again.

Long sections are cut into parts at borders that the text around them chooses: a border becomes a cut when
its block hashes lowest within `MIN_CHARS` on both sides. So where a part begins does not depend on what
stands far before it: editing one paragraph of ordinary length makes one to three new parts, however long the
section is. That is measured, not proven: adding a paragraph makes four now and then, a huge one more.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

from rowen.core import hashing
from rowen.core.section import Form, Passage, Section, Symbol, join_path

MIN_CHARS = 500
"""No shorter part is made of a long section, unless a neighbour that cannot be cut forces it."""
MAX_CHARS = 2000
"""No part is longer. The mean comes out near 1,000."""
_CLOSED = -1
"""The level of the line that ends a definition."""
_MAX_HEADING_CHARS = 500
"""A longer "heading" is text: every section below would carry it in its path."""

# One alternative per kind of line that can matter; every other line is text. The scan looks for the
# line break in front, which is several times faster than trying at every line start.
_LINE = re.compile(
    r"\n(?=[ \t#`~=<-])(?: {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<title>[^\n]*))?"
    r"|[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)"
    r"|<!-- /(?P<closed>[^\s<>]+) -->"
    r"| {0,3}(?P<under>={2,}|-{2,})[ \t]*)(?![^\n])"
)
_FENCE = re.compile(r"\n(?=[ \t`~])[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)")
_MARKS = re.compile(
    r"\{(?:#(?P<anchor>[^\s{}]+)(?: \.(?P<kind>[a-z]+)(?: name=(?P<name>[^{}]+))?)?"
    r"|\.(?P<of_kind>[a-z]+) name=(?P<called>[^{}]+))\}$"
)
_CLOSING_MARKS = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
# A setext heading is a paragraph of one line; these begin something else.
_NOT_A_PARAGRAPH = re.compile(r"(?:[ \t]*(?:[-*+>|#]|\d+[.)][ \t])| {4}|\t|[ \t]*$)")
_INLINE_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:[ \t]+\"[^\"]*\")?\)")
_CODE = re.compile(r"(?<!`)(`{1,3})(?!`) ?(.+?) ?(?<!`)\1(?!`)")
_EMPHASIS = re.compile(r"(?<![\\*])(\*{1,3})(?=[^\s*])([^*]*[^\s*\\])\1")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_FENCED = (
    r"(?:^|(?<=\n))[ \t]*(?P<fence>`{3,}|~{3,})[^\n]*\n"
    r"(?:(?![ \t]*(?P=fence))[^\n]*\n)*(?:[ \t]*(?P=fence)[^\n]*)?"
)
# Code first, so that `found[index](call)` is left alone; stretches are bounded, for hostile text.
_LINK_OR_CODE = re.compile(
    rf"(?=[`~!\[ \t])(?:(?P<code>{_FENCED}|(?<!`)(?P<ticks>`{{1,3}})(?!`)[^`\n]{{1,400}}(?P=ticks)(?!`))"
    r"|!?(?<!\\)\["
    r"(?P<words>(?:[^\[\]\n`\\]|\\[^\n]|`[^`\n]{0,200}`|\[[^\[\]\n]{0,200}\]|\n(?!\n)){0,500})"
    r"\]\((?:<[^<>\n]{0,2000}>|[^()\s]{0,2000}(?:\([^()\s]{0,500}\)[^()\s]{0,500}){0,8})"
    r"(?:[ \t]+\"[^\"\n]{0,500}\")?\))"
)
_ADDRESS = re.compile(r'<a id="[^"\n]*"></a> ?')
_FENCED_CODE = re.compile(_FENCED)
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_SENTENCE = re.compile(r"[.!?…][\"')\]»”’*_`]*\s+|[。！？]")


def split(text: str) -> list[Section]:
    """The sections of a text in order; their slices tile it exactly.

    A long section is cut into parts. Each is a `Section` with its own position; all of them have the heading,
    heading path, level, anchor and parent of the first, and only the first has the heading line in its slice.
    Sections below a long one have its *first* part as their parent. A heading with no text of its own is a
    section too, and its passage is the heading. A text with nothing but white space has no sections.
    """
    if not text or text.isspace():
        return []
    text = "\n" + text  # so that every line has a line break in front; offsets are one too high until the end
    sections: list[Section] = []
    above: list[_Open] = []
    for level, title, start, body, end in _headed(text):
        if level == _CLOSED:
            opened, symbol = _reopened(above, title), None
        else:
            heading, anchor, symbol = _read_title(title)
            while above and above[-1].level >= level:
                above.pop()
            parent, path, near = above[-1][1:4] if above else (None, (), None)
            path = (*path, heading) if level and heading else path
            key = anchor or (symbol.name if symbol else "")
            opened = _Open(level, len(sections), path, anchor or near, parent, heading, key)
            if level:
                above.append(opened)
        joined = join_path(opened.path)
        part_start = start
        for part_end in _parts(text, body, end):
            written = _without_outer_blank_lines(text[max(body, part_start) : part_end])
            own, link_share = _without_targets(written)
            own = _without_outer_blank_lines(own)
            digest = hashing.of_text(f"{joined}\n{own or opened.heading}")
            sections.append(
                Section(
                    position=len(sections),
                    level=opened.level,
                    parent=opened.parent,
                    heading=opened.heading,
                    heading_path=opened.path,
                    anchor=opened.anchor,
                    start=part_start - 1,
                    end=part_end - 1,
                    text=own,
                    passage_hash=digest,
                    symbol=symbol,
                    link_share=link_share,
                    form=_form(own),
                )
            )
            # Of a long definition the first part defines; the others go on about it.
            symbol = None
            part_start = part_end
    return sections


class _Open(NamedTuple):
    """A section that others may stand in, or that goes on after a definition."""

    level: int
    position: int
    path: tuple[str, ...]
    anchor: str | None
    """Its own, or that of the section around it."""
    parent: int | None = None
    heading: str = ""
    key: str = ""
    """What the end of a definition names."""


def _reopened(above: list[_Open], closed: str) -> _Open:
    """The section around a definition that ended; without such a definition, the one that is open."""
    if any(one.key == closed for one in above):
        while above.pop().key != closed:
            pass
    return above[-1] if above else _Open(0, 0, (), None)


def address_mark(name: str) -> str:
    """How a text marks a place that links may lead to and that is no heading."""
    return f'<a id="{name}"></a>'


def passages(sections: Iterable[Section]) -> dict[bytes, Passage]:
    """What the sections say, each text once, by hash."""
    return {
        section.passage_hash: Passage(
            section.passage_hash, join_path(section.heading_path), section.text or section.heading
        )
        for section in sections
    }


def _without_targets(text: str) -> tuple[str, float]:
    """The text with the words of its links in place of the links, and the share of these words in it.

    Where a link leads to is not what a text says: with it, a site that moves would be a new text.
    """
    if '<a id="' in text:
        text = _ADDRESS.sub("", text)
    if "](" not in text:
        return text, 0.0
    linked = 0

    def words(found: re.Match[str]) -> str:
        nonlocal linked
        if found["code"] is not None:
            return found[0]
        if found[0][0] != "!":
            linked += len(found["words"])
        return found["words"]

    own = _LINK_OR_CODE.sub(words, text)
    return own, min(1.0, linked / max(1, sum(map(len, own.split()))))


def _form(text: str) -> Form:
    """What more than half of a text is."""
    if "```" in text or "~~~" in text:
        code = sum(len(found[0]) for found in _FENCED_CODE.finditer(text))
        if code * 2 > len(text):
            return Form.CODE
    if "|" in text:
        rows = sum(len(line) for line in text.splitlines() if line.startswith("|"))
        if rows * 2 > len(text):
            return Form.TABLE
    return Form.PROSE


def _headed(text: str) -> Iterator[tuple[int, str, int, int, int]]:
    """(level, title, start of the heading, start of the body, end) of each stretch under one heading."""
    level, title, start, body = 0, "", 1, 1
    for heading_level, heading_title, heading_start, heading_end in _headings(text):
        # Blank lines before the first heading belong to it: the slices must tile.
        if level or text[:heading_start].strip():
            yield level, title, start, body, heading_start
            start = heading_start
        level, title, body = heading_level, heading_title, heading_end
    yield level, title, start, body, len(text)


def _headings(text: str) -> Iterator[tuple[int, str, int, int]]:
    """(level, title, start, end with its line break) of each heading outside fenced code."""
    fence = ""
    after_heading = 1
    for match in _LINE.finditer(text):
        kind = match.lastgroup
        if kind == "info":
            fence = _fence_after(fence, match)
        elif fence or match.end() - match.start() > _MAX_HEADING_CHARS:
            continue
        elif kind == "closed":
            after_heading = min(match.end() + 1, len(text))
            yield _CLOSED, match["closed"], match.start() + 1, after_heading
        elif kind == "under":
            found = _setext(text, match.start() + 1, after_heading)
            if found is not None:
                after_heading = min(match.end() + 1, len(text))
                yield 1 if match["under"][0] == "=" else 2, found[0], found[1], after_heading
        else:
            after_heading = min(match.end() + 1, len(text))
            yield len(match["marks"]), match["title"] or "", match.start() + 1, after_heading


def _fence_after(fence: str, match: re.Match[str]) -> str:
    """The open fence after this line, or nothing: only as many of the same marks close it."""
    marks, info = match["fence"], match["info"]
    if not fence:
        return marks if marks[0] == "~" or "`" not in info else ""
    return "" if marks.startswith(fence) and not info.strip() else fence


def _setext(text: str, under: int, after_heading: int) -> tuple[str, int] | None:
    """The one-line paragraph above an underline, with its start."""
    start = text.rfind("\n", 0, under - 1) + 1
    line = text[start : under - 1]
    if start < after_heading or len(line) > _MAX_HEADING_CHARS or _NOT_A_PARAGRAPH.match(line):
        return None
    before = text[text.rfind("\n", 0, start - 1) + 1 : start]
    if before.strip() and start != after_heading:
        return None
    return line, start


def _read_title(title: str) -> tuple[str, str | None, Symbol | None]:
    """A heading as it reads, without marks of Markdown, its anchor, and what it defines."""
    title = title.rstrip()
    if title.endswith("#"):
        title = _CLOSING_MARKS.sub("", title)
    anchor = symbol = None
    # Looked for from its last opening on: a search from the left costs more than all the rest of this.
    if title.endswith("}") and (found := _MARKS.match(title, max(title.rfind("{"), 0))):
        anchor, title = found["anchor"], title[: found.start()]
        name, kind = found["called"] or found["name"] or anchor, found["of_kind"] or found["kind"]
        symbol = Symbol(name, kind) if kind else None
    if "[" in title:
        title = _INLINE_LINK.sub(r"\1", title)
    if "`" not in title:
        return _without_marks(title).strip(), anchor, symbol
    pieces: list[str] = []
    low = 0
    for code in _CODE.finditer(title):
        pieces += (_without_marks(title[low : code.start()]), code[2])
        low = code.end()
    return "".join((*pieces, _without_marks(title[low:]))).strip(), anchor, symbol


def _without_marks(prose: str) -> str:
    if "*" in prose:
        prose = _EMPHASIS.sub(r"\2", prose)
    return _ESCAPE.sub(r"\1", prose) if "\\" in prose else prose


def _without_outer_blank_lines(text: str) -> str:
    stripped = text.rstrip()
    indent_of_first = len(stripped) - len(stripped.lstrip())
    return stripped[stripped.rfind("\n", 0, indent_of_first) + 1 :] if indent_of_first else stripped


def _parts(text: str, start: int, end: int) -> list[int]:
    """Where the parts of a body end. The last one ends where the body does."""
    if end - start <= MAX_CHARS:
        return [end]
    borders = _borders(text, start, end)
    cuts: list[int] = []
    for low, high in pairwise((start, *_lowest_around(borders, start, end), end)):
        _cut_to_size(borders, low, high, cuts)
        cuts.append(high)
    return cuts


_Border = tuple[int, tuple[int, int]]
"""(offset, (rank, hash)): a border between paragraphs has rank 0, one inside a block too long has rank 1."""


def _borders(text: str, start: int, end: int) -> list[_Border]:
    """Every place where the body may be cut, in order. Between two of them stand at most MAX_CHARS."""
    borders: list[_Border] = []
    low = start
    for high, fenced in _blocks(text, start, end):
        if high - low > MAX_CHARS:
            for cut in _inside(text, low, high, fenced=fenced):
                borders.append((cut, (1, crc32(text[low:cut].encode("utf-8", "surrogatepass")))))
                low = cut
        borders.append((high, (0, crc32(text[low:high].strip().encode("utf-8", "surrogatepass")))))
        low = high
    return borders


def _blocks(text: str, start: int, end: int) -> list[tuple[int, bool]]:
    """(end, is fenced code) of each paragraph or fenced block; a block owns the blank lines after it."""
    blocks: list[tuple[int, bool]] = []
    low = start
    fence = ""
    for match in _FENCE.finditer(text, start - 1, end):
        before, fence = fence, _fence_after(fence, match)
        if fence and not before:
            _add_paragraphs(blocks, text, low, match.start() + 1)
        elif before and not fence:
            low = _after_blank_lines(text, match.end(), end)
            blocks.append((low, True))
    if fence:
        blocks.append((end, True))
    else:
        _add_paragraphs(blocks, text, low, end)
    return blocks


def _add_paragraphs(blocks: list[tuple[int, bool]], text: str, start: int, end: int) -> None:
    blocks += [(match.end(), False) for match in _BLANK_LINES.finditer(text, start, end)]
    if start < end and (not blocks or blocks[-1][0] < end):
        blocks.append((end, False))


def _after_blank_lines(text: str, offset: int, end: int) -> int:
    while offset < end:
        line_end = text.find("\n", offset, end)
        line_end = end if line_end < 0 else line_end + 1
        if text[offset:line_end].strip():
            break
        offset = line_end
    return offset


def _inside(text: str, start: int, end: int, *, fenced: bool) -> Iterator[int]:
    """Cuts inside a block that is too long: after lines, else after sentences, else anywhere."""
    low = start
    while low < end:
        high = text.find("\n", low, end) + 1 or end
        if high - low > MAX_CHARS:
            yield from _inside_line(text, low, high, fenced=fenced)
        if high < end:
            yield high
        low = high


def _inside_line(text: str, start: int, end: int, *, fenced: bool) -> Iterator[int]:
    low = start
    ends = [] if fenced else [match.end() for match in _SENTENCE.finditer(text, start, end)]
    for high in [*ends, end]:
        while high - low > MAX_CHARS:
            space = text.rfind(" ", low + MIN_CHARS, low + MAX_CHARS) + 1
            low = space or low + MAX_CHARS
            yield low
        if high < end:
            yield high
        low = high


def _lowest_around(borders: list[_Border], start: int, end: int) -> list[int]:
    """Borders that hash lowest within MIN_CHARS on both sides; so two of them are further apart than that."""
    cuts: list[int] = []
    candidates = [b for b in borders if start + MIN_CHARS <= b[0] <= end - MIN_CHARS]
    for index, (offset, key) in enumerate(candidates):
        left = index - 1
        while left >= 0 and offset - candidates[left][0] <= MIN_CHARS and candidates[left][1] > key:
            left -= 1
        if left >= 0 and offset - candidates[left][0] <= MIN_CHARS:
            continue
        right = index + 1
        while (
            right < len(candidates)
            and candidates[right][0] - offset <= MIN_CHARS
            and candidates[right][1] >= key
        ):
            right += 1
        if right == len(candidates) or candidates[right][0] - offset > MIN_CHARS:
            cuts.append(offset)
    return cuts


def _cut_to_size(borders: list[_Border], start: int, end: int, cuts: list[int]) -> None:
    """Cut a stretch in which no border stood out for too long, at the lowest hash of its middle."""
    size = end - start
    if size <= MAX_CHARS:
        return
    # Of a very long stretch only the inner half: text that repeats itself must not be peeled part by part.
    margin = MIN_CHARS if size <= 4 * MAX_CHARS else size // 4
    inner = borders[bisect_left(borders, (start + 1,)) : bisect_left(borders, (end,))]
    middle = [b for b in inner if start + margin <= b[0] <= end - margin]
    centre = start + size // 2
    offset = min(middle or inner, key=lambda border: (border[1], abs(border[0] - centre)))[0]
    _cut_to_size(borders, start, offset, cuts)
    cuts.append(offset)
    _cut_to_size(borders, offset, end, cuts)
