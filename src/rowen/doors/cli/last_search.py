"""The hits of the last search, so that `rowen show 2` and `rowen open 2` know which one is meant.

They lie in the user's state folder, not in the store: a store may be read-only, or shared. Without them only
addresses can be given.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence

from rowen.errors import NotFound, UserError
from rowen.places import state_folder

FILE = "last_search.json"


def remember(store: str, query: str, urls: Sequence[str]) -> None:
    """A folder that cannot be written is no reason to fail a search."""
    with contextlib.suppress(OSError):
        folder = state_folder()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_text(json.dumps({"store": store, "query": query, "urls": list(urls)}), "utf-8")


def address(store: str, given: str) -> str:
    """What was given, or the address of the hit whose number it is."""
    number = given.strip()
    if not (number.isascii() and number.isdigit() and len(number) < 6):
        return given
    urls = _remembered(store)
    if not urls:
        raise NotFound(
            f"hit {number}: no search of this store is remembered", hint="search first, or give an address"
        )
    if not 1 <= int(number) <= len(urls):
        raise UserError(
            f"hit {number}: the last search had {len(urls)}", hint="give one of its numbers, or an address"
        )
    return urls[int(number) - 1]


def _remembered(store: str) -> list[str]:
    try:
        value = json.loads((state_folder() / FILE).read_text("utf-8"))
        return [str(url) for url in value["urls"]] if value["store"] == store else []
    except (OSError, ValueError, KeyError, TypeError):
        return []
