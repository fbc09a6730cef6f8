"""A reader in another process sees one whole generation, whatever the writer does."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from rowen.reading import history
from tests.support.site import Site, html
from tests.support.world import a_world

pytestmark = pytest.mark.anyio

PAGES = 40

READER = """
import asyncio, sys
from pathlib import Path
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.core.search.hit import SearchMode
from rowen.reading.search import search

async def read(path):
    store = SqliteStore(Path(path))
    stop = asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    while not stop.done():
        answer = await search(store, None, "stamp", mode=SearchMode.KEYWORD, limit=100)
        words = {word for hit in answer.hits for word in hit.snippet.split()}
        stamps = sorted(word for word in words if word.startswith("edition"))
        generations = sorted({hit.generation for hit in answer.hits})
        print(len(answer.hits), ",".join(stamps), ",".join(map(str, generations)), flush=True)
    await store.close()

asyncio.run(read(sys.argv[1]))
"""


def publish(site: Site, edition: int) -> None:
    paths = [f"/{n}" for n in range(1, PAGES)]
    site.set("/", html("Home", f"stamp edition{edition} here", links=paths))
    for path in paths:
        site.set(path, html(f"Page {path}", f"stamp edition{edition} here", links=["/"]))


class Reader:
    """A process that searches again and again, and what it found each time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._listening = asyncio.create_task(self._listen())
        self._another = asyncio.Event()
        self.answers: list[tuple[str, ...]] = []

    async def saw(self, edition: int) -> None:
        async with asyncio.timeout(120):
            while not self.answers or self.answers[-1][1] != f"edition{edition}":
                assert not self._listening.done(), "it ended"
                await self._another.wait()

    async def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(b"stop\n")
        await self._listening
        assert await self._process.wait() == 0

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            self.answers.append(tuple(line.decode().split()))
            self._another.set()
            self._another = asyncio.Event()
        self._another.set()


async def test_a_reader_never_sees_two_editions_at_once(tmp_path: Path) -> None:
    with Site() as site:
        async with a_world(tmp_path, site) as world:
            publish(site, 1)
            await world.add()
            await world.sync()
            reader = Reader(
                await asyncio.create_subprocess_exec(
                    *(sys.executable, "-c", READER, str(tmp_path / "rowen.db")),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                )
            )
            await reader.saw(1)
            for edition in (2, 3, 4):
                publish(site, edition)
                assert (await world.sync()).counters.updated == PAGES
                await reader.saw(edition)
            await history.rollback(world.ports, await world.source())
            await reader.saw(3)
            await reader.stop()
    assert {answer[0] for answer in reader.answers} == {str(PAGES)}, "never a part of the pages"
    assert all("," not in stamps and "," not in generation for _, stamps, generation in reader.answers)
