"""`rowen doctor NAME`: which signals of a source hold."""

from __future__ import annotations

from tests.doors.conftest import Rowen
from tests.support.site import Site
from tests.support.world import a_page


def test_an_etag_that_lies_is_found_by_the_third_sync_and_told_everywhere(rowen: Rowen) -> None:
    pages = {"/": a_page("/", "home", links=["/a", "/b"]), "/a": "", "/b": ""}
    with Site(pages) as site:
        for path in ("/a", "/b"):
            site.set(path, a_page(path, "oats"), etag='"always"')
        rowen("add", site.url, "--name", "docs", "--sync")
        assert rowen("doctor", "docs").out == "source `docs`: no signal was checked yet\n"
        site.set("/a", a_page("/a", "turnips"), etag='"always"')
        rowen("sync", "docs")
        told = rowen("sync", "docs")
        assert f"ETag said that `{site.url}/a` was unchanged, and it was not" in told.err
        assert "3 claims checked, 1 lie found" in told.out
        assert rowen("search", "turnips", "--json").json["hits"][0]["url"] == f"{site.url}/a"
        shown = rowen("doctor", "docs")
        assert (shown.code, "distrusted" in shown.out) == (0, True)
        (etag,) = rowen("doctor", "docs", "--json").json["signals"]
        assert (etag["signal"], etag["standing"], etag["lies"]) == ("etag", "distrusted", 1)
        assert etag["lied_about"] == f"{site.url}/a"
        assert rowen("status", "--json").json["sources"][0]["signals"] == [etag]


def test_doctor_of_a_source_that_is_not_there_says_so(rowen: Rowen) -> None:
    with Site({"/": a_page("/", "home")}) as site:
        rowen("add", site.url, "--name", "docs")
        ended = rowen("doctor", "dosc")
        assert (ended.code, "did you mean `docs`" in ended.err) == (2, True), ended.err
