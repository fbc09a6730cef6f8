"""A store with something of everything in it, made by the real pipeline where there is one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rowen.core.document import Validators
from rowen.core.feed import Cursor
from rowen.core.run import Counters
from rowen.core.safety.access import Scope
from rowen.core.web.verified import Looked
from rowen.core.window import Window
from rowen.engine.leases import run_lease
from rowen.managing import sources
from rowen.offers import companies
from rowen.ports.store.documents import InventoryName, Listing
from rowen.ports.store.notes import Pause
from rowen.reading import history
from tests.contract.helpers import a_draft, a_generation, a_run, a_source, an_end, ingest
from tests.support.job_board import DAY, a_board, an_offer, days, show
from tests.support.site import Site, html
from tests.support.world import World, a_page, a_world

PAGES = 30
ODD = "nul \0 here, é ü 漢字 🌾, a quote ' and a \\ backslash\ttab"


def a_site() -> Site:
    paths = [f"/p{number}.html" for number in range(1, PAGES)]
    pages = {path: a_page(path, "harvest") for path in paths}
    site = Site({"/": html("Home", "The harvest begins here.", links=paths), **pages})
    site.set("/robots.txt", "User-agent: *\nDisallow: /private\n", content_type="text/plain")
    return site


async def fill(folder: Path, site: Site) -> None:
    """`folder/rowen.db`: several generations, one of them held, a rollback, offers, sinks and the rest."""
    async with a_world(folder, site) as world:
        await _documentation(world)
        await _offers(world)
        await _odd_texts(world)
        await _others(world)
        await _removed(world)


async def _documentation(world: World) -> None:
    await world.add("docs")
    assert (await world.sync()).good
    for edition in ("second", "third"):
        world.clock.advance(3600)
        for number in range(1, 6):
            path = f"/p{number}.html"
            world.site.set(path, a_page(path, "harvest", edition))
        assert (await world.sync()).good
    await history.rollback(world.ports, await world.source())
    world.clock.advance(3600)
    for number in range(10, PAGES):
        world.site.remove(f"/p{number}.html")
    receipt = await world.sync()
    assert receipt.held_generation is not None
    for number in range(10, PAGES):
        path = f"/p{number}.html"
        world.site.set(path, a_page(path, "harvest"))


async def _offers(world: World) -> None:
    board, other = await a_board(world.store), await a_board(world.store, "other", "lever")
    await show(world.store, board, [an_offer(1, text="Ref 1: cook for us"), an_offer(5, "Bolt")])
    await show(world.store, board, [an_offer(2, text="Ref 22: Cook, for us")], at=days(1))
    await companies.project(world.ports)
    await show(world.store, board, gone=[an_offer(1)], at=days(2))
    await show(world.store, other, [an_offer(3, "Cog", website="https://cog.example")], at=days(3))
    await companies.project(world.ports)
    # They turn out to be one company.
    await show(world.store, other, [an_offer(6, "Bolt", website="https://cog.example")], at=days(4))
    await companies.project(world.ports)
    first = next(iter(await world.store.companies()))
    await world.store.set_resolution(first.id, "called", DAY)


async def _odd_texts(world: World) -> None:
    source = await a_source(world.store, "odd", "1.0")
    await a_generation(
        world.store,
        source,
        {"https://odd.example/1": f"# {ODD}\n\n{ODD}", "https://odd.example/🌾": "# Empty\n"},
    )
    lease, run = await a_run(world.store, source)
    kept = replace(
        a_draft("https://odd.example/record", "# A dataset"),
        keys=(-(2**62) + 1, 2**62),
        record=f'{{"name": "{ODD!r}"}}'.encode(),
    )
    await ingest(world.store, lease, run, await world.store.stage(lease, run, [kept], now=DAY))
    waits = a_draft("https://odd.example/waits", f"# It waits\n\n{ODD}")
    await world.store.stage(lease, run, [waits], now=DAY)
    seeded = replace(
        an_end(run),
        last_processed_date=DAY.date(),
        window=Window(since=days(-7), until=DAY),
        looked=Looked(by="same_body", others={"listing": ["https://odd.example/🌾"]}, failed=[ODD]),
    )
    await world.store.finish_run(lease, run, seeded, now=DAY)
    # An earlier name of a reference that got its number later.
    await world.store.save_aliases(lease, source.id, {"https://odd.example/1": "https://odd.example/new"})
    await world.store.release_lease(lease)


async def _others(world: World) -> None:
    store, now = world.store, world.clock.now()
    docs = await world.source()
    await store.save_sink("hook", kind="webhook", settings={"url": "https://x.example"}, cursor=Cursor(1, 3))
    await store.save_sink(
        "sheet", kind="sheets", settings={"f": [1e16, 1.5, -0.0, "\0"]}, cursor=Cursor(0, 0)
    )
    await store.add_token("reader", digest=b"\0\1" * 16, scope=Scope.READ, now=now)
    await store.request_sync(docs.id, only=["a", "b"], reason="asked", now=now)
    await store.pause_upstream(Pause(upstream="slow.example", until=now, reason="429"))
    await store.save_note("some.note", {"nested": {"b": 1, "a": [None, True, "é"]}})
    await store.save_note("null", None)
    await store.request_by_delivery("github", "1", docs.id, only=["a", "b"], reason="asked", now=now)
    await store.set_schedule(docs.id, 3600.5)
    await store.set_paused((await world.source("jobs")).id, True)
    async with run_lease(world.ports, docs) as lease:
        listing = Listing(url=f"{docs.location}objects.inv", validators=Validators('"1"'), payload={})
        names = [InventoryName("orchard.graft", "function", f"{docs.location}p1.html", "graft")]
        await store.save_inventory(lease, docs.id, listing, names)
    await store.add_shown({one.id: 9 for one in await store.documents(docs.id, limit=3)}, now=now)
    (run, *_) = await store.runs(docs.id, limit=1)
    # Workers that did as much as each other: the same row twice.
    for share in (Counters(created=2), Counters(created=2), Counters(created=3)):
        await store.save_share(run.id, share)


async def _removed(world: World) -> None:
    """The last numbers are gone with their source; they must not be given again."""
    source = await a_source(world.store, "removed")
    await a_generation(world.store, source, {"https://removed.example/": "text"})
    lease, run = await a_run(world.store, source)
    await world.store.release_lease(lease)
    await sources.remove(world.ports, source)
    assert await world.store.run(run.id) is None
