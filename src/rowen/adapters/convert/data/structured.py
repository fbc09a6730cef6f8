"""JSON, YAML, TOML, INI and XML as structured text: the file's name, then each top-level key with its value.

The text is sliced, not written anew: numbers, comments and the order stay. Short values stand together under
the title, long ones under a heading that is their key. A file that is not well formed becomes one block;
it is still text that can be found.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from xml.parsers import expat

from rowen.adapters.convert.data.openapi import describe, is_openapi
from rowen.adapters.convert.pieces import (
    dedent,
    fence,
    file_name,
    heading,
    one_line,
    plain_line_breaks,
    trimmed,
)
from rowen.core.document import Converted

_MAX_HEADINGS = 1_000
"""A file with more keys is data, not a document: it becomes one block, cut by size."""
_MAX_TITLE_CHARS = 100
_LONG_LINE_CHARS = 120
_NAMES = ("name", "title", "id", "key", "slug", "path")
_DECODER = json.JSONDecoder()
_JSON_SPACE = re.compile(r"[ \t\n]*")

_YAML_KEY = re.compile(
    r"(?![\s#\-?:&*!|>%@`,\[\]{}])(\"[^\"]*\"|'[^']*'|[^\s:#][^:#]*?(?::[^\s:#]+)*)[ \t]*:(?=\s|$)"
)
_YAML_DOCUMENT = re.compile(r"^---(?:[ \t].*)?$|^\.\.\.[ \t]*$", re.MULTILINE)
_YAML_KIND = re.compile(r"^kind:[ \t]*(\S+)", re.MULTILINE)
_YAML_NAME = re.compile(r"^metadata:[ \t]*\n(?:[ \t]+.*\n)*?[ \t]+name:[ \t]*(\S+)", re.MULTILINE)
_TABLE = re.compile(r"[ \t]*\[\[?[ \t]*([^\[\]]+?)[ \t]*\]?\][ \t]*(?:[#;].*)?$")
_TOML_QUOTES = re.compile(r"\"\"\"|'''|#.*|\"(?:[^\"\\]|\\.)*\"|'[^']*'")

_Part = tuple[str, list[str]]
"""A key and the lines of its value, the key's own line included."""


def convert_json(text: str, url: str) -> Converted:
    text = plain_line_breaks(text)
    try:
        value = json.loads(text)
        if is_openapi(value):
            return describe(value, file_name(url))
        parts = list(_json_parts(text, value))
    except (ValueError, RecursionError):
        return _whole(text, url, "json")
    return _document(parts, url, "json")


def convert_json_lines(text: str, url: str) -> Converted:
    text = plain_line_breaks(text)
    records: list[_Part] = []
    try:
        for line in text.split("\n"):
            if line.strip():
                records.append((_own_name(json.loads(line)), [line]))
                if len(records) > _MAX_HEADINGS:
                    return _whole(text, url, "json")
    except (ValueError, RecursionError):
        return _whole(text, url, "json")
    if not all(name for name, _ in records):
        return _whole(text, url, "json")
    return _document([(name, _pretty(lines)) for name, lines in records], url, "json", grouped=False)


def convert_yaml(text: str, url: str) -> Converted:
    text = plain_line_breaks(text)
    if re.search(r"^(?:openapi|swagger)[ \t]*:", text, re.MULTILINE):
        from rowen.adapters.convert.data.yaml_values import read_yaml  # PyYAML, for few of the files

        try:
            value = read_yaml(text)
        except ValueError:
            value = None
        if is_openapi(value):
            return describe(value, file_name(url))
    documents = [one for one in _YAML_DOCUMENT.split(text) if _says_something(one)]
    if len(documents) > 1:
        parts = [(_yaml_name(one), trimmed(one.split("\n"))) for one in documents]
        return _document(parts, url, "yaml", grouped=False)
    return _document(list(_keyed(text.split("\n"), _YAML_KEY)), url, "yaml")


def convert_toml(text: str, url: str) -> Converted:
    text = plain_line_breaks(text)
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError):
        return _whole(text, url, "toml")
    return _document(_tables(text.split("\n"), in_toml=True), url, "toml", grouped=False)


def convert_ini(text: str, url: str) -> Converted:
    text = plain_line_breaks(text)
    return _document(_tables(text.split("\n"), in_toml=False), url, "ini", grouped=False)


def convert_xml(text: str, url: str) -> Converted:
    text = plain_line_breaks(text)
    try:
        parts = _xml_parts(text)
    except (expat.ExpatError, ValueError):
        return _whole(text, url, "xml")
    return _document(parts, url, "xml")


def _whole(text: str, url: str, language: str) -> Converted:
    return _document([("", text.split("\n"))], url, language)


def _document(parts: list[_Part], url: str, language: str, *, grouped: bool = True) -> Converted:
    """Parts without a key, and short ones when they are `grouped`, come first and have no heading."""
    name = file_name(url)
    if sum(1 for key, _ in parts if key) > _MAX_HEADINGS:
        parts = [("", [line for _, lines in parts for line in lines])]
    head: list[str] = []
    pieces: list[str] = []
    for key, lines in parts:
        lines = trimmed(lines)
        if not lines:
            continue
        if not key or (grouped and _is_short(lines)):
            head += lines
        else:
            pieces += ["\n", heading(2, key[:_MAX_TITLE_CHARS]), "\n", fence("\n".join(lines), language)]
    opening = ["\n", fence("\n".join(head), language)] if head else []
    return Converted(name, "".join([heading(1, name), *opening, *pieces]), metadata={"format": language})


def _is_short(lines: list[str]) -> bool:
    return sum(1 for line in lines if line.strip() and not line.startswith("#")) <= 1


def _json_parts(text: str, value: Any) -> Iterator[_Part]:
    if isinstance(value, dict):
        for key, start, end in _members(text):
            yield key, [f"{json.dumps(key, ensure_ascii=False)}: {line}" if number == 0 else line
                        for number, line in enumerate(_slice(text, start, end))]  # fmt: skip
    elif isinstance(value, list) and value and all(_own_name(one) for one in value):
        for one in value:
            yield _own_name(one), json.dumps(one, ensure_ascii=False, indent=2).split("\n")
    else:
        yield "", _pretty(text.rstrip("\n").split("\n"))


def _members(text: str) -> Iterator[tuple[str, int, int]]:
    """(key, start, end of the value) of the outermost object of JSON that is well formed."""
    at = text.index("{") + 1
    while True:
        at = _after_space(text, at)
        if text[at] == "}":
            return
        key, at = _DECODER.raw_decode(text, at)
        start = _after_space(text, _after_space(text, at) + 1)  # past the colon
        _, end = _DECODER.raw_decode(text, start)
        yield key, start, end
        at = _after_space(text, end)
        if text[at] == ",":
            at += 1


def _after_space(text: str, at: int) -> int:
    found = _JSON_SPACE.match(text, at)
    return found.end() if found else at


def _slice(text: str, start: int, end: int) -> list[str]:
    """A value as it is written, without the indentation of its key."""
    lines = _pretty(text[start:end].split("\n"))
    return [lines[0], *_dedented_by_last(lines[1:])] if len(lines) > 1 else lines


def _dedented_by_last(lines: list[str]) -> list[str]:
    """The closing bracket stands where the key does."""
    cut = len(lines[-1]) - len(lines[-1].lstrip())
    return [line[cut:] if not line[:cut].strip() else line for line in lines]


def _pretty(lines: list[str]) -> list[str]:
    """JSON with long lines is indented anew; other JSON stays as it is."""
    if all(len(line) <= _LONG_LINE_CHARS for line in lines):
        return lines
    try:
        return json.dumps(json.loads("\n".join(lines)), ensure_ascii=False, indent=2).split("\n")
    except (ValueError, RecursionError):
        return lines


def _own_name(value: Any) -> str:
    """What a record calls itself."""
    if not isinstance(value, dict):
        return ""
    return next((one_line(value[key]) for key in _NAMES if isinstance(value.get(key), str)), "")


def _keyed(lines: list[str], key_line: re.Pattern[str]) -> Iterator[_Part]:
    """Cut at lines that begin with a key; comments right above one belong to it."""
    key, start = "", 0
    for number, line in enumerate(lines):
        found = key_line.match(line)
        if found is None:
            continue
        first = number
        while first > start and lines[first - 1].startswith("#"):
            first -= 1
        yield key, lines[start:first]
        key, start = found[1].strip("\"'"), first
    yield key, lines[start:]


def _says_something(text: str) -> bool:
    return any(line.strip() and not line.lstrip().startswith("#") for line in text.split("\n"))


def _yaml_name(text: str) -> str:
    kind, name = _YAML_KIND.search(text), _YAML_NAME.search(text)
    words = [found[1].strip("\"'") for found in (kind, name) if found]
    first = next((found[1] for line in text.split("\n") if (found := _YAML_KEY.match(line))), "")
    return " ".join(words) or first.strip("\"'") or "document"


def _tables(lines: list[str], *, in_toml: bool) -> list[_Part]:
    parts: list[_Part] = [("", [])]
    quotes, depth = "", 0
    for line in lines:
        found = _TABLE.match(line) if not quotes and depth <= 0 else None
        if found is not None:
            above = parts[-1][1]
            lead: list[str] = []
            while above and above[-1].lstrip().startswith(("#", ";")):
                lead.insert(0, above.pop())
            parts.append((found[1], [*lead, line]))
        else:
            parts[-1][1].append(line)
        if in_toml:
            if not quotes and found is None:
                # A row of an array of arrays looks like a table.
                bare = _TOML_QUOTES.sub("", line)
                depth += bare.count("[") - bare.count("]")
            quotes = _open_quotes(line, quotes)
    return parts


def _open_quotes(line: str, quotes: str) -> str:
    """The quotes of a TOML string of several lines that is open after this line, or nothing."""
    at = 0
    while True:
        if quotes:
            end = line.find(quotes, at)
            if end < 0:
                return quotes
            at, quotes = end + 3, ""
        found = next((one for one in _TOML_QUOTES.finditer(line, at) if one[0] in ('"""', "'''")), None)
        if found is None:
            return ""
        at, quotes = found.end(), found[0]


def _xml_parts(text: str) -> list[_Part]:
    """The children of the root. Raises `ExpatError`, and `ValueError` when entities could be declared."""
    body = text.encode("utf-8")
    marks: list[tuple[str, int]] = []
    depth = 0
    parser = expat.ParserCreate("utf-8")

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        if depth == 1:
            name = next((attributes[key] for key in ("name", "id", "key", "Name") if key in attributes), "")
            marks.append((f"{tag} {name}".strip(), parser.CurrentByteIndex))
        depth += 1

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        if depth == 0:
            marks.append(("", parser.CurrentByteIndex))

    def refuse(*_: object) -> None:
        raise ValueError("a document type declaration")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = refuse
    parser.Parse(body, True)
    borders = [("", 0), *((key, _line_start(body, at)) for key, at in marks), ("", len(body))]
    parts: list[_Part] = []
    for (key, low), (_, high) in pairwise(borders):
        if high > low:
            parts.append((key, dedent(body[low:high].decode("utf-8").rstrip("\n").split("\n"))))
    return parts


def _line_start(body: bytes, at: int) -> int:
    """An element that has its line to itself takes its indentation along."""
    before = body[:at].rstrip(b" \t")
    return len(before) if before.endswith(b"\n") else at
