"""Which addresses belong to a source."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rowen.core.web.scope import Scope, is_binary_name
from rowen.errors import BadLocation


@pytest.mark.parametrize(
    ("root", "inside", "outside"),
    [
        ("https://e.org/docs/index.html", "https://e.org/docs/a/b.html", "https://e.org/blog/a.html"),
        ("https://e.org/docs/", "http://e.org/docs/a", "https://e.org/docs2/a"),
        ("https://e.org/docs", "https://e.org/docs/a", "https://e.org/docsearch"),
        ("https://e.org/docs", "https://e.org/docs?lang=en", "https://e.org/docs.html"),
        ("https://e.org/docs/3.11", "https://e.org/docs/3.11/a", "https://e.org/docs/3.12/a"),
        ("https://e.org", "https://e.org/anything", "https://www.e.org/anything"),
        ("http://e.org:8000/", "https://e.org:8000/a", "http://e.org/a"),
    ],
)
def test_subpages_lie_under_the_folder_of_the_root(root: str, inside: str, outside: str) -> None:
    scope = Scope(root, "subpages")
    assert scope.why_not(inside) is None
    assert scope.why_not(outside) == "out_of_scope"


def test_host_takes_every_path_of_the_host_and_no_other() -> None:
    scope = Scope("https://e.org/docs/", "host")
    assert scope.why_not("https://e.org/blog/a") is None
    assert scope.why_not("https://sub.e.org/blog/a") == "out_of_scope"
    assert scope.why_not("https://e.org.evil.net/") == "out_of_scope"
    assert scope.why_not("https://e.org:8080/") == "out_of_scope"


def test_domain_takes_sub_domains_too() -> None:
    scope = Scope("https://www.e.org/docs/", "domain")
    assert scope.why_not("https://e.org/blog/a") is None
    assert scope.why_not("https://api.e.org/a") is None
    assert scope.why_not("https://note.org/a") == "out_of_scope"
    assert scope.why_not("https://e.org.evil.net/") == "out_of_scope"


@pytest.mark.parametrize(
    "name",
    ["a.png", "a.JPG", "a.svg", "a.css", "a.js", "a.woff2", "a.zip", "a.tar.gz", "a.whl", "a.mp4", "a.ico"],
)
def test_assets_are_never_documents(name: str) -> None:
    assert Scope("https://e.org/").why_not(f"https://e.org/x/{name}?v=1") == "asset"


def test_of_the_files_of_a_folder_drawings_are_pictures_and_scripts_are_text() -> None:
    assert is_binary_name("images/chart.SVG")
    assert not is_binary_name("src/app.js")


@pytest.mark.parametrize(
    "name",
    ["a", "a/", "a.html", "a.md", "a.txt", "a.pdf", "a.json", "a.xml", "a.php?img=b.png", "v1.2", "a.aspx"],
)
def test_what_could_be_a_document_is_not_an_asset(name: str) -> None:
    assert Scope("https://e.org/").why_not(f"https://e.org/x/{name}") is None


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("/docs/*", "/docs/a", "/docs/a/b"),
        ("/docs/**", "/docs/a/b?c=d", "/doc/a"),
        ("/v?/a", "/v1/a", "/v12/a"),
        ("*.pdf", "/x/y/a.pdf", "/x/a.pdf/b"),
        ("/**/old/**", "/a/b/old/c", "/old"),
        ("https://e.org/a/**", "/a/b", "/b/a"),
        ("**?page=*", "/list?page=2", "/list?sort=2"),
        ("/a.c", "/a.c", "/abc"),
    ],
)
def test_patterns_exclude_and_include(pattern: str, matching: str, other: str) -> None:
    excluding = Scope("https://e.org/", exclude=(pattern,))
    assert excluding.why_not("https://e.org" + matching) == "excluded"
    assert excluding.why_not("https://e.org" + other) is None
    including = Scope("https://e.org/", include=(pattern, "/never"))
    assert including.why_not("https://e.org" + matching) is None
    assert including.why_not("https://e.org" + other) == "not_included"


def test_the_root_is_always_in_scope() -> None:
    root = "https://e.org/docs/logo.png"
    scope = Scope(root, include=("/nothing",), exclude=("**",))
    assert scope.why_not(root) is None
    assert scope.why_not("https://e.org/docs/other") == "excluded"


def test_a_root_that_is_no_address_is_refused_without_its_password() -> None:
    with pytest.raises(BadLocation) as caught:
        Scope("ftp://user:secret@e.org/")
    assert "secret" not in str(caught.value)


def _fits(glob: str, text: str) -> bool:
    """The slow, obvious matcher."""
    if not glob:
        return not text
    if glob.startswith("**"):
        return any(_fits(glob[2:].lstrip("*"), text[i:]) for i in range(len(text) + 1))
    if glob[0] == "*":
        reach = len(text.partition("/")[0])
        return any(_fits(glob[1:], text[i:]) for i in range(reach + 1))
    fits = bool(text) and (text[0] != "/" if glob[0] == "?" else text[0] == glob[0])
    return fits and _fits(glob[1:], text[1:])


@given(st.text(alphabet="ab/*?", max_size=9), st.text(alphabet="ab/", max_size=12))
@example("**/a*b", "aXb/aXbYb".replace("X", "a").replace("Y", "a"))
@example("*a*b**a*", "aab/ba/a")
def test_globs_match_as_the_obvious_matcher_does(glob: str, path: str) -> None:
    glob, path = "/" + glob, "/" + path
    if path == "/":
        return
    answer = Scope("https://e.org/", exclude=(glob,)).why_not("https://e.org" + path)
    whole = _fits(glob, "https://e.org" + path)
    assert (answer == "excluded") == (_fits(glob, path) or whole)


def test_a_hostile_address_does_not_stall_the_matcher() -> None:
    pattern = "/" + "*a" * 12 + "**" + "/b*" * 12 + "c"
    scope = Scope("https://e.org/", exclude=(pattern, "**" + "a*" * 20 + "b"))
    started = time.process_time()
    for tail in ("a" * 1900, "/b" * 900, "a/b" * 600):
        assert scope.why_not("https://e.org/" + tail) is None
    assert time.process_time() - started < 2.0


def test_equal_scopes_are_equal() -> None:
    assert Scope("https://e.org/", exclude=("/a",)) == Scope("https://e.org/", exclude=("/a",))
    assert not re.search("_answers", repr(Scope("https://e.org/")))
