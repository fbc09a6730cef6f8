"""Markdown and plain text: the text as it is but for attributes of headings, its title, its links.

Front matter is not text: its title and description are read, the block goes. The scan for links knows code,
not all of Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rowen.adapters.convert.front_matter import front_matter
from rowen.adapters.convert.pieces import file_name, plain_line_breaks
from rowen.core.document import Converted
from rowen.core.section import Section
from rowen.core.split import split
from rowen.core.web import urls

_CODE = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[^\n]*\n(?:[^\n]*\n)*?[ \t]*(?P=fence)[`~]*[ \t]*$"
    r"|(?<!`)(?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`)",
    re.MULTILINE,
)
_LINK = re.compile(
    r"(?<!!)\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\]"  # inline
    r"\([ \t]*(?:<([^<>\n]*)>|([^\s()<>]+(?:\([^\s()]*\)[^\s()]*)*))"
    r"|^ {0,3}\[[^\[\]\n]+\]:[ \t]*<?([^\s<>]+)>?"  # reference
    r"|<(https?://[^\s<>]+)>",  # autolink
    re.MULTILINE,
)
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})([^\n]*)$")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_ATTRIBUTE = r"(?:[#.][^\s{}]+|[\w-]+=(?:\"[^\"{}]*\"|'[^'{}]*'|[^\s{}\"']+))"
_ATTRIBUTES = re.compile(rf"[ \t]*\{{:?[ \t]*({_ATTRIBUTE}(?:[ \t]+{_ATTRIBUTE})*)[ \t]*\}}[ \t]*$")
# As `core/split.py` reads them, to the letter: braces of other programs have spaces, quotes or more in them.
_DEFINITION = re.compile(
    r" \{(?:#(?P<anchor>[^\s{}]+) \.(?P<kind>[a-z-]+)(?: name=[^{}]+)?"
    r"|\.(?P<unlinked>[a-z-]+) name=[^{}]+)\}$"
)
_KNOWN = """
annotation attribute class command constant constructor data directive element enum enumeration event
exception field function interface macro member method module namespace object operator option package
parameter property setting statement struct term trait type union value variable
"""
_KINDS = frozenset(_KNOWN.split())
"""What a heading may define by its class. Other classes say how a heading looks."""
_SAYS_NOTHING = re.compile(r"<!--.*?-->|</?[a-zA-Z][^<>]*>", re.DOTALL)
"""Marks in front of a heading that readers do not see."""
_MAX_TITLE_CHARS = 120


def convert_markdown(text: str, url: str) -> Converted:
    text = plain_line_breaks(text)
    fields, end = front_matter(text)
    text = text[end:].lstrip("\n") if end else text
    text = _with_plain_anchors(text)
    sections = split(text)
    heading = next((section.heading for section in sections if section.level == 1 and section.heading), "")
    title = fields.pop("title", "") or heading
    if title and not heading:
        text = f"# {title}\n\n{text}"
    title = title or _head_of_all(sections) or file_name(url)
    return Converted(title, text, links_of(text, url), None, fields)


def _head_of_all(sections: Sequence[Section]) -> str:
    """The heading a page begins with, where all others are below it: chapters of books begin at level 2."""
    first = next((section for section in sections if section.heading), None)
    # A long section is several, each with its heading.
    if first is None or any(
        section.heading != first.heading and 0 < section.level <= first.level for section in sections
    ):
        return ""
    before = "".join(section.text for section in sections if not section.heading)
    return "" if _SAYS_NOTHING.sub("", before).strip() else first.heading


def convert_plain(text: str, url: str) -> Converted:
    text = plain_line_breaks(text)
    first = next((line.strip() for line in text.split("\n") if line.strip()), "")
    # A line of dashes, or the beginning of a comment, names nothing.
    names = 0 < len(first) <= _MAX_TITLE_CHARS and any(map(str.isalnum, first))
    return Converted(first if names else file_name(url), text)


def _with_plain_anchors(text: str) -> str:
    """Headings with `{#anchor}` alone, of the attributes that MkDocs, kramdown, Pandoc and others write.

    They are `{ #anchor .class key=value }`, with a colon in front or without. What is in braces otherwise, as
    in `GET /users/{id}`, is text. A heading with a definition of a kind that we know, `{#name .function}`,
    stays as it is.
    """
    if "{" not in text:
        return text
    lines = text.split("\n")
    fence = ""
    for number, line in enumerate(lines):
        found = _FENCE.match(line)
        if fence:
            if found is not None and found[1].startswith(fence) and not found[2].strip():
                fence = ""
        elif found is not None:
            fence = found[1]
        elif line.rstrip().endswith("}") and (_HEADING.match(line) or _is_underlined(lines, number)):
            lines[number] = _plain_heading(line)
    return "\n".join(lines)


def _plain_heading(line: str) -> str:
    found = _DEFINITION.search(line)
    if found is None:
        return _ATTRIBUTES.sub(_plain_anchor, line)
    if (found["kind"] or found["unlinked"]) in _KINDS:
        return line
    return line[: found.start()] + (f" {{#{found['anchor']}}}" if found["anchor"] else "")


def _is_underlined(lines: list[str], number: int) -> bool:
    return number + 1 < len(lines) and _UNDERLINE.match(lines[number + 1]) is not None


def _plain_anchor(found: re.Match[str]) -> str:
    anchor = next((one[1:] for one in found[1].split() if one.startswith("#")), "")
    return f" {{#{anchor}}}" if anchor else ""


def links_of(text: str, url: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for groups in _LINK.findall(_CODE.sub("", text)):
        target = next((group for group in groups if group), "").partition("#")[0]
        if target and (address := urls.normalise(target, url)) is not None:
            found[address] = None
    return tuple(found)
