"""Which page of one version is which page of another: by path without its version, then by title."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

_VERSION = re.compile(
    r"v?\d+(?:[._]\d+)*(?:\.x)?(?:[-.]?(?:a|b|rc|alpha|beta|dev|lts)\.?\d*)?", re.IGNORECASE
)
_NAMED = frozenset({"latest", "stable", "current", "dev", "main"})


class PageOf(NamedTuple):
    """A page of one version."""

    reference: str
    url: str
    title: str
    content: bytes
    """The hash of its text."""


def path_key(reference: str, *, location: str, version: str = "") -> str:
    """What is left of an address that does not depend on the version: `library/asyncio.html`."""
    path = unquote(urlsplit(reference).path) if "://" in reference else reference
    root = unquote(urlsplit(location).path) if "://" in reference and "://" in location else ""
    folder = root if root.endswith("/") else root.rpartition("/")[0]
    segments = path.removeprefix(folder).split("/")
    kept = [one for one in segments if one and not is_version(one, version)]
    return "/".join(kept).removesuffix("index.html").removesuffix(".html").removesuffix("/")


def is_version(segment: str, version: str = "") -> bool:
    """Does a part of a path name a version, and nothing else?"""
    return (
        segment.lower() in _NAMED
        or bool(version and segment.removeprefix("v") == version.removeprefix("v"))
        or (("." in segment or segment[:1] in "vV") and bool(_VERSION.fullmatch(segment)))
    )


class Matched(NamedTuple):
    pairs: list[tuple[PageOf, PageOf]]
    removed: list[PageOf]
    added: list[PageOf]


def match(before: Mapping[str, PageOf], after: Mapping[str, PageOf]) -> Matched:
    """By path, then what is left by a title that both have once."""
    pairs = [(one, after[key]) for key, one in before.items() if key in after]
    old = [one for key, one in before.items() if key not in after]
    new = [one for key, one in after.items() if key not in before]
    titles_old, titles_new = _once(old), _once(new)
    moved = [(one, titles_new[title]) for title, one in titles_old.items() if title in titles_new]
    gone, come = {one.reference for one, _ in moved}, {one.reference for _, one in moved}
    return Matched(
        [*pairs, *moved],
        [one for one in old if one.reference not in gone],
        [one for one in new if one.reference not in come],
    )


def _once(pages: Iterable[PageOf]) -> dict[str, PageOf]:
    listed = list(pages)
    counts = Counter(one.title for one in listed)
    return {one.title: one for one in listed if one.title and counts[one.title] == 1}
