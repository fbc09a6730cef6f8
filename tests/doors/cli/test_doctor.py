"""`rowen doctor` asks every source once, and compares the clock with the servers'."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

from tests.doors.conftest import Rowen
from tests.support.site import Site, html


def test_sources_that_do_not_answer_are_a_problem_with_the_line_that_fixes_each(
    rowen: Rowen, site: Site, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    rowen("add", site.url + "/", "--name", "orchard", "--no-check")
    rowen("add", str(folder), "--name", "notes")
    rowen("add", "http://127.0.0.1:1/", "--name", "dead", "--no-check", "--kind", "web")
    folder.rmdir()
    site.clear_log()
    ended = rowen("doctor")
    assert ended.code == 1
    assert [one.path for one in site.requests] == ["/"]
    said = " ".join(ended.out.split())
    assert "ok sources 1 of 3 sources can be reached" in said
    assert (
        "problem source `notes`: no such file or folder hint: bring it back, or `rowen remove notes`" in said
    )
    assert "`rowen sync dead` tries again" in said
    site.clear_log()
    offline = rowen("doctor", "--offline")
    assert (offline.code, site.requests) == (0, [])
    assert "3 sources, none of them asked" in offline.out


def test_a_clock_that_servers_contradict_is_a_problem(rowen: Rowen, site: Site) -> None:
    wrong = format_datetime(datetime.now(UTC) + timedelta(hours=3), usegmt=True)
    site.set("/", html("Home", "Oats."), headers={"Date": wrong})
    rowen("add", site.url + "/", "--name", "orchard", "--no-check")
    checks = {check["name"]: check for check in rowen("doctor", "--json").json["checks"]}
    assert not checks["clock"]["ok"]
    assert "behind the servers that answered" in checks["clock"]["said"]
    assert "timedatectl" in checks["clock"]["hint"]
    site.set("/", html("Home", "Oats."))
    checks = {check["name"]: check for check in rowen("doctor", "--json").json["checks"]}
    assert (checks["clock"]["ok"], "as the servers say" in checks["clock"]["said"]) == (True, True)
