"""Where Markdown includes other files, in the ways of the tools that make sites and books of it.

| tool | line |
|---|---|
| mdBook | `{{#include a.rs:name}}`, `{{#rustdoc_include a.rs:2:10}}`, `{{#playground a.rs}}` |
| MkDocs, snippets of PyMdown | `--8<-- "a.py:name"`, `--8<-- "a.py:2:10"`, a list between two marks |
| MkDocs, markdown-include, mdx-include | `{!a.md!}`, `{!> a.py [ln:2-10]!}`, `{* a.py ln[2:10] hl[3] *}` |
| VitePress | `<<< @/a.ts#name{3 ts}`, `<!--@include: a.md{2,10}-->` |
| MyST | a fence with `{literalinclude} a.py` or `{include} a.md` |

Each stands on a line of its own. A name is that of a stretch which the included file marks. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rowen.kinds.listing.includes.paths import below
from rowen.records import NamedTuple

ENDINGS = frozenset({"md", "markdown", "mdown", "mkd", "qmd", "myst"})
SIGNS = ("{{#", "8<", "{!", "{*", "<<< ", "@include:", "include}")
"""Every text that includes something has one of these."""

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,}|:{3,})(.*)$")
_BOOK = re.compile(
    r"(?P<indent>[ \t]*)\{\{#(?P<name>include|rustdoc_include|playground|playpen)[ \t]+"
    r"(?P<path>[^\s{}:]+)(?P<rest>(?::[^\s{}:]*)*)[^{}]*\}\}[ \t]*$"
)
_SNIPPET = re.compile(
    r"(?P<indent>[ \t]*)-+8<-+(?:[ \t]+(?P<quote>[\"'])(?P<written>[^\"']+)(?P=quote))?[ \t]*$"
)
_WRITTEN = re.compile(r"(?P<path>[^\s:]+)(?P<rest>(?::[^\s:]*)*)$")
_BRACES = re.compile(
    r"(?P<indent>[ \t]*)\{!>?[ \t]*(?P<path>[^\s!]+)[ \t]*(?:\[ln:(?P<lines>[\d,-]+)\])?[ \t]*!\}[ \t]*$"
)
_STARS = re.compile(r"(?P<indent>[ \t]*)\{\*[ \t]+(?P<path>[^\s*{}]+)(?P<options>[^{}]*?)[ \t]*\*\}[ \t]*$")
_STARS_LINES = re.compile(r"\bln\[(?P<lines>[\d:,]+)\]")
_PRESS = re.compile(
    r"(?P<indent>[ \t]*)<<<[ \t]+(?P<path>@?[^\s{}#\[\]]+)(?:#(?P<name>[\w*-]+))?"
    r"[ \t]*(?:\{(?P<spec>[^{}]*)\})?[ \t]*(?:\[[^\[\]]*\])?[ \t]*$"
)
_PRESS_PART = re.compile(
    r"(?P<indent>[ \t]*)<!--[ \t]*@include:[ \t]*(?P<path>[^\s{}#<>]+?)(?:#(?P<name>[\w-]+))?"
    r"(?:\{(?P<from>\d*),(?P<to>\d*)\})?[ \t]*-->[ \t]*$"
)
_MYST = re.compile(r"\{(?P<name>literalinclude|include)\}[ \t]+(?P<path>\S+)[ \t]*$")
_MYST_OPTION = re.compile(r"[ \t]*:(?P<name>[\w-]+):[ \t]*(?P<value>.*?)[ \t]*$")
# Options may also stand as YAML between two lines.
_MYST_YAML = re.compile(r"[ \t]*(?P<name>[\w-]+):(?:[ \t]+(?P<mark>[\"']?)(?P<value>.*?)(?P=mark))?[ \t]*$")
_NAME = r"(?P<name>[\w.*/-]+)"
_OPENS = re.compile(
    rf"ANCHOR:[ \t]*{_NAME}|-8<-+[ \t]*\[start:[ \t]*(?P<section>[^\]\s]+)\]"
    r"|#[ \t]?region\b[ \t]*(?P<region>[\w*-]+)?"
)
_CLOSES = re.compile(r"ANCHOR_END:|-8<-+[ \t]*\[end:|#[ \t]?endregion\b")
_CLOSED_NAME = re.compile(r"(?:ANCHOR_END:[ \t]*|\[end:[ \t]*|endregion[ \t]+)(?P<name>[^\]\s]+)")


class Included(NamedTuple):
    """A line, or several, that another file belongs into."""

    start: int
    end: int
    path: str
    indent: str
    options: dict[str, str]
    fenced: bool
    """It stands in a block of code."""


def found_in(lines: Sequence[str]) -> Iterator[Included]:
    fence = ""
    at = 0
    while at < len(lines):
        line = lines[at]
        mark = _FENCE.match(line)
        if mark is not None and not fence and (myst := _MYST.match(mark[2].strip())):
            included = _of_myst(lines, at, mark, myst)
            yield included
            at = included.end
            continue
        if mark is not None and mark[1][0] != ":":
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        step = at + 1
        for included in _on_line(lines, at, bool(fence)):
            yield included
            step = included.end
        at = step


def _on_line(lines: Sequence[str], at: int, fenced: bool) -> Iterator[Included]:
    line = lines[at]
    if not any(sign in line for sign in SIGNS):
        return
    if found := _BOOK.match(line):
        options = _part(found["rest"])
        if found["name"].startswith("play"):
            options["fence"] = ""
        yield Included(at, at + 1, found["path"], found["indent"], options, fenced)
    elif found := _SNIPPET.match(line):
        yield from _snippets(lines, at, found, fenced)
    elif found := _BRACES.match(line):
        options = {"lines": found["lines"]} if found["lines"] else {}
        yield Included(at, at + 1, found["path"], found["indent"], options, fenced)
    elif found := _STARS.match(line):
        chosen = _STARS_LINES.search(found["options"])
        options = {"fence": ""} | ({"lines": chosen["lines"].replace(":", "-")} if chosen else {})
        yield Included(at, at + 1, found["path"], found["indent"], options, fenced)
    elif not fenced and (found := _PRESS.match(line)):
        # It makes a block of code. In one it is an example of itself; the others are put there before.
        words = [word for word in (found["spec"] or "").split() if word[0].isalpha()]
        options = {"fence": words[-1].partition(":")[0] if words else ""}
        if found["name"]:
            options["name"] = found["name"]
        yield Included(at, at + 1, found["path"], found["indent"], options, fenced)
    elif found := _PRESS_PART.match(line):
        options = {"name": found["name"]} if found["name"] else {}
        if found["from"] or found["to"]:
            options["lines"] = f"{found['from'] or 1}-{found['to']}"
        yield Included(at, at + 1, found["path"], found["indent"], options, fenced)


def _snippets(lines: Sequence[str], at: int, found: re.Match[str], fenced: bool) -> Iterator[Included]:
    """One file, or those that are listed up to the next mark."""
    if found["written"]:
        listed, end = [found["written"]], at + 1
    else:
        end = next((n for n in range(at + 1, len(lines)) if _SNIPPET.match(lines[n])), at) + 1
        listed = [line.strip() for line in lines[at + 1 : end - 1]]
    written = [one for one in map(_WRITTEN.match, listed) if one is not None]
    for number, one in enumerate(written):
        # The marks around a list go with the first and the last file of it.
        start = at if not number else end
        yield Included(start, end, one["path"], found["indent"], _part(one["rest"]), fenced)


def _of_myst(lines: Sequence[str], at: int, mark: re.Match[str], found: re.Match[str]) -> Included:
    end = at + 1
    options: dict[str, str] = {}
    pattern = _MYST_YAML if end < len(lines) and lines[end].strip() == "---" else _MYST_OPTION
    while end < len(lines) and not lines[end].strip().startswith(mark[1]):
        if option := pattern.match(lines[end]):
            options[option["name"]] = option["value"] or ""
        end += 1
    if found["name"] == "literalinclude" or "literal" in options or "code" in options:
        options["fence"] = options.get("language") or options.get("code") or ""
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    return Included(at, min(end + 1, len(lines)), found["path"], indent, options, fenced=False)


def _part(written: str) -> dict[str, str]:
    """`:name`, `:3` (one line), `:3:` and `:3:5` as options."""
    pieces = written.split(":")[1:]
    if not any(pieces):
        return {}
    if not all(piece.isdigit() or not piece for piece in pieces):
        return {"name": pieces[0]} if pieces[0] else {}
    return {"lines": f"{pieces[0] or 1}-{pieces[1]}" if len(pieces) > 1 else pieces[0]}


def candidates(written: str, includer: str) -> list[str]:
    """Where the file may lie, nearest first: beside the includer, and as seen from each folder around it.

    The tools count from a folder that their settings name, which is one of these.
    """
    if "://" in written or "\\" in written or "$" in written or "<" in written:
        return []
    folders = includer.split("/")[:-1]
    from_root = written.startswith(("/", "@/"))
    path = written.removeprefix("@").lstrip("/") if from_root else written
    found = (below(folders[:depth], path) for depth in range(len(folders), -1, -1))
    return list(dict.fromkeys(one for one in found if one is not None))


def without_front_matter(lines: list[str]) -> list[str]:
    if not lines or lines[0].rstrip() != "---":
        return lines
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), -1)
    return lines[end + 1 :]


def stretch(lines: Sequence[str], name: str) -> list[str]:
    """The lines that a file marks with a name, or all of them without one; never the marks themselves."""
    kept: list[str] = []
    open_names: list[str] = []
    for line in lines:
        if closed := _CLOSES.search(line):
            named = _CLOSED_NAME.search(line, closed.start())
            ended = named["name"] if named else open_names[-1] if open_names else ""
            if ended in open_names:
                open_names.remove(ended)
        elif opened := _OPENS.search(line):
            open_names.append(opened["name"] or opened["section"] or opened["region"] or "")
        elif not name or name in open_names:
            kept.append(line)
    return kept
