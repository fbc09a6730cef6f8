"""Looking at what is there: `list`, `show`, `open`, and the names that a shell completes."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from rowen.doors.cli.call import Call
from rowen.doors.cli.commands import open as opening
from rowen.doors.cli.starting.by_click import cli
from tests.doors.conftest import Rowen, fruit_page
from tests.support.site import Site


def test_list_shows_the_sources_with_their_locations(rowen: Rowen, orchard: Site) -> None:
    lines = rowen("list").out.splitlines()
    assert lines[0].split() == ["source", "kind", "documents", "location"]
    assert lines[1].split() == ["orchard", "web", "4", f"{orchard.url}/"]
    (one,) = rowen("list", "--json").json["sources"]
    assert one == {
        "source": "orchard",
        "kind": "web",
        "location": f"{orchard.url}/",
        "generation": 1,
        "documents": 4,
    }


def test_list_of_an_empty_store_says_how_to_begin(rowen: Rowen) -> None:
    ended = rowen("list")
    assert (ended.code, ended.out) == (0, "no sources yet\n")
    assert "rowen add docs.example.org" in ended.err


def test_list_of_a_source_shows_its_documents_as_far_as_the_limit(rowen: Rowen, orchard: Site) -> None:
    assert f"{orchard.url}/plum.html" in rowen("list", "orchard").out
    short = rowen("list", "orchard", "--limit", "1")
    assert len(short.out.splitlines()) == 2
    assert "3 more" in short.err
    value = rowen("list", "orchard", "--json").json
    assert (value["source"], value["total"], len(value["documents"])) == ("orchard", 4, 4)
    assert rowen("list", "nobody").code == 2
    assert rowen("list", "orchard", "--limit", "0").code == 2


@pytest.fixture
def folder(rowen: Rowen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is a source, in the current one."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "notes"
    folder.joinpath("sub").mkdir(parents=True)
    folder.joinpath("sub", "oats.md").write_text("# Oats\n\nFor the winter.\n\n## Sow\n\nIn autumn.\n")
    folder.joinpath("rye.rst.txt").write_text(".. _rye:\n\nRye\n===\n\nFor bread.\n")
    assert rowen("add", "notes", "--sync").code == 0
    return folder


def test_show_of_a_hit_begins_with_its_section_also_if_the_page_has_no_address_for_it(
    rowen: Rowen, folder: Path
) -> None:
    options = "".join(
        f"<dt class='hdlist1'>--{name}</dt><dd><p>Of {name}.</p></dd>" for name in ("rye", "oats")
    )
    page = f"<h1>mill</h1><p>Grinds.</p><h2 id='_options'>OPTIONS</h2><div class='dlist'><dl>{options}</dl>"
    folder.joinpath("mill.html").write_text(page)
    assert rowen("sync", "notes").code == 0
    (hit,) = rowen("search", "--limit", "1", "--json", "--", "--oats").json["hits"]
    assert hit["url"].endswith("mill.html#_options")
    assert rowen("search", "--limit", "1", "--", "--oats").code == 0
    assert rowen("show", "1").out == "### `--oats` {.option name=--oats}\n\nOf oats.\n"
    assert rowen("show", hit["url"]).out.startswith("## OPTIONS")


def test_list_of_a_folder_says_the_folder_once_and_paths_in_it(rowen: Rowen, folder: Path) -> None:
    lines = rowen("list", "notes").out.splitlines()
    assert lines[0] == f"in {folder}"
    assert [line.split() for line in lines[1:]] == [
        ["title", "path"],
        ["Rye", "rye.rst.txt"],
        ["Oats", "sub/oats.md"],
    ]
    listed = rowen("list", "notes", "--json").json["documents"]
    assert [one["url"] for one in listed] == [
        (folder / "rye.rst.txt").as_uri(),
        (folder / "sub" / "oats.md").as_uri(),
    ]


def test_show_takes_a_path_in_the_source_and_a_path_from_here(rowen: Rowen, folder: Path) -> None:
    whole = rowen("show", "sub/oats.md").out
    assert whole.startswith("# Oats")
    assert rowen("show", "notes/sub/oats.md").out == whole
    assert rowen("show", str(folder / "sub" / "oats.md")).out == whole
    assert rowen("show", "notes/sub/oats.md#sow").out.startswith("## Sow")
    folder.joinpath("new.md").write_text("# New\n")
    ended = rowen("show", "notes/new.md")
    assert (ended.code, "no document with this address is visible" in ended.err) == (2, True)


def test_show_prints_the_markdown_of_a_document_or_of_one_section(rowen: Rowen, orchard: Site) -> None:
    whole = rowen("show", f"{orchard.url}/plum.html").out
    assert whole.startswith("# Plum\n\nThe plum is picked by hand.\n")
    section = rowen("show", f"{orchard.url}/plum.html#storing", "--raw").out
    assert section.startswith("## Storing")
    assert "Keep every plum cool" in section
    assert "picked by hand" not in section


def test_show_in_json_is_the_document_with_the_text_that_was_asked_for(rowen: Rowen, orchard: Site) -> None:
    value = rowen("show", f"{orchard.url}/plum.html#storing", "--json").json
    assert (value["title"], value["source"], value["generation"]) == ("Plum", "orchard", 1)
    assert value["text"].startswith("## Storing")
    assert [section["anchor"] for section in value["sections"]] == [None, "storing"]


def test_a_hit_of_the_last_search_is_known_by_its_number(rowen: Rowen, orchard: Site) -> None:
    assert "no search of this store" in rowen("show", "1").err
    rowen("search", "plum cool", "--limit", "2")
    assert rowen("show", "1").out.startswith("## Storing")
    missing = rowen("show", "3")
    assert missing.code == 2
    assert "hit 3: the last search had 2" in missing.err
    # A program that searches does not move the numbers a person sees.
    rowen("search", "apple", "--json")
    assert "plum" in rowen("show", "1").out


def test_the_search_of_another_store_is_not_meant(rowen: Rowen, orchard: Site, tmp_path: Path) -> None:
    rowen("search", "plum")
    other = f"sqlite:///{tmp_path / 'other.db'}"
    rowen("add", orchard.url, "--name", "other", "--db", other)
    assert "no search of this store" in rowen("show", "1", "--db", other).err


def test_an_address_that_is_not_stored_is_said(rowen: Rowen, orchard: Site) -> None:
    ended = rowen("show", f"{orchard.url}/quince.html")
    assert ended.code == 2
    assert "no document with this address is visible" in ended.err
    assert rowen("show", f"{orchard.url}/plum.html#nowhere").code == 2


def test_open_prints_the_address_where_there_is_no_browser(
    rowen: Rowen, orchard: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    rowen("search", "plum cool")
    assert rowen("open", "1").out == f"{orchard.url}/plum.html#storing\n"


def test_open_gives_the_address_to_the_browser(
    rowen: Rowen, orchard: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) is None)
    url = f"{orchard.url}/plum.html"
    assert rowen("open", url, "--json").json == {"url": url, "opened": True}
    assert opened == [url]


@pytest.mark.parametrize(
    ("url", "may"),
    [
        ("https://example.org/a", True),
        ("file:///srv/notes/a.md", True),
        ("file:///srv/notes/start.desktop", False),
        ("file:///srv/notes/run.sh#x.md", False),
        ("javascript:alert(1)", False),
    ],
)
def test_only_what_is_read_is_opened(url: str, may: bool) -> None:
    assert opening.may_open(url) is may


def completed(*words: str) -> list[str]:
    asking = ShellComplete(cli, {"obj": Call()}, "rowen", "_ROWEN_COMPLETE")
    return [item.value for item in asking.get_completions(list(words[:-1]), words[-1])]


def test_a_shell_completes_the_names_of_sources(rowen: Rowen, orchard: Site) -> None:
    rowen("add", orchard.url, "--name", "other")
    assert completed("sync", "") == ["orchard", "other"]
    assert completed("sync", "orchard", "o") == ["other"]
    assert completed("diff", "orc") == ["orchard"]
    assert completed("search", "plum", "--source", "ot") == ["other"]
    assert "sync" in completed("sy")


def test_a_store_that_is_not_there_completes_nothing_and_is_not_made(rowen: Rowen, tmp_path: Path) -> None:
    missing = tmp_path / "nowhere.db"
    assert completed("--db", f"sqlite:///{missing}", "sync", "") == []
    assert not missing.exists()


def test_the_script_of_a_shell_is_printed_or_installed(
    rowen: Rowen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert "_ROWEN_COMPLETE=fish_complete" in rowen("completion", "fish").out
    file = tmp_path / "config/fish/completions/rowen.fish"
    assert rowen("completion", "fish", "--install").out.startswith(f"written to {file}\n")
    assert "complete" in file.read_text()
    assert rowen("completion", "tcsh").code == 2
    assert isinstance(cli.get_command(click.Context(cli), "completion"), click.Command)


def test_a_page_that_is_gone_is_shown_with_when_and_why(rowen: Rowen, orchard: Site) -> None:
    orchard.remove("/pear.html")
    assert rowen("sync", "orchard").code == 0
    ended = rowen("show", f"{orchard.url}/pear.html")
    assert ended.code == 2
    assert "gone since 20" in ended.err
    assert "the server answered 404" in ended.err
    unknown = rowen("show", f"{orchard.url}/nowhere.html")
    assert "unknown: no run of a source met this address" in unknown.err


def test_inspect_by_a_source_also_says_what_is_known_of_the_copy(rowen: Rowen, orchard: Site) -> None:
    ended = rowen("inspect", f"{orchard.url}/pear.html", "--source", "orchard")
    assert "present, verified 20" in ended.out
    found = rowen("inspect", f"{orchard.url}/pear.html", "--source", "orchard", "--json").json["known"]
    assert (found["state"], found["by"], found["p_fresh"]) == ("present", "fetched", None)
    alone = rowen("inspect", f"{orchard.url}/pear.html", "--json").json
    assert alone["known"] is None


def test_a_search_asks_again_for_hits_that_may_be_outdated(rowen: Rowen, orchard: Site) -> None:
    orchard.set("/plum.html", fruit_page("plum", "May"))
    ended = rowen("search", "plum", "--mode", "keyword", "--fresh", "99%")
    assert ended.code == 0, ended.err
    assert " asked for again: " in ended.out.splitlines()[0]
    assert ", 1 changed, 0 gone" in ended.out.splitlines()[0]
    assert "generation 2" in ended.out, "what changed was taken in"
    found = rowen("search", "plum", "--mode", "keyword", "--fresh", "0.5", "--json").json["rechecked"]
    assert (found["changed"], found["gone"], found["not_asked"]) == (0, 0, 0)
    assert rowen("search", "plum", "--fresh", "110%").code == 2
    assert rowen("search", "plum", "--json").json["rechecked"] is None


def test_documents_and_hits_carry_their_proof(rowen: Rowen, orchard: Site) -> None:
    (hit, *_) = rowen("search", "plum", "--mode", "keyword", "--json").json["hits"]
    assert (hit["verified_by"], hit["p_fresh"]) == ("fetched", None)
    assert "\n   fetched " in rowen("search", "plum", "--mode", "keyword").out
    document = rowen("show", f"{orchard.url}/plum.html", "--json").json
    assert document["p_fresh"] is None
    (listed, *_) = rowen("list", "orchard", "--json").json["documents"]
    assert "p_fresh" in listed


def test_a_hit_of_a_search_that_found_nothing_is_not_a_search_that_was_forgotten(
    rowen: Rowen, orchard: Site
) -> None:
    rowen("search", "zebra", "--mode", "keyword")
    ended = rowen("show", "1")
    assert (ended.code, ended.err.splitlines()[0]) == (2, "error: hit 1: the last search found nothing")
