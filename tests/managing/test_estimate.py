"""What a first harvest would bring, reckoned from a few requests; nothing is stored."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rowen.engine.kind import Sample, SampledItem
from rowen.errors import ServerFailed, Unfetchable
from rowen.kinds.sampling import evenly
from rowen.managing import sources
from rowen.managing.estimate import Cost, Estimate, cost_of, reckoned
from tests.support.site import Page, Site, html
from tests.support.world import World, a_page, a_world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with Site() as site:
        async with a_world(tmp_path, site) as made:
            yield made


async def planned(world: World, name: str = "docs") -> tuple[Cost, Estimate]:
    made = await cost_of(world.ports, await world.source(name), price_per_million_tokens=20.0)
    assert made.estimate is not None
    return made, made.estimate


def sitemap(urls: list[str], *, index: bool = False) -> Page:
    outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    entries = "".join(f"<{inner}><loc>{url}</loc></{inner}>" for url in urls)
    return Page(f"<{outer}>{entries}</{outer}>", content_type="application/xml")


def many(number: int, *, linked: bool) -> dict[str, str | bytes | Page]:
    paths = [f"/p{n}.html" for n in range(1, number)]
    pages = {path: a_page(path, "oats and rye in many words " * 20) for path in paths}
    return {"/": html("Home", "Start here.", links=paths if linked else []), **pages}


async def test_a_site_with_a_sitemap_is_estimated_by_fourteen_requests(world: World) -> None:
    pages = many(300, linked=False)
    pages["/sitemap.xml"] = sitemap([world.site.url + path for path in pages])
    world.site.holds_only(pages)
    await world.add()
    rows = world.store.rows_written()
    made, estimate = await planned(world)
    assert len(world.site.requests) == estimate.requests == 14
    assert world.store.rows_written() == rows
    assert (made.items, made.new_items, made.stored) == (300, 300, 0)
    assert (estimate.sampled, estimate.tried, estimate.exact) == (12, 12, False)
    assert estimate.says == (
        "its sitemap and the pages that were read name them; lengths from 12 of them, 14 requests"
    )
    assert made.texts == estimate.passages > 0
    assert made.cost is not None and made.cost > 0


async def test_the_estimate_comes_near_what_the_harvest_brings(world: World) -> None:
    world.site.holds_only(many(60, linked=True))
    source = await world.add()
    _, estimate = await planned(world)
    receipt = await world.sync()
    stats = await world.store.stats(source.id)
    assert estimate.items == stats.documents == 60
    assert estimate.bytes == pytest.approx(receipt.counters.bytes_received, rel=0.25)
    assert estimate.passages == pytest.approx(stats.sections, rel=0.25)
    again = await cost_of(world.ports, await world.source(), price_per_million_tokens=0)
    assert (again.estimate, again.stored) == (None, 60)


async def test_without_a_sitemap_the_links_of_a_dozen_pages_are_counted(world: World) -> None:
    world.site.holds_only(many(40, linked=True))
    await world.add()
    _, estimate = await planned(world)
    assert [one.path for one in world.site.requests][:3] == ["/robots.txt", "/sitemap.xml", "/"]
    assert (len(world.site.requests), estimate.items) == (14, 40)
    assert "more may lie behind" in estimate.says


async def test_of_many_sitemaps_a_few_are_read_and_the_rest_is_reckoned(world: World) -> None:
    url = world.site.url
    pages: dict[str, str | bytes | Page] = {"/": html("Home", "Start here.")}
    for part in range(20):
        paths = [f"/{part}/p{n}.html" for n in range(5)]
        pages |= {path: a_page(path, "oats") for path in paths}
        pages[f"/map{part}.xml"] = sitemap([url + path for path in paths])
    pages["/maps.xml"] = sitemap([f"{url}/map{part}.xml" for part in range(20)], index=True)
    pages["/robots.txt"] = Page(f"Sitemap: {url}/maps.xml\n", content_type="text/plain")
    world.site.holds_only(pages)
    await world.add()
    _, estimate = await planned(world)
    assert [one.path for one in world.site.requests[1:5]] == [
        "/maps.xml",
        "/map0.xml",
        "/map6.xml",
        "/map13.xml",
    ]
    assert (estimate.items, estimate.requests) == (101, 17)
    assert estimate.says.startswith("reckoned from 4 of 21 sitemaps; ")


async def test_what_the_settings_leave_out_does_not_count(world: World) -> None:
    pages = many(50, linked=True)
    pages["/robots.txt"] = Page("User-agent: *\nDisallow: /p1\n", content_type="text/plain")
    world.site.holds_only(pages)
    await world.add("few", exclude="/p2*", max_pages=20)
    await world.add("more", exclude="/p2*")
    assert (await planned(world, "more"))[1].items == 50 - 11 - 11
    assert not any(one.path.startswith(("/p1", "/p2")) for one in world.site.requests)
    assert (await planned(world, "few"))[1].items == 20


async def test_addresses_that_are_no_pages_lower_the_estimate(world: World) -> None:
    pages = many(41, linked=True)
    pages |= {
        path: Page("PK", content_type="application/zip") for path in list(pages) if path.endswith("5.html")
    }
    world.site.holds_only(pages)
    await world.add()
    _, estimate = await planned(world)
    assert estimate.sampled < estimate.tried == 12
    assert estimate.items == round(41 * estimate.sampled / 12)
    assert f"lengths from {estimate.sampled} of 12 that were tried" in estimate.says


async def test_a_site_that_asks_for_long_pauses_is_asked_little(world: World) -> None:
    pages = many(40, linked=True)
    pages["/robots.txt"] = Page("User-agent: *\nCrawl-delay: 10\n", content_type="text/plain")
    world.site.holds_only(pages)
    await world.add()
    _, estimate = await planned(world)
    assert estimate.requests == len(world.site.requests) == 2 + 3


async def test_a_site_that_fails_is_left_alone_after_three_pages(world: World) -> None:
    pages = many(40, linked=True)
    pages |= {path: Page(status=404) for path in pages if path != "/"}
    world.site.holds_only(pages)
    await world.add()
    _, estimate = await planned(world)
    assert (estimate.sampled, estimate.tried, estimate.requests) == (1, 4, 6)


async def test_a_site_that_cannot_be_asked_says_why(world: World) -> None:
    world.site.holds_only(many(3, linked=True))
    await world.add()
    source = await world.source()
    world.site.set("/robots.txt", "User-agent: *\nDisallow: /\n", content_type="text/plain")
    with pytest.raises(Unfetchable, match=r"robots\.txt forbids"):
        await cost_of(world.ports, source, price_per_million_tokens=0)
    world.site.set("/robots.txt", status=503)
    with pytest.raises(ServerFailed):
        await cost_of(world.ports, source, price_per_million_tokens=0)
    world.site.remove("/robots.txt")
    world.site.set("/", status=404)
    with pytest.raises(Unfetchable, match="404 from the server"):
        await cost_of(world.ports, source, price_per_million_tokens=0)


async def test_a_folder_is_counted_and_a_dozen_of_its_files_read(world: World, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number:02}.md").write_text(f"# Note {number}\n\n{'oats and rye ' * 30}\n")
    (folder / "zz.dat").write_bytes(b"\0\1\2")
    await sources.add(world.ports, str(folder), name="notes")
    _, estimate = await planned(world, "notes")
    await world.sync("notes")
    stats = await world.store.stats((await world.source("notes")).id)
    assert (estimate.items, estimate.exact, estimate.sampled, estimate.requests) == (41, True, 12, 0)
    assert estimate.bytes == sum(file.stat().st_size for file in folder.iterdir())
    assert estimate.passages == pytest.approx(stats.sections, rel=0.1)
    assert world.site.requests == []


async def test_the_markdown_that_a_site_lists_is_sampled_as_it_would_be_read(world: World) -> None:
    lines = [f"- [Page {n}](/m{n}.md): about {n}" for n in range(30)]
    markdown = {f"/m{n}.md": Page(f"# Page {n}\n\nOats.", content_type="text/markdown") for n in range(30)}
    listing = Page("\n".join(["# Site", "", *lines, "- [Old](/old.html)"]), content_type="text/plain")
    world.site.holds_only({"/llms.txt": listing, **markdown})
    await world.add("listed", "/llms.txt")
    _, estimate = await planned(world, "listed")
    assert (estimate.items, estimate.requests) == (31, 13)
    whole = "\n\n".join(f"# Part {n}\n\nText of part {n}." for n in range(5))
    world.site.set("/llms-full.txt", whole, content_type="text/plain")
    await world.add("whole", "/llms-full.txt")
    _, estimate = await planned(world, "whole")
    assert (estimate.items, estimate.exact, estimate.passages, estimate.requests) == (5, True, 5, 1)


def test_a_sample_without_anything_readable_promises_nothing() -> None:
    nothing = Sample(items=8, exact=True, whence="counted", read=(), tried=3, total_bytes=900)
    assert (reckoned(nothing).passages, reckoned(nothing).bytes, reckoned(nothing).items) == (0, 900, 8)
    unknown = Sample(items=8, exact=False, whence="linked", read=(), tried=3)
    assert (reckoned(unknown).items, reckoned(unknown).passages) == (0, 0)
    one = SampledItem(body_bytes=100, passages=2, chars=80)
    half = Sample(items=8, exact=False, whence="linked", read=(one,), tried=2)
    assert (reckoned(half).items, reckoned(half).passages, reckoned(half).bytes) == (4, 8, 400)


def test_a_sample_is_spread_over_the_whole() -> None:
    assert evenly(range(100), 4) == [0, 25, 50, 75]
    assert evenly([1, 2], 4) == [1, 2]
    assert evenly([], 4) == evenly([1, 2], 0) == []
