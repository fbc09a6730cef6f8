"""Sites whose pages share a part that nothing marks as navigation: it is learnt, and costs nothing after."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from rowen.kinds.crawl.judging import rules as boilerplate
from rowen.kinds.crawl.judging import wrapping
from rowen.kinds.crawl.judging.rules import MIN_PAGES
from rowen.ports.store.documents import Living
from rowen.ports.store.store import Store
from rowen.reading import history
from tests.contract.conftest import STORES
from tests.support.site import Site
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

PAGES = [f"/p{number}.html" for number in range(MIN_PAGES + 4)]
OLD = '<ul><li><a href="/">Start of barley</a></li><li><a href="/p1.html">All orchards</a></li></ul>'
NEW = '<ul><li><a href="/">Start of spelt</a></li><li><a href="/p2.html">All gardens</a></li></ul>'
NOTE = "<p>A word of caution that only a few pages have.</p>"


def a_page(name: str, sidebar: str = OLD, own: str = "") -> str:
    return (
        f"<!DOCTYPE html><title>{name}</title><body><div><h1>{name}</h1><div>{sidebar}</div>"
        f"<p>What there is to know about {name.strip('/')}.</p>{own}</div></body>"
    )


def fill(site: Site, sidebar: str = OLD, **own: str) -> None:
    links = "".join(f'<a href="{path}">{path}</a> ' for path in PAGES)
    site.set("/", a_page("Home", sidebar, f"<p>{links}</p>"))
    for path in PAGES:
        site.set(path, a_page(path, sidebar, own.get(path.strip("/").partition(".")[0], "")))


@pytest.fixture
def site() -> Site:
    site = Site()
    fill(site, p3=NOTE, p4=NOTE)
    return site


@pytest.fixture(params=sorted(STORES))
async def world(request: pytest.FixtureRequest, tmp_path: Path, site: Site) -> AsyncIterator[World]:
    with site, contextmanager(STORES[request.param])(request) as store:
        async with a_world(tmp_path, site, store=store) as made:
            await made.add()
            yield made


async def texts(store: Store) -> dict[str, str]:
    (source,) = await store.sources()
    return {one.draft.reference: one.draft.text for one in await store.living(source.id, limit=1000)}


async def test_what_most_pages_share_is_in_no_text_after_the_first_harvest(world: World) -> None:
    receipt = await world.sync()
    assert (receipt.counters.created, receipt.counters.updated, receipt.generation) == (len(PAGES) + 1, 0, 1)
    found = await texts(world.store)
    assert len(found) == len(PAGES) + 1
    assert not any("barley" in text for text in found.values())
    assert all("What there is to know" in text for text in found.values())
    assert sum("word of caution" in text for text in found.values()) == 2
    assert await world.found("barley") == []


async def test_running_again_changes_nothing_and_asks_nothing_more(world: World) -> None:
    await world.sync()
    before = await texts(world.store)
    receipt = await world.sync()
    counters = receipt.counters
    assert (counters.not_modified, counters.updated, counters.embeddings_computed) == (len(PAGES) + 1, 0, 0)
    full = (await world.sync(full=True)).counters
    assert (full.unchanged, full.updated, full.embeddings_computed) == (len(PAGES) + 1, 0, 0)
    assert receipt.generation == 1
    assert await texts(world.store) == before


async def test_a_changed_sidebar_costs_no_new_content_and_no_embedding(world: World, site: Site) -> None:
    await world.sync()
    before = await texts(world.store)
    fill(site, NEW, p3=NOTE, p4=NOTE)
    receipt = await world.sync()
    counters = receipt.counters
    assert (counters.same_content, counters.updated) == (len(PAGES) + 1, 0)
    assert (counters.embeddings_computed, counters.passages_new, receipt.generation) == (0, 0, 1)
    assert await texts(world.store) == before
    # It is remembered: a page that changes later is stored without it.
    site.set("/p5.html", a_page("/p5.html", NEW, "<p>Turnips are new here.</p>"))
    assert (await world.sync()).counters.updated == 1
    assert await world.found("spelt") == []
    assert await world.found("turnips") == ["/p5.html"]


async def test_a_page_that_changes_or_is_new_beside_a_changed_sidebar_is_stored_without_it(
    world: World, site: Site
) -> None:
    await world.sync()
    fill(site, NEW, p3=NOTE, p4=NOTE, p5='<p>Turnips, see <a href="/new.html">new</a>.</p>')
    site.set("/new.html", a_page("/new.html", NEW))
    receipt = await world.sync()
    assert (receipt.counters.updated, receipt.counters.created) == (1, 1)
    assert await world.found("turnips") == ["/p5.html"]
    assert "/new.html" in await world.pages()
    assert not any("spelt" in text for text in (await texts(world.store)).values())


async def test_a_text_that_many_changed_pages_share_and_most_pages_do_not_stays(
    world: World, site: Site
) -> None:
    await world.sync()
    for path in PAGES[:10]:
        site.set(path, a_page(path, OLD, "<p>The mill is closed until the spring.</p>"))
    assert (await world.sync()).counters.updated == 10
    assert len(await world.found("mill")) == 10


async def test_the_order_of_pages_does_not_matter(tmp_path: Path) -> None:
    found = []
    for number, paths in enumerate((PAGES, PAGES[::-1])):
        site = Site()
        fill(site, p3=NOTE)
        links = "".join(f'<a href="{path}">{path}</a> ' for path in paths)
        site.set("/", a_page("Home", OLD, f"<p>{links}</p>"))
        folder = tmp_path / str(number)
        folder.mkdir()
        with site:
            async with a_world(folder, site) as world:
                await world.add()
                await world.sync()
                all_texts = await texts(world.store)
                found.append({url.removeprefix(site.url): text for url, text in all_texts.items()})
                del found[-1]["/"]
    strip = [{path: text.replace("http://", "") for path, text in one.items()} for one in found]
    assert strip[0] == strip[1]


async def test_of_a_site_whose_pages_share_nothing_less_than_half_is_looked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[str] = []
    keys_of = boilerplate.keys_of

    def noticed(text: str) -> set[str]:
        looked_at.append(text)
        return keys_of(text)

    monkeypatch.setattr(boilerplate, "keys_of", noticed)
    monkeypatch.setattr(wrapping, "READ_AT_ONCE", 2)
    paths = [f"/p{number}.html" for number in range(2 * MIN_PAGES)]
    with Site() as site:
        site.set("/", a_page("Home", "", "".join(f'<a href="{path}">{path}</a> ' for path in paths)))
        for path in paths:
            site.set(path, a_page(path, "", f"<p>Only {path} has this one sentence of its own.</p>"))
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            assert 0 < len(looked_at) <= 0.5 * len(paths)
            looked_at.clear()
            site.set(paths[3], a_page(paths[3], "", "<p>Another sentence that it has to itself.</p>"))
            await world.sync()
            assert looked_at == [], "not until the site has grown"


async def test_a_small_site_is_left_alone(tmp_path: Path) -> None:
    few = Site({f"/p{number}.html": a_page(f"P{number}") for number in range(MIN_PAGES - 2)})
    few.set("/", a_page("Home", OLD, "".join(f'<p><a href="{path}">{path}</a></p>' for path in few.pages)))
    with few:
        async with a_world(tmp_path, few) as world:
            await world.add()
            await world.sync()
            assert len(await world.found("barley")) == MIN_PAGES - 1


async def test_a_site_that_grows_is_looked_at_again(tmp_path: Path) -> None:
    site = Site()
    few = PAGES[: MIN_PAGES - 2]
    with site:
        async with a_world(tmp_path, site) as world:
            for paths in (few, PAGES):
                links = "".join(f'<a href="{path}">{path}</a> ' for path in paths)
                site.set("/", a_page("Home", OLD, f"<p>{links}</p>"))
                for path in paths:
                    site.set(path, a_page(path))
                if paths is few:
                    await world.add()
                receipt = await world.sync()
            assert receipt.counters.created == len(PAGES) - len(few)
            assert receipt.counters.updated == len(few) + 1
            assert receipt.counters.unchanged == 0
            assert await world.found("barley") == []
            reasons = {item.reason for item in await world.store.run_items(receipt.run_id)}
            assert "boilerplate" in reasons


async def test_a_run_that_breaks_while_it_takes_away_what_it_learnt_is_made_good_by_the_next(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wrapping, "BATCH", 8)
    living, batches = world.store.living, 0

    async def breaking(
        source_id: int, *, after: int = 0, among: Sequence[int] | None = None, limit: int
    ) -> list[Living]:
        nonlocal batches
        batches += among is not None
        if batches == 2:
            raise ZeroDivisionError
        return await living(source_id, after=after, among=among, limit=limit)

    with monkeypatch.context() as patched, pytest.raises(ZeroDivisionError):
        patched.setattr(world.store, "living", breaking)
        await world.sync()
    receipt = await world.sync()
    assert (receipt.counters.created, receipt.counters.updated) == (len(PAGES) + 1, 0)
    found = await texts(world.store)
    assert len(found) == len(PAGES) + 1
    assert not any("barley" in text for text in found.values())
    again = await world.sync()
    assert (again.counters.unchanged, again.counters.updated) == (len(PAGES) + 1, 0)


async def test_after_a_rollback_the_next_run_takes_it_away_again(world: World, site: Site) -> None:
    many, few = dict(site.pages), PAGES[: MIN_PAGES - 2]
    links = "".join(f'<a href="{path}">{path}</a> ' for path in few)
    site.set("/", a_page("Home", OLD, f"<p>{links}</p>"))
    await world.sync()
    assert len(await world.found("barley")) == len(few) + 1
    site.holds_only(many)
    await world.sync()
    assert await world.found("barley") == []
    await history.rollback(world.ports, await world.source())
    assert len(await world.found("barley")) == len(few) + 1
    await world.sync()
    assert await world.found("barley") == []
