"""Sites whose signals lie: they are found within three runs, and nothing is missed afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from rowen.core.freshness import claims
from rowen.core.freshness.claims import Signal, Standing
from rowen.core.run import RunStatus
from tests.support.signals import NEW_HTTP, OLD, OLD_HTTP, SignalSite, a_signal_site
from tests.support.site import Page
from tests.support.sizes import in_torture
from tests.support.world import a_page

pytestmark = pytest.mark.anyio

PAGES = 30
SAME = {"etag": '"always"'}
SAME_DATE = {"etag": False, "last_modified": OLD_HTTP}


async def found_out(site: SignalSite, signal: Signal, *, runs: int = 3) -> int:
    """Edit a page that the signal says nothing of, then run until it is found; how many runs that took."""
    word = site.edit("/p7")
    for run in range(1, runs + 1):
        receipt = await site.sync()
        if (await site.record(signal)).standing is Standing.DISTRUSTED:
            assert await site.world.found(word) == ["/p7"]
            assert receipt.counters.claims_broken >= 1
            return run
    raise AssertionError(f"not found out within {runs} runs")


async def nothing_is_missed(site: SignalSite, runs: int = 4) -> None:
    """Every run shows every edit, though the signals go on lying."""
    for run in range(runs):
        words = {path: site.edit(path) for path in site.paths[run::5]}
        await site.sync()
        assert await site.is_current(words), f"run {run}"


@pytest.mark.parametrize(
    ("signal", "options"), [(Signal.ETAG, SAME), (Signal.LAST_MODIFIED, SAME_DATE)], ids=str
)
@pytest.mark.parametrize("quiet", [0, 5, *in_torture(1, 10)])
async def test_a_validator_that_lies_is_found_and_nothing_is_missed_afterwards(
    tmp_path: Path, signal: Signal, options: dict[str, object], quiet: int
) -> None:
    """`quiet` runs see no edit before: the site seems honest for so long."""
    async with a_signal_site(tmp_path, PAGES, **options) as site:
        await site.sync()
        for _ in range(quiet):
            await site.sync()
        await found_out(site, signal)
        await nothing_is_missed(site)


async def test_validators_of_their_own_that_lie_are_found_though_few_are_looked_at(tmp_path: Path) -> None:
    """A server that keeps its ETags while a tenth of its pages changes every day."""
    async with a_signal_site(tmp_path, 100) as site:
        for path in site.paths:
            site.write(path, "harvest", etag=f'"{path}"')
        await site.sync()
        for run in range(3):
            for path in site.paths[run::10]:
                site.edit(path, etag=f'"{path}"')
            await site.sync()
        assert (await site.record(Signal.ETAG)).standing is Standing.DISTRUSTED
        words = {path: site.edit(path, etag=f'"{path}"') for path in site.paths[::5]}
        await site.sync()
        assert await site.is_current(words)


async def test_a_validator_that_lied_costs_bodies_again_and_the_receipt_says_so(tmp_path: Path) -> None:
    async with a_signal_site(tmp_path, PAGES, **SAME) as site:
        await site.sync()
        await found_out(site, Signal.ETAG)
        receipt = await site.sync()
        assert receipt.hint is not None
        assert receipt.hint.startswith("ETag lied on 2024-01-")
        assert "pages are fetched whole until it has proven itself again" in receipt.hint
        assert receipt.counters.not_modified == 0
        assert receipt.counters.same_body == PAGES


async def test_a_validator_that_lied_is_used_again_once_it_has_proven_itself(tmp_path: Path) -> None:
    async with a_signal_site(tmp_path, PAGES, **SAME) as site:
        await site.sync()
        await found_out(site, Signal.ETAG)
        site.options = {}
        for path in site.paths:
            site.edit(path)
        for _ in range(4):
            receipt = await site.sync()
            assert receipt.counters.not_modified == 0
        assert (await site.record(Signal.ETAG)).standing is Standing.TRUSTED
        receipt = await site.sync()
        assert (receipt.counters.not_modified, receipt.hint) == (PAGES, None)


async def test_a_server_that_answers_304_whatever_it_holds_is_found(tmp_path: Path) -> None:
    """Its ETags are new ones; only the answer to a question with an old one is wrong."""

    @dataclass(frozen=True)
    class Stale(Page):
        def is_current(self, asked: object) -> bool:
            return "If-None-Match" in asked  # type: ignore[operator]  # the headers of a request

    async with a_signal_site(tmp_path, PAGES) as site:
        await site.sync()
        for path in site.paths:
            site.site.pages[path] = Stale(a_page(path, f"stale{path.strip('/')}"))
        await site.sync()
        await site.sync()
        assert (await site.record(Signal.ETAG)).standing is Standing.DISTRUSTED
        assert await site.is_current({path: f"stale{path.strip('/')}" for path in site.paths})


async def test_a_page_that_changes_between_its_304_and_its_body_is_no_lie(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class OnceOld(Page):
        """The first question with a validator comes just before the edit."""

        def is_current(self, asked: object) -> bool:
            if "If-None-Match" not in asked or questions:  # type: ignore[operator]  # headers
                return False
            questions.append(asked)
            return True

    questions: list[object] = []
    async with a_signal_site(tmp_path, PAGES) as site:
        await site.sync()
        await site.sync()
        urls = [site.site.url + path for path in ("/", *site.paths)]
        path = next(
            url.removeprefix(site.site.url)
            for url in claims.whose_turn(urls, claims.bodies(PAGES, proven=False), turn=0)
            if not url.endswith("/")
        )
        site.site.pages[path] = OnceOld(a_page(path, "meanwhile"))
        await site.sync()
        record = await site.record(Signal.ETAG)
        assert (record.lies, record.told) == (0, 1)
        assert await site.world.found("meanwhile") == [path]


@pytest.mark.parametrize("quiet", [0, 6, *in_torture(1, 12)])
async def test_a_lastmod_that_lies_is_found_and_nothing_is_missed_afterwards(
    tmp_path: Path, quiet: int
) -> None:
    """Before it is proven every page is asked for; after that, within three runs."""
    async with a_signal_site(tmp_path, PAGES, lastmod=OLD) as site:
        await site.sync()
        for _ in range(quiet):
            await site.sync()
        runs = await found_out(site, Signal.LASTMOD)
        assert quiet > 4 or runs == 1, "not proven yet, so it is found by the run that meets the edit"
        await nothing_is_missed(site)


async def test_a_lastmod_that_starts_lying_leads_to_a_full_asking_in_the_same_run(tmp_path: Path) -> None:
    async with a_signal_site(tmp_path, PAGES, lastmod=OLD) as site:
        for _ in range(7):
            receipt = await site.sync()
        assert receipt.counters.not_asked > 0
        words = {path: site.edit(path) for path in site.paths}
        receipt = await site.sync()
        assert receipt.counters.not_asked == 0
        assert receipt.counters.updated == len(site.paths)
        assert await site.is_current(words)
        assert receipt.hint is not None
        assert "every page is asked for until it has proven itself again" in receipt.hint


async def test_a_lastmod_and_an_etag_that_lie_together_are_found(tmp_path: Path) -> None:
    async with a_signal_site(tmp_path, PAGES, lastmod=OLD, **SAME) as site:
        for _ in range(6):
            await site.sync()
        words = {path: site.edit(path) for path in site.paths[::2]}
        for _ in range(2):
            receipt = await site.sync()
        assert await site.is_current(words)
        assert (await site.record(Signal.ETAG)).standing is Standing.DISTRUSTED
        assert (await site.record(Signal.LASTMOD)).standing is Standing.DISTRUSTED
        assert receipt.status is RunStatus.COMPLETED
        await nothing_is_missed(site)


async def test_an_etag_that_contradicts_the_sitemap_is_looked_at_in_the_first_run(tmp_path: Path) -> None:
    async with a_signal_site(tmp_path, 200, lastmod=OLD, **SAME) as site:
        await site.sync()
        word = site.edit("/p150", lastmod="2023-12-24")
        await site.sync()
        assert await site.world.found(word) == ["/p150"]
        assert (await site.record(Signal.ETAG)).standing is Standing.DISTRUSTED
        assert (await site.record(Signal.LASTMOD)).lies == 0


async def test_a_last_modified_that_is_honest_beside_an_etag_that_lies_is_used_once_proven(
    tmp_path: Path,
) -> None:
    async with a_signal_site(tmp_path, PAGES, etag='"always"', last_modified=OLD_HTTP) as site:
        await site.sync()
        site.edit("/p7", last_modified=NEW_HTTP)
        for _ in range(6):
            await site.sync()
        assert (await site.record(Signal.LAST_MODIFIED)).standing is Standing.TRUSTED
        receipt = await site.sync()
        assert receipt.counters.not_modified > 0
        word = site.edit("/p7", last_modified="Sat, 04 Mar 2023 10:00:00 GMT")
        await site.sync()
        assert await site.world.found(word) == ["/p7"]
