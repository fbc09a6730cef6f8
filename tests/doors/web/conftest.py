"""The page as a browser asks for it: real HTTP, with the cookies and the forms of a person."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from rowen.adapters.exports import LocalExports
from rowen.adapters.store.sqlite.jobs import SqliteDispatcher
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.config import Config, ServiceConfig, load
from rowen.core.safety.access import Scope, digest
from rowen.doors.rest.app import create_app
from rowen.doors.rest.server import Address, HttpServer, bound, http_settings, url_of
from rowen.doors.web.app import web_app
from rowen.service.sync_queue import SyncQueue
from tests.support.gate import StillClock
from tests.support.site import Site, html
from tests.support.world import World, a_page, a_world


@dataclass(frozen=True)
class Shown:
    status: int
    text: str
    headers: Any
    url: str
    json: Any = None

    @property
    def words(self) -> str:
        """What a person reads: the text of the main part, in one line."""
        main = re.search(r"<main.*?</main>", self.text, re.DOTALL)
        plain = re.sub(r"<[^>]+>", " ", main[0] if main else self.text)
        return " ".join(unescape(plain).split())

    def fields(self, action: str) -> dict[str, str]:
        """The hidden fields of the form that posts there."""
        form = re.search(rf'<form[^>]*action="{re.escape(action)}"[^>]*>(.*?)</form>', self.text, re.DOTALL)
        assert form, f"no form for {action}"
        return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form[1]))


@dataclass
class Person:
    """Somebody with a browser: cookies are kept, forms are sent with what the page gave them."""

    url: str
    session: aiohttp.ClientSession
    world: World
    queue: SyncQueue

    async def get(self, path: str, **options: Any) -> Shown:
        return await self.ask("GET", path, **options)

    async def ask(self, method: str, path: str, **options: Any) -> Shown:
        async with self.session.request(method, self.url + path, **options) as response:
            text = await response.text()
            found = await response.json() if response.content_type == "application/json" else None
            return Shown(response.status, text, response.headers, str(response.url), found)

    async def send(self, page: Shown, action: str, **fields: str) -> Shown:
        """Send a form of the page, as a browser does."""
        headers = {"Origin": self.url}
        return await self.ask("POST", action, data={**page.fields(action), **fields}, headers=headers)

    async def token(self, scope: Scope, name: str = "") -> str:
        secret = f"rowen_{scope}{name}"
        await self.world.store.add_token(
            name or scope, digest=digest(secret), scope=scope, now=self.world.clock.now()
        )
        return secret

    async def sign_in(self, secret: str) -> Shown:
        return await self.send(await self.get("/"), "/signin", token=secret)


Browsing = Callable[..., Any]


@asynccontextmanager
async def browsing(world: World, *, allow_private: bool = False, **settings: Any) -> AsyncIterator[Person]:
    config = Config(service=ServiceConfig(**{"rate_limit_per_minute": 0, **settings}))
    assert isinstance(world.store, SqliteStore)
    dispatcher = SqliteDispatcher(world.store.database, world.clock, owner="test", held_s=2)
    fetch = replace(world.ports.fetch, allow_private=allow_private)
    ports = replace(world.ports, exports=LocalExports, dispatcher=lambda: dispatcher, fetch=fetch)
    async with SyncQueue(ports) as queue:
        page = web_app(ports, queue=queue, settings=load()[1], store_name="SQLite, test")
        app = create_app(ports, config, queue=queue, page=page)
        listening = bound(Address("127.0.0.1", 0))
        server = HttpServer(http_settings(config.service, app))
        running = asyncio.create_task(server.serve([listening]))
        try:
            jar = aiohttp.CookieJar(unsafe=True)
            async with aiohttp.ClientSession(cookie_jar=jar) as session:
                yield Person(url_of(listening), session, world, queue)
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
async def person(world: World) -> AsyncIterator[Person]:
    """Somebody at a server without tokens, with a source `docs` that was not harvested yet."""
    await world.add()
    async with browsing(world) as made:
        yield made


@pytest.fixture
async def reader(person: Person) -> Person:
    """The same, with three documents."""
    receipt = await person.world.sync()
    assert receipt.counters.created == 3
    return person


async def hold(person: Person) -> None:
    """A source of 21 pages loses most of them: its second generation is held."""
    paths = [f"/many/{number}" for number in range(20)]
    site = person.world.site
    site.set("/many/", html("Many", "All of them.", links=paths))
    for path in paths:
        site.set(path, a_page(path, "one", path))
    await person.world.add("many", "/many/")
    await person.world.sync("many")
    site.set("/many/", html("Many", "All of them.", links=paths[:2]))
    await person.world.sync("many")
