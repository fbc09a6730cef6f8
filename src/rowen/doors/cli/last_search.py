"""Which document is meant by what a person typed: the number of a hit of the last search, an address, a path.

The hits lie in the user's state folder, not in the store: a store may be read-only, or shared. Without them
only addresses and paths can be given.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rowen.errors import NotFound, UserError
from rowen.places import state_folder

if TYPE_CHECKING:
    from rowen.doors.cli.call import Call

FILE = "last_search.json"


def remember(store: str, query: str, urls: Sequence[str], paths: Sequence[str] = ()) -> None:
    """Hits, and the headings above them; a folder that cannot be written is no reason to fail a search."""
    with contextlib.suppress(OSError):
        folder = state_folder()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_bytes(
            _dumped({"store": store, "query": query, "urls": list(urls), "paths": list(paths)})
        )


def address(store: str, given: str) -> str:
    """What was given, or the address of the hit whose number it is."""
    number = given.strip()
    if not (number.isascii() and number.isdigit() and len(number) < 6):
        return given
    urls = _remembered(store, "urls")
    if urls is None:
        raise NotFound(
            f"hit {number}: no search of this store is remembered", hint="search first, or give an address"
        )
    if not urls:
        raise NotFound(
            f"hit {number}: the last search found nothing",
            hint="search for something else, or give an address",
        )
    if not 1 <= int(number) <= len(urls):
        raise UserError(
            f"hit {number}: the last search had {len(urls)}", hint="give one of its numbers, or an address"
        )
    return urls[int(number) - 1]


def headings(store: str, given: str) -> str:
    """The path to the section that a hit is, by its number: not all sections have an address of their own."""
    number = given.strip()
    paths = _remembered(store, "paths") if number.isascii() and number.isdigit() else None
    return paths[int(number) - 1] if paths and 1 <= int(number[:6]) <= len(paths) else ""


async def wanted(call: Call, given: str) -> str:
    """The address of the document that is meant; a path that no document has as its name is a file here."""
    from rowen import wiring
    from rowen.reading import read

    url = address(wiring.store_name(call.config()), given)
    file = _file_at(url)
    if file is None:
        return url
    try:
        await read.by_url(call.ports.store, url)
    except NotFound:
        return file
    return url


def _dumped(value: dict[str, object]) -> bytes:
    import orjson  # which the store has loaded, unlike `json`

    try:
        return orjson.dumps(value)
    except TypeError:
        # Words and paths that are no Unicode.
        import json

        return json.dumps(value).encode()


def _file_at(typed: str) -> str | None:
    """The address of a file that is typed as a path, with its anchor."""
    path, mark, anchor = typed.partition("#")
    if "://" in typed or not path or not Path(path).is_file():
        return None
    return f"{Path(path).resolve().as_uri()}{mark}{anchor}"


def _remembered(store: str, what: str) -> list[str] | None:
    try:
        import json

        value = json.loads((state_folder() / FILE).read_text("utf-8"))
        return [str(one) for one in value[what]] if value["store"] == store else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
