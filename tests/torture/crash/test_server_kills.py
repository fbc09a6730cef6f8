"""PostgreSQL itself is killed in the middle of the work: one of its processes, or all of them at once."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import psycopg

from tests.support.postgres import Postmaster, Server, own_server
from tests.support.site import Site
from tests.torture.crash import killing
from tests.torture.crash.jobs import Job
from tests.torture.crash.places import Databases
from tests.torture.crash.rows import rows, visible
from tests.torture.crash.test_kills import a_sync
from tests.torture.tally import Tally

KILLS = 20


def processes_of(server: Server) -> tuple[int, list[int]]:
    """The postmaster, and those it has started."""
    postmaster = int((Path(server.folder) / "data/postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    return postmaster, [int(child) for child in children]


def serving(server: Server) -> list[int]:
    """The processes that work for connections of Rowen."""
    with suppress(psycopg.OperationalError), server.connect() as db:
        asked = "SELECT pid FROM pg_stat_activity WHERE datname LIKE 'torture%' AND pid <> pg_backend_pid()"
        return [int(str(pid)) for (pid,) in db.execute(asked).fetchall()]
    return []


def kill_all(server: Server, postmaster: Postmaster) -> None:
    first, others = processes_of(server)
    for pid in (first, *others):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in (first, *others)) and time.monotonic() < deadline:
        time.sleep(0.01)
    postmaster.start()


def kill_one(server: Server) -> bool:
    """The server ends all connections and repairs itself when one of its processes was killed."""
    for pid in serving(server):
        # One whose client has ended since is gone.
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            return True
    return False


def wait_until_it_answers(server: Server) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(psycopg.OperationalError), server.connect():
            return
        time.sleep(0.01)
    raise AssertionError("the server did not come back")


def test_a_database_server_killed_at_any_moment_loses_nothing(
    tmp_path: Path, chance: random.Random, tally: Tally
) -> None:
    folder = tmp_path / "beside"
    folder.mkdir()
    with own_server() as (server, postmaster), Site() as site:
        with server.connect() as db:
            # The tests' servers forget the last moments before a crash, for speed; this one must not.
            db.execute("ALTER SYSTEM SET synchronous_commit = 'on'")
            db.execute("SELECT pg_reload_conf()")
        place = Databases(server)
        trial = a_sync(place, folder, site)
        calm = place.copy(trial.job.store)
        duration_s = killing.run(_on(trial.job, calm))[1]
        expected, states = rows(calm), [visible(trial.job.store), visible(calm)]
        killed = 0
        while killed < KILLS:
            job = _on(trial.job, place.copy(trial.job.store))
            for _ in range(chance.choice((1, 2))):
                share = chance.random()
                done = _storm(job, server, postmaster, share * duration_s, all_of_it=chance.random() < 0.4)
                if done:
                    killed += 1
                    tally.add("kills", f"PostgreSQL: {done}")
                    tally.moment("sync while PostgreSQL is killed", share)
                wait_until_it_answers(server)
                found = visible(job.store)
                tally.checked(len(found))
                if found not in states:
                    tally.problem("mixed", f"after PostgreSQL was killed: {len(found)} documents")
            killing.run(job)
            tally.checked(len(expected["documents"]))
            found_rows = rows(job.store)
            for table, wanted in expected.items():
                if found_rows[table] != wanted:
                    tally.problem("lost", f"after PostgreSQL was killed: {table}")
            place.remove(job.store)
    tally.verify()


def _on(job: Job, store: str) -> Job:
    return Job(work=job.work, store=store, folder=job.folder)


def _storm(job: Job, server: Server, postmaster: Postmaster, after_s: float, *, all_of_it: bool) -> str:
    """Kill the server so long after the work began; the process that works may fail, and may not lie."""
    done: list[str] = []

    def strike() -> None:
        if all_of_it:
            kill_all(server, postmaster)
            done.append("all its processes")
        elif kill_one(server):
            done.append("one of its processes")

    begun: list[threading.Timer] = []

    def begin() -> None:
        begun.append(threading.Timer(after_s, strike))
        begun[0].start()

    killing.run(job, may_fail=True, on_begin=begin)
    begun[0].join()
    return done[0] if done else ""
