"""The `rowen.toml` of the current folder: `rowen init` writes it, commands find it and use it if trusted."""

from __future__ import annotations

import tomllib
from pathlib import Path

import click
import pytest

from rowen.doors.cli.output import Output
from tests.doors.conftest import Rowen
from tests.support.site import Site


@pytest.fixture
def project(tmp_path: Path, rowen: Rowen, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, without a store from the environment."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("ROWEN_DB")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return folder


def test_three_questions_make_a_file(rowen: Rowen, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    answers = {"What": "docs.python.org/3, ./notes", "How": "6h"}

    def prompt(text: str, **_: object) -> str:
        asked.append(text)
        return answers[text.split()[0]]

    (project / "notes").mkdir()
    monkeypatch.setattr(Output, "asks", property(lambda self: True))
    monkeypatch.setattr(click, "prompt", prompt)
    monkeypatch.setattr(click, "confirm", lambda text, **_: asked.append(text) is None)
    assert rowen("init").code == 0
    assert len(asked) == 3
    assert tomllib.loads((project / "rowen.toml").read_text()) == {
        "store": {"url": "sqlite:///rowen.db"},
        "defaults": {"every": "6h"},
        "sources": [
            {"name": "python", "location": "https://docs.python.org/3"},
            {"name": "notes", "location": str(project / "notes")},
        ],
    }
    again = rowen("init", "docs.example.org")
    assert again.code == 2
    assert "exists already" in again.err


def test_a_folder_above_is_written_without_dots(rowen: Rowen, project: Path) -> None:
    (project.parent / "notes").mkdir()
    assert rowen("init", "../notes").code == 0
    (source,) = tomllib.loads((project / "rowen.toml").read_text())["sources"]
    assert source == {"name": "notes", "location": str(project.parent / "notes")}


def test_a_pipe_needs_a_location(rowen: Rowen, project: Path) -> None:
    ended = rowen("init")
    assert ended.code == 2
    assert "rowen init docs.example.org ./notes" in ended.err
    assert rowen("init", "docs.example.org", "--every", "often").code == 2
    assert rowen("init", "nonsense").code == 2
    assert not (project / "rowen.toml").exists()


def test_from_init_to_an_answer(rowen: Rowen, project: Path, site: Site) -> None:
    assert rowen("init", f"{site.url}/", "--every", "6h").code == 0
    assert "`rowen apply` adds those of the rowen.toml" in rowen("sync").err
    assert rowen("apply").code == 0
    assert rowen("sync").code == 0
    assert rowen("search", "plum cool", "--json").json["hits"]
    assert (project / "rowen.db").exists()
    shown = rowen("config", "show", "--json").json
    assert shown["db"] == str(project / "rowen.db")
    assert shown["file"] == {"path": str(project / "rowen.toml"), "trusted": True, "sources": 1}
    assert "its settings are used; lists 1 source" in rowen("config", "show").out


def test_a_file_that_came_with_a_folder_is_not_used_until_it_is_trusted(rowen: Rowen, project: Path) -> None:
    (project / "rowen.toml").write_text('[store]\nurl = "sqlite:///rowen.db"\n[fetch]\ntimeout_s = 7\n')
    ended = rowen("list")
    assert "rowen.toml here is not used: read it, then `rowen config trust`" in ended.err
    assert not (project / "rowen.db").exists()
    assert rowen("config", "show", "--json").json["file"]["trusted"] is False
    assert rowen("config", "trust").code == 0
    timeout = next(
        one for one in rowen("config", "show", "--json").json["settings"] if one["name"] == "fetch.timeout_s"
    )
    assert (timeout["value"], timeout["origin"]) == (7.0, str(project / "rowen.toml"))
    assert rowen("config", "trust", "--no").code == 0
    assert rowen("config", "show", "--json").json["file"]["trusted"] is False
    assert rowen("config", "trust", "elsewhere.toml").code == 2


def test_a_file_of_sources_alone_needs_no_trust(rowen: Rowen, project: Path) -> None:
    (project / "rowen.toml").write_text('[[sources]]\nname = "a"\nlocation = "https://a.example/"\n')
    assert rowen("apply", "--db", "sqlite:///here.db").err == ""
    assert "trust" not in rowen("list", "--db", "sqlite:///here.db").err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[render]\nbrowser = "/tmp/evil"', "setting `render.browser`"),
        ('[embedding]\nbase_url = "https://evil.example"', "setting `embedding.base_url`"),
        ("[fetch]\nallow_private = true", "setting `fetch.allow_private`"),
        ('[store]\nurl = "postgresql://evil.example/x"', "names a SQLite file of its own folder"),
        ('[store]\nurl = "sqlite:////etc/rowen.db"', "names a SQLite file of its own folder"),
        ('[store]\nurl = "sqlite:///../rowen.db"', "names a SQLite file of its own folder"),
    ],
)
def test_a_found_file_starts_no_program_and_sends_nothing_elsewhere(
    rowen: Rowen, project: Path, text: str, said: str
) -> None:
    (project / "rowen.toml").write_text(text)
    rowen("config", "trust")
    ended = rowen("list")
    assert ended.code == 2
    assert said in ended.err
    assert "ROWEN_CONFIG=" in ended.err


def test_what_is_named_goes_before_what_is_found(
    rowen: Rowen, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rowen("init", "docs.example.org")
    monkeypatch.setenv("ROWEN_DB", f"sqlite:///{tmp_path}/other.db")
    assert rowen("config", "show", "--json").json["db"] == f"{tmp_path}/other.db"
    named = tmp_path / "named.toml"
    named.write_text('[fetch]\ntimeout_s = 9\n[[sources]]\nname = "a"\nlocation = "/"\n')
    monkeypatch.setenv("ROWEN_CONFIG", str(named))
    monkeypatch.delenv("ROWEN_DB")
    settings = {one["name"]: one for one in rowen("config", "show", "--json").json["settings"]}
    assert settings["fetch.timeout_s"]["value"] == 9.0
    assert settings["store.url"]["origin"] == "default"
