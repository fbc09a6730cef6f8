"""`rowen edit`: other settings for a source that keeps its documents and its history."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from rowen.doors.cli.output import Output
from tests.doors.conftest import Rowen, fruit_page
from tests.support.site import Site, html

FOLDERS = ("a", "b", "old")


@pytest.fixture
def large(rowen: Rowen, site: Site) -> Site:
    """31 pages in three folders, harvested as `docs`."""
    paths = [f"/{folder}/{number}.html" for folder in FOLDERS for number in range(10)]
    site.holds_only(
        {"/": html("Docs", "All of it", links=paths)} | {path: fruit_page(path) for path in paths}
    )
    assert rowen("add", f"{site.url}/", "--name", "docs", "--sync").code == 0
    site.clear_log()
    return site


def addresses(rowen: Rowen, name: str = "docs") -> set[str]:
    documents = rowen("list", name, "--limit", "1000", "--json").json["documents"]
    return {one["reference"] for one in documents}


def test_what_is_not_covered_any_more_goes_and_what_is_added_comes(rowen: Rowen, large: Site) -> None:
    edited = rowen("edit", "docs", "--set", "exclude=/old/**", "--yes")
    assert edited.code == 0, edited.err
    assert edited.out == "docs: changed exclude\n10 of 31 documents go with the next sync\n"
    assert len(addresses(rowen)) == 31
    receipt = rowen("sync", "docs", "--json").json
    assert (receipt["status"], receipt["generation"], receipt["deleted"]) == ("completed", 2, 10)
    # Only less is covered: nothing needs to be read again, and what went is not asked for.
    assert (receipt["requests"], receipt["not_modified"], receipt["bytes_received"]) == (23, 21, 0)
    assert not any("/old/" in one for one in addresses(rowen))

    wider = rowen("edit", "docs", "--unset", "exclude", "--json").json
    assert (wider["uncovered"], wider["reads_again"], wider["settings"]) == (0, True, {})
    receipt = rowen("sync", "docs", "--json").json
    assert (receipt["created"], receipt["unchanged"], receipt["deleted"]) == (10, 21, 0)
    assert (receipt["embeddings_computed"], receipt["generation"]) == (0, 3)
    again = rowen("sync", "docs", "--json").json
    assert (again["mode"], again["not_modified"], again["generation"]) == ("incremental", 31, 3)


def test_history_stays_and_a_rollback_shows_what_an_edit_dropped(rowen: Rowen, large: Site) -> None:
    before = rowen("status", "--json").json["sources"][0]
    rowen("edit", "docs", "--set", "include=/a/**", "--yes")
    rowen("sync", "docs")
    assert len(addresses(rowen)) == 11
    assert rowen("diff", "docs", "--json").json["from_generation"] == before["generation"]
    rowen("rollback", "docs")
    assert len(addresses(rowen)) == 31
    # The next sync goes forward again, and the guard does not stand in its way.
    receipt = rowen("sync", "docs", "--json").json
    assert (receipt["status"], receipt["deleted"]) == ("completed", 20)


def test_the_guard_counts_what_the_settings_still_cover(rowen: Rowen, large: Site) -> None:
    rowen("edit", "docs", "--set", "exclude=/old/**", "--yes")
    for number in range(8):
        large.remove(f"/a/{number}.html")
    receipt = rowen("sync", "docs", "--json").json
    assert receipt["status"] == "held"
    assert (
        rowen("status", "--json")
        .json["sources"][0]["held_reason"]
        .startswith("it would remove 8 of 21 documents")
    )


def test_a_mistyped_pattern_is_noticed_before_it_empties_the_source(
    rowen: Rowen, large: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = rowen("edit", "docs", "--set", "include=/c/**")
    assert refused.code == 2
    assert "30 of 31 documents are not covered by the new settings" in refused.err
    monkeypatch.setattr(Output, "asks", property(lambda self: True))
    monkeypatch.setattr(click, "confirm", lambda text, **_: False)
    assert rowen("edit", "docs", "--set", "include=/c/**").err == "nothing was changed\n"
    assert "bad_setting" in rowen("edit", "docs", "--set", "inclde=x", "--json").err


def test_a_folder_is_covered_anew_by_its_listing(rowen: Rowen, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    for path in ("a.md", "b.txt", "old/c.md"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"# {path}\n\nText of {path}.\n")
    rowen("add", str(folder), "--name", "notes", "--set", "include=*.md", "--sync")
    assert addresses(rowen, "notes") == {"a.md", "old/c.md"}
    edited = rowen("edit", "notes", "--set", "include=*.txt,a.md", "--yes", "--json").json
    assert (edited["changed"], edited["uncovered"], edited["reads_again"]) == (["include"], 1, False)
    receipt = rowen("sync", "notes", "--json").json
    assert (receipt["created"], receipt["deleted"], receipt["unchanged"]) == (1, 1, 1)
    assert addresses(rowen, "notes") == {"a.md", "b.txt"}


def test_what_fetches_the_same_and_the_interval_change_at_once(rowen: Rowen, large: Site) -> None:
    edited = rowen("edit", "docs", "--set", "delay_s=0.01", "--every", "6h", "--json").json
    assert (edited["changed"], edited["uncovered"], edited["reads_again"]) == (["delay_s", "every"], 0, False)
    assert rowen("status", "--json").json["sources"][0]["every_s"] == 21_600
    assert rowen("edit", "docs", "--every", "auto").code == 0
    (chosen,) = rowen("status", "--json").json["sources"]
    assert (chosen["every_s"], chosen["every_auto"]) == (None, True), "nothing was learnt yet"
    assert rowen("edit", "docs", "--every", "none").out == "docs: changed every\n"
    assert not rowen("status", "--json").json["sources"][0]["every_auto"]
    settings = rowen("edit", "docs", "--set", "budget=5000/day", "--set", "freshness=95%", "--json").json
    assert (settings["settings"]["budget"], settings["settings"]["freshness"]) == (5000.0, 0.95)
    assert "5000/day" in rowen("edit", "docs", "--set", "budget=often").err
    assert rowen("edit", "docs", "--set", "budget=1/day", "--unset", "freshness").code == 0
    assert rowen("sync", "docs").code == 0
    assert " · asked " in rowen("runs", "docs").out
    assert rowen("edit", "docs", "--set", "delay_s=0.01").out == "docs: as it was\n"
    assert rowen("edit", "docs").code == 2
    assert rowen("edit", "docs", "--every", "often").code == 2
    assert rowen("edit", "nobody", "--every", "6h").code == 2


def test_a_kind_that_cannot_tell_what_its_settings_cover_is_not_edited(rowen: Rowen) -> None:
    settings = ("--kind", "rest", "--set", "items=jobs", "--set", "header.X-Key=${KEY}")
    assert rowen("add", "https://api.example/", "--name", "jobs", "--no-check", *settings).code == 0
    refused = rowen("edit", "jobs", "--set", "items=rows")
    assert refused.code == 2
    assert "`items` cannot be changed for the kind `rest`" in refused.err
    assert rowen("edit", "jobs", "--set", "header.X-Key=${NEW_KEY}").code == 0


def test_a_list_edits_what_it_changes(rowen: Rowen, large: Site, tmp_path: Path) -> None:
    listed = tmp_path / "rowen.toml"
    text = f'[[sources]]\nname = "docs"\nlocation = "{large.url}/"\n'
    listed.write_text(text + 'set = { exclude = ["/old/**"] }\n')
    steps = rowen("apply", str(listed), "--json").json["steps"]
    assert [(step["action"], step["done"]) for step in steps] == [("change", True)]
    assert steps[0]["reason"] == "other `exclude`; history stays, the next sync follows"
    assert rowen("sync", "docs", "--json").json["deleted"] == 10
    assert rowen("apply", str(listed)).out.endswith("nothing to do\n")


def test_an_interval_among_the_settings_is_told_its_own_option(rowen: Rowen, orchard: Site) -> None:
    ended = rowen("edit", "orchard", "--set", "every=6h")
    assert ended.code == 2
    assert "hint: it is no setting of a kind: on the command line `--every 6h`" in ended.err


def test_a_source_is_added_with_its_interval(rowen: Rowen, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Oats\n")
    assert rowen("add", str(tmp_path / "notes"), "--name", "wrong", "--every", "6x").code == 2
    assert rowen("add", str(tmp_path / "notes"), "--name", "notes", "--every", "6h").code == 0
    sources = rowen("status", "--json").json["sources"]
    assert [(one["label"], one["every_s"]) for one in sources] == [("notes", 21_600.0)]
    refused = rowen("add", "--from", "portals.toml", "--every", "6h")
    assert (refused.code, "omit the others" in refused.err) == (2, True)


def test_a_credential_is_taken_away_and_an_empty_one_says_how(rowen: Rowen, large: Site) -> None:
    given = rowen("edit", "docs", "--set", "bearer=${TOKEN}")
    assert given.out == "docs: changed bearer\n"
    assert "if this account sees other documents than the one before" in given.err
    refused = rowen("edit", "docs", "--set", "bearer=")
    assert refused.code == 2
    assert "got nothing" in refused.err
    assert "`--unset bearer` takes it away" in refused.err
    assert rowen("edit", "docs", "--unset", "bearer").out == "docs: changed bearer\n"
    assert rowen("sync", "docs", "--json").json["mode"] == "incremental"
