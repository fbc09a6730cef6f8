"""A store with sinks: what the tests of sinks have in common."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from rowen.adapters.exports import LocalExports
from rowen.core.exchange.sink import Sink
from rowen.core.source import Source
from rowen.engine.ports import Ports
from rowen.managing.registry import apply as applying
from rowen.managing.registry import rules as registry
from rowen.ports.store.store import Store
from rowen.sinks.announce import Announced, announce
from tests.contract.helpers import a_generation, a_source, reload
from tests.support.fakes import FakeClock
from tests.support.site import Site
from tests.support.world import a_world


class Died(BaseException):
    """The end of a process, in the middle of it."""


class SinkWorld:
    """Documents without a website: what is shown is said directly."""

    def __init__(self, ports: Ports, clock: FakeClock, secrets: dict[str, str]) -> None:
        self.ports = ports
        self.clock = clock
        self.secrets = secrets
        self.store: Store = ports.store

    async def source(self, name: str = "docs", version: str = "") -> Source:
        return await a_source(self.store, name, version)

    async def show(self, source: Source, *gone: str, **pages: str) -> None:
        """A generation: pages by the last part of their addresses, with their text; those not named stay."""
        found = {url(source, name): text for name, text in pages.items()}
        await a_generation(self.store, source, found, gone=[url(source, name) for name in gone])

    async def sink(self, name: str, kind: str, **settings: Any) -> None:
        """As `rowen apply` makes it."""
        table = {"name": name, "kind": kind, **settings}
        others = [
            {"name": sink.name, "kind": sink.kind, **sink.settings}
            for sink in await self.store.sinks()
            if sink.name != name
        ]
        listed = registry.Registry(sources=(), sinks=registry.sinks.read([*others, table], where="the test"))
        await applying.apply(self.ports, listed, await applying.plan(self.ports, listed), prune=False)

    async def announce(self, *only: str, force: bool = False) -> dict[str, Announced]:
        done = await announce(self.ports, only=only or None, force=force)
        return {one.sink: one for one in done}

    async def stored(self, name: str) -> Sink:
        return next(sink for sink in await self.store.sinks() if sink.name == name)

    async def reload(self, source: Source) -> Source:
        return await reload(self.store, source)


def url(source: Source, name: str) -> str:
    return f"{source.location}{name}"


@asynccontextmanager
async def a_sink_world(folder: Path) -> AsyncIterator[SinkWorld]:
    # Nothing is fetched: the site is never started.
    async with a_world(folder, Site()) as world:
        ports = dataclasses.replace(world.ports, exports=LocalExports)
        yield SinkWorld(ports, world.clock, world.secrets)
