"""The API keeps what its description promises: schemathesis asks whatever the description allows, and more.

A server of its own thread, over real HTTP, with a store that has data; time stands still unless somebody
waits for it.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rowen.core.safety.access import Scope, digest
from tests.doors.rest.conftest import serving
from tests.support.gate import StillClock
from tests.support.site import Site, html
from tests.support.world import a_page, a_world

TOKEN = "rowen_schemathesis"


SETTINGS = """
[[operations]]
include-operation-id = [
  "search", "add_source", "get_document", "inspect_page", "compare_versions", "subscribe"
]
checks.positive_data_acceptance.enabled = false
"""
"""No schema says which words can be looked for, which times have passed, or where a server answers."""


class HurriedClock(StillClock):
    """Nobody waits longer than a moment: a long poll that finds nothing is over."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds)
        if seconds <= 1.0:
            self.advance(seconds * 20)


class Background:
    """The server on an event loop of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started = threading.Event()
        self._stop: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.url = ""

    def __enter__(self) -> Background:
        self._thread.start()
        assert self._started.wait(120)
        if self._failure is not None:
            raise self._failure
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(120)
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as exc:
            self._failure = exc
        finally:
            self._started.set()

    async def _serve(self) -> None:
        pages = {"/": html("Home", "barley", links=["/rye"]), "/rye": a_page("/rye", "barley")}
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        with Site(pages) as site:
            async with a_world(self._folder, site, clock=HurriedClock()) as world:
                await world.add()
                await world.sync()
                site.set("/rye", a_page("/rye", "oats"))
                await world.sync()
                now = world.clock.now()
                await world.store.add_token("all", digest=digest(TOKEN), scope=Scope.ADMIN, now=now)
                async with serving(world) as api:
                    self.url = api.url
                    self._started.set()
                    await self._stop.wait()


@pytest.mark.torture
def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    (tmp_path / "schemathesis.toml").write_text(SETTINGS)
    with Background(tmp_path) as server:
        done = subprocess.run(
            [
                *(str(Path(sys.executable).with_name("schemathesis")), "run", server.url + "/openapi.json"),
                *("--header", f"Authorization: Bearer {TOKEN}"),
                *("--max-examples", "5", "--phases", "examples,coverage,fuzzing,stateful"),
                *("--generation-deterministic", "--continue-on-failure"),
                *("--suppress-health-check", "all", "--no-color", "--warnings", "off"),
            ],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=1000,
        )
    assert done.returncode == 0, done.stdout + done.stderr
