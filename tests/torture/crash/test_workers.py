"""Workers on PostgreSQL, killed again and again in the middle of a run: nothing lost, nothing twice."""

from __future__ import annotations

import asyncio
import os
import queue
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import orjson
import pytest

from rowen.adapters.store.postgres.store import PostgresStore
from rowen.core.handoff import HandoffStatus
from rowen.engine.ingest import BATCH
from tests.support.embedding_api import DIMENSIONS, KEY, MODEL, EmbeddingApi
from tests.support.postgres import Server
from tests.support.site import Site
from tests.support.world import a_site_of
from tests.torture.tally import Tally

pytestmark = pytest.mark.anyio

PAGES = 2_000
KILLS = 10
WORKERS = 3


class Cluster:
    """A store on PostgreSQL, and processes that work for it."""

    def __init__(self, url: str, api: EmbeddingApi) -> None:
        self.url = url
        self.environment = {
            **os.environ,
            "ROWEN_DB": url,
            "ROWEN_CONVERT_WORKERS": "1",
            "ROWEN_WORKERS_HELD_S": "3",
            "ROWEN_EMBEDDING_PROVIDER": "openai",
            "ROWEN_EMBEDDING_MODEL": MODEL,
            "ROWEN_EMBEDDING_BASE_URL": f"{api.url}/v1",
            "ROWEN_EMBEDDING_DIMENSIONS": str(DIMENSIONS),
            "ROWEN_EMBEDDING_API_KEY_ENV": "TEST_KEY",
            "TEST_KEY": KEY,
        }
        self.hired: list[subprocess.Popen[bytes]] = []
        self.working: queue.Queue[subprocess.Popen[bytes]] = queue.Queue()

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "rowen", *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def call(self, *arguments: str) -> Any:
        process = self.start(*arguments, "--json")
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err.decode()
        return orjson.loads(out)

    def hire(self) -> None:
        """A worker, known to work when it says so."""
        worker = self.start("worker", "--concurrency", "1")
        self.hired.append(worker)

        def listen() -> None:
            assert worker.stderr is not None
            if b"working for" in worker.stderr.readline():
                self.working.put(worker)

        threading.Thread(target=listen, daemon=True).start()

    def kill_one(self) -> bool:
        """Kill the worker that has worked longest, if there is one."""
        with suppress(queue.Empty):
            self.working.get_nowait().send_signal(signal.SIGKILL)
            return True
        return False


@contextmanager
def a_cluster(postgres: Server) -> Iterator[tuple[Cluster, EmbeddingApi, Site]]:
    with postgres.schema() as schema, EmbeddingApi() as api, a_site_of(PAGES) as site:
        cluster = Cluster(f"{postgres.url}&schema={schema}", api)
        try:
            cluster.call("add", site.url + "/", "--name", "docs")
            for _ in range(WORKERS):
                cluster.hire()
            cluster.working.put(cluster.working.get(timeout=60))
            yield cluster, api, site
        finally:
            for worker in cluster.hired:
                worker.send_signal(signal.SIGTERM)
            for worker in cluster.hired:
                _gone(worker)


async def test_ten_killed_workers_lose_nothing_and_double_nothing(
    postgres: Server, tmp_path: Path, chance: random.Random, tally: Tally
) -> None:
    with a_cluster(postgres) as (cluster, api, _):
        run = cluster.start("sync", "docs", "--json", "--progress", "none")
        kills = 0
        while run.poll() is None:
            await asyncio.sleep(chance.uniform(0.1, 0.4))
            if kills < KILLS and run.poll() is None and cluster.kill_one():
                cluster.hire()
                kills += 1
        out, err = run.communicate()
        receipt = orjson.loads(out)
        assert run.returncode == 0, err.decode()
        assert kills == KILLS, "the run was over before all of them were killed: give it more pages"
        tally.add("kills", "workers", kills)
        assert (receipt["created"], receipt["failed"], receipt["skipped"]) == (PAGES, 0, 0)

        store = PostgresStore(cluster.url)
        try:
            (source,) = await store.sources()
            known = await store.known(source.id)
            handoffs = await store.handoffs(source_id=source.id, limit=PAGES * 2)
            gap = await store.stats(source.id)
        finally:
            await store.close()
        assert len(known) == gap.documents == PAGES
        assert Counter(handoff.status for handoff in handoffs) == {HandoffStatus.COMPLETED: PAGES}

        texts = Counter(text for call in api.calls for text in call.texts)
        twice = sum(count - 1 for count in texts.values())
        # A killed worker had at most one batch under way, of some sections a page.
        assert twice <= KILLS * BATCH * (len(texts) // PAGES + 1)

        again = cluster.call("sync", "docs", "--progress", "none")
        assert (again["unchanged"], again["embeddings_computed"]) == (PAGES, 0)


def _gone(worker: subprocess.Popen[bytes]) -> None:
    worker.wait(timeout=120)
    for stream in (worker.stdout, worker.stderr):
        if stream is not None:
            stream.close()
