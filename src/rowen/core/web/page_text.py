"""The words of a whole HTML page, to be held beside the Markdown that was made of it.

Rough on purpose: it shows a person what conversion left out, and nothing is stored of it.
"""

from __future__ import annotations

import html
import re

MAX_BYTES = 2_000_000
"""More of a page is not looked at."""
_DROPPED = re.compile(r"<(script|style|template|svg|head)\b.*?</\1\s*>|<!--.*?-->", re.DOTALL | re.IGNORECASE)
_INLINE = re.compile(
    r"</?(?:a|abbr|b|code|em|font|i|kbd|mark|q|s|small|span|strong|sub|sup|tt|u|var|wbr)\b[^>]*>",
    re.IGNORECASE,
)
_TAG = re.compile(r"<[^>]*>")
_ADDRESS = re.compile(r"(?<=\])\([^()\s]*\)|\{#[^{}\s]*[^{}]*\}")
"""In Markdown: where a link leads to, and the anchor of a heading."""
_WORD = re.compile(r"\w+")


def lines_of(body: bytes) -> list[str]:
    """What a page says, block by block, without its head and scripts."""
    page = body[:MAX_BYTES].decode("utf-8", errors="replace")
    text = _TAG.sub("\n", _INLINE.sub("", _DROPPED.sub("\n", page)))
    return [line for line in (" ".join(html.unescape(one).split()) for one in text.splitlines()) if line]


def left_out(body: bytes, markdown: str) -> list[str]:
    """The blocks of a page whose words do not stand in its Markdown in this order, each once."""
    kept = f" {' '.join(_WORD.findall(_ADDRESS.sub(' ', markdown).lower()))} "
    return [
        line
        for line in dict.fromkeys(lines_of(body))
        if (words := _WORD.findall(line.lower())) and f" {' '.join(words)} " not in kept
    ]


def count_words(lines: list[str]) -> int:
    return sum(len(_WORD.findall(line)) for line in lines)
