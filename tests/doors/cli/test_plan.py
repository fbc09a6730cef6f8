"""`rowen plan --out` and `rowen sync --plan`: a person reads what will happen, and exactly that happens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.doors.conftest import Rowen, fruit_page
from tests.support.site import Site, html


@pytest.fixture
def plan(rowen: Rowen, orchard: Site, tmp_path: Path) -> Path:
    """A page was edited, and the plan of it lies in a file."""
    orchard.set("/plum.html", fruit_page("Plum", "A new word: damson."))
    file = tmp_path / "plan.json"
    ended = rowen("plan", "orchard", "--out", str(file))
    assert ended.code == 0
    assert f"~ changed  {orchard.url}/plum.html" in ended.out
    assert f"`rowen sync orchard --plan {file}` does exactly this" in ended.out
    return file


def test_what_is_planned_is_what_is_done(rowen: Rowen, plan: Path) -> None:
    assert rowen("search", "damson", "--mode", "keyword", "--json").json["hits"] == []
    done = rowen("sync", "orchard", "--plan", str(plan), "--json").json
    written = json.loads(plan.read_text())
    assert (done["applied"], done["broken"], done["updated"]) == (True, [], 1)
    assert (done["bytes_received"], done["checked_bytes"]) == (0, 0)
    assert done["embeddings_computed"] == written["embeddings"]
    assert rowen("search", "damson", "--json").json["hits"]


def test_a_line_that_does_not_hold_any_more_is_named_and_nothing_is_changed(
    rowen: Rowen, orchard: Site, plan: Path
) -> None:
    orchard.set("/plum.html", fruit_page("Plum", "Yet another word: greengage."))
    ended = rowen("sync", "orchard", "--plan", str(plan))
    assert ended.code == 1
    assert "the plan does not hold in 1 line; nothing was changed" in ended.out
    assert f"{orchard.url}/plum.html: planned as changed; it has changed again since" in ended.out
    assert len(rowen("runs", "orchard", "--json").json["runs"]) == 1
    ended = rowen("sync", "orchard", "--plan", str(plan), "--anyway")
    assert ended.code == 0
    assert rowen("search", "greengage", "--json").json["hits"]


def test_a_plan_is_refused_after_another_sync(rowen: Rowen, plan: Path) -> None:
    rowen("sync", "orchard")
    ended = rowen("sync", "orchard", "--plan", str(plan))
    assert ended.code == 2
    assert "readers see generation 2; the plan was made for generation 1" in ended.err


def test_a_file_that_is_no_plan_is_refused(rowen: Rowen, orchard: Site, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text("barley")
    ended = rowen("sync", "orchard", "--plan", str(file))
    assert ended.code == 2
    assert "is no plan of Rowen" in ended.err
    assert rowen("sync", "orchard", "--plan", str(tmp_path / "absent.json")).code == 2


def test_a_plan_without_a_file_shows_what_there_is_to_do(rowen: Rowen, orchard: Site) -> None:
    assert "nothing to do" in rowen("plan", "orchard").out
    assert "nothing to do" not in rowen("plan", "orchard", "--estimate").out


def test_a_plan_counts_what_is_new_as_it_lists_it(rowen: Rowen, orchard: Site) -> None:
    """As many pages as before: one is gone, and another one is new."""
    orchard.set("/quince.html", fruit_page("quince"))
    orchard.set("/", html("Orchard", "All the fruit", links=["/apple.html", "/plum.html", "/quince.html"]))
    ended = rowen("plan", "orchard")
    assert ended.out.startswith("orchard: 1 new, 1 gone, 3 unchanged\n")
    assert " 0 new" not in ended.out
    value = rowen("plan", "orchard", "--json").json
    assert value["new_items"] == value["counts"]["new"] == 1
    assert value["texts"] == value["embeddings"] > 0


def test_an_estimate_of_a_folder_does_not_say_that_nothing_is_new(rowen: Rowen, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "oats.md").write_text("# Oats\n\nSown in March.\n")
    rowen("add", str(folder), "--sync")
    (folder / "oats.md").rename(folder / "rye.md")
    assert "1 item, 1 stored, at least 0 new" in rowen("plan", "notes", "--estimate").out
