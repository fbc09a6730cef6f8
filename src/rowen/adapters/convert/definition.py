"""Sections for what a page defines: a function, a setting, a term.

A definition is written as a heading one level below the section it stands in, with its anchor, kind and name;
its end is marked where that section goes on. `core/split.py` reads both.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_LEVEL = 6
_USABLE = re.compile(r"[^\s{}<>]{1,200}")
_NAME = re.compile(r"[^\s{}<>]+(?: [^\s{}<>]+){0,9}")
_FIRST_WORDS = re.compile(r"[\w.-]+(?: [\w.-]+){0,9}(?![^ ])")
_KIND = re.compile(r"[a-z]{1,20}")
_TITLE_CHARS = 120
_CALLED = frozenset(("function", "method", "classmethod", "staticmethod", "macro", "constructor"))
# Characters for private use stand for the mark until the page is Markdown: a comment would not get that far.
_OPEN, _CLOSE = "\uf8f0", "\uf8f1"
_MARK = f"{_OPEN}[^{_CLOSE}]*{_CLOSE}\n*"
_NOT_NEEDED = re.compile(f"{_MARK}(?:{_MARK})*(?=#{{1,6}} |\\Z|{_OPEN})")
_OURS = str.maketrans("", "", _OPEN + _CLOSE)


class Definition(NamedTuple):
    anchor: str
    """Empty where the page has none for it."""
    kind: str
    name: str
    title: str
    """What it is called inside the section it stands in: `create_task()`."""
    signature: str
    """In full; empty when it says no more than the title."""

    def end_mark(self) -> str:
        """A line of its own behind the definition, which `with_ends` reads."""
        return f"{_OPEN}{self.anchor or self.name}{_CLOSE}"

    def marks(self) -> str:
        kind = self.kind if _KIND.fullmatch(self.kind) else "term"
        named = f" name={self.name}" if self.name != self.anchor and _NAME.fullmatch(self.name) else ""
        if self.anchor:
            return f" {{#{self.anchor} .{kind}{named}}}"
        return f" {{.{kind}{named}}}" if named else ""


class Place(NamedTuple):
    """Where a definition stands: below which heading, and in which definition."""

    level: int
    around: str = ""

    def inside(self, definition: Definition) -> Place:
        return Place(min(self.level + 1, MAX_LEVEL), definition.name)

    def definition(self, anchor: str, kind: str, name: str, signature: str) -> Definition:
        """`name` is the name in full; a method is called without its class, which stands above it."""
        title = name
        for separator in (".", "::", "#"):
            if self.around and name.startswith(self.around + separator):
                title = name[len(self.around) + len(separator) :]
        if kind in _CALLED and "(" in signature and not title.endswith(")"):
            title += "()"
        title = title if len(title) <= _TITLE_CHARS else f"{title[: _TITLE_CHARS - 1]}…"
        says_more = signature not in (title, name)
        return Definition(anchor, kind, name, title, signature if says_more else "")


def usable(anchor_or_name: str) -> bool:
    return _USABLE.fullmatch(anchor_or_name) is not None


def plain_name(words: str) -> str:
    """A name as a mark can hold it, or its first words; empty where there are none."""
    if _NAME.fullmatch(words):
        return words
    found = _FIRST_WORDS.match(words)
    return found[0] if found is not None else ""


def without_marks_of_ours(text: str) -> str:
    """A text of others, which might have what stands for our marks."""
    return text.translate(_OURS) if _OPEN in text or _CLOSE in text else text


def with_ends(markdown: str) -> str:
    """The ends of definitions as comments, where text follows that belongs to the section around."""
    if _OPEN not in markdown:
        return markdown
    return _NOT_NEEDED.sub("", markdown).replace(_OPEN, "<!-- /").replace(_CLOSE, " -->")
