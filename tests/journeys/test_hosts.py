"""Three hosts with workers, one cut off, one killed, the database restarted: the same result as ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import orjson
import psycopg
import pytest

from tests.support.hosts import PROCESSES, Hosts, some_hosts
from tests.support.postgres import Postmaster, own_server
from tests.support.site import Site
from tests.support.world import a_page, a_site_of

pytestmark = pytest.mark.torture

PAGES = int(os.environ.get("ROWEN_TEST_PAGES", "600"))
CHANGED = 130
HOSTS = 3
SYNCS = 3
"""At most. One that the database goes away from may fail; the next one takes up its work."""

DOCUMENTS = """
SELECT r.reference, d.url, d.title, d.etag, d.depth, c.text
FROM documents_active d JOIN refs r ON r.id = d.ref_id JOIN contents c ON c.id = d.content_id
"""
SECTIONS = """
SELECT d.url, s.position, s.level, s.parent, s.heading, s.anchor, p.heading_path, p.text, v.vector
FROM documents_active d
JOIN sections s ON s.content_id = d.content_id
JOIN passages p ON p.id = s.passage_id
LEFT JOIN vectors v ON v.passage_id = p.id
"""


class Cluster:
    """A site, PostgreSQL and hosts that reach both."""

    def __init__(self, url: str, hosts: Hosts, site: Site, database: Postmaster, folder: Path) -> None:
        self.url = url
        self.hosts = hosts.each
        self.site = site
        self.database = database
        self._folder = folder

    def hire(self) -> list[subprocess.Popen[bytes]]:
        """A worker on each host, known to work when it says so."""
        logs = [self._folder / f"{host.name}.log" for host in self.hosts]
        command = ("-m", "rowen", "worker", "--concurrency", "1")
        environment = _environment(self.url)
        workers = [
            host.start(*command, environment=environment, log=log)
            for host, log in zip(self.hosts, logs, strict=True)
        ]
        _wait(lambda: all(b"working for" in log.read_bytes() for log in logs))
        return workers

    def asked(self, share: float, run: subprocess.Popen[bytes]) -> None:
        """Until the site was asked for this share of its pages, or the run is over."""
        _wait(lambda: len(self.site.requests) >= PAGES * share or run.poll() is not None)

    def living(self) -> int:
        """How many workers give signs of life."""
        with psycopg.connect(self.url) as db:
            rows = db.execute(
                "SELECT count(*) FROM rowen.leases WHERE name LIKE 'worker:%' AND expires_at > now()"
            )
            return int(next(rows)[0])

    def shares(self, run_id: int) -> int:
        """How many tickets of a run were worked off by workers."""
        with psycopg.connect(self.url) as db:
            rows = db.execute("SELECT count(*) FROM rowen.run_shares WHERE run_id = %s", (run_id,))
            return int(next(rows)[0])


@contextmanager
def a_cluster(folder: Path) -> Iterator[tuple[Cluster, Hosts]]:
    with some_hosts(HOSTS) as hosts, own_server() as (server, database):
        data, port = Path(server.folder) / "data", hosts.free_port()
        with (data / "postgresql.conf").open("a") as settings:
            settings.write(f"\nlisten_addresses = '{hosts.address}'\nport = {port}\n")
        with (data / "pg_hba.conf").open("a") as access:
            access.write("host all all samenet trust\n")
        database.stop()
        database.start()
        with Site(a_site_of(PAGES).pages, host=hosts.address) as site:
            url = f"postgresql://postgres@{hosts.address}:{port}/postgres"
            cluster = Cluster(url, hosts, site, database, folder)
            try:
                yield cluster, hosts
            finally:
                # While the database is there: a worker that ends says so to it.
                hosts.dismiss()


def test_a_bad_network_a_dead_worker_and_a_restarted_database_change_nothing(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    alone = f"sqlite:///{tmp_path / 'alone.db'}"
    with a_cluster(tmp_path) as (cluster, hosts):
        request.node.user_properties.append(("hosts", hosts.kind))
        away, *_ = cluster.hosts
        for url in (alone, cluster.url):
            _call(url, "add", cluster.site.url + "/", "--name", "docs")
        _call(alone, "sync", "docs")

        works_again, killed, ends = cluster.hire()
        cluster.site.clear_log()
        run = _start(cluster.url, "sync", "docs")
        cluster.asked(0.2, run)
        away.cut_off()
        cluster.asked(0.4, run)
        killed.kill()
        cluster.asked(0.6, run)
        assert run.poll() is None, "the run was over before the database was restarted: give it more pages"
        cluster.database.stop()
        cluster.database.start()
        cluster.asked(0.8, run)
        away.come_back()
        request.node.user_properties.append(("syncs", _until_it_ends_well(cluster.url, run)))
        assert _seen(cluster.url) == _seen(alone)

        # The host that was away is the only one left, and works again.
        ends.send_signal(signal.SIGTERM)
        ends.wait(timeout=120)
        _wait(lambda: cluster.living() == 1)
        for number in range(1, CHANGED + 1):
            path = f"/p{number}.html"
            cluster.site.set(path, a_page(path, "aftermath"))
        _call(alone, "sync", "docs")
        receipt = _call(cluster.url, "sync", "docs")
        assert (receipt["updated"], receipt["unchanged"]) == (CHANGED, PAGES - CHANGED)
        assert cluster.shares(receipt["run_id"]) > 0
        assert _seen(cluster.url) == _seen(alone)
        assert works_again.poll() is None


def test_where_there_are_no_hosts_processes_stand_for_them_and_the_summary_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with some_hosts(1) as hosts:
        assert hosts.kind == PROCESSES
        (host,) = hosts.each
        process = host.start("-c", "import signal; signal.pause()", environment={}, log=tmp_path / "log")
        host.cut_off()
        assert os.waitid(os.P_PID, process.pid, os.WSTOPPED) is not None
        host.come_back()
        assert os.waitid(os.P_PID, process.pid, os.WCONTINUED) is not None
    assert process.poll() == -signal.SIGTERM


def _environment(url: str) -> dict[str, str]:
    return {**os.environ, "ROWEN_DB": url, "ROWEN_CONVERT_WORKERS": "1", "ROWEN_WORKERS_HELD_S": "3"}


def _start(url: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "rowen", *arguments, "--json"],
        env=_environment(url),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def _call(url: str, *arguments: str) -> Any:
    process = _start(url, *arguments)
    out, err = process.communicate(timeout=500)
    assert process.returncode == 0, err.decode()
    return orjson.loads(out)


def _until_it_ends_well(url: str, run: subprocess.Popen[bytes]) -> int:
    """How many syncs it took."""
    for count in range(1, SYNCS + 1):
        out, err = run.communicate(timeout=500)
        if run.returncode == 0:
            return count
        assert orjson.loads(out.splitlines()[-1])["status"] == "failed", err.decode()
        run = _start(url, "sync", "docs")
    raise AssertionError(err.decode())


def _seen(url: str) -> list[list[tuple[Any, ...]]]:
    """What readers see, without the numbers that stores give out by themselves."""
    found = []
    for statement in (DOCUMENTS, SECTIONS):
        if url.startswith("sqlite"):
            connection = apsw.Connection(url.removeprefix("sqlite:///"))
            rows = connection.execute(statement).fetchall()
            connection.close()
        else:
            with psycopg.connect(url, options="-c search_path=rowen") as db:
                rows = db.execute(statement).fetchall()
        found.append(sorted(rows, key=repr))
    return found


def _wait(met: Callable[[], bool], *, timeout_s: float = 120.0) -> None:
    """For what happens in other processes and gives no event here."""
    end = time.monotonic() + timeout_s
    while not met():
        assert time.monotonic() < end
        time.sleep(0.005)
