"""Marks of Markdown that cutting and splitting both look for: links and fenced code."""

from __future__ import annotations

import re
from bisect import bisect_left

_FENCED = (
    r"(?:^|(?<=\n))[ \t]*(?P<fence>`{3,}|~{3,})[^\n]*\n"
    r"(?:(?![ \t]*(?P=fence))[^\n]*\n)*(?:[ \t]*(?P=fence)[^\n]*)?"
)
# Code first, so that `found[index](call)` is left alone; stretches are bounded, for hostile text.
LINK_OR_CODE = re.compile(
    rf"(?=[`~!\[ \t<])(?:(?P<code>{_FENCED}|(?<!`)(?P<ticks>`{{1,3}})(?!`)[^`\n]{{1,400}}(?P=ticks)(?!`))"
    r"|(?P<comment><!--[^\0]{0,5000}?-->)"
    r"|!?(?<!\\)\["
    r"(?P<words>(?:[^\[\]\n`\\]|\\[^\n]|`[^`\n]{0,200}`|\[[^\[\]\n]{0,200}\]|\n(?!\n)){0,500})"
    r"\]\((?P<target>(?:<[^<>\n]{0,2000}>|[^()\s]{0,2000}(?:\([^()\s]{0,500}\)[^()\s]{0,500}){0,8})"
    r"(?:[ \t]+\"[^\"\n]{0,500}\")?)\))"
)
_ADDRESS = re.compile(r'<a id="[^"\n]*"></a> ?')
FENCED_CODE = re.compile(_FENCED)


def fence_after(fence: str, match: re.Match[str]) -> str:
    """The open fence after this line, or nothing: only as many of the same marks close it."""
    marks, info = match["fence"], match["info"]
    if not fence:
        return marks if marks[0] == "~" or "`" not in info else ""
    return "" if marks.startswith(fence) and not info.strip() else fence


Stretches = list[tuple[int, int]]
"""Of a text, from and to, in their order."""


def without_targets(text: str) -> tuple[str, float, Stretches]:
    """The text with the words of its links in place of the links, the share of these words in it, and what
    was left out of it.

    Where a link leads to is not what a text says: with it, a site that moves would be a new text.
    Comments are not shown to readers, so they are no text either.
    """
    marks: Stretches = []
    if '<a id="' in text:
        marks = [found.span() for found in _ADDRESS.finditer(text)]
        text = _ADDRESS.sub("", text)
    if "](" not in text and "<!--" not in text:
        return text, 0.0, marks
    linked = 0
    left_out: Stretches = []

    def words(found: re.Match[str]) -> str:
        nonlocal linked
        if found["code"] is not None:
            return found[0]
        begin, end = found.span()
        if found["comment"] is not None:
            left_out.append((begin, end))
            return ""
        kept = found["words"]
        low, high = found.span("words")
        left_out.append((begin, low))
        left_out.append((high, end))
        if found[0][0] != "!":
            linked += len(kept)
        return kept

    own = LINK_OR_CODE.sub(words, text)
    share = min(1.0, linked / max(1, sum(map(len, own.split()))))
    return own, share, _joined(marks, left_out) if marks else left_out


def _joined(first: Stretches, then: Stretches) -> Stretches:
    """What two steps left out, as stretches of the text before both."""
    joined: Stretches = []
    waiting = list(reversed(first))
    gone = 0
    for begin, end in then:
        while waiting and waiting[-1][0] - gone <= begin:
            joined.append(waiting.pop())
            gone += joined[-1][1] - joined[-1][0]
        low = begin + gone
        while waiting and waiting[-1][0] - gone < end:
            inner = waiting.pop()
            joined.append((low, inner[1]))
            gone += inner[1] - inner[0]
            low = inner[1]
        joined.append((low, end + gone))
    return joined + waiting[::-1]


class Hidden:
    """What was taken out of a text, to find the way back to its offsets."""

    def __init__(self) -> None:
        self._at: list[int] = []
        self._lengths: list[int] = [0]
        """Of everything up to there."""

    def add(self, at: int, length: int) -> None:
        self._at.append(at)
        self._lengths.append(self._lengths[-1] + length)

    @property
    def all(self) -> int:
        return self._lengths[-1]

    def before(self, offset: int) -> int:
        return self._lengths[bisect_left(self._at, offset)]


def without_addresses(text: str) -> tuple[str, Hidden]:
    """The text with `[words]()` in place of its links."""
    hidden = Hidden()
    if "](" not in text:
        return text, hidden
    pieces: list[str] = []
    low = 0
    for found in LINK_OR_CODE.finditer(text):
        start, end = found.span("target")
        if start < end:
            pieces.append(text[low:start])
            hidden.add(start - hidden.all, end - start)
            low = end
    return "".join((*pieces, text[low:])), hidden
