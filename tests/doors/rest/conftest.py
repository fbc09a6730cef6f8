"""The API as callers meet it: real HTTP to a real server on this test's own event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from starlette.types import ASGIApp

from rowen.adapters.exports import LocalExports
from rowen.config import Config, ServiceConfig
from rowen.core.safety.access import Scope, digest
from rowen.doors.rest.app import create_app
from rowen.doors.rest.server import Address, HttpServer, bound, http_settings, url_of
from rowen.engine.ports import Ports
from rowen.service.sync_queue import SyncQueue
from tests.support.gate import StillClock
from tests.support.site import Site, html
from tests.support.world import World, a_page, a_world

PROBLEM = "application/problem+json"


@dataclass(frozen=True)
class Answered:
    status: int
    json: Any
    headers: Mapping[str, str]
    text: str = ""

    def is_problem(self, status: int, reason: str) -> bool:
        """Is it a refusal in the one shape that all refusals have?"""
        return (
            (self.status, self.json["status"]) == (status, status)
            and self.json["type"] == f"urn:rowen:problem:{reason}"
            and self.headers["Content-Type"] == PROBLEM
            and bool(self.json["title"] and self.json["detail"])
            and self.json["request_id"] == self.headers["X-Request-ID"]
        )


@dataclass
class Api:
    url: str
    session: aiohttp.ClientSession
    world: World
    queue: SyncQueue
    headers: dict[str, str] = field(default_factory=dict)

    async def get(self, path: str, **options: Any) -> Answered:
        return await self.ask("GET", path, **options)

    async def post(self, path: str, **options: Any) -> Answered:
        return await self.ask("POST", path, **options)

    async def ask(self, method: str, path: str, **options: Any) -> Answered:
        headers = {**self.headers, **options.pop("headers", {})}
        async with self.session.request(method, self.url + path, headers=headers, **options) as response:
            text = await response.text()
            is_json = "json" in response.content_type and "jsonl" not in response.content_type
            return Answered(
                response.status,
                await response.json(content_type=None) if is_json else None,
                dict(response.headers),
                text,
            )

    async def token(self, scope: Scope, name: str = "") -> dict[str, str]:
        """Make one; answers the headers that show it."""
        secret = f"rowen_{scope}{name}"
        await self.world.store.add_token(
            name or scope, digest=digest(secret), scope=scope, now=self.world.clock.now()
        )
        return {"Authorization": f"Bearer {secret}"}


Serving = Callable[..., Any]


@asynccontextmanager
async def serving(
    world: World,
    *,
    ports: Ports | None = None,
    mounts: Mapping[str, ASGIApp] | None = None,
    may_be_open: bool = True,
    **settings: Any,
) -> AsyncIterator[Api]:
    config = Config(service=ServiceConfig(**{"rate_limit_per_minute": 0, **settings}))
    used = replace(ports or world.ports, exports=LocalExports)
    async with SyncQueue(used) as queue:
        app = create_app(used, config, queue=queue, mounts=mounts, may_be_open=lambda: may_be_open)
        listening = bound(Address("127.0.0.1", 0))
        server = HttpServer(http_settings(config.service, app))
        running = asyncio.create_task(server.serve([listening]))
        try:
            connector = aiohttp.TCPConnector(limit=0)
            async with aiohttp.ClientSession(connector=connector) as session:
                yield Api(url_of(listening), session, world, queue)
        finally:
            server.should_exit = True
            await queue.stop()
            await running
            listening.close()


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    pages = {"/": html("Home", "The barley begins here.", links=["/rye", "/oats"])}
    pages |= {path: a_page(path, "grain", "barley") for path in ("/rye", "/oats")}
    with Site(pages) as site:
        async with a_world(tmp_path, site, clock=StillClock()) as made:
            yield made


@pytest.fixture
async def api(world: World) -> AsyncIterator[Api]:
    """A server without tokens, and a source `docs` that was not harvested yet."""
    await world.add()
    async with serving(world) as made:
        yield made


@pytest.fixture
async def harvested(api: Api) -> Api:
    """The same, with three documents."""
    assert (await api.post("/api/v1/sources/docs/sync")).json["created"] == 3
    return api
