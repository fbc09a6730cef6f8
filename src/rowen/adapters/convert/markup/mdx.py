"""MDX: Markdown with its JavaScript taken out and its components reduced to their text.

Imports and exports go, tags of components go, what stands between them stays; a title or label that a
component would show becomes a line in bold. Code, fenced or not, is left alone. Expressions in braces stay
as they are written, but comments go.
"""

from __future__ import annotations

import re

from rowen.adapters.convert.front_matter import front_matter
from rowen.adapters.convert.pieces import dedent, plain_line_breaks
from rowen.adapters.convert.plain import convert_markdown
from rowen.core.document import Converted

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})([^\n]*)$")
_ITEM = re.compile(r" *(?:[-*+]|\d{1,3}[.)]) +(?=\S)")
_STATEMENT = re.compile(
    r"(?:import\s+(?:[\"'{*]|[\w$]+\s*,|[\w$]+\s+from\s)|export\s+(?:default|const|let|var|function|async|class|\{|\*))"
)
_HEADING_ID = re.compile(r"^(#{1,6}[ \t].*?)[ \t]*\{/\*[ \t]*#([^\s*]+)[ \t]*\*/\}[ \t]*$", re.MULTILINE)
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_TAG_START = re.compile(r"</?(?:([A-Z][\w.]*|[a-z][\w-]*)(?=[\s/>])|(?=>))")
_SHOWN = re.compile(
    r"\b(?:title|label|header|summary)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|\{[\"'`]([^\"'`]*)[\"'`]\})"
)
_LINKED = re.compile(r"\b(?:href|to|url)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_WRAPPERS = frozenset((
    "div", "span", "section", "article", "center", "details", "summary", "figure", "main", "br", "p",
))  # fmt: skip
_BLANK_RUN = re.compile(r"\n{3,}")
_MAX_TAG_CHARS = 20_000
_MAX_CHARS_IN_VAIN = 2_000_000
"""Of tags without an end; after so many the rest is text."""


def convert_mdx(text: str, url: str) -> Converted:
    text = plain_line_breaks(text)
    start = front_matter(text).end
    return convert_markdown(text[:start] + _softened(text[start:]), url)


def _softened(text: str) -> str:
    pieces: list[str] = []
    prose: list[str] = []
    code: list[str] = []
    items: list[tuple[int, int]] = []
    marks = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if not marks and line.strip():
            _follow_items(items, line)
        if marks:
            code.append(line)
            if found is not None and found[1].startswith(marks) and not found[2].strip():
                pieces += _without_indent(code, items[-1][1] - items[0][0] if items else 0)
                code, marks = [], ""
        elif found is not None and (found[1][0] == "~" or "`" not in found[2]):
            pieces += _softened_prose(prose)
            prose, code, marks = [], [line], found[1]
        else:
            prose.append(line)
    pieces += code + _softened_prose(prose)
    return "\n".join(pieces).strip("\n") + "\n"


def _follow_items(items: list[tuple[int, int]], line: str) -> None:
    """The items of lists that a line stands in: the columns at which each begins, and its text."""
    indent = len(line) - len(line.lstrip())
    while items and indent < items[-1][1]:
        items.pop()
    if found := _ITEM.match(line):
        items.append((indent, found.end()))


def _without_indent(code: list[str], kept: int) -> list[str]:
    """Code in a component is indented with it, which means nothing once the component is gone.

    So much is kept as the item of a list needs; what follows the code would be code too without it.
    """
    cut = max(0, len(code[0]) - len(code[0].lstrip()) - kept)
    return [line[cut:] if not line[:cut].strip() else line for line in code]


def _softened_prose(lines: list[str]) -> list[str]:
    if not lines:
        return []
    text = "\n".join(_without_statements(lines))
    text = _without_comments(_HEADING_ID.sub(r"\1 {#\2}", text))
    out: list[str] = []
    low = 0
    depth = 0
    spans = [(span.start(), span.end()) for span in _CODE_SPAN.finditer(text)]
    next_span = 0
    in_vain = 0
    for found in _TAG_START.finditer(text):
        while next_span < len(spans) and spans[next_span][1] <= found.start():
            next_span += 1
        in_code = next_span < len(spans) and spans[next_span][0] <= found.start()
        if found.start() < low or in_code:
            continue
        end = _end_of_tag(text, found.end())
        if end < 0:
            in_vain += _MAX_TAG_CHARS
            if in_vain > _MAX_CHARS_IN_VAIN:
                break
        tag = text[found.start() : end]
        name = found[1] or ""
        if end < 0 or not _is_component(name, tag):
            continue
        out += [_placed(text[low : found.start()], depth), _shown(name, tag)]
        if tag.startswith("</"):
            depth = max(0, depth - 1)
        elif not tag.endswith("/>"):
            depth += 1
        low = end
    out.append(_placed(text[low:], depth))
    softened = "\n".join([line if line.strip() else "" for line in "".join(out).split("\n")])
    # One blank line between paragraphs, and one at most next to the code before and after.
    lines = _BLANK_RUN.sub("\n\n", softened).split("\n")
    while lines[:2] == ["", ""]:
        del lines[0]
    while lines[-2:] == ["", ""]:
        del lines[-1]
    return lines


def _without_comments(text: str) -> str:
    pieces: list[str] = []
    low = 0
    while (start := text.find("{/*", low)) >= 0 and (end := text.find("*/}", start)) >= 0:
        pieces.append(text[low:start])
        low = end + 3
    return "".join((*pieces, text[low:]))


def _is_component(name: str, tag: str) -> bool:
    """HTML is left to Markdown, but not what only JSX knows, nor boxes around text."""
    return not name or name[0].isupper() or name in _WRAPPERS or "={" in tag


def _end_of_tag(text: str, at: int) -> int:
    """Past the `>` that closes a tag; those inside its attributes do not count. -1 when there is none."""
    quote = ""
    depth = 0
    for number in range(at, min(len(text), at + _MAX_TAG_CHARS)):
        letter = text[number]
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'`":
            quote = letter
        elif letter == "{":
            depth += 1
        elif letter == "}":
            depth -= 1
        elif letter == ">" and depth <= 0:
            return number + 1
    return -1


def _shown(name: str, tag: str) -> str:
    if tag.startswith("</") or not name or name[0].islower():
        return ""
    title = _SHOWN.search(tag)
    if title is None:
        return ""
    words = next((group for group in title.groups() if group), "")
    link = _LINKED.search(tag)
    target = next((group for group in link.groups() if group), "") if link is not None else ""
    return f"\n\n**{f'[{words}]({target})' if target else words}**\n\n" if words else ""


def _placed(text: str, depth: int) -> str:
    """Text in a component loses the indentation that came from it."""
    if not depth or "\n" not in text:
        return text
    first, _, rest = text.partition("\n")
    lines = rest.split("\n")
    # What stands before the closing tag is the tag's indentation.
    return "\n".join([first, *dedent(lines[:-1]), lines[-1].lstrip() if not lines[-1].strip() else lines[-1]])


def _without_statements(lines: list[str]) -> list[str]:
    """Statements begin at the margin, after a blank line or another statement, and end at a blank line."""
    kept: list[str] = []
    at = 0
    while at < len(lines):
        follows_blank = not kept or not kept[-1].strip()
        if not follows_blank or not _STATEMENT.match(lines[at]):
            kept.append(lines[at])
            at += 1
            continue
        depth = 0
        while at < len(lines):
            line = lines[at]
            depth += sum(line.count(mark) for mark in "{[(") - sum(line.count(mark) for mark in "}])")
            at += 1
            if depth <= 0 and (at >= len(lines) or not lines[at].strip() or _STATEMENT.match(lines[at])):
                break
            if not line.strip() and depth <= 0:
                break
    return kept
