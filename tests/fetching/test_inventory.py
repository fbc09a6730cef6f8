"""Reading the inventory that Sphinx and its relatives publish."""

from __future__ import annotations

import zlib

import pytest

from rowen.errors import Unparseable
from rowen.fetching import inventory
from rowen.ports.store.documents import InventoryName

BASE = "https://docs.example/manual/objects.inv"


def packed(*lines: str) -> bytes:
    head = b"# Sphinx inventory version 2\n# Project: Orchard\n# Version: 1\n# packed by zlib\n"
    return head + zlib.compress("".join(f"{line}\n" for line in lines).encode())


def test_names_have_their_kind_their_page_and_their_anchor() -> None:
    names = inventory.parse(
        packed(
            "orchard.graft py:function 1 api.html#$ -",
            "--slots std:cmdoption 1 tools/press.html#cmdoption-slots --slots",
            "a term of three words std:term -1 glossary.html#term Shown so",
            "orchard py:module 0 ./#module-orchard -",
        ),
        base=BASE,
    )
    assert names == [
        InventoryName("orchard.graft", "function", "https://docs.example/manual/api.html", "orchard.graft"),
        InventoryName("--slots", "option", "https://docs.example/manual/tools/press.html", "cmdoption-slots"),
        InventoryName("a term of three words", "term", "https://docs.example/manual/glossary.html", "term"),
        InventoryName("orchard", "module", "https://docs.example/manual/", "module-orchard"),
    ]  # fmt: skip


def test_pages_labels_and_lines_that_are_no_entries_are_left_out() -> None:
    body = packed("index std:doc -1 index.html Home", "top std:label -1 index.html#top Top", "nothing", "")
    assert inventory.parse(body, base=BASE) == []


@pytest.mark.parametrize(
    "body", [b"<html>not found</html>", b"# Sphinx inventory version 2\n# x", packed("a")[:-3][:90] + b"xxxx"]
)
def test_what_is_no_inventory_is_not_read(body: bytes) -> None:
    with pytest.raises(Unparseable):
        inventory.parse(body, base=BASE)


@pytest.mark.parametrize(
    ("page", "at"),
    [
        (b'<script data-url_root="./" id="documentation_options"></script>', "/m/objects.inv"),
        (b'<html data-content_root="../"><script src="../_static/documentation_options.js">', "/objects.inv"),
        (b"<script>var DOCUMENTATION_OPTIONS = { URL_ROOT: '', VERSION: '1' }</script>", "/m/objects.inv"),
        (b'<link href="../a/_mkdocstrings.css"><script id="__config">{"base": ".."}', "/objects.inv"),
        (b"<p>documentation options</p>", None),
    ],
)
def test_a_page_says_where_the_inventory_of_its_site_is(page: bytes, at: str | None) -> None:
    expected = None if at is None else "https://docs.example" + at
    assert inventory.announced_by(page, "https://docs.example/m/index.html") == expected
