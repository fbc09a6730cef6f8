"""How search holds up over HTTP while a source is synced, next to the same searches in quiet.

    python benchmarks/api.py [--sections 20000] [--pages 400] [--callers 16] [--seconds 8]

A real `rowen serve --listen` in its own process over the invented corpus of `corpus.py`, a site in another,
and callers that each ask one question after the other, 300 different ones. The sync is a first harvest,
all of it. Callers and site share the processors with the service: believe the ratios, and the milliseconds of
processor that a search took of the listening process, of those that search, and of the callers.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import aiohttp
import apsw
from corpus import ONCE, Corpus, load_sqlite

from rowen.adapters.store.shared.store import SharedStore
from rowen.config import load
from rowen.managing import sources
from rowen.wiring import open_ports

HERE = Path(__file__).parent
QUESTIONS = 300
LONGEST_S = 30.0
WARM_UP_S = 5.0


@contextmanager
def site(*arguments: str) -> Iterator[str]:
    server = subprocess.Popen(
        [sys.executable, str(HERE / "site_server.py"), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    assert server.stdin is not None
    try:
        yield f"http://127.0.0.1:{server.stdout.readline().split()[0]}/"
    finally:
        server.stdin.close()
        server.wait(10)


@contextmanager
def service(db: str) -> Iterator[tuple[str, int]]:
    environment = {**os.environ, "ROWEN_SERVICE_RATE_LIMIT_PER_MINUTE": "0"}  # noqa: TID251
    process = subprocess.Popen(
        [sys.executable, "-m", "rowen", "serve", "--listen", "0", "--db", db],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stderr is not None
    try:
        found = re.search(r"listening on (\S+),", process.stderr.readline())
        assert found, process.stderr.read()
        # Its lines about requests must go somewhere, or it waits for a reader.
        drain = subprocess.Popen(["cat"], stdin=process.stderr, stdout=subprocess.DEVNULL)
        yield found[1], process.pid
        process.terminate()
        process.wait(20)
        drain.wait(10)
    finally:
        process.kill()


def used_s(process: int) -> tuple[float, float, float]:
    """Seconds of processor so far: of the listening process, of its children, and of this one."""

    def ticks(one: int) -> int:
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(") ")[2].split()
        return int(fields[11]) + int(fields[12])

    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    return ticks(process) * tick_s, sum(map(ticks, map(int, children))) * tick_s, time.process_time()


def write_unseen(folder: Path, pages: int) -> None:
    """Pages whose text no other page shares, so that all of it is parsed and embedded."""
    for number in range(pages):
        near = "".join(f'<a href="/{(number + n) % pages}.html">{n}</a> ' for n in range(1, 20))
        text = "".join(
            f"<h2>Plot {number}-{n}</h2><p>{f'Orchard {number} bears fruit {n} late. ' * 6}</p>"
            for n in range(8)
        )
        html = (
            f"<html><head><title>Orchard {number}</title></head><body><main>{text}{near}</main></body></html>"
        )
        (folder / f"{number}.html").write_text(html)
    (folder / "index.html").write_text((folder / "0.html").read_text())


async def prepare(path: Path, sections: int, unseen: str) -> list[str]:
    """A store of so many sections, a source to be harvested later, and what to ask."""
    corpus = Corpus(sections)
    await corpus.prepare()
    config, _ = load(db=f"sqlite:///{path}")
    async with open_ports(config) as ports:
        db = apsw.Connection(str(path))
        for statement in ("PRAGMA synchronous = OFF", *ONCE):
            db.execute(statement)
        async for some in corpus.batches():
            load_sqlite(db, some)
        db.close()
        assert isinstance(ports.store, SharedStore)
        await ports.store.follow()
        late = await sources.add(ports, unseen, name="unseen")
        for source in await ports.store.sources():
            # The loop must leave them alone until we say so.
            await ports.store.set_paused(source.id, True)
        assert late.source.name == "unseen"
    return corpus.questions(QUESTIONS)


async def searches(url: str, callers: int, asked: list[str], until: asyncio.Event) -> list[float]:
    """Seconds that each search took, all callers together."""
    taken: list[float] = []

    questions = itertools.cycle(asked)

    async def call(session: aiohttp.ClientSession) -> None:
        for question in questions:
            if until.is_set():
                return
            started = time.perf_counter()
            async with session.get("/api/v1/search", params={"q": question}) as response:
                assert response.status == 200, await response.text()
                await response.read()
            taken.append(time.perf_counter() - started)

    async with aiohttp.ClientSession(url) as session:
        await asyncio.gather(*(call(session) for _ in range(callers)))
    return taken


async def measure(url: str, process: int, callers: int, seconds: float, asked: list[str]) -> None:
    async def after(wait_s: float, event: asyncio.Event) -> None:
        await asyncio.sleep(wait_s)
        event.set()

    async def in_quiet(number: int, for_s: float) -> list[float]:
        quiet = asyncio.Event()
        taken, _ = await asyncio.gather(searches(url, number, asked, quiet), after(for_s, quiet))
        return taken

    # The processes that answer searches are started by the first ones.
    await in_quiet(2, WARM_UP_S)
    alone = await in_quiet(1, seconds)
    print(f"one caller    {_line(alone, seconds)}", flush=True)
    before = used_s(process)
    calm = await in_quiet(callers, seconds)
    listening, searching, calling = (
        (after - at) * 1000 / len(calm) for after, at in zip(used_s(process), before, strict=True)
    )
    processor = f"listening {listening:.2f} ms   searching {searching:.2f} ms   calling {calling:.2f} ms"

    over = asyncio.Event()
    pages = 0

    async def harvest() -> None:
        nonlocal pages
        async with aiohttp.ClientSession(url) as session, session.post("/scraping/unseen/sync") as response:
            receipt = await response.json()
            assert receipt["status"] == "completed", receipt
            pages = receipt["created"]
        over.set()

    ending = asyncio.create_task(after(LONGEST_S, over))
    started = time.perf_counter()
    busy, _ = await asyncio.gather(searches(url, callers, asked, over), harvest())
    synced_s = time.perf_counter() - started
    ending.cancel()

    print(f"quiet         {_line(calm, seconds)}")
    print(f"  processor   {processor} a search")
    print(f"during a sync {_line(busy, synced_s)}   ({pages} pages harvested in {synced_s:.1f} s)")
    print(f"searches a second, during / quiet   {len(busy) / synced_s / (len(calm) / seconds):.2f}")
    print(f"p50, during / quiet                 {_share(busy, 50) / _share(calm, 50):.2f}")
    print(f"p99, during / quiet                 {_share(busy, 99) / _share(calm, 99):.2f}")


def _share(taken: list[float], percent: int) -> float:
    return statistics.quantiles(taken, n=100)[percent - 1]


def _line(taken: list[float], seconds: float) -> str:
    middle, slow = _share(taken, 50) * 1000, _share(taken, 99) * 1000
    return f"{len(taken) / seconds:>7.0f} searches/s   p50 {middle:>6.1f} ms   p99 {slow:>6.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sections", type=int, default=20_000)
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--callers", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=8.0)
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        unseen = folder / "unseen"
        unseen.mkdir()
        write_unseen(unseen, options.pages)
        unseen_url = stack.enter_context(site("--folder", str(unseen)))
        asked = asyncio.run(prepare(folder / "rowen.db", options.sections, unseen_url))
        print(
            f"{options.sections:,} sections, {options.callers} callers, {options.pages} pages harvested",
            flush=True,
        )
        url, process = stack.enter_context(service(f"sqlite:///{folder}/rowen.db"))
        asyncio.run(measure(url, process, options.callers, options.seconds, asked))


if __name__ == "__main__":
    main()
