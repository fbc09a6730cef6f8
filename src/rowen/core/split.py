"""Cut Markdown into the sections of its heading tree.

A scan for headings, not a Markdown parser: it knows fenced code, ATX headings (`## Heading {#anchor}`) and
one-line setext headings. Lists, tables and quotes are just text to it. HTML blocks are not looked into.

Definitions are headings with a kind, `#### `gather(*aws)` {#asyncio.gather .function}`, and with a `name=`
where their anchor is not their name, or where they have none; a kind of two words has a dash between them. A
definition ends at the next heading of its level, or at the line `<!-- /asyncio.gather -->`: what follows
belongs to the section around it again. A heading of the kind `details` defines nothing: below it stand facts
about the item, found by words alone.

Long sections are cut into parts; `rules/parts.py` says where.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized

from rowen.core import hashing
from rowen.core.search.plain import heading_words, with_characters
from rowen.core.section import Form, Passage, Section, Symbol, join_path
from rowen.core.text.markdown import FENCED_CODE, Stretches, fence_after, without_targets
from rowen.core.text.parts import parts
from rowen.patterns import pattern
from rowen.records import NamedTuple

_CLOSED = -1
"""The level of the line that ends a definition."""
_MAX_HEADING_CHARS = 500
"""A longer "heading" is text: every section below would carry it in its path."""

# One alternative per kind of line that can matter; every other line is text. The scan looks for the
# line break in front, which is several times faster than trying at every line start. A line of a list begins
# with one dash, and there are many.
_LINE = pattern(
    r"\n(?=[ \t#`~=<]|--)(?: {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<title>[^\n]*))?"
    r"|[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)"
    r"|<!-- /(?P<closed>[^\s<>]+(?: [^\s<>]+){0,9}) -->"
    r"| {0,3}(?P<under>={2,}|-{2,})[ \t]*)(?![^\n])"
)
_MARKS = pattern(
    r"\{(?:#(?P<anchor>[^\s{}]+)(?: \.(?P<kind>[a-z-]+)(?: name=(?P<name>[^{}]+))?)?"
    r"|\.(?P<of_kind>[a-z-]+) name=(?P<called>[^{}]+))\}$"
)
_CLOSING_MARKS = pattern(r"(?:^|[ \t]+)#+[ \t]*$")
# A setext heading is a paragraph of one line; these begin something else.
_NOT_A_PARAGRAPH = pattern(r"(?:[ \t]*(?:[-*+>|#]|\d+[.)][ \t])| {4}|\t|[ \t]*$)")
_INLINE_LINK = pattern(r"!?\[([^\[\]]*)\]\([^()\s]*(?:[ \t]+\"[^\"]*\")?\)")
_CODE = pattern(r"(?<!`)(`{1,3})(?!`) ?(.+?) ?(?<!`)\1(?!`)")
_EMPHASIS = pattern(r"(?<![\\*])(\*{1,3})(?=[^\s*])([^*]*[^\s*\\])\1")
_ESCAPE = pattern(r"\\([!-/:-@\[-`{-~])")


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
    for opened, symbol, details, start, body, end in _opened(text, sections):
        joined = join_path(opened.path)
        part_start = start
        for part_end in parts(text, body, end):
            begin = max(body, part_start)
            written, before = _without_outer_blank_lines(text[begin:part_end])
            named, link_share, left_out = without_targets(written)
            own, blank = _without_outer_blank_lines(named) if left_out else (named, 0)
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
                    form=Form.DETAILS if details else _form(own),
                    kept=_kept(begin + before - part_start, left_out, blank, len(own)),
                )
            )
            # Of a long definition the first part defines; the others go on about it.
            symbol = None
            part_start = part_end
    return sections


class Stretch(NamedTuple):
    """A section as a person reads it: a long one is whole, and its text is where it stands."""

    level: int
    heading: str
    heading_path: tuple[str, ...]
    anchor: str | None
    symbol: Symbol | None
    start: int
    end: int


def outline(text: str) -> list[Stretch]:
    """Where the sections of a text are. Of a long text this takes a fraction of what `split` does, which
    looks at each passage.
    """
    if not text or text.isspace():
        return []
    found: list[Stretch] = []
    for opened, symbol, _, start, _, end in _opened("\n" + text, found):
        found.append(
            Stretch(opened.level, opened.heading, opened.path, opened.anchor, symbol, start - 1, end - 1)
        )
    return found


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


def _opened(text: str, made: Sized) -> Iterator[tuple[_Open, Symbol | None, bool, int, int, int]]:
    """Each stretch under one heading: the section it belongs to, what it defines, whether it holds details,
    its start, the start of its body, its end. `made` has the sections so far: the next one's position.
    """
    above: list[_Open] = []
    for level, title, start, body, end in _headed(text):
        if level == _CLOSED:
            yield _reopened(above, title), None, False, start, body, end
            continue
        heading, anchor, symbol = _read_title(title)
        details = symbol is not None and symbol.kind == Form.DETAILS
        while above and above[-1].level >= level:
            above.pop()
        parent, path, near = above[-1][1:4] if above else (None, (), None)
        path = (*path, heading) if level and heading else path
        key = anchor or (symbol.name if symbol and not details else "")
        opened = _Open(level, len(made), path, anchor or near, parent, heading, key)
        if level:
            above.append(opened)
        yield opened, None if details else symbol, details, start, body, end


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


def _form(text: str) -> Form:
    """What more than half of a text is."""
    if "```" in text or "~~~" in text:
        code = sum(len(found[0]) for found in FENCED_CODE.finditer(text))
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
            fence = fence_after(fence, match)
        elif fence or match.end() - match.start() > _MAX_HEADING_CHARS:
            continue
        elif kind == "closed":
            after_heading = min(match.end() + 1, len(text))
            yield _CLOSED, _as_written(match["closed"]), match.start() + 1, after_heading
        elif kind == "under":
            found = _setext(text, match.start() + 1, after_heading)
            if found is not None:
                after_heading = min(match.end() + 1, len(text))
                yield 1 if match["under"][0] == "=" else 2, found[0], found[1], after_heading
        else:
            after_heading = min(match.end() + 1, len(text))
            yield len(match["marks"]), match["title"] or "", match.start() + 1, after_heading


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
        name, kind = (
            _as_written(found["called"] or found["name"]) or anchor,
            found["of_kind"] or found["kind"],
        )
        symbol = Symbol(name, kind.replace("-", " ")) if kind else None
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


def _as_written(name: str | None) -> str:
    """A name in the marks of a heading: what Markdown escapes in it reads without the backslash."""
    return _ESCAPE.sub(r"\1", name) if name and "\\" in name else name or ""


def _without_marks(prose: str) -> str:
    if "/>" in prose or "{{" in prose:
        prose = heading_words(prose)
    if "*" in prose:
        prose = _EMPHASIS.sub(r"\2", prose)
    if "&" in prose:
        prose = with_characters(prose)
    return _ESCAPE.sub(r"\1", prose) if "\\" in prose else prose


def _without_outer_blank_lines(text: str) -> tuple[str, int]:
    """And how many characters went before it."""
    stripped = text.rstrip()
    indent_of_first = len(stripped) - len(stripped.lstrip())
    begin = stripped.rfind("\n", 0, indent_of_first) + 1 if indent_of_first else 0
    return stripped[begin:], begin


def _kept(offset: int, left_out: Stretches, blank: int, length: int) -> tuple[int, ...]:
    """The runs of a slice that its text is made of, in turns: so many characters go, so many stay.

    What is written begins at the offset; of what is left of it, so many characters are blank, and the text
    has so many after them.
    """
    if not left_out:
        return (offset + blank, length) if length else ()
    runs: list[int] = []
    gone, at, skip, stay = offset, 0, blank, length
    for begin, end in left_out:
        here = begin - at
        if skip:
            blanks = min(skip, here)
            skip, here, gone = skip - blanks, here - blanks, gone + blanks
        here = min(here, stay)
        if here:
            runs += (gone, here)
            stay, gone = stay - here, 0
        if not stay:
            break
        gone += end - begin
        at = end
    if stay:
        runs += (gone + skip, stay)
    return tuple(runs)
