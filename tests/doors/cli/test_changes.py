"""What changed, in words; one page looked at; a document as it was; staying at an older generation."""

from __future__ import annotations

from tests.doors.conftest import Rowen, fruit_page
from tests.support.site import Site


def test_changes_are_told_in_words(rowen: Rowen, orchard: Site) -> None:
    orchard.set("/plum.html", fruit_page("plum", "May"))
    rowen("sync", "orchard")
    out = rowen("changes").out
    assert out.startswith("orchard  1 updated  ")
    assert f"  updated Plum\n          {orchard.url}/plum.html\n          in Storing\n" in out
    (one,) = rowen("changes", "orchard", "--since", "2d", "--json").json["sources"]
    assert one["counts"] == {"added": 4, "changed": 0, "removed": 0}
    assert (one["from_generation"], one["to_generation"]) == (0, 2)
    assert "nothing new" in rowen("changes", "orchard", "--since", "2999-01-01").out
    assert rowen("changes", "--since", "2999-01-01").out == "nothing changed since 2999-01-01 00:00 UTC\n"
    wrong = rowen("changes", "--since", "lately")
    assert wrong.code == 2
    assert "neither a stretch of time nor a date" in wrong.err
    assert rowen("changes", "nobody").code == 2


def test_a_page_is_looked_at_without_a_store(rowen: Rowen, site: Site) -> None:
    ended = rowen("inspect", f"{site.url}/plum.html", "--db", "sqlite:///nowhere/at/all.db")
    assert ended.code == 0, ended.err
    assert ended.out.startswith("Plum\n")
    assert "would be indexed: 2 sections" in ended.out
    value = rowen("inspect", f"{site.url}/plum.html", "--json").json
    assert (value["status"], value["indexed"], value["sections"]) == (200, True, 2)
    assert value["markdown"].startswith("# Plum")
    assert "# Plum" in rowen("inspect", f"{site.url}/plum.html", "--text").out
    missing = rowen("inspect", f"{site.url}/nowhere.html", "--json")
    assert (missing.code, missing.json["why_not"]) == (1, "404 from the server")
    assert rowen("inspect", "nonsense").code == 2
    path = rowen("inspect", __file__)
    assert (path.code, "a path here" in path.err) == (2, True)


def test_a_page_is_looked_at_by_the_settings_of_a_source(rowen: Rowen, orchard: Site) -> None:
    rowen("edit", "orchard", "--set", "exclude=/plum.html")
    ended = rowen("inspect", f"{orchard.url}/plum.html", "--source", "orchard")
    assert ended.code == 1
    assert "not part of the source: excluded" in ended.out
    assert rowen("inspect", f"{orchard.url}/plum.html", "--source", "nobody").code == 2


def test_a_document_is_shown_as_it_was(rowen: Rowen, orchard: Site) -> None:
    orchard.set("/plum.html", fruit_page("plum", "May"))
    orchard.remove("/pear.html")
    rowen("sync", "orchard")
    plum = f"{orchard.url}/plum.html"
    assert "until May" in rowen("show", plum).out
    assert "until October" in rowen("show", plum, "--generation", "1").out
    assert rowen("show", plum, "--generation", "1", "--json").json["generation"] == 1
    assert "until October" in rowen("show", f"{orchard.url}/pear.html", "--generation", "1").out
    assert rowen("show", f"{orchard.url}/pear.html", "--generation", "2").code == 2
    assert rowen("show", plum, "--generation", "9").code == 2


def test_words_that_differ_are_in_brackets_where_there_are_no_colours(rowen: Rowen, orchard: Site) -> None:
    orchard.set("/plum.html", fruit_page("plum", "May"))
    rowen("sync", "orchard")
    assert "[-October-]{+May+}" in rowen("diff", "orchard", "--words").out
    assert "October" not in rowen("diff", "orchard").out


def test_a_rollback_says_how_to_stay(rowen: Rowen, orchard: Site) -> None:
    orchard.set("/plum.html", fruit_page("plum", "May"))
    rowen("sync", "orchard")
    ended = rowen("rollback", "orchard")
    assert ended.out == "orchard: generation 1 is visible again, 2 is not\n"
    assert "the next sync goes forward again; `rowen rollback orchard --to 1 --pin` stays here" in ended.err
    (told,) = rowen("status", "--json").json["sources"]
    assert (told["state"], told["state_text"].partition(" by ")[0]) == (
        "waiting",
        "rolled back to generation 1",
    )
    assert "up to date" not in rowen("status").out
    assert "not synced until `rowen resume orchard`" in rowen("rollback", "orchard", "--to", "1", "--pin").err
    assert rowen("sync", "orchard").code != 0
    rowen("resume", "orchard")
    assert rowen("sync", "orchard").code == 0


def test_a_changelog_is_written_as_markdown_atom_and_json(rowen: Rowen, orchard: Site) -> None:
    orchard.set("/plum.html", fruit_page("plum", "May"))
    rowen("sync", "orchard")
    assert (
        f"### Updated\n\n- [Plum]({orchard.url}/plum.html): Storing changed\n"
        in rowen("changes", "orchard", "--format", "markdown").out
    )
    feed = rowen("changes", "orchard", "--format", "atom").out
    assert feed.startswith('<?xml version="1.0" encoding="utf-8"?>\n<feed ')
    assert feed.count("<entry>") == 2
    (one,) = rowen("changes", "orchard", "--format", "json").json["sources"]
    assert one["documents"][0]["notes"][0]["words"] == "Storing changed"
    assert rowen("changes", "--format", "atom").code == 2


def test_pages_that_went_with_their_folder_are_not_counted_as_further_ones(
    rowen: Rowen, orchard: Site
) -> None:
    gone = [one for one in orchard.pages if one not in ("/", "/robots.txt", "/sitemap.xml")]
    for path in gone:
        orchard.remove(path)
    rowen("sync", "orchard")
    out = rowen("changes", "orchard", "--limit", "1").out
    assert f"removed {len(gone)} pages under /" in out
    assert "more" not in out
