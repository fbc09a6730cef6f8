"""`rowen apply`: the store follows a list, and nothing goes without being asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowen.core import registry
from rowen.errors import ConfigError
from tests.doors.conftest import Rowen

LIST = """
[defaults]
every = "6h"

[[sources]]
name = "guide"
location = "https://guide.example/"

[[sources]]
name = "api"
location = "https://api.example/"
version = "3.12"
every = "1d"
set = { max_pages = 50, exclude = ["/old/**", "*.pdf"], robots = false }
"""


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    path = tmp_path / "rowen.toml"
    path.write_text(LIST)
    return path


def labels(rowen: Rowen) -> list[str]:
    return [one["label"] for one in rowen("status", "--json").json["sources"]]


def actions(rowen: Rowen, *arguments: str) -> dict[str, str]:
    steps = rowen("apply", *arguments, "--json").json["steps"]
    return {step["source"]: step["action"] + ("" if step["done"] else " waits") for step in steps}


def test_a_dry_run_shows_the_plan_and_does_nothing(rowen: Rowen, listed: Path) -> None:
    ended = rowen("apply", str(listed), "--dry-run")
    assert "+ guide  add: not in the store" in ended.out
    assert labels(rowen) == []


def test_applying_twice_equals_applying_once(rowen: Rowen, listed: Path) -> None:
    assert actions(rowen, str(listed)) == {"guide": "add", "api@3.12": "add"}
    assert actions(rowen, str(listed)) == {"guide": "keep waits", "api@3.12": "keep waits"}
    sources = {one["label"]: one for one in rowen("status", "--json").json["sources"]}
    assert (sources["guide"]["every_s"], sources["api@3.12"]["every_s"]) == (21_600.0, 86_400.0)


def test_another_interval_is_no_new_source(rowen: Rowen, listed: Path) -> None:
    rowen("apply", str(listed))
    listed.write_text(LIST.replace('every = "1d"', 'every = "2d"'))
    assert actions(rowen, str(listed))["api@3.12"] == "reschedule"


def test_what_changes_the_fetch_is_a_new_source_and_needs_prune(rowen: Rowen, listed: Path) -> None:
    rowen("apply", str(listed))
    listed.write_text(LIST.replace("max_pages = 50", "max_pages = 60"))
    assert actions(rowen, str(listed))["api@3.12"] == "replace waits"
    assert actions(rowen, str(listed), "--prune")["api@3.12"] == "replace"
    assert actions(rowen, str(listed))["api@3.12"] == "keep waits"


def test_what_the_list_does_not_name_stays_unless_pruned(rowen: Rowen, listed: Path) -> None:
    rowen("add", "https://extra.example/", "--name", "extra", "--no-check")
    assert actions(rowen, str(listed))["extra"] == "remove waits"
    assert "extra" in labels(rowen)
    assert actions(rowen, str(listed), "--prune")["extra"] == "remove"
    assert labels(rowen) == ["api@3.12", "guide"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[sources]]", "`name` is missing"),
        ('[[sources]]\nname = "x"', "`location` is missing"),
        ('[[sources]]\nname = "x"\nlocation = "y"\nevry = "1d"', "unknown field `evry`"),
        ('[[source]]\nname = "x"', "unknown section `source`"),
        ('[[sources]]\nname = "x"\nlocation = "y"\nset = 3', "`set` is not a table"),
        ('[[sources]]\nname = "x"\nlocation = "y"\nevery = "often"', "expected something like"),
        ('[[sources]]\nname="x"\nlocation="y"\n[[sources]]\nname="x"\nlocation="z"', "stands there 2 times"),
        ("not toml at all", "not TOML"),
    ],
)
def test_a_list_with_a_mistake_is_refused_whole(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        registry.read(text, file="rowen.toml")


def test_a_missing_list_is_said(rowen: Rowen, tmp_path: Path) -> None:
    ended = rowen("apply", str(tmp_path / "none.toml"))
    assert ended.code == 2
    assert "cannot be read" in ended.err


def test_tables_in_set_are_given_as_their_settings() -> None:
    text = """
        [[sources]]
        name = "jobs"
        location = "https://api.example/"
        kind = "rest"
        set = { path = "/jobs", param = { q = "c++", page = "{page}", full = true }, meta.place = "city" }
        """
    assert registry.read(text, file="rowen.toml").sources[0].settings == {
        "path": "/jobs",
        "param.q": "c++",
        "param.page": "{page}",
        "param.full": "true",
        "meta.place": "city",
    }
