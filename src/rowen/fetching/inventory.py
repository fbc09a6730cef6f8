"""The inventory of names that Sphinx and its relatives publish beside their pages: `objects.inv`.

Four lines of text, then compressed ones such as `asyncio.gather py:function 1 library/asyncio-task.html#$ -`:
the name, its domain and role, a priority, the place (`$` is the name), and how it is shown.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from urllib.parse import unquote

from rowen.core.web import urls
from rowen.errors import Unparseable
from rowen.patterns import pattern
from rowen.ports.store.documents import InventoryName

FILE = "objects.inv"
MAX_BYTES = 20_000_000
MAX_TEXT_BYTES = 100_000_000
MAX_NAMES = 200_000
MAX_CHARS = 500
"""A longer name or address is left out."""

HEAD = b"# Sphinx inventory version 2"
_ENTRY = pattern(r"(?P<name>.+?)\s+(?P<domain>[^\s:]+):(?P<role>\S+)\s+-?\d+\s+(?P<place>\S*)\s+.*")
# Pages and places in them are no names of anything; tokens are pieces of a grammar.
_NOT_NAMES = frozenset({("std", "doc"), ("std", "label"), ("std", "token")})
_KINDS = {"cmdoption": "option", "envvar": "variable"}
# Sphinx puts a script of this name into every page, mkdocstrings a style sheet.
_SIGNS = re.compile(rb"documentation_options(?:\.js|\")|DOCUMENTATION_OPTIONS|_mkdocstrings\.css")
# How a page names the folder that all pages are below: Sphinx in three ways, MkDocs in one.
_TOP = re.compile(
    rb"data-(?:url|content)_root=[\"']([^\"']{1,200})[\"']|\bURL_ROOT:\s*[\"']([^\"']{1,200})[\"']"
    rb"|\"base\":\s*\"([^\"]{1,200})\""
)


def announced_by(page: bytes, url: str) -> str | None:
    """The address of the inventory, if a page was made by a generator that publishes one."""
    if _SIGNS.search(page) is None:
        return None
    found = _TOP.search(page)
    top = next(filter(None, found.groups()), b"").decode("utf-8", "replace") if found else ""
    return urls.normalise(f"{top.rstrip('/') or '.'}/{FILE}", url)


def parse(body: bytes, *, base: str) -> list[InventoryName]:
    """The names of an inventory in its order, each at its first place. Raises `Unparseable`.

    `base` is the address of the inventory: the places are relative to it.
    """
    if not body.startswith(HEAD):
        raise Unparseable(f"`{base}`: not an inventory of Sphinx")
    found: dict[tuple[str, str], InventoryName] = {}
    pages: dict[str, str | None] = {}
    for line in _lines(body, base):
        entry = _ENTRY.fullmatch(line)
        if entry is None or (entry["domain"], entry["role"]) in _NOT_NAMES:
            continue
        name, place = entry["name"], entry["place"]
        if place.endswith("$"):
            place = place[:-1] + name
        written, _, anchor = place.partition("#")
        if len(name) > MAX_CHARS or len(place) > MAX_CHARS or "\0" in line:
            continue
        if written not in pages:
            pages[written] = urls.normalise(written, base)
        page = pages[written]
        if page is not None:
            kind = _KINDS.get(entry["role"], entry["role"])
            found.setdefault((name, kind), InventoryName(name, kind, page, unquote(anchor)))
        if len(found) >= MAX_NAMES:
            break
    return list(found.values())


def _lines(body: bytes, base: str) -> Iterator[str]:
    packed = body.split(b"\n", 4)
    if len(packed) < 5:
        raise Unparseable(f"`{base}`: an inventory that ends after its head")
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(packed[4], MAX_TEXT_BYTES)
    except zlib.error as exc:
        raise Unparseable(f"`{base}`: an inventory that cannot be unpacked") from exc
    if not unpacking.eof and not unpacking.unconsumed_tail:
        raise Unparseable(f"`{base}`: an inventory that breaks off")
    return iter(text.decode("utf-8", "replace").splitlines())
