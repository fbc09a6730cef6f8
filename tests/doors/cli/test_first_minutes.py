"""From nothing to an answer: half an address, one sync, one search."""

from __future__ import annotations

import socket
from pathlib import Path

import click
import pytest

from rowen.doors.cli.output import Output
from tests.doors.conftest import Rowen
from tests.support.site import Site


def test_two_commands_lead_from_nothing_to_an_answer(rowen: Rowen, site: Site) -> None:
    typed = site.url.removeprefix("http://")
    added = rowen("add", f"{typed}/", "--sync")
    assert added.code == 0, added.err
    name = typed.replace(":", "-")
    assert added.out.startswith(f"added {name}  web  {site.url}/\n  `http` guessed")
    assert f"\n  named `{name}`: `--name` chooses another\n" in added.out
    assert "4 new" in added.out
    assert f"next: rowen search --source {name}" in added.err
    answer = rowen("search", "plum cool", "--json").json
    assert answer["hits"][0]["url"] == f"{site.url}/plum.html#storing"


def test_without_the_flag_nothing_is_harvested_in_a_pipe(rowen: Rowen, site: Site) -> None:
    ended = rowen("add", f"{site.url}/", "--name", "orchard")
    assert ended.code == 0
    assert "next: rowen sync orchard" in ended.err
    assert rowen("status", "--json").json["sources"][0]["generation"] == 0


def test_a_terminal_is_asked_whether_to_sync(
    rowen: Rowen, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(Output, "asks", property(lambda self: True))
    monkeypatch.setattr(click, "confirm", lambda text, **_: asked.append(text) or len(asked) > 1)
    assert "generation 1" not in rowen("add", f"{site.url}/", "--name", "one").out
    assert "generation 1" in rowen("add", f"{site.url}/", "--name", "two").out
    rowen("add", f"{site.url}/", "--name", "three", "--no-sync")
    assert asked == ["sync one now?", "sync two now?"]


def test_json_of_an_added_and_synced_source_is_two_objects(rowen: Rowen, site: Site) -> None:
    added, synced = rowen("add", f"{site.url}/", "--name", "orchard", "--sync", "--json").lines
    assert (added["source"], synced["source"], synced["created"]) == ("orchard", "orchard", 4)


def test_a_folder_is_named_after_itself(
    rowen: Rowen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "Notes 2026"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nQuinces keep until May.\n")
    monkeypatch.chdir(folder)
    ended = rowen("add", ".", "--sync")
    assert ended.code == 0, ended.err
    assert ended.out.startswith(f"added Notes-2026  files  {folder}")


def test_the_same_location_twice_is_refused_unless_it_gets_a_name(rowen: Rowen, site: Site) -> None:
    first = rowen("add", f"{site.url}/", "--json").json["source"]
    again = rowen("add", f"{site.url}/")
    assert again.code == 2
    assert f"source `{first}`: has this location already" in again.err
    assert f"`rowen sync {first}`" in again.err
    assert rowen("add", f"{site.url}/", "--name", "second").code == 0


def test_another_source_of_the_guessed_name_gets_a_number(rowen: Rowen, site: Site) -> None:
    first = rowen("add", f"{site.url}/", "--json").json["source"]
    other = rowen("add", f"{site.url}/apple.html", "--set", "max_pages=1", "--no-check", "--json").json
    assert other["source"] == "apple"
    third = rowen("add", f"{site.url}/", "--set", "max_pages=9", "--json").json
    assert third["source"] == f"{first}-2"
    assert f"`{first}` is another source" in third["findings"][0]


def test_what_may_be_two_things_is_refused_without_creating_a_store(rowen: Rowen, tmp_path: Path) -> None:
    ended = rowen("add", "notes")
    assert ended.code == 2
    assert "location `notes`: no such path here, and not the address of a site" in ended.err
    assert "hint: write `https://notes` for a site, or `./notes` for a path" in ended.err


def test_who_has_added_nothing_yet_is_told_how_to_begin(
    rowen: Rowen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ROWEN_DB")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nobody" / "data"))
    for command in (("status",), ("search", "barley"), ("list",)):
        ended = rowen(*command)
        assert (ended.code, "there is no such file" in ended.err) == (2, True)
        assert "`rowen add docs.example.org --sync`, or `rowen demo`" in " ".join(ended.err.split())
    assert not (tmp_path / "nobody").exists()


def test_a_mistyped_scheme_is_said(rowen: Rowen) -> None:
    ended = rowen("add", "htps://docs.example.org/3")
    assert (ended.code, "did you mean `https://docs.example.org/3`?" in ended.err) == (2, True)


def test_a_port_that_is_taken_is_said_with_the_option_of_each_command(rowen: Rowen) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ended = rowen("web", "--no-open", "--port", str(taken.getsockname()[1]))
    assert (ended.code, "Address already in use" in ended.err) == (2, True)
    assert "`rowen web --port PORT`" in " ".join(ended.err.split())


def test_an_export_of_nothing_says_so_beside_the_empty_file(rowen: Rowen, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    rowen("add", str(tmp_path / "empty"), "--name", "empty")
    ended = rowen("export")
    assert (ended.code, ended.out, "nothing is visible yet" in ended.err) == (0, "", True)
