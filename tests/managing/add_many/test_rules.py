"""Lists of portals as TOML files."""

from __future__ import annotations

import pytest

from rowen.errors import ConfigError
from rowen.managing.add_many.rules import Entry, parse


def test_portals_in_the_order_of_the_file_with_their_settings() -> None:
    text = """
    [[portals]]
    name = "milan"
    url = "https://dati.example.org"
    language = "it"
    page_size = 100
    robots = true
    include = ["a", "b"]
    header = { X-Key = "${KEY}" }

    [[portals]]
    name = "city"
    url = "https://data.example.org"
    type = "socrata"
    version = "2"
    enabled = false
    """
    first, second = parse(text, file="p.toml")
    assert first == Entry(
        name="milan",
        url="https://dati.example.org",
        settings={
            "language": "it",
            "page_size": "100",
            "robots": "true",
            "include": "a,b",
            "header.X-Key": "${KEY}",
        },
    )
    assert second == Entry(
        name="city", url="https://data.example.org", type="socrata", version="2", enabled=False
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[portals]", "not TOML"),
        ("", "no portals"),
        ("portals = []", "no portals"),
        ("portals = 5", "no portals"),
        ("[[portal]]\nname = 'x'", "`portal` is not known"),
        ("[[portals]]\nurl = 'https://x.org'", "portal 1: has no `name`"),
        ("[[portals]]\nname = 'x'", r"portal 1 \(`x`\): has no `url`"),
        ("[[portals]]\nname = 'x'\nurl = 5", "`url` is no text"),
        ("[[portals]]\nname = 'x'\nurl = 'u'\nenabled = 'yes'", "neither true nor false"),
        ("[[portals]]\nname = 'x'\nurl = 'u'\nwhen = 2024-01-01", "`when`: expected a text"),
        ("[[portals]]\nname='x'\nurl='u'\n[[portals]]\nname='x'\nurl='v'", "two portals are called `x`"),
    ],
)
def test_mistakes_are_named(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse(text, file="p.toml")
