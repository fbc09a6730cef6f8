"""Marks of Markdown that cutting and splitting both look for: links and fenced code."""

from __future__ import annotations

import re
from bisect import bisect_left

from rowen.patterns import pattern

_FENCED = (
    r"[ \t]*(?P<fence>`{3,}|~{3,})[^\n]*\n"
    r"(?:(?![ \t]*(?P=fence))[^\n]*\n)*(?:[ \t]*(?P=fence)[^\n]*)?"
)
# Code first, so that `found[index](call)` is left alone; stretches are bounded, for hostile text. Each kind
# begins with a character of its own, a fence with the line break before it: the scan runs over all others
# many times faster than it could try a pattern at each of them.
_LINK_OR_CODE = pattern(
    rf"\n{_FENCED}"
    r"|`(?<!``)(?P<ticks>`{0,2})(?!`)[^`\n]{1,400}`(?P=ticks)(?!`)"
    r"|<(?P<comment>!--[^\0]{0,5000}?-->)"
    r"|\[(?<!\\\[)"
    # Plain words, or one piece of code: most links, without counting character by character.
    r"(?P<words>(?:[^\[\]\n`\\]{1,500}+|`[^`\n]{0,200}`)(?=\]\()"
    r"|(?:[^\[\]\n`\\]|\\[^\n]|`[^`\n]{0,200}`|\[[^\[\]\n]{0,200}\]|\n(?!\n)){0,500})"
    r"\]\((?P<target>(?:<[^<>\n]{0,2000}>|[^()\s]{0,2000}(?:\([^()\s]{0,500}\)[^()\s]{0,500}){0,8})"
    r"(?:[ \t]+\"[^\"\n]{0,500}\")?)\)"
)
_ADDRESS = pattern(r'<a id="[^"\n]*"></a> ?')
FENCED_CODE = re.compile(rf"(?:^|(?<=\n)){_FENCED}")


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
    linked = low = 0
    left_out: Stretches = []
    pieces: list[str] = []
    shown = f"\n{text}"  # offsets are one too high in it
    for found in _LINK_OR_CODE.finditer(shown):
        if found.lastgroup == "target":
            begin, end = found.span()
            first, last = found.span("words")
            if shown[begin - 1] == "!":
                begin -= 1
            else:
                linked += last - first
            pieces += (shown[low:begin], shown[first:last])
            left_out += ((begin - 1, first - 1), (last - 1, end - 1))
            low = end
        elif found.lastgroup == "comment":
            begin, end = found.span()
            pieces.append(shown[low:begin])
            left_out.append((begin - 1, end - 1))
            low = end
    own = "".join((*pieces, shown[low:]))[1:]
    share = min(1.0, linked / max(1, sum(map(len, own.split())))) if linked else 0.0
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

    def __init__(self, at: list[int], lengths: list[int]) -> None:
        """`lengths` begins with 0, then has the length of everything up to each place."""
        self._at = at
        self._lengths = lengths

    def before(self, offset: int) -> int:
        return self._lengths[bisect_left(self._at, offset)]


def without_addresses(text: str) -> tuple[str, Hidden]:
    """A text that begins with a line break, with `[words]()` in place of its links."""
    at: list[int] = []
    lengths = [0]
    pieces: list[str] = []
    low = gone = 0
    for found in _LINK_OR_CODE.finditer(text) if "](" in text else ():
        start, end = found.span("target")
        if start < end:
            pieces.append(text[low:start])
            at.append(start - gone)
            gone += end - start
            lengths.append(gone)
            low = end
    return "".join((*pieces, text[low:])), Hidden(at, lengths)
