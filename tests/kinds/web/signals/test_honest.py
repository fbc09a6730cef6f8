"""Sites whose sitemaps keep their word: pages are not asked for, and nothing is missed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from rowen.core.document import Converted
from rowen.core.freshness.claims import Signal, Standing
from rowen.core.run import Run, RunStatus
from rowen.engine.leases import run_lease
from rowen.reading import history
from tests.support.signals import OLD, SignalSite, a_signal_site
from tests.support.sizes import in_torture
from tests.support.world import InThisProcess

pytestmark = pytest.mark.anyio

PAGES = 60


def receipt_at(run: Run | None) -> datetime:
    assert run is not None
    return run.started_at


async def a_proven(site: SignalSite) -> None:
    for _ in range(3):
        receipt = await site.sync()
        assert receipt.counters.not_asked == 0, "until it is proven, everything is asked for"
    assert (await site.record(Signal.LASTMOD)).standing is Standing.TRUSTED


@pytest.mark.parametrize("pages", [300, *in_torture(10_000)])
async def test_an_honest_site_is_refreshed_with_under_200_requests(tmp_path: Path, pages: int) -> None:
    async with a_signal_site(tmp_path, pages, lastmod=OLD) as site:
        await a_proven(site)
        for _ in range(3):
            rows = site.world.store.rows_written()
            receipt = await site.sync()
            assert receipt.counters.requests == len(site.site.requests) < 200
            assert receipt.counters.unchanged == pages
            assert receipt.counters.not_asked > pages - 200
            assert site.world.store.rows_written() - rows <= 12, "the same for 300 pages and for 10,000"
            assert receipt.counters.parses == 0
        asked = {site.site.url + one.path for one in site.site.requests}
        some = [site.site.url + path for path in site.paths[:300]]
        source = await site.world.source()
        for one in await site.world.store.documents(source.id, references=some):
            assert one.verified_by == ("not_modified" if one.reference in asked else "listing")
            assert one.verified_at == receipt_at(await site.world.store.run(receipt.run_id))
        word = site.edit("/p77", lastmod="2023-12-24")
        await site.sync()
        assert await site.world.found(word) == ["/p77"], "what the sitemap tells is asked for"


@pytest.mark.parametrize(
    ("pages", "first", "later"), [(8, 3, 2), (120, 6, 2), *in_torture((30, 3, 2), (300, 15, 3))]
)
async def test_of_an_honest_site_without_dates_a_small_share_is_checked_by_body(
    tmp_path: Path, pages: int, first: int, later: int
) -> None:
    async with a_signal_site(tmp_path, pages) as site:
        assert (await site.sync()).counters.claims_checked == 0
        assert (await site.sync()).counters.claims_checked == 0, "nothing has claimed anything yet"
        while (await site.record(Signal.ETAG)).standing is not Standing.TRUSTED:
            receipt = await site.sync()
            assert 1 <= receipt.counters.claims_checked <= first
            assert receipt.counters.not_modified == pages
        receipt = await site.sync()
        assert 1 <= receipt.counters.claims_checked <= later


class _NewerConverter(InThisProcess):
    """Reads one more sentence out of the same bytes."""

    async def convert(self, body: bytes, *, content_type: str, url: str) -> Converted:
        read = await super().convert(body, content_type=content_type, url=url)
        return replace(read, text=f"{read.text}\n\nRead anew.")


async def test_a_site_did_not_lie_when_a_newer_converter_reads_the_same_bytes_otherwise(
    tmp_path: Path,
) -> None:
    async with a_signal_site(tmp_path, 8) as site:
        await site.sync()
        site.world.ports = replace(site.world.ports, converter=_NewerConverter())
        receipt = await site.sync(full=True)
        assert receipt.counters.updated == 8
        assert receipt.counters.claims_checked == 8
        assert receipt.counters.claims_broken == 0


async def test_a_run_that_goes_on_after_its_time_was_over_checks_claims_too(tmp_path: Path) -> None:
    async with a_signal_site(tmp_path, 40) as site:
        site.site.set("/robots.txt", "User-agent: *\nCrawl-delay: 10\n", content_type="text/plain")
        for _ in range(3):
            await site.sync()
        site.world.ports = replace(site.world.ports, time_limit_s=200.0)
        cut_off = await site.sync()
        assert cut_off.status is RunStatus.PARTIAL
        record = await site.record(Signal.ETAG)
        site.site.clear_log()
        going_on = await site.sync()
        assert going_on.counters.ignored["answered_in_an_earlier_run"] > 0
        assert going_on.counters.claims_checked > 0
        assert (await site.record(Signal.ETAG)).checked > record.checked
        whole = [one.path for one in site.site.requests if one.status == 200 and one.path != "/robots.txt"]
        assert len(whole) == going_on.counters.claims_checked
        asked = {one.path for one in site.site.requests if one.status == 304}
        assert set(whole) <= asked, "of the pages that this run asks for"


async def test_pages_without_a_date_are_asked_for_as_before(tmp_path: Path) -> None:
    async with a_signal_site(tmp_path, PAGES, lastmod=OLD) as site:
        for path in site.paths[:5]:
            del site.lastmods[path]
        site.publish()
        await a_proven(site)
        for _ in range(3):
            await site.sync()
            assert all(site.site.asked_for(path) for path in site.paths[:5])


async def test_an_edit_on_the_day_of_its_date_is_not_hidden_by_the_same_date(tmp_path: Path) -> None:
    async with a_signal_site(tmp_path, PAGES, lastmod=OLD) as site:
        await a_proven(site)
        today = f"{site.world.clock.now():%Y-%m-%d}"
        site.edit("/p7", lastmod=today)
        await site.sync()
        word = site.edit("/p7", lastmod=today)
        await site.sync()
        assert await site.world.found(word) == ["/p7"]
        assert (await site.record(Signal.LASTMOD)).lies == 0, "a day that was not over claimed nothing"


async def test_a_date_in_the_future_and_what_is_no_date_leave_nothing_out(tmp_path: Path) -> None:
    async with a_signal_site(tmp_path, PAGES, lastmod=OLD) as site:
        site.lastmods |= {"/p1": "2099-01-01", "/p2": "soon", "/p3": "2099-01-01T00:00:00+14:00"}
        site.publish()
        await a_proven(site)
        for _ in range(2):
            words = {path: site.edit(path) for path in ("/p1", "/p2", "/p3")}
            receipt = await site.sync()
            assert receipt.counters.not_asked > 0
            assert await site.is_current(words)
        assert (await site.record(Signal.LASTMOD)).lies == 0


async def test_times_in_other_zones_are_dates_like_others(tmp_path: Path) -> None:
    zones = ("2023-03-02T10:00:00+14:00", "2023-03-02T10:00-11:00", "2023-03-02T10:00:00.123Z")
    async with a_signal_site(tmp_path, PAGES, lastmod=OLD) as site:
        site.lastmods = {path: zones[n % 3] for n, path in enumerate(site.lastmods)}
        site.publish()
        await a_proven(site)
        assert (await site.sync()).counters.not_asked > 0
        # The same moment in another zone is another text of the sitemap: asked for, and no harm done.
        site.lastmods["/p2"] = "2023-03-02T11:00:00+15:00"
        word = site.edit("/p2", lastmod="2023-03-02T11:00-10:00")
        await site.sync()
        assert await site.world.found(word) == ["/p2"]


async def test_a_deploy_that_changes_every_date_costs_requests_and_is_no_lie(tmp_path: Path) -> None:
    async with a_signal_site(tmp_path, PAGES, lastmod=OLD) as site:
        await a_proven(site)
        site.lastmods = dict.fromkeys(site.lastmods, "2023-12-24")
        site.publish()
        receipt = await site.sync()
        assert (receipt.counters.not_asked, receipt.counters.unchanged) == (0, PAGES)
        record = await site.record(Signal.LASTMOD)
        assert (record.lies, record.alarms, record.standing) == (0, PAGES, Standing.TRUSTED)
        assert (await site.sync()).counters.not_asked > 0


async def test_a_page_that_is_gone_while_its_date_stands_is_a_lie(tmp_path: Path) -> None:
    async with a_signal_site(tmp_path, 20, lastmod=OLD) as site:
        for _ in range(6):
            await site.sync()
        site.site.remove("/p3")
        for _ in range(3):
            await site.sync()
        assert "/p3" not in await site.world.pages()
        assert (await site.record(Signal.LASTMOD)).standing is Standing.DISTRUSTED


async def test_a_link_to_a_page_that_nothing_else_names_is_not_hidden_by_a_date(tmp_path: Path) -> None:
    async with a_signal_site(tmp_path, PAGES, lastmod=OLD) as site:
        await site.sync()
        site.write("/hidden", "spelt")
        body = str(site.site.pages["/p3"].body).replace("</nav>", '<a href="/hidden">new</a></nav>')
        site.site.set("/p3", body)
        await site.sync()
        assert await site.world.found("spelt") == ["/hidden"]
        assert (await site.record(Signal.LASTMOD)).lies == 1


async def test_a_version_that_was_not_shown_has_no_date(tmp_path: Path) -> None:
    """A rollback leads back to a text that the sitemap's date does not belong to."""
    async with a_signal_site(tmp_path, PAGES, lastmod=OLD) as site:
        await a_proven(site)
        word = site.edit("/p7", lastmod="2023-12-24")
        await site.sync()
        await site.sync()
        source = await site.world.source()
        await history.rollback(site.world.ports, source, to_generation=1)
        assert await site.world.found(word) == []
        await site.sync()
        assert await site.world.found(word) == ["/p7"]


async def test_a_full_sync_asks_for_every_page_and_proves_every_signal(tmp_path: Path) -> None:
    async with a_signal_site(tmp_path, PAGES, lastmod=OLD) as site:
        await a_proven(site)
        before = await site.record(Signal.ETAG)
        receipt = await site.sync(full=True)
        assert (receipt.counters.not_asked, receipt.counters.not_modified) == (0, 0)
        assert (await site.record(Signal.ETAG)).checked == before.checked + PAGES


async def test_a_sitemap_that_an_earlier_version_remembered_without_dates_is_read_again(
    tmp_path: Path,
) -> None:
    async with a_signal_site(tmp_path, 5, lastmod=OLD) as site:
        await site.sync()
        world = site.world
        source = await world.source()
        listings = await world.store.listings(source.id)
        kept = listings[site.site.url + "/sitemap.xml"]
        payload = {name: value for name, value in kept.payload.items() if name != "lastmods"}
        async with run_lease(world.ports, source) as lease:
            await world.store.save_listing(lease, source.id, replace(kept, payload=payload))
        await site.sync()
        assert [one.status for one in site.site.asked_for("/sitemap.xml")] == [200]
        await site.sync()
        assert [one.status for one in site.site.asked_for("/sitemap.xml")] == [304]
