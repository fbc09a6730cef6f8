"""The demo: a stranger's first minute."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from rowen.doors.demo import DemoServer, DemoSite
from tests.doors.conftest import Rowen


def get(url: str, **headers: str) -> tuple[int, str, str | None]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=120) as answer:
            return answer.status, answer.read().decode(), answer.headers["ETag"]
    except urllib.error.HTTPError as exc:
        with exc:
            return exc.code, "", exc.headers["ETag"]


def test_the_demo_harvests_twice_and_leaves_nothing_behind(
    process: Rowen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "demo"))
    (tmp_path / "demo").mkdir()
    (tmp_path / "rowen.db").unlink()
    ended = process("demo")
    assert ended.code == 0, ended.err
    assert "1 new · 1 updated · 1 removed · 12 unchanged" in ended.out
    assert "first harvest   second harvest" in ended.out
    assert "~ Retries and backoff" in ended.out
    assert "+ Drain a worker" in ended.out
    assert "- Upgrade from Quern 1" in ended.out
    assert 'nothing found for `"quernd"`' in ended.out
    assert ".venv/bin/rowen add https://docs.python.org/3/ --name python" in ended.out
    assert list((tmp_path / "demo").iterdir()) == []
    assert not (tmp_path / "rowen.db").exists()


def test_an_interrupted_demo_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    running = subprocess.Popen(
        [sys.executable, "-u", "-m", "rowen", "demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert running.stdout is not None
    # It has begun when it has said its first line; its folder exists by then.
    assert running.stdout.readline() == "\n"
    os.killpg(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=120)
    assert running.returncode == 130
    assert "the demo left nothing behind" in err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_the_demo_site_answers_as_sites_do() -> None:
    site = DemoSite()
    with DemoServer(site) as server:
        status, body, etag = get(server.url + "guide/retries.html")
        assert (status, "after 2 seconds" in body) == (200, True)
        assert etag is not None
        assert get(server.url + "guide/retries.html", **{"If-None-Match": etag}) == (304, "", etag)
        neighbour = get(server.url + "operations/backup.html")
        site.second_season()
        assert "after 5 seconds" in get(server.url + "guide/retries.html", **{"If-None-Match": etag})[1]
        assert get(server.url + "operations/upgrade-from-1.html")[0] == 404
        assert get(server.url + "operations/drain.html")[0] == 200
        # Its navigation and build number changed, and nothing else.
        assert get(server.url + "operations/backup.html")[2] != neighbour[2]
