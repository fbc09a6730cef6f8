"""The texts and the metadata of a portal's dataset, out of what portals put in their place.

The text is the title and the description; the facts about a dataset follow it (`details`). When a dataset was
last touched is not part of the metadata: many portals touch everything every night.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote

MAX_RESOURCES = 2_000
_MAX_VALUE_CHARS = 1_000
_LISTS = frozenset((list, dict))
MAX_DESCRIPTION_CHARS = 2_000_000

# Only tags that descriptions are written with: `<https://...>` and `a < b` are no HTML.
_TAG = re.compile(
    r"</?(?:a|abbr|article|b|big|blockquote|br|center|cite|code|dd|div|dl|dt|em|figure|font|h[1-6]|hr|i|iframe"
    r"|img|li|o:p|ol|p|pre|q|s|script|section|small|span|strike|strong|style|sub|sup|table|tbody|td|tfoot|th"
    r"|thead|tr|tt|u|ul)(?:\s[^<>]*|\s*/)?>|<!--",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});")
_BLOCKS = frozenset((
    "article", "blockquote", "center", "dd", "div", "dl", "dt", "figure", "h1", "h2", "h3", "h4", "h5", "h6",
    "hr", "ol", "p", "pre", "section", "table", "tr", "ul",
))  # fmt: skip
_UNSEEN = frozenset(("script", "style", "iframe"))
_SPACES = re.compile(r"[ \t\u00a0]+")
_MANY_LINES = re.compile(r"\n{3,}")
_HEADING = re.compile(r"^ {0,3}#{1,5}(?=[ \t])", re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})", re.MULTILINE)


def text_of(title: str, description: str, *, mark: str = "", below: bool = False) -> tuple[str, bool]:
    """What a dataset says, and whether its description is longer than what is indexed.

    `mark` stands behind its heading; `below` is for a text that follows another one of the same dataset.
    """
    body = readable(description)
    if below:
        body = _lowered(body)
    heading = f"{'##' if below else '#'} {title}{mark}\n"
    text = f"{heading}\n{body}\n" if body else heading
    return text, len(description) > MAX_DESCRIPTION_CHARS


def title_of(*candidates: str) -> str:
    """The first that is not empty, on one line."""
    return next((line for one in candidates if (line := " ".join(one.split()))), "")


def readable(description: str) -> str:
    """HTML becomes text; anything else is taken as Markdown, its headings below the title."""
    text = description[:MAX_DESCRIPTION_CHARS].replace("\r\n", "\n").replace("\r", "\n")
    if _TAG.search(text):
        return _stripped(text)
    if _ENTITY.search(text):
        text = html.unescape(text)
    return _lowered(text).strip()


def _lowered(text: str) -> str:
    """Its headings one level below."""
    if "#" in text and not _FENCE.search(text):
        return _HEADING.sub(lambda match: match[0] + "#", text)
    return text


def in_language(value: Any, language: str = "") -> str:
    """A text out of what portals put where a text is expected: text, a map of languages, a list of either.

    Of a map: the language asked for, English, the first that says anything.
    """
    if isinstance(value, str):
        text = value.strip()
        if text[:2] != '{"':
            return text
        found = map_in(text)
        return text if found is None else in_language(found, language)
    if value is None:
        return ""
    if isinstance(value, dict):
        return _of_map(value, language)
    if isinstance(value, list):
        literals = _literals_by_language(value)
        if len(literals) > 1 and (chosen := key_for(literals, language)) is not None:
            value = [literals[chosen], *value]
        return next((text for one in value if (text := in_language(one, language))), "")
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def whole_text(value: Any, language: str = "") -> str:
    """All of a description in one language: some portals write it in several parts, each a text of a list."""
    if not isinstance(value, list):
        return in_language(value, language)
    literals = _literals_by_language(value)
    chosen = key_for(literals, language)
    parts = [one for one in value if not literals or _tag(one) == chosen]
    return "\n\n".join(dict.fromkeys(text for one in parts if (text := in_language(one, language))))


def every_text(value: Any, language: str = "") -> list[str]:
    """The texts of a list (or of a map of languages to lists), each once and sorted."""
    if value is None:
        return []
    value = unwrapped(value)
    if isinstance(value, str):
        return [text] if (text := in_language(value, language)) else []
    if isinstance(value, dict) and any(isinstance(one, list) for one in value.values()):
        lists = {key: one for key, one in value.items() if isinstance(one, list) and one}
        chosen = key_for(lists, language)
        value = lists[chosen] if chosen is not None else []
    many = value if isinstance(value, list) else [value]
    # Sorted: the order of a list in an answer may differ from one day to the next.
    return sorted({text for one in many if (text := in_language(one, language))})


def tidy(values: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is empty, and without texts too long to filter by."""
    kept: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, str):
            if value and len(value) <= _MAX_VALUE_CHARS:
                kept[name] = value
        elif value or (value is not None and type(value) not in _LISTS):
            kept[name] = value
    return kept


def resources_of(resources: Iterable[Sequence[Any]]) -> dict[str, Any]:
    """`resources` and their `formats`, from (name, address, format, description)."""
    listed: list[dict[str, str]] = []
    formats: set[str] = set()
    left_out = 0
    for one in resources:
        name, url, format_name = one[:3]
        shown = format_of(format_name)
        if shown:
            formats.add(shown)
        found = {key: text for key, text in (("name", name), ("url", url), ("format", shown)) if text}
        if found and len(listed) < MAX_RESOURCES:
            listed.append(found)
        else:
            left_out += bool(found)
    return tidy({"formats": sorted(formats), "resources": listed, "resources_left_out": left_out or None})


@lru_cache(maxsize=1_000)
def format_of(text: str) -> str:
    """The name of a format in one spelling: `CSV` for `text/csv` and `.Csv`."""
    return text.rpartition("/")[2].strip(". ").upper()


def fill(template: str, *, id: str, name: str) -> str:  # noqa: A002
    """A landing page from a template with `{id}` and `{name}`."""
    if "{id}" in template:
        template = template.replace("{id}", quote(id, safe=""))
    return template.replace("{name}", quote(name or id, safe="")) if "{name}" in template else template


def template(text: str) -> str:
    """A setting's text, if it can be a template of landing pages."""
    if not text.startswith(("http://", "https://")) or not ("{id}" in text or "{name}" in text):
        raise ValueError("expected an address with `{id}` or `{name}` in it")
    return text


def unwrapped(value: Any) -> Any:
    """The list, where a portal stores one as JSON inside a text."""
    if not isinstance(value, str) or value[:1] != "[":
        return value
    import orjson

    try:
        return orjson.loads(value)
    except ValueError:
        return value


def _of_map(values: Mapping[str, Any], language: str) -> str:
    if "coordinates" in values or "geometries" in values:
        # A shape in GeoJSON: numbers are no words. The record has them.
        return ""
    for name in ("@value", "value", "display_name", "label", "name"):
        # A value that comes wrapped: JSON-LD literals, tags, vocabularies.
        if (one := values.get(name)) and isinstance(one, str) and (text := one.strip()):
            return text
    said = {key: text for key, one in values.items() if (text := in_language(one, language))}
    chosen = key_for(said, language)
    return said[chosen] if chosen is not None else ""


def _literals_by_language(values: Sequence[Any]) -> dict[str, Any]:
    """The first text of each language, of literals in a list; a text without one stands under no name."""
    found: dict[str, Any] = {}
    for one in values:
        if in_language(one):
            found.setdefault(_tag(one), one)
    return found if any(found) else {}


def _tag(value: Any) -> str:
    """The language of a literal."""
    tag = value.get("@language") if isinstance(value, dict) else ""
    return tag if isinstance(tag, str) else ""


def key_for(values: Mapping[str, Any], language: str) -> str | None:
    """The key of a map of languages to take: the language asked for, English, the first."""
    for wanted in (language.lower(), language.lower().partition("-")[0], "en"):
        if not wanted:
            continue
        for key in values:
            spelt = str(key).lower().replace("_", "-")
            if spelt == wanted or spelt.startswith(wanted + "-"):
                return key
    return next(iter(values), None)


def map_in(text: str) -> dict[str, Any] | None:
    """Some portals store their maps of languages as JSON inside a text."""
    import orjson

    try:
        found = orjson.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


class _Stripper(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNSEEN:
            self._hidden += 1
        elif tag == "br":
            self.parts.append("\n")
        elif tag == "li":
            self.parts.append("\n- ")
        elif tag in ("td", "th"):
            self.parts.append(" ")
        elif tag in _BLOCKS:
            self.parts.append("\n\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag in _BLOCKS:
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


def _stripped(text: str) -> str:
    stripper = _Stripper()
    stripper.feed(text)
    stripper.close()
    lines = [_SPACES.sub(" ", line).strip() for line in "".join(stripper.parts).split("\n")]
    return _MANY_LINES.sub("\n\n", "\n".join(lines)).strip()
