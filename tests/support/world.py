"""A whole Rowen for tests: real SQLite, website and conversion; only time and the model are fakes."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from rowen import registers
from rowen.adapters.alarms import Deliveries
from rowen.adapters.convert.formats import kind_of
from rowen.adapters.convert.worker import convert, graph
from rowen.adapters.files import LocalFolders
from rowen.adapters.git import GitRepositories
from rowen.adapters.http import open_fetcher
from rowen.adapters.render import open_renderer
from rowen.adapters.sheets import open_spreadsheet
from rowen.adapters.split.pool import PoolSplitter
from rowen.core.document import Converted
from rowen.core.run import Event
from rowen.core.search.hit import Answer, Filters, SearchMode
from rowen.core.source import Source
from rowen.engine.ports import Ports
from rowen.engine.receipt import Receipt
from rowen.engine.run import sync
from rowen.managing import find as finding
from rowen.managing import sources
from rowen.ports.converter import Converter
from rowen.ports.store.store import Store
from rowen.reading import search as searching
from tests.support.fakes import FakeClock, FakeEmbedder
from tests.support.site import Site, html
from tests.support.stores import a_sqlite_store


class InThisProcess:
    """The real conversion without the child process around it."""

    def handles(self, content_type: str, url: str) -> bool:
        return kind_of(content_type, url) is not None

    async def convert(self, body: bytes, *, content_type: str, url: str) -> Converted:
        return convert(body, content_type=content_type, url=url)

    async def graph(self, body: bytes, *, syntax: str, url: str) -> bytes:
        return graph(body, syntax=syntax, url=url).text.encode()

    async def close(self) -> None:
        return None


class World:
    def __init__(
        self, ports: Ports, site: Site, clock: FakeClock, embedder: FakeEmbedder, secrets: dict[str, str]
    ) -> None:
        self.ports = ports
        self.site = site
        self.clock = clock
        self.embedder = embedder
        self.secrets = secrets
        """Variables that settings may refer to."""
        self.store = ports.store
        self.events: list[Event] = []

    async def add(self, name: str = "docs", path: str = "/", **settings: object) -> Source:
        given = {key: str(value) for key, value in settings.items()}
        added = await sources.add(self.ports, self.site.url + path, name=name, settings=given)
        self.site.clear_log()
        return added.source

    async def sync(self, name: str = "docs", *, full: bool = False) -> Receipt:
        self.site.clear_log()
        self.events.clear()
        source = await finding.find(self.ports.store, name)
        return await sync(self.ports, source, full=full, on_event=self.events.append)

    async def search(self, query: str, *, mode: SearchMode = SearchMode.KEYWORD, **options: Any) -> Answer:
        return await searching.search(self.store, self.embedder, query, mode=mode, **options)

    async def found(self, query: str, **filters: Any) -> list[str]:
        """The paths of the pages that hold a word."""
        answer = await self.search(query, limit=100, filters=Filters(**filters))
        if answer.corrected:
            return []
        return sorted(hit.url.removeprefix(self.site.url).partition("#")[0] for hit in answer.hits)

    async def pages(self, name: str = "docs") -> set[str]:
        source = await finding.find(self.ports.store, name)
        return {url.removeprefix(self.site.url) for url in await self.store.known(source.id)}

    async def source(self, name: str = "docs") -> Source:
        return await finding.find(self.ports.store, name)


@asynccontextmanager
async def a_world(
    folder: Path,
    site: Site,
    *,
    converter: Converter | None = None,
    clock: FakeClock | None = None,
    store: Store | None = None,
) -> AsyncIterator[World]:
    clock, embedder = clock or FakeClock(), FakeEmbedder()
    secrets: dict[str, str] = {}
    store = store or a_sqlite_store(folder / "rowen.db")
    ports = Ports(
        store=store,
        clock=clock,
        open_fetcher=open_fetcher,
        folders=LocalFolders(),
        repositories=GitRepositories(folder / "clones", dict(os.environ)),
        converter=converter or InThisProcess(),
        splitter=PoolSplitter(0),
        embedder=lambda: embedder,
        embedder_from=lambda spec: FakeEmbedder(name=spec["model"]),
        kinds=registers.kinds(),
        sinks=registers.sinks(),
        owner="test",
        is_dead=lambda owner: False,
        open_renderer=open_renderer,
        open_spreadsheet=partial(open_spreadsheet, open_fetcher=open_fetcher, clock=clock),
        deliver_alarm=Deliveries(open_fetcher, dict(os.environ), user_agent="rowen"),
        secrets=secrets.get,
    )
    try:
        yield World(ports, site, clock, embedder, secrets)
    finally:
        await store.close()


def a_site_of(pages: int, *, word: str = "harvest") -> Site:
    """A root that links to everything; each page has a few sections of its own."""
    paths = [f"/p{number}.html" for number in range(1, pages)]
    content = {path: a_page(path, word) for path in paths}
    return Site({"/": html("Home", f"The {word} begins here.", links=paths), **content})


def a_page(path: str, *words: str, links: Iterable[str] = ("/",)) -> str:
    name = path.strip("/").removesuffix(".html")
    return html(f"Page {name}", f"About {name}: {' '.join(words)}.", links=links)
