"""What a graph is read into, from every form it is written in.

A node has `@id` (an absolute address, or `_:NAME` for a blank one), `@type` (local names) and, under the
local name of each property, a list of values: nodes, literals with a language, texts and numbers. Pure.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any
from urllib.parse import urljoin

MAX_DEPTH = 40

Node = dict[str, Any]


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


@lru_cache(maxsize=10_000)
def local(name: str) -> str:
    """The end of a name: `dct:title`, `http://purl.org/dc/terms/title` and `title` are the same."""
    return name.rstrip("/#").replace("}", "/").rsplit("/", 1)[-1].rsplit("#", 1)[-1].rsplit(":", 1)[-1]


def absolute(name: str, base: str) -> str:
    """The address of a node; one that is none stays as it is."""
    if not base or name.startswith(("http://", "https://", "_:")):
        return name
    try:
        return urljoin(base, name)
    except ValueError:
        return name
