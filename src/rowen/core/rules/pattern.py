"""The pattern of a text: what is left without that which differs from request to request.

An error page often repeats the address that was asked for, the time or the number of an incident. Two such
pages have different texts and the same pattern. It is no measure of likeness: patterns are equal or not.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

_CHANGING = re.compile(r"\b(?=[0-9a-f-]*\d)[0-9a-f]{6,}(?:-[0-9a-f]+)*\b|\d+(?:[.:,/-]\d+)*")
"""Numbers, times and dates; identifiers in hexadecimal digits that have at least one number in them."""


def patterns_of(text: str, address: str) -> tuple[str, ...]:
    """The patterns of a text that was found at an address, the least changed first.

    Which part of the address a page repeats is not known: all of it, its path, its last name, or that name as
    words. So two texts are alike when they have the same pattern at any place of these.
    """
    text = " ".join(text.lower().split())
    path = unquote(address.partition("://")[2].partition("/")[2] or address).lower().rstrip("/")
    name = path.partition("?")[0].rpartition("/")[2].partition(".")[0]
    whole = _without(text, address.lower(), f"/{path}", path)
    named = _without(whole, name, re.sub(r"[-_+]+", " ", name))
    return tuple(_CHANGING.sub("#", one) for one in (text, whole, named))


def are_alike(some: tuple[str, ...], others: tuple[str, ...]) -> bool:
    return any(one == other for one, other in zip(some, others, strict=True))


def pattern_of(text: str, address: str) -> str:
    """The most general pattern: for texts that are counted, not compared one by one."""
    return patterns_of(text, address)[-1]


def _without(text: str, *echoes: str) -> str:
    for echo in echoes:
        if echo.strip("/") and echo in text:
            text = re.sub(rf"(?<!\w){re.escape(echo)}(?!\w)", "#", text)
    return text
