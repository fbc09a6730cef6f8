"""What half an address means, and the name it gets."""

from __future__ import annotations

import pytest

from rowen.errors import BadLocation, UserError
from rowen.managing.guess import complete, name_of, unused


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("docs.python.org/3", ["https://docs.python.org/3"]),
        ("example.org", ["https://example.org"]),
        ("example.org:8443/a?b=c", ["https://example.org:8443/a?b=c"]),
        ("github.com/pallets/click", ["https://github.com/pallets/click"]),
        ("bücher.example/", ["https://bücher.example/"]),
        ("docs.example.org/readme.md", ["https://docs.example.org/readme.md"]),
        ("localhost:8000", ["http://localhost:8000", "https://localhost:8000"]),
        ("127.0.0.1:80/a", ["http://127.0.0.1:80/a", "https://127.0.0.1:80/a"]),
        ("10.1.2.3", ["http://10.1.2.3", "https://10.1.2.3"]),
        ("[::1]:8000/", ["http://[::1]:8000/", "https://[::1]:8000/"]),
        ("wiki.internal", ["http://wiki.internal", "https://wiki.internal"]),
        ("wiki:8080/start", ["http://wiki:8080/start", "https://wiki:8080/start"]),
        ("8.8.8.8/docs", ["https://8.8.8.8/docs"]),
    ],
)
def test_an_address_without_its_scheme_is_completed_and_said(typed: str, meant: list[str]) -> None:
    guess = complete(typed, exists=False)
    assert list(guess.locations) == meant
    assert guess.said is not None
    assert guess.said.startswith("`http")


@pytest.mark.parametrize(
    "whole",
    [
        "https://docs.python.org/3/",
        "http://example.org",
        "git@github.com:a/b.git",
        "git+ssh://host/x.git",
        "./notes",
        "../a",
        "/srv/docs",
        "~/notes",
        "file:///srv",
        "not an address",
    ],
)
def test_what_is_whole_is_left_alone(whole: str) -> None:
    guess = complete(whole, exists=False)
    assert (guess.locations, guess.said) == ((whole,), None)


def test_a_path_that_exists_is_meant_and_a_site_of_that_name_is_mentioned() -> None:
    assert complete("notes", exists=True).said is None
    guess = complete("docs.python.org", exists=True)
    assert guess.locations == ("docs.python.org",)
    assert guess.said == "a path of that name is here: for the site, write `https://docs.python.org`"


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("notes", "write `https://notes` for a site, or `./notes` for a path"),
        ("README.md", "write `https://README.md` for a site, or `./README.md` for a path"),
        (
            "pallets/click",
            "write `./pallets/click` for a path, or `github.com/pallets/click` for a repository",
        ),
        ("1.2.3", "write `https://1.2.3` for a site, or `./1.2.3` for a path"),
    ],
)
def test_what_may_be_two_things_is_refused_with_both_ways_to_write_it(typed: str, hint: str) -> None:
    with pytest.raises(BadLocation) as raised:
        complete(typed, exists=False)
    assert raised.value.hint == hint


def test_a_kind_may_know_what_is_meant() -> None:
    assert complete("pallets/click", exists=False, kind="github").locations == ("pallets/click",)


@pytest.mark.parametrize(
    ("location", "name"),
    [
        ("https://docs.python.org/3/", "python"),
        ("https://www.postgresql.org/docs/17/", "postgresql"),
        ("https://fastapi.tiangolo.com/", "fastapi"),
        ("https://requests.readthedocs.io/en/latest/", "requests"),
        ("https://pallets.github.io/click/", "click"),
        ("https://docs.example.co.uk/", "example"),
        ("https://docs.dev/", "docs"),
        ("https://github.com/pallets/click", "click"),
        ("https://github.com/pallets/click/tree/main/docs", "click"),
        ("git+https://git.example.org/team/handbook.git", "handbook"),
        ("git@github.com:pallets/click.git", "click"),
        ("/srv/My Notes/", "My-Notes"),
        ("/srv/manual.pdf", "manual"),
        ("http://127.0.0.1:8000/", "127.0.0.1-8000"),
        ("http://127.0.0.1:8000/3/orchard/", "orchard"),
        ("http://localhost:8000/", "localhost-8000"),
        ("http://wiki:8080/start", "wiki"),
        ("http://wiki.internal/", "wiki"),
        ("https://data.gob.es", "data"),
    ],
)
def test_a_name_is_the_word_of_the_location_that_tells_most(location: str, name: str) -> None:
    assert name_of(location) == name


def test_a_location_without_a_word_needs_a_name() -> None:
    with pytest.raises(UserError, match="no name can be guessed"):
        name_of("/")


def test_a_name_that_is_taken_gets_a_number() -> None:
    assert unused("python", {"click"}) == "python"
    assert unused("python", {"python", "python-2"}) == "python-3"
    assert len(unused("x" * 64, {"x" * 64})) == 64
