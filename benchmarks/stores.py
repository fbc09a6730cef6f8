"""A first harvest on SQLite and on PostgreSQL, in turns: the processor's time of both, and its share by part.

    python benchmarks/stores.py [--folder /usr/share/doc/python3.11/html] [--pages 300] [--rounds 3]

The client is this process with the processes it starts to parse and embed; the server is the PostgreSQL of
the tests, with all its processes, those that have ended included. The site's own server is not counted.
Then what searches keep beside a store is brought in step with it: a harvest into SQLite has done most of that
already, a harvest into PostgreSQL leaves it to the machines that search. So both ratios are printed, of the
harvest alone and of the harvest with that.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from rowen.config import load  # noqa: E402
from rowen.engine.run import sync  # noqa: E402
from rowen.managing import sources  # noqa: E402
from rowen.wiring import open_ports  # noqa: E402

AIM = 1.25


@dataclass(frozen=True)
class Spent:
    """Seconds of processor."""

    main: float
    children: float
    server: float
    follow: float
    """Of client and server, after the harvest: until searches are answered from files beside the store."""

    @property
    def client(self) -> float:
        return self.main + self.children

    @property
    def harvest(self) -> float:
        return self.client + self.server

    @property
    def searchable(self) -> float:
        return self.harvest + self.follow


def children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def server_s(postmaster: int | None) -> float:
    """Of a PostgreSQL: its first process, those that it waited for, and those it has now."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat") if postmaster else ():
        try:
            fields = stat.read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        if int(stat.parent.name) == postmaster:
            ticks += sum(map(int, fields[11:15]))
        elif int(fields[1]) == postmaster:
            ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def site(folder: Path | None, pages: int) -> Iterator[str]:
    arguments = ["--folder", str(folder)] if folder else ["--pages", str(pages)]
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("site_server.py")), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    assert server.stdin is not None
    port, there = server.stdout.readline().split()
    print(f"{folder or 'an invented site'}: {there} pages")
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.stdin.close()
        server.wait(10)


async def harvest(location: str, db: str, server: int | None) -> Spent:
    config, _ = load(db=db)
    main, children, served = time.process_time(), children_s(), server_s(server)
    async with open_ports(config) as ports:
        added = await sources.add(ports, location, name="site")
        receipt = await sync(ports, added.source)
        assert receipt.counters.failed == 0, receipt.counters
    # Processes that parse and embed are counted once they have ended, so the system is closed first.
    spent = time.process_time() - main, children_s() - children, server_s(server) - served
    main, children, served = time.process_time(), children_s(), server_s(server)
    async with open_ports(config) as ports:
        await ports.store.follow()
    after = time.process_time() - main + children_s() - children + server_s(server) - served
    return Spent(*spent, after)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with ExitStack() as stack:
        from tests.support.postgres import own_server

        base = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        location = stack.enter_context(site(options.folder, options.pages))
        server, _ = stack.enter_context(own_server())
        pid = int((Path(server.folder) / "data" / "postmaster.pid").read_text().split()[0])
        found: dict[str, list[Spent]] = {"SQLite": [], "PostgreSQL": []}
        for number in range(options.rounds):
            for name, db, process in (
                ("SQLite", f"sqlite:///{base}/rowen{number}.db", None),
                ("PostgreSQL", server.url, pid),
            ):
                if process is not None:
                    with server.connect() as connection:
                        connection.execute("DROP SCHEMA IF EXISTS rowen CASCADE")
                spent = asyncio.run(harvest(location, db, process))
                found[name].append(spent)
                print(
                    f"{name:<11} main {spent.main:6.2f}  children {spent.children:6.2f}  "
                    f"server {spent.server:6.2f}  in all {spent.harvest:6.2f}  then {spent.follow:.2f} CPU s",
                    flush=True,
                )
    pairs = list(zip(found["PostgreSQL"], found["SQLite"], strict=True))
    for what, of in (
        ("client alone", lambda one: one.client),
        ("harvest", lambda one: one.harvest),
        ("harvest until searchable", lambda one: one.searchable),
    ):
        ratio = statistics.median(of(ours) / of(theirs) for ours, theirs in pairs)
        print(f"PostgreSQL / SQLite, {what}: {ratio:.2f} (aim: {AIM})")


if __name__ == "__main__":
    main()
