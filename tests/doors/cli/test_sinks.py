"""`rowen apply` with sinks, `sinks`, `announce` and `export` on the command line."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.doors.conftest import Rowen, fruit_page
from tests.support.site import Site

FRUIT = ["Apple", "Orchard", "Pear", "Plum"]


@pytest.fixture
def listed(tmp_path: Path, orchard: Site) -> Path:
    path = tmp_path / "rowen.toml"
    path.write_text(
        f"""
[[sources]]
name = "orchard"
location = "{orchard.url}/"

[[sinks]]
name = "index"
kind = "webhook"
url = "{orchard.url}/hook"
start = "beginning"
secret = "${{HOOK_SECRET}}"

[[sinks]]
name = "table"
kind = "export"
sources = ["orch*"]
file = "{tmp_path / "fruit.csv"}"
format = "csv"

[[alarms]]
kind = "command"
command = ["true"]
"""
    )
    return path


@pytest.fixture
def hook(orchard: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """The site also takes deliveries."""
    monkeypatch.setenv("HOOK_SECRET", "a-secret-value")
    orchard.set("/hook", "", status=200, etag=False)
    yield orchard
    orchard.remove("/hook")


def steps(rowen: Rowen, *arguments: str) -> dict[str, str]:
    found = rowen("apply", *arguments, "--json").json["steps"]
    return {
        name: step["action"] + ("" if step["done"] else " waits")
        for step in found
        for what in ("source", "sink", "alarms")
        if (name := step.get(what))
    }


def announced(rowen: Rowen, *arguments: str) -> dict[str, Any]:
    return {one["sink"]: one for one in rowen("announce", *arguments, "--json").lines}


def test_sinks_are_added_changed_and_kept(rowen: Rowen, listed: Path) -> None:
    assert steps(rowen, str(listed), "--dry-run") == {
        "orchard": "keep waits",
        "index": "add waits",
        "table": "add waits",
        "alarms": "add waits",
    }
    assert rowen("sinks", "--json").json == {"sinks": []}
    assert steps(rowen, str(listed))["index"] == "add"
    assert steps(rowen, str(listed)) == {
        "orchard": "keep waits",
        "index": "keep waits",
        "table": "keep waits",
    }
    listed.write_text(listed.read_text().replace('format = "csv"', 'format = "jsonl"'))
    assert "~ sink table  change: other settings" in rowen("apply", str(listed)).out


def test_sinks_that_the_list_does_not_name_go_with_prune(rowen: Rowen, listed: Path) -> None:
    rowen("apply", str(listed))
    listed.write_text(listed.read_text().partition("[[sinks]]")[0])
    assert steps(rowen, str(listed)) == {
        "orchard": "keep waits",
        "index": "remove waits",
        "table": "remove waits",
        "alarms": "remove waits",
    }
    assert len(rowen("sinks", "--json").json["sinks"]) == 2
    assert steps(rowen, str(listed), "--prune")["index"] == "remove"
    assert rowen("sinks", "--json").json == {"sinks": []}
    assert "alarms" not in steps(rowen, str(listed))


def test_a_sink_with_a_mistake_stops_the_whole_list(rowen: Rowen, listed: Path) -> None:
    listed.write_text(listed.read_text().replace('format = "csv"', 'fromat = "csv"'))
    ended = rowen("apply", str(listed))
    assert ended.code == 2
    assert "sink `table`: setting `fromat`: no such setting" in ended.err
    assert "did you mean `format`?" in ended.err
    assert rowen("sinks", "--json").json == {"sinks": []}


def test_a_kind_that_is_none_is_said(rowen: Rowen, listed: Path) -> None:
    listed.write_text(listed.read_text().replace('kind = "export"', 'kind = "exprot"'))
    ended = rowen("apply", str(listed))
    assert (ended.code, "kind `exprot`: no such kind of sink" in ended.err) == (2, True)


def test_what_waits_is_shown_and_sent(rowen: Rowen, listed: Path, hook: Site, tmp_path: Path) -> None:
    rowen("apply", str(listed))
    waiting = {one["name"]: one["waiting"] for one in rowen("sinks", "--json").json["sinks"]}
    assert waiting == {"index": 4, "table": 4}
    done = announced(rowen)
    assert {name: (one["outcome"], one["sent"]) for name, one in done.items()} == {
        "index": ("sent", 4),
        "table": ("sent", 4),
    }
    (asked,) = hook.asked_for("/hook")
    assert asked.method == "POST"
    assert asked.headers["X-Rowen-Signature"].startswith("sha256=")
    rows = csv.DictReader(io.StringIO((tmp_path / "fruit.csv").read_text()))
    assert sorted(row["title"] for row in rows) == FRUIT
    states = {one["name"]: one for one in rowen("sinks", "--json").json["sinks"]}
    assert (states["index"]["waiting"], states["index"]["last_error"]) == (0, None)
    assert states["table"]["sources"] == ["orch*"]
    assert "up to date" in rowen("sinks").out
    assert {one["outcome"] for one in announced(rowen).values()} == {"nothing"}
    assert "index: has everything" in rowen("announce").out


def test_a_sync_leaves_news_for_the_sinks(rowen: Rowen, listed: Path, hook: Site) -> None:
    rowen("apply", str(listed))
    rowen("announce")
    hook.set("/apple.html", fruit_page("apple", "November"))
    rowen("sync", "orchard", "--json")
    rowen("announce")
    assert len(hook.asked_for("/hook")) == 2


def test_until_when_a_failing_sink_is_left_alone_was_not_said(rowen: Rowen, listed: Path, hook: Site) -> None:
    rowen("apply", str(listed))
    hook.set("/hook", "", status=403)
    for _ in range(3):
        rowen("announce", "index")
    assert re.search(r"failing, waits until 20\d\d-\d\d-\d\d \d\d:\d\d UTC", rowen("sinks").out)


def test_a_failing_sink_is_the_exit_code_and_stands_in_the_list(
    rowen: Rowen, listed: Path, hook: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    rowen("apply", str(listed))
    hook.set("/hook", "", status=403)
    ended = rowen("announce", "index")
    assert ended.code == 1
    assert "error: sink `index`: `" in ended.err
    assert "403 from the receiver" in ended.err
    shown = rowen("sinks").out
    assert "failing" in shown
    assert "403 from the receiver" in shown
    assert announced(rowen, "table")["table"]["outcome"] == "sent"


def test_a_receiver_that_is_gone_is_disabled_until_somebody_insists(
    rowen: Rowen, listed: Path, hook: Site
) -> None:
    rowen("apply", str(listed))
    hook.set("/hook", "", status=410)
    assert announced(rowen, "index")["index"]["outcome"] == "failed"
    assert "index: disabled" in rowen("announce", "index").out
    assert "disabled" in rowen("sinks").out
    hook.set("/hook", "", etag=False)
    assert announced(rowen, "index", "--now")["index"]["outcome"] == "sent"


def test_a_sync_promises_no_later_delivery_to_a_receiver_that_is_gone(
    rowen: Rowen, listed: Path, hook: Site
) -> None:
    rowen("apply", str(listed))
    hook.set("/hook", "", status=410)
    ended = rowen("sync")
    assert "nothing is sent there any more\n" in ended.err
    assert "next run" not in ended.err
    assert "`rowen announce index --now` tries again" in ended.err
    assert "`rowen announce index --now` tries again" in rowen("announce", "index").out


def test_an_unknown_sink_is_a_wrong_call(rowen: Rowen, listed: Path) -> None:
    rowen("apply", str(listed))
    ended = rowen("announce", "indx")
    assert ended.code == 2
    assert "there are `index`, `table`" in ended.err


def test_without_sinks_there_is_nothing_to_show_or_send(rowen: Rowen) -> None:
    assert "no sinks" in rowen("sinks").out
    assert rowen("announce").out == "no sinks\n"


def test_an_export_to_standard_output_is_the_file_itself(rowen: Rowen, orchard: Site) -> None:
    ended = rowen("export", "orchard")
    assert ended.code == 0
    assert sorted(one["title"] for one in ended.lines) == FRUIT
    assert "picked by hand" in ended.out
    assert "picked by hand" not in rowen("export", "--no-text").out
    rows = list(csv.DictReader(io.StringIO(rowen("export", "--format", "csv").out)))
    assert sorted(row["title"] for row in rows) == FRUIT
    root = ElementTree.fromstring(rowen("export", "--format", "atom").out)
    assert len(root.findall("{http://www.w3.org/2005/Atom}entry")) == 4


def test_an_export_to_a_file_says_how_much_it_holds(rowen: Rowen, orchard: Site, tmp_path: Path) -> None:
    path = tmp_path / "fruit.parquet"
    ended = rowen("export", "--format", "parquet", "--out", str(path))
    assert ended.out == f"4 documents in `{path}`\n"
    told = rowen("export", "--out", str(tmp_path / "fruit.jsonl"), "--json").json
    assert told == {"file": str(tmp_path / "fruit.jsonl"), "format": "jsonl", "count": 4}
    assert len((tmp_path / "fruit.jsonl").read_text().splitlines()) == 4


def test_an_export_that_cannot_be_is_a_wrong_call(rowen: Rowen, orchard: Site, tmp_path: Path) -> None:
    assert "name a file" in rowen("export", "--format", "parquet").err
    ended = rowen("export", "--out", str(tmp_path / "none" / "x.jsonl"))
    assert (ended.code, "does not exist" in ended.err) == (2, True)
    ended = rowen("export", "orchrd")
    assert (ended.code, "did you mean `orchard`?" in ended.err) == (2, True)


def test_a_reader_that_goes_away_is_no_error(rowen: Rowen, orchard: Site, db: str) -> None:
    export = [sys.executable, "-m", "rowen", "--db", db, "export"]
    with subprocess.Popen(export, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        # Closed before anything is written: the first byte meets a broken pipe.
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(120) == 0
