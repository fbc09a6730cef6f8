"""What more workers bring, what the engine that carries their tickets costs, and what an idle worker weighs.

    python benchmarks/workers.py [--pages 2560] [--latency-ms 200] [--workers 1 2 4]

Pages are handed off first and their tickets (64 pages each) submitted at once, so that ingestion alone is
measured, from the first ticket to the last. Two variants: vectors from a server that takes a fixed time for
each call, which does not depend on cores, and vectors from the default model, which does. Server, PostgreSQL
and workers are processes of their own; the CPU of the workers is read from the system. What a ticket costs by
itself is measured with tickets of a run that is over: a worker reads that, and is done.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from rowen import wiring
from rowen.config import load
from rowen.core import hashing
from rowen.core.document import Draft, Validators
from rowen.core.source import NewSource
from rowen.engine.ingest import BATCH
from rowen.engine.ports import Ports
from rowen.ports.dispatcher import INGEST, ingest_payload
from rowen.ports.store.handoffs import Staged

ROOT = Path(__file__).resolve().parents[1]
NOW = datetime(2026, 5, 1, tzinfo=UTC)
SECTIONS = 8
DIMENSIONS = 64
EMPTY_TICKETS = 400
IDLE_S = 10.0
TICKS = os.sysconf("SC_CLK_TCK")


def serve(latency_s: float) -> None:
    """An embedding provider whose calls take this long, however many there are at a time."""
    import orjson
    from aiohttp import web

    row = [1.0] + [0.01] * (DIMENSIONS - 1)

    async def answer(request: web.Request) -> web.Response:
        texts = (await request.json())["input"]
        await asyncio.sleep(latency_s)
        data = [{"object": "embedding", "index": n, "embedding": row} for n in range(len(texts))]
        return web.Response(body=orjson.dumps({"object": "list", "data": data, "model": "fixed"}))

    async def run() -> None:
        app = web.Application(client_max_size=50_000_000)
        app.router.add_post("/v1/embeddings", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        print(runner.addresses[0][1], flush=True)
        await asyncio.to_thread(sys.stdin.read)
        await runner.cleanup()

    asyncio.run(run())


@contextmanager
def a_provider(latency_ms: int) -> Iterator[dict[str, str]]:
    """The settings that lead there; without a latency, those of the default model."""
    if not latency_ms:
        yield {}
        return
    command = [sys.executable, __file__, "--serve", str(latency_ms)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin
        assert server.stdout
        yield {
            "ROWEN_EMBEDDING_PROVIDER": "openai",
            "ROWEN_EMBEDDING_MODEL": "fixed",
            "ROWEN_EMBEDDING_BASE_URL": f"http://127.0.0.1:{server.stdout.readline().strip()}/v1",
            "ROWEN_EMBEDDING_DIMENSIONS": str(DIMENSIONS),
            "ROWEN_EMBEDDING_API_KEY_ENV": "FIXED_KEY",
            "FIXED_KEY": "none",
        }
        server.stdin.close()


@dataclass(frozen=True)
class Worker:
    process: subprocess.Popen[bytes]

    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def resident_mb(self) -> float:
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


@contextmanager
def hired(count: int, environment: dict[str, str], concurrency: int = 1) -> Iterator[list[Worker]]:
    command = [sys.executable, "-m", "rowen", "worker", "--concurrency", str(concurrency)]
    workers = [
        Worker(subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)) for _ in range(count)
    ]
    try:
        for worker in workers:
            assert worker.process.stderr
            said = worker.process.stderr.readline()
            assert b"working for" in said, said
        yield workers
    finally:
        for worker in workers:
            worker.process.terminate()
        for worker in workers:
            worker.process.communicate()


def a_page(number: int) -> Draft:
    sections = (
        f"## Part {part} of {number}\n\n{f'Field {number} gives crop {part} in its season. ' * 8}\n"
        for part in range(SECTIONS)
    )
    text = f"# Page {number}\n\n" + "\n".join(sections)
    url = f"https://docs.example/{number}.html"
    return Draft(
        reference=url,
        url=url,
        title=f"Page {number}",
        text=text,
        content_hash=hashing.of_text(text),
        body_hash=None,
        validators=Validators(),
        content_type="text/html",
        depth=1,
        links=(),
        metadata={},
    )


class Load:
    """A run whose pages are handed off, with tickets that are not submitted yet."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._tickets: list[dict[str, object]] = []
        self._staged: list[Staged] = []

    async def hand_off(self, pages: int) -> None:
        store = self._ports.store
        source = await store.add_source(
            NewSource(kind="web", name="docs", version="", location="https://docs.example/", key="docs"),
            now=NOW,
        )
        lease = await store.acquire_lease(f"source:{source.id}", "benchmark", now=NOW, ttl_s=3600)
        assert lease is not None
        begun = await store.begin_run(lease, source.id, full=True, now=NOW)
        assert begun is not None
        run = begun.run
        for start in range(0, pages, BATCH):
            drafts = [a_page(number) for number in range(start, min(start + BATCH, pages))]
            staged = await store.stage(lease, run, drafts, now=NOW)
            self._staged += staged
            self._tickets.append(ingest_payload(lease, run, [one.handoff_id for one in staged]))

    async def work_off(self, tickets: slice) -> float:
        """Submit some of the tickets; seconds until the last of them is worked off."""
        dispatcher = self._ports.dispatcher()
        began = time.monotonic()
        await dispatcher.submit(INGEST, self._tickets[tickets])
        await _emptied(self._ports)
        return time.monotonic() - began

    async def check(self) -> None:
        settled = await self._ports.store.settled([one.handoff_id for one in self._staged])
        assert len(settled) == len(self._staged), f"{len(settled)} of {len(self._staged)} were ingested"
        assert {one.reason for one in settled} == {"ingested"}, {one.reason for one in settled}

    async def empty_tickets(self, count: int) -> None:
        """Tickets of a run that there is not."""
        payload = {**self._tickets[0], "run": 0}
        await self._ports.dispatcher().submit(INGEST, [payload] * count)
        await _emptied(self._ports)


async def _emptied(ports: Ports) -> None:
    while True:
        backlog = await ports.dispatcher().backlog()
        if not backlog.waiting and not backlog.running:
            return
        await asyncio.sleep(0.05)


@asynccontextmanager
async def a_store(server_url: str, settings: dict[str, str]) -> AsyncIterator[tuple[Ports, dict[str, str]]]:
    """An empty store of its own, and the environment of those who work for it."""
    with psycopg.connect(server_url, autocommit=True) as db:
        db.execute("DROP SCHEMA IF EXISTS bench CASCADE")
    url = f"{server_url}&schema=bench"
    environment = {**os.environ, **settings, "ROWEN_DB": url, "ROWEN_CONVERT_WORKERS": "1"}  # noqa: TID251
    config, _ = load(environment=environment)
    async with wiring.open_ports(config) as ports:
        yield ports, environment


@dataclass(frozen=True)
class Measured:
    pages_s: float
    cpu_ms: float
    """Of all workers, for one ticket of 64 pages."""
    empty_ms: float
    """The same for a ticket with nothing to do."""
    idle_mb: float
    busy_mb: float
    idle_cpu: float
    """The share of a core that a worker takes while it waits."""


async def measure(server_url: str, settings: dict[str, str], workers: int, pages: int) -> Measured:
    async with a_store(server_url, settings) as (ports, environment):
        load = Load(ports)
        await load.hand_off(pages)
        with hired(workers, environment) as staff:
            # What it imports to get ready is not idling.
            await asyncio.sleep(IDLE_S / 2)
            idle_mb = max(worker.resident_mb() for worker in staff)
            before = _cpu_s(staff)
            await asyncio.sleep(IDLE_S)
            idle_cpu = (_cpu_s(staff) - before) / IDLE_S / workers
            # The first tickets load the model and open connections.
            warm_up = 2 * workers
            await load.work_off(slice(warm_up))
            before = _cpu_s(staff)
            seconds = await load.work_off(slice(warm_up, None))
            tickets = pages // BATCH - warm_up
            cpu_ms = (_cpu_s(staff) - before) / tickets * 1000
            await load.check()
            busy_mb = max(worker.resident_mb() for worker in staff)
            before = _cpu_s(staff)
            await load.empty_tickets(EMPTY_TICKETS)
            empty_ms = (_cpu_s(staff) - before) / EMPTY_TICKETS * 1000
        return Measured(tickets * BATCH / seconds, cpu_ms, empty_ms, idle_mb, busy_mb, idle_cpu)


def _cpu_s(workers: Sequence[Worker]) -> float:
    return sum(worker.cpu_s() for worker in workers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=40 * BATCH)
    parser.add_argument("--latency-ms", type=int, default=200)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve / 1000)
        return
    sys.path.insert(0, str(ROOT))
    from tests.support.postgres import own_server

    with own_server() as (server, _):
        for latency_ms in (options.latency_ms, 0):
            said = f"a server that takes {latency_ms} ms a call" if latency_ms else "the default model"
            print(f"vectors from {said}:", flush=True)
            first = 0.0
            with a_provider(latency_ms) as settings:
                for workers in options.workers:
                    found = asyncio.run(measure(server.url, settings, workers, options.pages))
                    first = first or found.pages_s
                    print(
                        f"  {workers} workers {found.pages_s:7.1f} pages/s, {found.pages_s / first:.2f} x;"
                        f" CPU {found.cpu_ms:.0f} ms a ticket, {found.empty_ms:.1f} ms an empty one"
                        f" ({found.empty_ms / found.cpu_ms:.1%}); idle {found.idle_mb:.0f} MB and"
                        f" {found.idle_cpu:.1%} of a core, after work {found.busy_mb:.0f} MB",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
