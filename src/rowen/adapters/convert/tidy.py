"""One spelling for the Markdown we make: what looks the same must hash the same.

Touches white space and invisible characters outside fenced code; code stays as it was written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

# What may stand before a fence of our renderer, and a line that is one. Both fences of a block are equal.
_BEFORE_FENCE = re.compile(r"[ >]*(?:[-*+] +|\d+\. +)*")
_FENCE_LINE = re.compile(r"\n[ >]*(`{3,}) *(?=\n)")
# Code inside a list item is indented, and so are its empty lines.
_BLANK_IN_CODE = re.compile(r"\n[ \t]+(?=\n)")
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_NO_BREAK_SPACE = re.compile(r"\u00a0|(?<!\\)&#160;")
_EMPTY_LINK = re.compile(r"(?<![!\\\]])\[ *\]\([^()\s]*\)")
_BLANK_RUN = re.compile(r"\n\n\n+")


def _without_trailing_spaces(prose: str) -> str:
    return "\n".join([line.rstrip() for line in prose.split("\n")])


# Signs of a fault and its remedy, in the order of their working. Most pages have none of them.
_REMEDIES: tuple[tuple[tuple[str, ...], Callable[[str], str]], ...] = (
    (("\u00ad", "\u200b", "\u2060", "\ufeff"), lambda prose: _INVISIBLE.sub("", prose)),
    (("\u00a0", "&#160;"), lambda prose: _NO_BREAK_SPACE.sub(" ", prose)),
    (("[](", "[ ]("), lambda prose: _EMPTY_LINK.sub("", prose)),
    ((" \n", "\t\n"), _without_trailing_spaces),
    (("\n\n\n",), lambda prose: _BLANK_RUN.sub("\n\n", prose)),
)


def tidy(markdown: str) -> str:
    """Composed Unicode, no trailing spaces, at most one blank line in a row, one line break at the end."""
    if not markdown.isascii():
        markdown = unicodedata.normalize("NFC", markdown)
    text = f"{markdown}\n"
    first = next((n for n, (signs, _) in enumerate(_REMEDIES) if any(sign in text for sign in signs)), None)
    if first is not None:
        # One remedy can bring out the next fault, so all that follow are tried.
        remedies = _REMEDIES[first:]
        pieces: list[str] = []
        low = 0
        for start, end in _fenced(text):
            code = text[start:end]
            pieces += (
                _tidy_prose(text[low:start], remedies),
                code if code[0] == "`" else _BLANK_IN_CODE.sub("\n", code),
            )
            low = end
        text = "".join((*pieces, _tidy_prose(text[low:], remedies)))
    text = text.strip("\n")
    return f"{text}\n" if text else ""


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    """Where fenced blocks begin and end; the end is before the line break of the closing fence."""
    low = 0
    while (ticks := text.find("```", low)) >= 0:
        start = text.rfind("\n", 0, ticks) + 1
        low = line_end = text.find("\n", ticks)
        opening = text[ticks:line_end]
        info = opening.lstrip("`")
        if _BEFORE_FENCE.fullmatch(text, start, ticks) is None or "`" in info:
            continue
        marks = opening[: len(opening) - len(info)]
        closing = next((found for found in _FENCE_LINE.finditer(text, line_end) if found[1] == marks), None)
        if closing is None:
            return
        yield start, closing.end()
        low = closing.end()


def _tidy_prose(prose: str, remedies: tuple[tuple[tuple[str, ...], Callable[[str], str]], ...]) -> str:
    for signs, remedy in remedies:
        if any(sign in prose for sign in signs):
            prose = remedy(prose)
    return prose
