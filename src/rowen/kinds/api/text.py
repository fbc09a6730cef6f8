"""One readable text out of what an API has for one: text, HTML, escaped HTML, lists, objects.

A list is one part after the other; an object is its parts under their names, where `heading` names the
object itself. Only strings decide whether the whole is HTML, which a converter makes Markdown of.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from rowen.kinds.api.datasets.dataset import readable
from rowen.records import dataclass

MAX_DEPTH = 12
MAX_CHARS = 500_000
_SHORT_CHARS = 200
_HEADING_KEY = "heading"

_TAGS = (
    r"(?:a|b|br|blockquote|code|div|dd|dl|dt|em|font|h[1-6]|hr|i|img|li|ol|p|pre|section|small|span|strong|sub|sup"
    r"|table|tbody|td|th|thead|tr|u|ul)"
)
_TAG = re.compile(rf"</?{_TAGS}(?:\s[^<>]*|\s*/)?>", re.IGNORECASE)
_ESCAPED_TAG = re.compile(rf"&lt;/?{_TAGS}(?:\s|/|&gt;)", re.IGNORECASE)
_PARAGRAPHS = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_TOP_HEADING = re.compile(r"^# ", re.MULTILINE)
_HEADING = re.compile(r"^(#{1,5})(?= )", re.MULTILINE)
_MANY_LINES = re.compile(r"\n{3,}")
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})", re.MULTILINE)
_FORBIDDEN = dict.fromkeys([*range(9), 11, 12, *range(14, 32), 127])
"""Control characters, which say nothing and which not every store takes."""


@dataclass(frozen=True, slots=True)
class Rendered:
    text: str
    """Markdown, or a page of HTML; beginning with the title."""
    is_html: bool


@dataclass(frozen=True, slots=True)
class _Block:
    kind: str
    """`heading`, `text`, `html`, `pair` or `entry` (of a list)."""
    text: str
    label: str = ""
    level: int = 2


def rendered(title: str, value: Any) -> Rendered:
    """The text of an item."""
    blocks: list[_Block] = []
    left = MAX_CHARS
    for block in _blocks(value, level=2, depth=0):
        blocks.append(block)
        left -= len(block.text)
        if left < 0:
            break
    if any(block.kind == "html" for block in blocks):
        return Rendered(_page(title, blocks), True)
    body = _MANY_LINES.sub("\n\n", "\n".join(_markdown(block) for block in blocks)).strip()
    return Rendered(f"# {title}\n\n{body}\n" if body else f"# {title}\n", False)


def under_its_title(markdown: str) -> str:
    """A converted text whose own headings stand below the title, its first line."""
    first, _, rest = markdown.partition("\n")
    if not _TOP_HEADING.search(rest) or _FENCE.search(rest):
        return markdown
    return first + "\n" + _HEADING.sub(r"#\1", rest)


def clean(text: str) -> str:
    """Without control characters and with one kind of line break."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_FORBIDDEN).strip()


def _blocks(value: Any, *, level: int, depth: int) -> Iterator[_Block]:
    if depth > MAX_DEPTH or value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        yield from _of_text(value)
    elif isinstance(value, int | float):
        yield _Block("text", str(value))
    elif isinstance(value, list):
        if depth and len(value) > 1 and all(_is_short(one) for one in value):
            yield from (_Block("entry", _line(one)) for one in value)
            return
        for one in value:
            yield from _blocks(one, level=level, depth=depth + 1)
    elif isinstance(value, dict):
        yield from _of_object(value, level=level, depth=depth)


def _of_text(text: str) -> Iterator[_Block]:
    text = clean(text[:MAX_CHARS])
    if not _TAG.search(text) and _ESCAPED_TAG.search(text):
        text = clean(html.unescape(text))
    if text:
        yield _Block("html" if _TAG.search(text) else "text", text)


def _of_object(value: dict[Any, Any], *, level: int, depth: int) -> Iterator[_Block]:
    heading = value.get(_HEADING_KEY)
    named = isinstance(heading, str) and bool(heading.strip())
    parts = [(str(key), one) for key, one in value.items() if not (named and key == _HEADING_KEY)]
    if named:
        below = list(_of_parts(parts, level=level + 1, depth=depth, unnamed=len(parts) == 1))
        if below:
            yield _Block("heading", _line(heading), level=min(level, 6))
            yield from below
    else:
        yield from _of_parts(parts, level=level, depth=depth)


def _of_parts(
    parts: list[tuple[str, Any]], *, level: int, depth: int, unnamed: bool = False
) -> Iterator[_Block]:
    for key, one in parts:
        if unnamed:
            yield from _blocks(one, level=level, depth=depth + 1)
        elif _is_short(one):
            if line := _line(one):
                yield _Block("pair", line, label=_line(key))
        else:
            inner = list(_blocks(one, level=level + 1, depth=depth + 1))
            if inner:
                yield _Block("heading", _line(key), level=min(level, 6))
                yield from inner


def _is_short(value: Any) -> bool:
    if isinstance(value, str):
        text = value.strip()
        return (
            len(text) <= _SHORT_CHARS
            and "\n" not in text
            and not _TAG.search(text)
            and not _ESCAPED_TAG.search(text)
        )
    return value is None or isinstance(value, int | float)


def _line(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(clean(html.unescape(str(value))).split())


def _markdown(block: _Block) -> str:
    match block.kind:
        case "heading":
            return f"\n{'#' * block.level} {block.text}\n"
        case "pair":
            return f"- **{block.label}:** {block.text}"
        case "entry":
            return f"- {block.text}" if block.text else ""
    return f"\n{readable(block.text)}\n"


def _page(title: str, blocks: list[_Block]) -> str:
    shown = html.escape(title)
    body = "\n".join(_markup(block) for block in blocks)
    return (
        f"<!DOCTYPE html><html><head><title>{shown}</title></head>"
        f"<body><main><h1>{shown}</h1>\n{body}\n</main></body></html>"
    )


def _markup(block: _Block) -> str:
    text = html.escape(block.text)
    match block.kind:
        case "html":
            tag = "ul" if block.text[:3].lower() == "<li" else "div"
            return f"<{tag}>{block.text}</{tag}>"
        case "heading":
            return f"<h{block.level}>{text}</h{block.level}>"
        case "pair":
            return f"<ul><li><strong>{html.escape(block.label)}:</strong> {text}</li></ul>"
        case "entry":
            return f"<ul><li>{text}</li></ul>" if text else ""
    paragraphs = _PARAGRAPHS.split(text)
    return "\n".join(f"<p>{one.strip()}</p>".replace("\n", "<br>") for one in paragraphs)
