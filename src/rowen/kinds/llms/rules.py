"""Reading llms.txt and llms-full.txt: what a site lists for programs that read Markdown.

`parse` reads the list: a title, sections (`## Docs`), and in each a list of links with notes. `parts` cuts
the one big file into its documents. Both look at lines and know fenced code; neither fetches anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from rowen.core.web import urls
from rowen.patterns import pattern
from rowen.records import dataclass

FILE = "llms.txt"
FULL_FILE = "llms-full.txt"
ACCEPT = {"Accept": "text/markdown, text/plain;q=0.9, */*;q=0.1"}
"""Many sites have a page as HTML and as Markdown under one address."""

_FENCE = pattern(r"[ \t]*(`{3,}|~{3,})")
_HEADING = pattern(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_LINK = r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]\([ \t]*(?:<([^<>]*)>|([^\s()<>]+(?:\([^\s()]*\)[^\s()]*)*))[^()]*\)"
_ENTRY = pattern(rf"[ \t]*(?:[-*+]|\d+[.)])[ \t]+\**{_LINK}\**[ \t]*(?:[:\-–—][ \t]*)?(.*)$")
_ANY_LINK = re.compile(_LINK)
_ADDRESS_LINE = pattern(
    r"[ \t]*[*_>-]*[ \t]*\**(?:source|url)\**:\**[ \t]*<?(https?://[^\s<>]+)>?[ \t]*$", re.IGNORECASE
)
_NOT_SLUG = pattern(r"[^\w]+")

_MARKDOWN_TYPES = frozenset(("text/markdown", "text/x-markdown", "text/mdx", "text/plain"))
_SAYS_NOTHING = frozenset(("", "application/octet-stream", "binary/octet-stream"))
_MARKDOWN_ENDINGS = ("md", "markdown", "mdx", "txt")
_OTHER_ENDINGS = frozenset(
    ("html", "htm", "xhtml", "shtml", "php", "asp", "aspx", "jsp", "pdf", "json", "xml", "yaml", "yml")
)
_NEAR_LINES = 4
"""How far below its title the address line of a document may stand."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One page as the file lists it."""

    url: str
    section: str = ""
    note: str = ""
    optional: bool = False

    @property
    def metadata(self) -> dict[str, Any]:
        found: dict[str, Any] = {"section": self.section, "note": self.note, "optional": self.optional}
        return {name: value for name, value in found.items() if value}


METADATA = ("section", "note", "optional")
"""What the file says of a page, in the page's metadata."""


@dataclass(frozen=True, slots=True)
class Part:
    """One document inside llms-full.txt."""

    reference: str
    """Its own address where the file names it, else its place in the file."""
    title: str
    text: str


def looks_like(text: str) -> bool:
    """Is this an llms.txt, and not the page that a server answers to every address?"""
    start = text.removeprefix("\ufeff").lstrip()
    return start.startswith("# ") and _ANY_LINK.search(start) is not None


def parse(text: str, base: str) -> list[Entry]:
    """The pages a file lists, each once, in order."""
    section = ""
    entries: dict[str, Entry] = {}
    for _, line in _outside_code(text):
        heading = _HEADING.match(line)
        if heading is not None:
            if len(heading[1]) <= 2:
                section = heading[2] if len(heading[1]) == 2 else ""
            continue
        found = _ENTRY.match(line)
        if found is None:
            continue
        url = urls.normalise(found[1] or found[2] or "", base)
        if url is not None and url not in entries:
            optional = section.casefold() == "optional"
            entries[url] = Entry(url, section, " ".join(found[3].split()), optional)
    return list(entries.values())


def parts(text: str, file_url: str) -> list[Part]:
    """The documents of an llms-full.txt, each with text of its own.

    Where lines such as `Source: https://...` name addresses, a document begins at each, or at the title just
    above it. Without them a document begins at every `# Title`, and a file with one title is one document.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    titles: dict[int, str] = {}
    addresses: dict[int, str] = {}
    for number, line in _outside_code_of(lines):
        heading = _HEADING.match(line)
        if heading is not None and len(heading[1]) == 1:
            titles[number] = heading[2]
        elif (named := _ADDRESS_LINE.match(line)) and (url := urls.normalise(named[1])):
            addresses[number] = url
    address_lines = _address_lines(lines, titles, addresses)
    # What stands above the first named document is a document too; above a mere title it is a preface.
    borders = [0, *(address_lines or list(titles)[1:]), len(lines)]
    found: list[Part] = []
    used: set[str] = set()
    for start, end in pairwise(borders):
        at = address_lines.get(start)
        body = "\n".join(lines[n] for n in range(start, end) if n != at).strip("\n")
        if not body.strip():
            continue
        title = next((titles[n] for n in range(start, end) if n in titles), "")
        address = addresses[at] if at is not None else f"{file_url}#{_slug(title)}".rstrip("#")
        found.append(Part(_unused(address, used), title, body + "\n"))
    return found


def is_markdown(content_type: str, url: str) -> bool:
    """Is this Markdown or plain text, by its type, or by its name where the type says nothing?"""
    media_type = content_type.partition(";")[0].strip().lower()
    return media_type in _MARKDOWN_TYPES or (media_type in _SAYS_NOTHING and named_markdown(url))


def named_markdown(url: str) -> bool:
    return _ending(url) in _MARKDOWN_ENDINGS


def named_otherwise(url: str) -> bool:
    """Does the address alone say that this is no Markdown? Then the server is not asked for it."""
    return _ending(url) in _OTHER_ENDINGS


def twins(url: str) -> tuple[str, ...]:
    """Where the Markdown of a page may lie beside it."""
    page = url.partition("?")[0]
    if page.endswith("/"):
        return f"{page}index.html.md", f"{page}index.md", f"{page[:-1]}.md"
    bare = page.removesuffix(".html").removesuffix(".htm")
    return tuple(dict.fromkeys((f"{page}.md", f"{bare}.md")))


def _address_lines(
    lines: Sequence[str], titles: Mapping[int, str], addresses: Mapping[int, str]
) -> dict[int, int]:
    """Where named documents begin, with the line that names each one's address.

    Once one address stands below a title, those that do not are text: a manual may well say `URL: ...`.
    """
    titled: dict[int, int] = {}
    for number in addresses:
        above = 0
        for before in range(number - 1, -1, -1):
            if before in titles:
                titled.setdefault(before, number)
                break
            above += bool(lines[before].strip())
            if above >= _NEAR_LINES:
                break
    return titled or {number: number for number in addresses}


def _outside_code(text: str) -> Iterator[tuple[int, str]]:
    return _outside_code_of(text.removeprefix("\ufeff").splitlines())


def _outside_code_of(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    fence = ""
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif mark:
            fence = mark[1]
        else:
            yield number, line


def _ending(url: str) -> str:
    name = url.partition("?")[0].partition("://")[2].rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""


def _slug(title: str) -> str:
    return _NOT_SLUG.sub("-", title.casefold()).strip("-")


def _unused(reference: str, used: set[str]) -> str:
    number, found = 1, reference
    while found in used:
        number += 1
        found = f"{reference}{'-' if '#' in reference else '#'}{number}"
    used.add(found)
    return found
