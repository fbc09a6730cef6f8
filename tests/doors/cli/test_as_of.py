"""`rowen search --as-of`, `--generation` and `rowen show --as-of`: what readers saw at an earlier time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.doors.conftest import Rowen, fruit_page
from tests.support.site import Site


def now() -> str:
    return datetime.now(UTC).isoformat()


@pytest.fixture
def between(rowen: Rowen, orchard: Site) -> str:
    """A moment after the first generation and before the second, which has another plum."""
    moment = now()
    orchard.set("/plum.html", fruit_page("plum", "May"))
    assert rowen("sync", "orchard").code == 0
    return moment


def test_a_search_about_an_earlier_time_says_so_and_answers_from_it(rowen: Rowen, between: str) -> None:
    today = rowen("search", "plum", "--mode", "keyword", "--json").json
    assert today["as_of"] is None
    assert today["hits"][0]["generation"] == 2
    then = rowen("search", "plum", "--mode", "keyword", "--as-of", between, "--json").json
    assert {hit["generation"] for hit in then["hits"]} == {1}
    (source,) = then["as_of"]["sources"]
    assert (source["source"], source["generation"], source["missing"]) == ("orchard", 1, None)
    assert source["since"] < then["as_of"]["at"] < source["until"]
    assert rowen("search", "may", "--mode", "keyword", "--as-of", between, "--json").json["hits"] == []

    shown = rowen("search", "plum", "--as-of", between)
    first, second = shown.out.splitlines()[:2]
    assert first.startswith("as of 20") and first.endswith(" UTC")
    assert second.startswith("  orchard: generation 1, shown from 20") and " to 20" in second


def test_a_search_in_a_generation_needs_one_source_that_has_it(
    rowen: Rowen, between: str, orchard: Site
) -> None:
    then = rowen("search", "plum", "--generation", "1", "--json").json
    assert {hit["generation"] for hit in then["hits"]} == {1}
    assert then["as_of"]["at"] is None
    ended = rowen("search", "plum", "--generation", "9")
    assert (ended.code, ended.out) == (2, "")
    assert "generation 9 of `orchard`: there is no such generation yet" in ended.err
    assert "kept: 1, 2" in ended.err
    assert rowen("search", "plum", "--generation", "0").code == 2
    both = rowen("search", "plum", "--generation", "1", "--as-of", between)
    assert both.code == 2 and "both a time and a generation" in both.err
    rowen("add", orchard.url + "/apple.html", "--name", "garden")
    ended = rowen("search", "plum", "--generation", "1")
    assert ended.code == 2 and "generation 1: of which source?" in ended.err
    assert rowen("search", "plum", "--generation", "1", "--source", "orchard").code == 0
    ended = rowen("search", "plum", "--generation", "2", "--source", "garden")
    assert ended.code == 2 and "generation 2 of `garden`" in ended.err


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("tomorrow", "as of `tomorrow`: neither a date"),
        ("2999-01-01", "as of `2999-01-01`: in the future"),
        ("2001-01-01", "as of 2001-01-01 00:00 UTC: orchard: first shown 20"),
    ],
)
def test_a_time_of_which_nothing_can_be_said_is_refused(
    rowen: Rowen, orchard: Site, when: str, said: str
) -> None:
    for command in (["search", "plum"], ["show", f"{orchard.url}/plum.html"]):
        ended = rowen(*command, "--as-of", when)
        assert (ended.code, ended.out) == (2, "")
        assert said in ended.err


def test_history_that_is_not_kept_is_said_and_not_answered_from_another_generation(
    rowen: Rowen, between: str, orchard: Site
) -> None:
    rowen("vacuum", "--keep", "1")
    ended = rowen("search", "plum", "--as-of", between)
    assert (ended.code, ended.out) == (2, "")
    assert "orchard: kept since 20" in ended.err and "; nothing older" in ended.err
    ended = rowen("search", "plum", "--generation", "1")
    assert ended.code == 2 and "generation 1 of `orchard`: not kept" in ended.err

    rowen("remove", "orchard", "--yes")
    rowen("add", orchard.url + "/apple.html", "--name", "garden", "--sync")
    ended = rowen("search", "plum", "--as-of", between)
    assert ended.code == 2
    assert "garden: first shown 20" in ended.err and "orchard: removed 20" in ended.err


def test_a_document_is_shown_as_readers_saw_it(rowen: Rowen, between: str, orchard: Site) -> None:
    address = f"{orchard.url}/plum.html"
    assert "May" in rowen("show", address).out
    then = rowen("show", address, "--as-of", between)
    assert then.code == 0 and "May" not in then.out
    value = rowen("show", address, "--as-of", between, "--json").json
    assert (value["generation"], value["verified_at"]) == (1, None)
    assert value["sections"]
    ended = rowen("show", address, "--as-of", between, "--generation", "1")
    assert ended.code == 2 and "not together" in ended.err
    ended = rowen("show", f"{orchard.url}/quince.html", "--as-of", between)
    assert ended.code == 2 and "readers saw no document with this address as of 20" in ended.err


def test_history_is_kept_by_time_beside_by_number(rowen: Rowen, orchard: Site) -> None:
    assert rowen("edit", "orchard", "--set", "keep=forever").code == 2
    assert rowen("edit", "orchard", "--set", "keep=90d", "--yes").code == 0
    moment = now()
    for month in ("May", "June", "July", "August"):
        orchard.set("/plum.html", fruit_page("plum", month))
        assert rowen("sync", "orchard").code == 0
    first = rowen("search", "plum", "--as-of", moment, "--json").json
    assert {hit["generation"] for hit in first["hits"]} == {1}, "of five, three are kept by their number"
    assert rowen("vacuum", "--keep", "1").code == 0
    assert rowen("search", "plum", "--generation", "1").code == 0
    status = rowen("status")
    assert "orchard: history is kept for 12w6d, since 20" in status.out
    (source,) = rowen("status", "--json").json["sources"]
    assert source["kept_since"] < moment

    assert rowen("edit", "orchard", "--set", "keep=none", "--yes").code == 0
    rowen("vacuum", "--keep", "2")
    ended = rowen("search", "plum", "--generation", "1")
    assert ended.code == 2 and "kept: 4, 5" in ended.err
    assert "history is kept" not in rowen("status").out
    (source,) = rowen("status", "--json").json["sources"]
    assert source["kept_since"] > moment
