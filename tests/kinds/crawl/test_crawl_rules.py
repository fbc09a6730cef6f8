"""The rules of a crawl: limits, redirects, canonical links, robots, sitemaps, scope."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rowen.core.run import RunStatus, StopReason
from rowen.fetching import sitemap
from tests.support.site import Page, Site
from tests.support.world import a_page, a_world

pytestmark = pytest.mark.anyio

Pages = dict[str, str | bytes | Page]


def linked(pages: dict[str, list[str]]) -> Pages:
    """A site by its links alone."""
    return {path: a_page(path, path.strip("/"), links=links) for path, links in pages.items()}


async def test_depth_is_the_number_of_links_from_the_root(tmp_path: Path) -> None:
    chain: dict[str, list[str]] = {"/": ["/1"], "/1": ["/2"], "/2": ["/3"], "/3": []}
    with Site(linked(chain)) as site:
        async with a_world(tmp_path, site) as world:
            await world.add(max_depth=2)
            await world.sync()
            assert await world.pages() == {"/", "/1", "/2"}
            assert not site.asked_for("/3")


async def test_a_shorter_way_found_later_brings_pages_within_reach(tmp_path: Path) -> None:
    pages: dict[str, list[str]] = {"/": ["/1"], "/1": ["/2"], "/2": ["/3"], "/3": ["/4"], "/4": []}
    with Site(linked(pages)) as site:
        async with a_world(tmp_path, site) as world:
            await world.add(max_depth=3)
            await world.sync()
            assert "/4" not in await world.pages()
            site.set("/", a_page("/", "root", links=["/1", "/3"]))
            await world.sync()
            assert "/4" in await world.pages()


async def test_max_pages_bounds_the_first_harvest_and_says_so(tmp_path: Path) -> None:
    star = {"/": [f"/{n}" for n in range(9)]} | {f"/{n}": [] for n in range(9)}
    with Site(linked(star)) as site:
        async with a_world(tmp_path, site) as world:
            await world.add(max_pages=4)
            receipt = await world.sync()
            assert len(await world.pages()) == 4
            assert receipt.stop_reason == StopReason.MAX_PAGES
            again = await world.sync()
            assert (again.counters.created, again.counters.deleted) == (0, 0)
            assert len(await world.pages()) == 4


@pytest.mark.parametrize("nearer", [True, False])
async def test_at_the_limit_a_new_page_gets_in_when_it_is_nearer_than_another(
    tmp_path: Path, nearer: bool
) -> None:
    site_of: dict[str, list[str]] = {"/": ["/0", "/1"], "/0": ["/0/a"], "/1": [], "/0/a": ["/0/a/b"]}
    with Site(linked(site_of)) as site:
        async with a_world(tmp_path, site) as world:
            await world.add(max_pages=4)
            await world.sync()
            assert await world.pages() == {"/", "/0", "/1", "/0/a"}
            parent = "/" if nearer else "/0/a"
            site.set("/new", a_page("/new", "buckwheat"))
            site.set(parent, a_page(parent, "edited", links=[*site_of[parent], "/new"]))
            receipt = await world.sync()
            assert len(await world.pages()) == 4, "the limit holds"
            assert await world.pages() == {"/", "/0", "/1", "/new" if nearer else "/0/a"}
            assert receipt.counters.created == receipt.counters.deleted == nearer
            assert receipt.stop_reason == StopReason.MAX_PAGES
            again = await world.sync()
            assert (again.counters.created, again.counters.deleted) == (0, 0), "nothing goes round in circles"


async def test_dead_links_do_not_eat_the_page_budget(tmp_path: Path) -> None:
    pages = linked({"/": ["/dead1", "/dead2", "/a", "/b"], "/a": [], "/b": []})
    with Site(pages) as site:
        async with a_world(tmp_path, site) as world:
            await world.add(max_pages=3)
            await world.sync()
            assert await world.pages() == {"/", "/a", "/b"}


async def test_the_final_address_of_a_redirect_is_the_reference(tmp_path: Path) -> None:
    pages: Pages = {**linked({"/": ["/old"], "/new": []}), "/old": Page(redirect="/new", status=301)}
    with Site(pages) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            assert await world.pages() == {"/", "/new"}
            again = await world.sync()
            assert (again.counters.deleted, again.counters.not_modified) == (0, 2)


async def test_a_known_page_that_moves_dies_where_it_was_and_costs_no_embedding(tmp_path: Path) -> None:
    with Site(linked({"/": ["/old"], "/old": []})) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            site.set("/new", site.pages["/old"].body)
            site.set("/old", redirect="/new", status=302)
            receipt = await world.sync()
            assert await world.pages() == {"/", "/new"}
            assert (receipt.counters.created, receipt.counters.deleted) == (1, 1)
            assert receipt.counters.embeddings_computed == 0


async def test_a_whole_site_that_moves_is_not_held_back(tmp_path: Path) -> None:
    names = [f"/{n}" for n in range(30)]
    with Site(linked({"/": names, **{name: [] for name in names}})) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            for name in names:
                site.set(f"/v2{name}", site.pages[name].body)
                site.set(name, redirect=f"/v2{name}", status=301)
            assert (await world.sync()).status is RunStatus.COMPLETED
            assert await world.pages() == {"/", *(f"/v2{name}" for name in names)}


async def test_a_redirect_off_the_site_is_not_followed(tmp_path: Path) -> None:
    with Site(linked({"/": []})) as elsewhere, Site(linked({"/": ["/a", "/b"], "/a": [], "/b": []})) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            site.set("/a", redirect=elsewhere.url + "/", status=302)
            receipt = await world.sync()
            assert await world.pages() == {"/", "/b"}
            assert receipt.counters.deleted == 1
            assert elsewhere.requests == []


async def test_a_site_that_sends_everybody_to_a_login_page_elsewhere_loses_nothing(tmp_path: Path) -> None:
    with Site(linked({"/": []})) as elsewhere, Site(linked({"/": ["/a", "/b"], "/a": [], "/b": []})) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            for path in ("/", "/a", "/b"):
                site.set(path, redirect=elsewhere.url + "/login", status=302)
            receipt = await world.sync()
            assert (receipt.status, receipt.counters.deleted) == (RunStatus.FAILED, 0)
            assert f"redirects to the login page `{elsewhere.url}/login`" in (receipt.error or "")
            assert await world.pages() == {"/", "/a", "/b"}


async def test_pages_that_lead_to_the_login_page_of_their_own_site_keep_their_text(tmp_path: Path) -> None:
    with Site(linked({"/docs/": ["/docs/a", "/docs/b"], "/docs/a": [], "/docs/b": []})) as site:
        async with a_world(tmp_path, site) as world:
            await world.add("docs", "/docs/")
            await world.sync("docs")
            site.set("/docs/a", redirect="/login?next=/docs/a", status=302)
            receipt = await world.sync("docs")
            assert (receipt.status, receipt.counters.deleted) == (RunStatus.PARTIAL, 0)
            assert await world.pages("docs") == {"/docs/", "/docs/a", "/docs/b"}
            site.set("/docs/", redirect="/login", status=302)
            receipt = await world.sync("docs")
            assert f"redirects to the login page `{site.url}/login`" in (receipt.error or "")
            assert "`bearer`" in (receipt.hint or "")


async def test_a_redirect_loop_ends(tmp_path: Path) -> None:
    pages: Pages = {
        **linked({"/": ["/x", "/self"]}),
        "/x": Page(redirect="/y", status=302),
        "/y": Page(redirect="/x", status=302),
        "/self": Page(redirect="/self", status=302),
    }
    with Site(pages) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            assert await world.pages() == {"/"}
            assert len(site.asked_for("/x")) == len(site.asked_for("/y")) == 1


def with_canonical(body: str, href: str) -> str:
    return body.replace("</head>", f'<link rel="canonical" href="{href}"></head>')


async def test_spellings_of_one_page_become_one_document_by_its_canonical_link(tmp_path: Path) -> None:
    page = with_canonical(a_page("/guide/", "guide"), "/guide/")
    links = ["/guide/index.html", "/guide/?tab=2", "/guide/"]
    with Site({"/": a_page("/", "root", links=links), "/guide/": page, "/guide/index.html": page}) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            assert await world.pages() == {"/", "/guide/"}
            again = await world.sync()
            assert again.counters.not_modified == 2
            assert not site.asked_for("/guide/index.html"), "the other names are remembered"
            assert again.counters.deleted == 0


async def test_a_canonical_link_that_names_the_root_for_every_page_is_not_believed(tmp_path: Path) -> None:
    pages: Pages = {
        path: with_canonical(str(body), "/")
        for path, body in linked({"/": ["/a", "/b"], "/a": [], "/b": []}).items()
    }
    with Site(pages) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            assert await world.pages() == {"/", "/a", "/b"}


async def test_fragments_and_tracking_parameters_are_one_page(tmp_path: Path) -> None:
    links = ["/a#one", "/a#two", "/a?utm_source=x", "/a"]
    with Site({"/": a_page("/", "root", links=links), "/a": a_page("/a", "a")}) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            assert await world.pages() == {"/", "/a"}
            assert len(site.asked_for("/a")) == 1


async def test_robots_txt_is_kept_to(tmp_path: Path) -> None:
    pages: Pages = {
        **linked({"/": ["/open", "/closed/x"], "/open": [], "/closed/x": []}),
        "/robots.txt": Page("User-agent: *\nDisallow: /closed/\nCrawl-delay: 2\n", content_type="text/plain"),
    }
    with Site(pages) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            receipt = await world.sync()
            assert await world.pages() == {"/", "/open"}
            assert receipt.counters.ignored["robots"] == 1
            assert 2.0 in [round(wait, 1) for wait in world.clock.waits]


async def test_robots_txt_can_be_switched_off(tmp_path: Path) -> None:
    pages: Pages = {
        **linked({"/": ["/closed"], "/closed": []}),
        "/robots.txt": Page("User-agent: *\nDisallow: /closed\n", content_type="text/plain"),
    }
    with Site(pages) as site:
        async with a_world(tmp_path, site) as world:
            await world.add(robots="false")
            await world.sync()
            assert "/closed" in await world.pages()


async def test_a_robots_txt_that_fails_stops_the_first_harvest_and_later_counts_as_it_was(
    tmp_path: Path,
) -> None:
    with Site(linked({"/": ["/closed"], "/closed": []})) as site:
        site.set("/robots.txt", "oops", status=503)
        async with a_world(tmp_path, site) as world:
            await world.add()
            assert (await world.sync()).status is RunStatus.FAILED
            assert site.asked_for("/") == []
            site.set("/robots.txt", "User-agent: *\nDisallow: /closed\n", content_type="text/plain")
            await world.sync()
            site.set("/robots.txt", "oops", status=503)
            await world.sync()
            assert await world.pages() == {"/"}
            assert site.asked_for("/closed") == []


def a_sitemap(*paths: str) -> Page:
    urls = "".join(f"<url><loc>{path}</loc></url>" for path in paths)
    body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
    return Page(body, content_type="application/xml")


async def test_a_page_in_the_sitemap_is_reachable_without_a_link(tmp_path: Path) -> None:
    with Site(linked({"/": [], "/island": []})) as site:
        site.pages["/sitemap.xml"] = a_sitemap(f"{site.url}/island")
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            assert await world.pages() == {"/", "/island"}
            again = await world.sync()
            assert again.counters.not_modified == 2
            assert [asked.status for asked in site.asked_for("/sitemap.xml")] == [304]
            site.pages["/sitemap.xml"] = a_sitemap(f"{site.url}/")
            await world.sync()
            assert await world.pages() == {"/"}


async def test_a_sitemap_that_fails_orphans_nothing(tmp_path: Path) -> None:
    with Site(linked({"/": [], "/island": []})) as site:
        site.pages["/sitemap.xml"] = a_sitemap(f"{site.url}/island")
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            site.set("/sitemap.xml", "oops", status=500)
            await world.sync()
            assert await world.pages() == {"/", "/island"}


async def test_a_sitemap_index_in_robots_txt_is_followed(tmp_path: Path) -> None:
    with Site(linked({"/": [], "/deep": []})) as site:
        site.set("/robots.txt", f"Sitemap: {site.url}/maps/index.xml\n", content_type="text/plain")
        index = f"<sitemapindex><sitemap><loc>{site.url}/maps/1.xml</loc></sitemap></sitemapindex>"
        site.set("/maps/index.xml", index, content_type="application/xml")
        site.pages["/maps/1.xml"] = a_sitemap(f"{site.url}/deep")
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            assert await world.pages() == {"/", "/deep"}


async def test_a_bad_file_in_an_index_of_sitemaps_is_said(tmp_path: Path) -> None:
    with Site(linked({"/": [], "/deep": []})) as site:
        names = ("good", "bad", "page", "elsewhere")
        files = {name: f"{site.url}/{name}.xml" for name in names} | {"elsewhere": "http://other.test/s.xml"}
        entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in files.values())
        site.set("/sitemap.xml", f"<sitemapindex>{entries}</sitemapindex>", content_type="application/xml")
        site.pages["/good.xml"] = a_sitemap(f"{site.url}/deep")
        site.set("/bad.xml", "<urlset><url>", content_type="application/xml")
        site.set("/page.xml", a_page("/page.xml", "no sitemap"))
        async with a_world(tmp_path, site) as world:
            await world.add()
            for _ in range(2):
                receipt = await world.sync()
                assert await world.pages() == {"/", "/deep"}
                assert receipt.status is RunStatus.COMPLETED
                assert receipt.counters.left_out == {"sitemap_unread": 2}
                assert receipt.counters.ignored["sitemap_of_another_host"] == 1
                assert f"sitemap `{files['bad']}`: line 1" in (receipt.hint or "")


async def test_a_sitemap_over_its_limits_gives_its_first_part_and_says_what_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sitemap, "MAX_URLS", 3)
    pages = {f"/{n}": list[str]() for n in range(8)}
    with Site(linked({"/": [], **pages})) as site:
        entries = "".join(f"<sitemap><loc>/{n}.xml</loc></sitemap>" for n in range(4))
        site.set("/sitemap.xml", f"<sitemapindex>{entries}</sitemapindex>", content_type="application/xml")
        for n in range(4):
            site.pages[f"/{n}.xml"] = a_sitemap(*(f"{site.url}/{m}" for m in (2 * n, 2 * n + 1)))
        async with a_world(tmp_path, site) as world:
            await world.add(max_pages=3)
            for _ in range(2):
                receipt = await world.sync()
                assert await world.pages() == {"/", "/0", "/1"}
                left_out = {"sitemap_unread": 1, "sitemap_too_long": 2, "over_max_pages": 1}
                assert receipt.counters.left_out == left_out


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {"/docs/", "/docs/a", "/docs/api/b"}),
        ({"exclude": "/docs/api/**"}, {"/docs/", "/docs/a"}),
        ({"include": "/docs/api/**"}, {"/docs/", "/docs/api/b"}),
        ({"scope": "host"}, {"/docs/", "/docs/a", "/docs/api/b", "/blog"}),
    ],
)
async def test_scope_and_globs_decide_what_belongs_to_a_source(
    tmp_path: Path, settings: dict[str, Any], expected: set[str]
) -> None:
    pages = linked(
        {
            "/docs/": ["/docs/a", "/docs/api/b", "/blog", "/docs/logo.png"],
            "/docs/a": [],
            "/docs/api/b": [],
            "/blog": [],
        }
    )
    with Site(pages) as site:
        async with a_world(tmp_path, site) as world:
            await world.add(path="/docs/", **settings)
            await world.sync()
            assert await world.pages() == expected
            assert not site.asked_for("/docs/logo.png")


async def test_links_to_private_addresses_other_than_the_typed_one_are_refused(tmp_path: Path) -> None:
    with Site(linked({"/": []})) as secret, Site() as site:
        site.set("/", a_page("/", "root", links=[secret.url + "/", "/hop"]))
        site.set("/hop", redirect=secret.url + "/", status=302)
        async with a_world(tmp_path, site) as world:
            await world.add(scope="domain")
            await world.sync()
            assert secret.requests == []
            assert await world.pages() == {"/"}


async def test_a_429_with_retry_after_pauses_and_goes_on(tmp_path: Path) -> None:
    with Site(linked({"/": ["/a"]})) as site:
        site.set("/a", "slow down", status=429, headers={"Retry-After": "7"})
        async with a_world(tmp_path, site) as world:
            await world.add()
            receipt = await world.sync()
            assert receipt.stop_reason == StopReason.RATE_LIMITED
            assert max(world.clock.waits) >= 7
            assert await world.pages() == {"/"}


async def test_a_429_that_asks_for_hours_ends_the_run_at_once_and_deletes_nothing(tmp_path: Path) -> None:
    names = [f"/{n}" for n in range(5)]
    with Site(linked({"/": names, **{name: [] for name in names}})) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            site.set("/", a_page("/", "changed", links=[]))
            site.set("/1", "no", status=429, headers={"Retry-After": "7200"})
            receipt = await world.sync()
            assert receipt.stop_reason == StopReason.RATE_LIMITED
            assert receipt.counters.deleted == 0
            assert len(await world.pages()) == 6


async def test_transient_failures_are_retried(tmp_path: Path) -> None:
    with Site(linked({"/": ["/a"]})) as site:
        site.set("/a", a_page("/a", "patience"), fail_times=3)
        async with a_world(tmp_path, site) as world:
            await world.add()
            receipt = await world.sync()
            assert (receipt.counters.retries, receipt.counters.failed) == (3, 0)
            assert await world.found("patience") == ["/a"]


async def test_a_cut_connection_fails_one_page_alone(tmp_path: Path) -> None:
    with Site(linked({"/": ["/a", "/b"], "/b": []})) as site:
        site.set("/a", reset=True)
        async with a_world(tmp_path, site) as world:
            await world.add()
            receipt = await world.sync()
            assert (receipt.status, receipt.counters.failed) == (RunStatus.PARTIAL, 1)
            assert await world.pages() == {"/", "/b"}


async def test_a_body_over_the_limit_fails_one_page_alone(tmp_path: Path) -> None:
    with Site(linked({"/": ["/big", "/b"], "/b": []})) as site:
        site.set("/big", b"<p>" + b"x" * 10_000_001)
        async with a_world(tmp_path, site) as world:
            await world.add()
            receipt = await world.sync()
            assert receipt.counters.failed == 1
            items = await world.store.run_items(receipt.run_id)
            (item,) = [item for item in items if item.reason == "body_too_large"]
            assert "larger than 10000000 bytes (`fetch.max_body_bytes`)" in (item.detail or "")
            assert await world.pages() == {"/", "/b"}


async def test_what_is_no_document_is_counted_and_not_stored(tmp_path: Path) -> None:
    with Site(linked({"/": ["/data"]})) as site:
        site.set("/data", b"\x00\x01", content_type="application/octet-stream")
        async with a_world(tmp_path, site) as world:
            await world.add()
            receipt = await world.sync()
            assert receipt.counters.ignored["unsupported_type"] == 1
            assert await world.pages() == {"/"}


async def test_markdown_and_plain_text_are_documents_too(tmp_path: Path) -> None:
    with Site(linked({"/": ["/notes.md", "/readme.txt"]})) as site:
        site.set("/notes.md", "# Notes\n\nAbout [millet](/millet.md).\n", content_type="text/markdown")
        site.set("/millet.md", "# Millet\n\nSmall seeds.\n", content_type="text/markdown")
        site.set("/readme.txt", "Plain sorghum", content_type="text/plain")
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            assert await world.pages() == {"/", "/notes.md", "/readme.txt", "/millet.md"}
            assert await world.found("sorghum") == ["/readme.txt"]


async def test_a_page_that_changes_while_its_last_link_goes_is_dropped_all_the_same(tmp_path: Path) -> None:
    with Site(linked({"/": ["/a"], "/a": []})) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            site.set("/a", a_page("/a", "changed"))
            site.set("/", a_page("/", "root", links=[]))
            receipt = await world.sync()
            assert receipt.counters.deleted == 1
            assert await world.pages() == {"/"}
            assert await world.found("changed") == []


async def test_a_page_with_too_many_links_is_taken_in_with_the_first_of_them(tmp_path: Path) -> None:
    links = "".join(f'<a href="{n}"></a>' for n in range(12_000))
    with Site(linked({})) as site:
        site.set("/", f"<main><h1>Barley</h1><p>{links}</p></main>")
        async with a_world(tmp_path, site) as world:
            await world.add(max_pages=1)
            for _ in range(2):
                receipt = await world.sync()
                assert (receipt.status, receipt.counters.failed) == (RunStatus.COMPLETED, 0)
                assert receipt.counters.left_out == {"over_max_pages": 10_000, "too_many_links": 2_000}


async def test_a_canonical_page_and_new_pages_stay_within_the_limit_together(tmp_path: Path) -> None:
    with Site(linked({"/": ["/b", "/z"], "/b": [], "/z": []})) as site:
        async with a_world(tmp_path, site) as world:
            await world.add(max_pages=3)
            await world.sync()
            site.set("/", a_page("/", "root", links=["/a", "/b", "/z"]))
            site.set("/a", a_page("/a", "new"))
            for path in ("/z", "/z/"):
                site.set(path, with_canonical(a_page("/z", "spelt"), "/z/"))
            for _ in range(3):
                await world.sync()
                assert len(await world.pages()) == 3
            assert await world.pages() == {"/", "/a", "/b"}
