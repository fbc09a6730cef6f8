"""Sites whose signals hold or lie: pages with a sitemap, and what a test says of each of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rowen.core.freshness.claims import NOTHING, Record, Signal
from rowen.engine.receipt import Receipt
from tests.support.fakes import FakeClock
from tests.support.site import Page, Site, html
from tests.support.world import World, a_page, a_world

OLD = "2023-03-02"
OLD_HTTP = "Thu, 02 Mar 2023 10:00:00 GMT"
NEW_HTTP = "Fri, 03 Mar 2023 10:00:00 GMT"
START = datetime(2024, 1, 1, tzinfo=UTC)
A_DAY_S = 86_400.0


@dataclass
class SignalSite:
    """Pages `/p1` to `/pN` under a root that links to all of them."""

    world: World
    paths: list[str]
    options: Mapping[str, object]
    lastmods: dict[str, str] = field(default_factory=dict)
    edits: dict[str, int] = field(default_factory=dict)

    @property
    def site(self) -> Site:
        return self.world.site

    def write(self, path: str, word: str, **options: object) -> None:
        self.site.set(path, a_page(path, word), **{**self.options, **options})

    def edit(self, path: str, *, lastmod: str | None = None, **options: object) -> str:
        """Another text; the word to find it by. Signals tell of it as far as the arguments say so."""
        self.edits[path] = self.edits.get(path, 0) + 1
        word = f"edition{path.strip('/')}n{self.edits[path]}"
        self.write(path, word, **options)
        if lastmod is not None:
            self.lastmods[path] = lastmod
            self.publish()
        return word

    def publish(self) -> None:
        """The sitemap, with the dates as they are said to be."""
        if not self.lastmods:
            return
        entries = "".join(
            f"<url><loc>{self.site.url}{path}</loc><lastmod>{date}</lastmod></url>"
            for path, date in self.lastmods.items()
        )
        self.site.set("/sitemap.xml", f"<urlset>{entries}</urlset>", content_type="application/xml")

    async def sync(self, *, full: bool = False) -> Receipt:
        """A run, a day after the one before."""
        self.world.clock.advance(A_DAY_S)
        return await self.world.sync(full=full)

    async def record(self, signal: Signal) -> Record:
        return (await self.world.store.claims((await self.world.source()).id)).get(signal, NOTHING)

    async def is_current(self, words: Mapping[str, str]) -> bool:
        """Is each of these words found on its page?"""
        return all([await self.world.found(word) == [path] for path, word in words.items()])


@asynccontextmanager
async def a_signal_site(
    folder: Path, pages: int, *, lastmod: str | None = None, **options: object
) -> AsyncIterator[SignalSite]:
    """`options` are those of every page; with `lastmod` a sitemap names this date for all of them."""
    paths = [f"/p{number}" for number in range(1, pages)]
    content: dict[str, str | bytes | Page] = {"/": html("Home", "Begin here.", links=paths)}
    with Site(content) as site:
        async with a_world(folder, site, clock=FakeClock(START)) as world:
            made = SignalSite(world, paths, options)
            if lastmod is not None:
                made.lastmods = dict.fromkeys(["/", *paths], lastmod)
            for path in paths:
                made.write(path, "harvest")
            made.publish()
            await world.add()
            yield made
