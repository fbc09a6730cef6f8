"""The part of YAML that people write OpenAPI descriptions in.

Block mappings and sequences, quoted and plain scalars, literal and folded blocks, flow collections on one
line. Anchors, aliases, tags and several documents are a `ValueError`: whoever asks has a fallback, and a
guess at their meaning would be worse. Scalars come out as text; only null, true and false are told apart.
"""

from __future__ import annotations

import json
import re
from typing import Any

_KEY = re.compile(
    r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|(?![\s#&*!|>%@`\"'\[\]{},]|[?:-](?:\s|$))(?:[^#\n]|(?<=\S)#)+?)"
    r"[ \t]*:(?:[ \t]+(.*))?$"
)
_ITEM = re.compile(r"-(?:[ \t]+(.*))?$")
_BLOCK = re.compile(r"([|>])([+-]?)(\d?)([+-]?)[ \t]*(?:#.*)?$")
_FLOW_WORD = re.compile(r"[^,\[\]{}:]+(?::(?=\S)[^,\[\]{}]*)?")
_WORDS: dict[str, Any] = {"null": None, "~": None, "": None, "true": True, "false": False}
_MAX_DEPTH = 100


def read_yaml(text: str) -> Any:
    """Raises `ValueError` for what it does not know."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._at = 0
        self._depth = 0

    def read(self) -> Any:
        self._skip_blank()
        if self._at < len(self._lines) and self._lines[self._at].rstrip() == "---":
            self._at += 1
        value = self._block(0)
        self._skip_blank()
        if self._at < len(self._lines):
            raise ValueError(f"line {self._at + 1}: not understood")
        return value

    def _skip_blank(self) -> None:
        while self._at < len(self._lines):
            stripped = self._lines[self._at].strip()
            if stripped and not stripped.startswith("#"):
                return
            self._at += 1

    def _indent(self) -> int:
        """Of the next line that says something; -1 when there is none."""
        self._skip_blank()
        if self._at >= len(self._lines):
            return -1
        line = self._lines[self._at]
        indent = len(line) - len(line.lstrip(" "))
        if line[indent] == "\t":
            raise ValueError(f"line {self._at + 1}: indented by a tab")
        return indent

    def _block(self, least: int) -> Any:
        indent = self._indent()
        if indent < least:
            return None
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ValueError("nested too deep")
        content = self._lines[self._at][indent:]
        if _ITEM.match(content):
            value: Any = self._sequence(indent)
        elif _KEY.match(_uncommented(content)):
            value = self._mapping(indent)
        else:
            self._at += 1
            value = self._scalar(content, indent - 1)
        self._depth -= 1
        return value

    def _sequence(self, indent: int) -> list[Any]:
        values: list[Any] = []
        while self._indent() == indent:
            line = self._lines[self._at]
            found = _ITEM.match(line[indent:])
            if found is None:
                break
            rest = found[1] or ""
            if not rest.strip() or rest.lstrip().startswith("#"):
                self._at += 1
                values.append(self._block(indent + 1))
                continue
            inner = len(line) - len(line[indent + 1 :].lstrip(" "))
            if _ITEM.match(line[inner:]) or _KEY.match(_uncommented(line[inner:])):
                # What follows the dash is a block of its own, as if the dash were white space.
                self._lines[self._at] = " " * inner + line[inner:]
                values.append(self._block(inner))
            else:
                self._at += 1
                values.append(self._scalar(line[inner:], indent))
        return values

    def _mapping(self, indent: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while self._indent() == indent:
            found = _KEY.match(_uncommented(self._lines[self._at][indent:]))
            if found is None:
                break
            key = str(_word(found[1]) if found[1][0] in "\"'" else found[1])
            rest = found[2] or ""
            self._at += 1
            if not rest.strip():
                # A sequence may stand at the indentation of its key.
                is_item = self._indent() == indent and _ITEM.match(self._lines[self._at][indent:])
                values[key] = self._block(indent if is_item else indent + 1)
            else:
                values[key] = self._scalar(rest, indent)
        return values

    def _scalar(self, rest: str, indent: int) -> Any:
        """A value that begins in the middle of a line; `indent` is that of its owner."""
        block = _BLOCK.match(rest)
        if block is not None:
            return self._block_scalar(indent, folded=block[1] == ">", extra=int(block[3] or 0))
        rest = rest.strip()
        if rest[:1] in ("&", "*", "!", "%", "@", "`"):
            raise ValueError(f"line {self._at}: anchors, aliases and tags are not known here")
        words = [_uncommented(rest)]
        while not _closed(" ".join(words)) or words[0][:1] not in ("[", "{", '"', "'"):
            quoted = words[0][:1] in ('"', "'")
            following = self._indent_or_blank(past_comments=quoted)
            if following is None or following <= indent:
                break
            line = self._lines[self._at].strip()
            line = line if quoted else _uncommented(line)
            if words[0][:1] not in ("[", "{", '"', "'") and _KEY.match(line):
                raise ValueError(f"line {self._at + 1}: a key inside a scalar")
            words.append(line)
            self._at += 1
        return _word(" ".join(word for word in words if word))

    def _indent_or_blank(self, *, past_comments: bool) -> int | None:
        """Of the next line of a scalar that goes on over lines; None when it cannot go on."""
        at = self._at
        while at < len(self._lines) and not self._lines[at].strip():
            at += 1
        if at >= len(self._lines) or (self._lines[at].lstrip().startswith("#") and not past_comments):
            return None
        self._at = at
        return len(self._lines[at]) - len(self._lines[at].lstrip(" "))

    def _block_scalar(self, indent: int, *, folded: bool, extra: int) -> str:
        lines: list[str] = []
        least = indent + extra if extra else -1
        while self._at < len(self._lines):
            line = self._lines[self._at]
            own = len(line) - len(line.lstrip(" "))
            if line.strip():
                if own <= indent:
                    break
                least = own if least < 0 else least
            lines.append(line[least:] if least >= 0 else "")
            self._at += 1
        text = "\n".join(lines).strip("\n")
        # One line break inside a folded paragraph is a space; indented lines keep theirs.
        return re.sub(r"(?<=\S)\n(?=\S)", " ", text) if folded else text


def _uncommented(content: str) -> str:
    """Without a comment at its end. A sign in quotes, or inside a word, begins none."""
    if "#" not in content:
        return content
    quote = ""
    escaped = False
    for at, letter in enumerate(content):
        before = content[at - 1] if at else " "
        if quote:
            closes = letter == quote and not escaped
            escaped = letter == "\\" and quote == '"' and not escaped
            quote = "" if closes else quote
        elif letter in "\"'" and before in " \t[{,":
            quote = letter
        elif letter == "#" and before in " \t":
            return content[:at].rstrip()
    return content


def _closed(text: str) -> bool:
    if text[:1] in ("[", "{"):
        return text.count("[") + text.count("{") <= text.count("]") + text.count("}")
    if text[:1] == '"':
        return re.match(r"\"(?:[^\"\\]|\\.)*\"[ \t]*(?:#.*)?$", text) is not None
    return text[:1] != "'" or re.match(r"'(?:[^']|'')*'[ \t]*(?:#.*)?$", text) is not None


def _word(text: str) -> Any:
    text = text.strip()
    if text[:1] == '"':
        found = re.match(r"\"(?:[^\"\\]|\\.)*\"", text)
        if found is None:
            raise ValueError("a string without an end")
        return json.loads(found[0].replace("\t", "\\t"), strict=False)
    if text[:1] == "'":
        found = re.match(r"'((?:[^']|'')*)'", text)
        if found is None:
            raise ValueError("a string without an end")
        return found[1].replace("''", "'")
    if text[:1] in ("[", "{"):
        value, end = _flow(text, 0, 0)
        if text[end:].strip():
            raise ValueError("text after a flow collection")
        return value
    return _WORDS.get(text, text)


def _flow(text: str, at: int, depth: int) -> tuple[Any, int]:
    if depth > _MAX_DEPTH:
        raise ValueError("nested too deep")
    closing = "]" if text[at] == "[" else "}"
    values: list[Any] = []
    keyed: dict[str, Any] = {}
    at += 1
    while True:
        at = _past_space(text, at)
        if text[at] == closing:
            return (values if closing == "]" else keyed), at + 1
        value, at = _flow_value(text, at, depth)
        at = _past_space(text, at)
        if closing == "}":
            if text[at] != ":":
                raise ValueError("a flow mapping without a colon")
            key, (value, at) = str(value), _flow_value(text, _past_space(text, at + 1), depth)
            keyed[key] = value
            at = _past_space(text, at)
        values.append(value)
        if text[at] == ",":
            at += 1
        elif text[at] != closing:
            raise ValueError("a flow collection without an end")


def _flow_value(text: str, at: int, depth: int) -> tuple[Any, int]:
    if text[at] in "[{":
        return _flow(text, at, depth + 1)
    if text[at] in "\"'":
        found = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'").match(text, at)
    else:
        found = _FLOW_WORD.match(text, at)
    if found is None:
        raise ValueError("a flow collection without a value")
    return _word(found[0]), found.end()


def _past_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\n":
        at += 1
    if at >= len(text):
        raise ValueError("a flow collection without an end")
    return at
