"""One large site, harvested for the first time with more and more workers: does each of them help?

    python benchmarks/large_crawl.py [--pages 2000] [--workers 0 1 2 4] [--latency-ms 0] [--concurrency 3]

A server in a process of its own, PostgreSQL from the wheel, the default model, a store of its own for each
line. The run asks by itself until the site turns out to be large; from there on the workers ask, one of them
at a time. The floor is the server's own limit: pages a second that a bare client with as many connections
gets from it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import orjson
import psycopg
from workers import hired

ROOT = Path(__file__).resolve().parents[1]


@contextmanager
def a_site(pages: int, latency_ms: int) -> Iterator[str]:
    command = [sys.executable, str(ROOT / "benchmarks" / "site_server.py")]
    command += ["--pages", str(pages), "--latency-ms", str(latency_ms)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin
        assert server.stdout
        yield f"http://127.0.0.1:{server.stdout.readline().split()[0]}"
        server.stdin.close()


async def bare(site: str, pages: int, connections: int) -> float:
    """Pages a second, read and thrown away."""
    waiting = iter(range(pages))
    connector = aiohttp.TCPConnector(limit=connections)

    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask() -> None:
            for number in waiting:
                async with session.get(f"{site}/p{number}.html") as response:
                    await response.read()

        began = time.monotonic()
        await asyncio.gather(*(ask() for _ in range(connections)))
        return pages / (time.monotonic() - began)


def rowen(environment: dict[str, str], *arguments: str) -> bytes:
    command = [sys.executable, "-m", "rowen", *arguments]
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout


def harvest(server_url: str, site: str, workers: int, concurrency: int, pages: int) -> tuple[float, float]:
    """Pages a second of a first harvest from the start of the command to its end, and its own CPU a page."""
    with psycopg.connect(server_url, autocommit=True) as db:
        db.execute("DROP SCHEMA IF EXISTS bench CASCADE")
    environment = {
        **os.environ,  # noqa: TID251
        "ROWEN_DB": f"{server_url}&schema=bench",
        "ROWEN_CONVERT_WORKERS": "1",
    }
    rowen(environment, "add", f"{site}/", "--name", "site", "--set", f"concurrency={concurrency}")
    with hired(workers, environment, concurrency=2):
        began, cpu_before = time.monotonic(), cpu_s()
        receipt = orjson.loads(rowen(environment, "sync", "site", "--json", "--progress", "none"))
        seconds, cpu = time.monotonic() - began, cpu_s() - cpu_before
    assert receipt["created"] == pages + 1, receipt
    return (pages + 1) / seconds, cpu / (pages + 1)


def cpu_s() -> float:
    """Of all commands that ended; a worker ends later than the run it is measured with."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--latency-ms", type=int, default=0)
    parser.add_argument("--concurrency", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 1, 2, 4])
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    from tests.support.postgres import own_server

    with own_server() as (server, _), a_site(options.pages, options.latency_ms) as site:
        floor = asyncio.run(bare(site, options.pages, options.concurrency))
        print(f"a bare client: {floor:.0f} pages/s", flush=True)
        first = 0.0
        for workers in options.workers:
            found, cpu = harvest(server.url, site, workers, options.concurrency, options.pages)
            first = first or found
            print(
                f"{workers} workers {found:7.1f} pages/s, {found / first:.2f} x;"
                f" the run's own CPU {cpu * 1000:.1f} ms a page",
                flush=True,
            )


if __name__ == "__main__":
    main()
