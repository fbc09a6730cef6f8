"""The command line under `kill -9`, with all its processes: readers see what a calm run shows."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from rowen.adapters.store.sqlite.texts import teach
from tests.support.site import Site, html
from tests.torture.tally import Tally

KILLS = 20
PAGES = 60


def rowen(db: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "rowen", "--db", f"sqlite:///{db}", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "ROWEN_CONVERT_WORKERS": "1"},
    )


def call(db: Path, *arguments: str) -> dict[str, Any]:
    process = rowen(db, *arguments, "--json")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    answer: dict[str, Any] = json.loads(out)
    return answer


def what_readers_see(db: Path) -> list[tuple[Any, ...]]:
    """Every visible row, without the numbers that stores give out by themselves."""
    connection = apsw.Connection(str(db))
    teach(connection)
    rows = connection.execute(
        """
        SELECT d.url, d.title, d.etag, text_of(c.text), s.position, s.level, s.parent, s.heading, s.anchor,
               p.heading_path, p.text, v.vector
        FROM documents_active d
        JOIN contents c ON c.id = d.content_id
        JOIN sections s ON s.content_id = c.id
        JOIN passages p ON p.id = s.passage_id
        LEFT JOIN vectors v ON v.passage_id = p.id
        ORDER BY d.url, s.position
        """
    ).fetchall()
    connection.close()
    return rows


def page(number: int, edition: int) -> str:
    paragraphs = [f"Edition {edition}: page {number} says thing {n}. " * 8 for n in range(12)]
    return html(f"Page {number}", *paragraphs, links=["/", f"/{number + 1}"])


def publish(site: Site, edition: int) -> None:
    site.set("/", html("Home", f"Edition {edition}", links=[f"/{n}" for n in range(0, PAGES, 3)]))
    for number in range(PAGES):
        site.set(f"/{number}", page(number, edition if number % 2 else 1))


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as running:
        publish(running, 1)
        yield running


def kill_after(process: subprocess.Popen[str], site: Site, requests: int, seconds: float) -> bool:
    """Kill it a little after the site has seen so many requests; False when it ended before that."""
    while len(site.requests) < requests and process.poll() is None:
        time.sleep(0.002)
    try:
        process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=120)
        return True
    return False


def test_a_sync_killed_at_random_moments_and_run_again_equals_one_never_interrupted(
    tmp_path: Path, site: Site, chance: random.Random, tally: Tally
) -> None:
    calm, stormy = tmp_path / "calm.db", tmp_path / "stormy.db"
    for db in (calm, stormy):
        call(db, "add", site.url + "/", "--name", "docs")
    killed, edition = 0, 1
    while killed < KILLS:
        site.clear_log()
        # Every run asks for every page, so most of these moments come before its end; some come after the
        # last answer, while the rest is stored and shown.
        moment = chance.randint(0, PAGES + 3)
        if kill_after(rowen(stormy, "sync", "docs"), site, moment, chance.uniform(0.001, 0.2)):
            killed += 1
            tally.add("kills", "the command `sync`")
        if killed == KILLS // 2 or chance.random() < 0.2:
            edition += 1
            publish(site, edition)
    if call(stormy, "sync", "docs")["failed"]:
        # A page that was alone in work at three of the kills is given up, and said so: this tries it again.
        call(stormy, "sync", "docs", "--full-sync")
    call(calm, "sync", "docs")
    expected, found = what_readers_see(calm), what_readers_see(stormy)
    tally.checked(PAGES)
    if found != expected:
        tally.problem("mixed", f"{len(found)} of {len(expected)} sections after kills of the command")
    tally.verify()


def test_after_a_kill_nothing_is_stuck_and_stored_pages_are_not_downloaded_again(
    tmp_path: Path, site: Site
) -> None:
    db = tmp_path / "rowen.db"
    call(db, "add", site.url + "/", "--name", "docs")
    process = rowen(db, "sync", "docs", "--json")
    while len(site.requests) < PAGES // 2 and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=120)
    stored = apsw.Connection(str(db)).execute("SELECT count(*) FROM handoffs WHERE status = 'completed'").get
    receipt = call(db, "sync", "docs")
    assert (receipt["status"], receipt["created"]) == ("completed", PAGES + 1)
    assert receipt["not_modified"] >= stored
    (source,) = call(db, "status")["sources"]
    assert (source["status"], source["running"]) == ("SUCCESS", False)
