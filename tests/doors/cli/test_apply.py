"""`rowen apply`: the store follows a list, and nothing goes without being asked for."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from rowen.doors.cli.output import Output
from rowen.errors import ConfigError
from rowen.managing.registry import rules as registry
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


def test_another_location_is_a_new_source_and_needs_replace(rowen: Rowen, listed: Path) -> None:
    rowen("apply", str(listed))
    listed.write_text(LIST.replace("api.example", "v2.example"))
    assert actions(rowen, str(listed))["api@3.12"] == "replace waits"
    assert actions(rowen, str(listed), "--prune")["api@3.12"] == "replace waits"
    assert actions(rowen, str(listed), "--replace")["api@3.12"] == "replace"
    assert actions(rowen, str(listed))["api@3.12"] == "keep waits"


def test_a_terminal_is_asked_before_something_is_deleted(
    rowen: Rowen, listed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rowen("apply", str(listed))
    rowen("add", "https://extra.example/", "--name", "extra", "--no-check")
    listed.write_text(LIST.replace("api.example", "v2.example").replace('"6h"', '"7h"'))
    asked: list[str] = []
    monkeypatch.setattr(Output, "asks", property(lambda self: not self.json))
    monkeypatch.setattr(click, "confirm", lambda text, **_: asked.append(text) or len(asked) > 1)
    assert rowen("apply", str(listed)).out.endswith(
        "1 of 3 steps done; 1 step waits for `--replace`; 1 step waits for `--prune`\n"
    )
    assert rowen("apply", str(listed), "--prune").out.endswith("2 of 3 steps done\n")
    assert asked == [
        "replace `api@3.12`: what is stored of them is deleted. Go on?",
        "replace `api@3.12`, remove `extra`: what is stored of them is deleted. Go on?",
    ]
    listed.write_text(LIST)
    assert rowen("apply", str(listed), "--yes").out.endswith("2 of 2 steps done\n")
    assert len(asked) == 2


API = """
[[sources]]
name = "jobs"
location = "https://api.example/"
kind = "rest"
every = "6h"
set = { items = "jobs", seed_days = 3, window = "date", updated = "at", header = { X-Key = "${KEY}" } }
"""


def steps(rowen: Rowen, *arguments: str) -> list[tuple[str, str]]:
    return [(step["action"], step["reason"]) for step in rowen("apply", *arguments, "--json").json["steps"]]


def test_a_setting_that_fetches_the_same_was_ignored_when_it_changed(rowen: Rowen, tmp_path: Path) -> None:
    path = tmp_path / "rowen.toml"
    path.write_text(API)
    rowen("apply", str(path))
    path.write_text(API.replace("seed_days = 3", "seed_days = 90, max_items = 5").replace("6h", "1d"))
    reason = "other `seed_days`, `max_items` and `every`; what it has stays"
    assert steps(rowen, str(path)) == [("change", reason)]
    assert steps(rowen, str(path)) == [("keep", "as it is")]
    source = rowen("status", "--json").json["sources"][0]
    assert (source["every_s"], source["generation"]) == (86_400.0, 0)
    path.write_text(API.replace("6h", "1d"))
    assert steps(rowen, str(path)) == [("change", "other `seed_days` and `max_items`; what it has stays")]


def test_what_makes_it_a_new_source_is_named(rowen: Rowen, tmp_path: Path) -> None:
    path = tmp_path / "rowen.toml"
    path.write_text(API)
    rowen("apply", str(path))
    path.write_text(API.replace("${KEY}", "${NEW_KEY}").replace('"at"', '"ts"'))
    reason = "other `updated` and `header.X-Key`: a new source with clean history"
    assert steps(rowen, str(path)) == [("replace", reason)]
    path.write_text(API.replace("api.example", "v2.example"))
    assert steps(rowen, str(path)) == [("replace", "other `location`: a new source with clean history")]


def test_nothing_to_do_was_said_while_steps_waited_for_prune(rowen: Rowen, listed: Path) -> None:
    rowen("apply", str(listed))
    assert rowen("apply", str(listed)).out.endswith("nothing to do\n")
    rowen("add", "https://extra.example/", "--name", "extra", "--no-check")
    ended = rowen("apply", str(listed))
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "1 step waits for `--prune`")
    listed.write_text(LIST.replace("api.example", "v2.example").replace('"6h"', '"7h"'))
    said = "1 of 3 steps done; 1 step waits for `--replace`; 1 step waits for `--prune`"
    assert rowen("apply", str(listed)).out.splitlines()[-1] == said


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
        ('[[sources]]\nname = "x"\nlocation = "y"\nevry = "1d"', "source `x`: unknown field `evry`"),
        ('[[source]]\nname = "x"', "unknown section `source`"),
        ('[[sources]]\nname = "x"\nlocation = "y"\nset = 3', "`set` is not a table"),
        (
            '[[sources]]\nname = "x"\nlocation = "y"\nevery = "often"',
            "source `x`: interval `often`: expected",
        ),
        ('[sources]\nname = "x"\nlocation = "y"', "`sources` is not a list of tables"),
        ('sources = "x"', "`sources` is not a list of tables"),
        ("sources = [1]", "`sources` is not a list of tables"),
        ("defaults = 3", "`defaults` is not a table"),
        ('[defaults]\nevry = "1d"\n[[sources]]\nname = "x"', "defaults: unknown field `evry`"),
        ('[defaults]\nevery = "often"\n[[sources]]\nname = "x"', "defaults: interval `often`"),
        ('[[sources]]\nname = "x"\nlocation = "y"\nkind = 4', "source `x`: `kind` is a number"),
        ('[[sources]]\nname = "x"\nlocation = ["y"]', "source `x`: `location` is not a text"),
        ("[[sources]]\nname = 3", "source 1: `name` is a number"),
        ("alarms = 3", "`alarms` is not a list of tables"),
        ('[alarms]\nkind = "log"', "`alarms` is not a list of tables"),
        ("sinks = 3", "`sinks` is not a list of tables"),
        ('[[sources]]\nname="x"\nlocation="y"\n[[sources]]\nname="x"\nlocation="z"', "stands there 2 times"),
        ("not toml at all", "not TOML"),
    ],
)
def test_a_list_with_a_mistake_is_refused_whole(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        registry.read(text, file="rowen.toml")


def test_a_version_that_was_written_as_a_number_is_wanted_in_quotes() -> None:
    text = '[[sources]]\nname = "x"\nlocation = "y"\nversion = 1.10'
    with pytest.raises(ConfigError, match="source `x`: `version` is a number") as caught:
        registry.read(text, file="rowen.toml")
    assert "write it in quotes" in (caught.value.hint or "")


def test_a_list_that_is_not_utf_8_is_refused(rowen: Rowen, tmp_path: Path) -> None:
    path = tmp_path / "rowen.toml"
    path.write_bytes('[[sources]]\nname = "café"'.encode("latin-1"))
    ended = rowen("apply", str(path))
    assert ended.code == 2
    assert "not UTF-8: byte 24" in ended.err


def test_a_list_with_a_mark_at_its_beginning_is_read(rowen: Rowen, listed: Path) -> None:
    listed.write_bytes(b"\xef\xbb\xbf" + listed.read_bytes())
    assert rowen("apply", str(listed)).code == 0


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('location = "https://x.example/"\nset = { items = "[" }\nkind = "rest"', "setting `items`: not a"),
        ('location = "https://x.example/"\nset = { max_pges = 3 }', "setting `max_pges`: no such setting"),
        ('location = "https://x.example/"\nkind = "wbe"', "kind `wbe`: no such kind of source"),
        ('location = "https://u:p@x.example/"', "holds a user name or password"),
        ('location = "https://x.example/"\nversion = "a b"', "version `'a b'`: expected"),
    ],
)
def test_a_mistake_in_an_entry_names_the_source(rowen: Rowen, tmp_path: Path, entry: str, said: str) -> None:
    path = tmp_path / "rowen.toml"
    path.write_text(f'[[sources]]\nname = "good"\nlocation = "/"\n[[sources]]\nname = "jobs"\n{entry}\n')
    ended = rowen("apply", str(path))
    assert ended.code == 2
    assert f"registry `{path}`, source `jobs`: " in ended.err
    assert said in ended.err


def test_a_setting_misspelt_in_the_defaults_is_blamed_on_them(rowen: Rowen, tmp_path: Path) -> None:
    path = tmp_path / "rowen.toml"
    path.write_text(
        '[defaults]\nset = { concurency = 2 }\n[[sources]]\nname = "jobs"\nlocation = "https://x.example/"\n'
    )
    ended = rowen("apply", str(path))
    assert ended.code == 2
    assert "source `jobs`, with `set` of the defaults: setting `concurency`: no such setting" in ended.err


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
