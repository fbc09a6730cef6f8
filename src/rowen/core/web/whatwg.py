"""Addresses by the URL rules of browsers (WHATWG): completed, joined, without their credentials.

A thin layer over the parser, so that every part of Rowen spells an address in the same way. It has no rules
of ours: those are in `urls`.
"""

from __future__ import annotations

from can_ada import parse


def normal(url: str) -> str:
    """The address as browsers write it; ValueError if it is none."""
    try:
        href = parse(url).href
    except TypeError as exc:
        # The parser takes UTF-8; a lone surrogate has none.
        raise ValueError("not text") from exc
    return _caret(href) if "^" in href else href


def joined(base: str, url: str) -> str:
    """The address of a link on the page `base`; ValueError if one of them is none."""
    try:
        href = (parse(base) + url).href
    except TypeError as exc:
        raise ValueError("not text") from exc
    return _caret(href) if "^" in href else href


def without_login(url: str) -> str:
    """The address without user name and password; ValueError if it is none."""
    parsed = parse(url)
    parsed.username = parsed.password = ""
    return parsed.href


def _caret(href: str) -> str:
    """`^` in a path is written `%5E`, as the rules have it since 2024; the parser follows the older ones."""
    if not href.startswith(("http:", "https:")):
        return href
    end = min((at for at in (href.find("?"), href.find("#")) if at >= 0), default=len(href))
    return href[:end].replace("^", "%5E") + href[end:]
