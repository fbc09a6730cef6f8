"""What the first harvest and the second cost, in CPU time, next to a floor measured in the same run.

    python benchmarks/refresh.py                       an invented site of 2,000 pages
    python benchmarks/refresh.py --pages 500           a small one, for `rowen sync` as a process
    python benchmarks/refresh.py --folder DIR          a real documentation set, for example
                                                       /usr/share/doc/python3.11/html (Debian: python3.11-doc)

The floor of a refresh is a bare loop of the same HTTP client over the same URLs with the same ETags. The
server runs in its own process and is not counted; parser processes of ours are.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import aiohttp

from rowen.config import load
from rowen.engine.ports import Ports
from rowen.engine.run import sync
from rowen.managing import find as finding
from rowen.managing import sources
from rowen.wiring import open_ports

CONCURRENCY = 3
ROUNDS = 5


def cpu_s() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


async def bare_loop(known: list[tuple[str, str]]) -> float:
    """The same questions with nothing around them; answers the CPU seconds they took."""
    waiting = iter(known)
    connector = aiohttp.TCPConnector(limit_per_host=CONCURRENCY)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:

        async def ask() -> None:
            for url, etag in waiting:
                async with session.get(
                    url, headers={"If-None-Match": etag}, allow_redirects=False
                ) as response:
                    await response.read()
                    assert response.status == 304

        before = cpu_s()
        await asyncio.gather(*(ask() for _ in range(CONCURRENCY)))
        return cpu_s() - before


async def first_harvest(location: str, db: str) -> None:
    config, _ = load(db=db)
    before = cpu_s()
    async with open_ports(config) as ports:
        added = await sources.add(ports, location, name="site")
        started, own = time.perf_counter(), time.process_time()
        receipt = await sync(ports, added.source)
        wall, own = time.perf_counter() - started, time.process_time() - own
    # Processes that parse and embed are counted once they have ended, so the system is closed first.
    spent = cpu_s() - before
    counters = receipt.counters
    print(
        f"first harvest      {counters.created:>7} pages  {counters.passages_new} passages, {spent:.2f} CPU s"
    )
    print(f"                   {counters.created / spent:>7.1f} pages per CPU second (aim: 45 on a real set)")
    a_page_ms = 1000 * own / counters.created
    print(f"                   {a_page_ms:>7.1f} ms of CPU a page in the main process (aim: 10)")
    print(f"                   {spent / wall:>7.2f} cores used in {wall:.1f} s")


async def refreshes(db: str) -> None:
    config, _ = load(db=db)
    async with open_ports(config) as ports:
        source = await finding.find(ports.store, "site")
        pages = await ports.store.known(source.id)
        known = [(url, page.validators.etag or "") for url, page in pages.items()]
        await one_refresh(ports, len(known))
        ours, floor = [], []
        for _ in range(ROUNDS):
            floor.append(await bare_loop(known))
            ours.append(await one_refresh(ports, len(known)))
    each_us = [1e6 * statistics.median(times) / len(known) for times in (ours, floor)]
    print(f"unchanged refresh  {each_us[0]:>7.0f} µs CPU a page")
    print(f"bare client loop   {each_us[1]:>7.0f} µs CPU a page")
    ratio = statistics.median(mine / bare for mine, bare in zip(ours, floor, strict=True))
    print(f"ratio              {ratio:>7.2f} (aim: at most 2)")
    whole = statistics.median([as_a_process(db) for _ in range(ROUNDS)])
    print(f"`rowen sync`       {whole:>7.2f} CPU s in all, start-up included (aim: 0.55 for 500 pages)")
    print(f"bare client loop   {statistics.median(floor):>7.2f} CPU s in all, nothing imported")


def as_a_process(db: str) -> float:
    """The CPU seconds of `rowen sync` and the processes that it starts, when nothing has changed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "rowen", "--db", db, "sync", "site", "--json"]
    # The modules are compiled, as those of an installed package are.
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}  # noqa: TID251
    said = subprocess.run(command, check=True, capture_output=True, text=True, env=compiled).stdout
    assert json.loads(said)["created"] == json.loads(said)["updated"] == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


async def one_refresh(ports: Ports, pages: int) -> float:
    source = await finding.find(ports.store, "site")
    rows, before = ports.store.rows_written(), cpu_s()
    receipt = await sync(ports, source)
    spent = cpu_s() - before
    counters = receipt.counters
    assert counters.not_modified == pages
    assert (counters.parses, counters.embeddings_computed) == (0, 0)
    # Some 304s are checked against the body.
    assert counters.claims_checked or not counters.bytes_received
    # Nine, and three more for what was checked of the claims.
    assert ports.store.rows_written() - rows <= 12
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--pages", type=int, default=2000)
    options = parser.parse_args()
    arguments = ["--folder", str(options.folder)] if options.folder else ["--pages", str(options.pages)]
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("site_server.py")), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    assert server.stdin is not None
    port, pages = server.stdout.readline().split()
    print(f"{options.folder or 'an invented site'}: {pages} pages")
    with tempfile.TemporaryDirectory() as folder:
        db = f"sqlite:///{folder}/rowen.db"
        asyncio.run(first_harvest(f"http://127.0.0.1:{port}/", db))
        asyncio.run(refreshes(db))
    server.stdin.close()
    server.wait(10)


if __name__ == "__main__":
    main()
