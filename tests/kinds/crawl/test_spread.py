"""Large crawls: workers ask for the pages, one at a time at each host, and the run stays the owner."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from rowen.adapters.http import open_fetcher
from rowen.core import params as parameters
from rowen.core.document import NO_VALIDATORS, Converted, Validators
from rowen.core.lease import LEASE_TTL_S, Lease
from rowen.core.rules.retry import RetryPolicy
from rowen.core.run import Counters, Event, Run, RunStatus, StopReason
from rowen.core.source import Source
from rowen.engine.leases import acquire, host_lease, worker_lease_name
from rowen.engine.ports import Ports
from rowen.engine.run import sync
from rowen.errors import (
    ConfigError,
    Conflict,
    LeaseLost,
    PermanentError,
    RateLimited,
    StoreBusy,
    Unfetchable,
)
from rowen.fetching.client import BROKEN_AFTER
from rowen.kinds.crawl import crawl, host_batch, question, spread
from rowen.kinds.crawl.host_batch import HostBatch
from rowen.kinds.crawl.pages import ReadPage
from rowen.kinds.crawl.question import PageQuestion
from rowen.kinds.web import kind as web
from rowen.managing import sources
from rowen.ports.fetcher import Fetcher, FetcherOptions, Request, Response
from rowen.ports.store.shards import FETCH
from tests.contract.helpers import an_end
from tests.service.test_worker import a_worker, as_process
from tests.support.begun import begun
from tests.support.fakes import FakeClock
from tests.support.hostnames import to
from tests.support.site import Page, Site, html
from tests.support.waiting import until
from tests.support.world import InThisProcess, World, a_page, a_site_of, a_world

pytestmark = pytest.mark.anyio

PAGES = 120


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crawl that is large with fewer pages, and batches to match."""
    monkeypatch.setattr(crawl, "LARGE", 40)
    monkeypatch.setattr(host_batch, "PAGES", 16)


@pytest.fixture
def site() -> Iterator[Site]:
    with a_site_of(PAGES) as running:
        yield running


def under_its_name(world: World, owner: str, **changes: Any) -> Ports:
    """Another process, whose requests can be told from others'."""
    ports = as_process(world, owner, **changes)
    retry = RetryPolicy(base_s=0.01)
    return replace(ports, fetch=replace(ports.fetch, user_agent=owner, retry=retry))


def visitors(site: Site) -> list[str]:
    """Who asked for a page, in order."""
    return [asked.headers["User-Agent"] for asked in site.requests if asked.path.startswith("/p")]


@asynccontextmanager
async def two_workers(world: World) -> AsyncIterator[None]:
    async with a_worker(under_its_name(world, "w1")), a_worker(under_its_name(world, "w2")):
        yield


async def test_workers_ask_for_the_pages_of_a_large_crawl_each_once(tmp_path: Path, site: Site) -> None:
    async with a_world(tmp_path, site) as world:
        source = await world.add()
        async with two_workers(world):
            receipt = await sync(under_its_name(world, "runner"), source)
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, PAGES)
        assert len(await world.pages()) == PAGES
        assert max(Counter(asked.path for asked in site.requests).values()) == 1
        by_whom = Counter(visitors(site))
        assert by_whom["runner"] <= 1, "what came before it was known to be large"
        # The counters are of all of them together.
        assert receipt.counters.requests == len(site.requests)
        assert receipt.counters.parses == PAGES


async def test_while_one_worker_reads_another_asks(tmp_path: Path, site: Site) -> None:
    class Patient(InThisProcess):
        """Reads nothing before the other worker has asked for something."""

        def __init__(self, other: str) -> None:
            self._other = other

        async def convert(self, body: bytes, *, content_type: str, url: str) -> Converted:
            await until(self._has_asked)
            return await super().convert(body, content_type=content_type, url=url)

        async def _has_asked(self) -> bool:
            return self._other in visitors(site)

    async with a_world(tmp_path, site) as world:
        source = await world.add()
        async with (
            a_worker(under_its_name(world, "w1", converter=Patient("w2"))),
            a_worker(under_its_name(world, "w2", converter=Patient("w1"))),
        ):
            receipt = await sync(under_its_name(world, "runner"), source)
        assert receipt.counters.created == PAGES


async def test_progress_counts_what_workers_have_under_way(tmp_path: Path, site: Site) -> None:
    events: list[Event] = []
    async with a_world(tmp_path, site) as world:
        source = await world.add()
        async with two_workers(world):
            await sync(under_its_name(world, "runner"), source, on_event=events.append)
    told = [event for event in events if event.kind == "item"]
    assert len(told) == PAGES
    # The root names all of them, so whatever was told last, the sum is the whole site.
    sums = {number + (event.queued or 0) for number, event in enumerate(told, 1)}
    assert max(sums) <= PAGES + 1
    assert min(sums) >= PAGES - 1


async def test_a_host_has_one_visitor_at_a_time(tmp_path: Path, site: Site) -> None:
    async with a_world(tmp_path, site) as world:
        source = await world.add()
        async with two_workers(world):
            await sync(under_its_name(world, "runner"), source)
    batches = [len(list(group)) for _, group in itertools.groupby(visitors(site))]
    # A worker asks for the pages of its batch without another one in between; the next batch may be its own.
    assert len(batches) <= PAGES / host_batch.PAGES + 1


async def test_a_spread_crawl_shows_what_a_crawl_alone_shows(tmp_path: Path) -> None:
    with a_mixed_site() as site:
        found = []
        for name in ("alone", "spread"):
            (tmp_path / name).mkdir()
            async with a_world(tmp_path / name, site) as world:
                source = await world.add()
                site.clear_log()
                if name == "spread":
                    async with two_workers(world):
                        receipt = await sync(under_its_name(world, "runner"), source)
                    assert {"w1", "w2"} & set(visitors(site)), "the workers took part"
                else:
                    receipt = await world.sync()
                known = await world.store.known(source.id)
                addresses = (await world.store.references(source.id)).ids
                named = {number: url for url, number in addresses.items()}
                counters = {**receipt.counters.as_dict(), "bytes_received": 0}
                items = await world.store.run_items(receipt.run_id)
                found.append(
                    (
                        receipt.status,
                        receipt.stop_reason,
                        receipt.hint,
                        counters,
                        sorted((item.reference, item.outcome, item.reason, item.detail) for item in items),
                        {
                            url: (
                                one.payload_hash,
                                one.body_hash,
                                one.validators,
                                [named[n] for n in one.links],
                            )
                            for url, one in known.items()
                        },
                    )
                )
        assert found[1] == found[0]


def a_mixed_site() -> Site:
    """Pages of every kind a crawl may meet."""
    paths = [f"/p{number}.html" for number in range(100)]
    site = a_site_of(1)
    for number, path in enumerate(paths):
        site.set(
            path, a_page(path, "mixed", links=[paths[(number * 7) % 100], "/p3.html", "https://other.test/"])
        )
    odd: dict[str, Page] = {
        "/p10.html": Page(status=404),
        "/p11.html": Page(redirect="/p12.html", status=301),
        "/p13.html": Page(redirect="https://elsewhere.test/", status=302),
        "/p14.html": Page(status=500),
        "/p15.html": Page("\x00\x01 binary", content_type="application/octet-stream"),
        "/p16.html": Page("", etag=False),
        "/p17.html?ref=home": Page(
            html("Spelled", "Twice").replace("</head>", '<link rel="canonical" href="/p17.html"></head>')
        ),
        "/p19.html": Page('<main><div id="app"></div><script src="/app.js"></script></main>'),
        "/p20.html": Page(html("Nul", "before\x00after")),
        "/p21.html": Page(reset=True),
        "/p22.html": Page(fail_times=1, body=html("Late", "It answers the second time")),
        "/p23.html": Page(status=403),
        "/p24.html": Page(redirect="/p24.html", status=301),
    }
    for path, one in odd.items():
        site.pages[path] = one
    site.set("/robots.txt", "User-agent: *\nDisallow: /p25.html", content_type="text/plain")
    site.set("/", html("Home", "All of it", links=[*paths, "/p17.html?ref=home"]))
    return site


async def test_a_host_that_goes_away_is_noticed_over_several_batches(tmp_path: Path, site: Site) -> None:
    for number in range(60, PAGES):
        site.set(f"/p{number}.html", status=503)
    async with a_world(tmp_path, site) as world:
        source = await world.add()
        async with two_workers(world):
            receipt = await sync(under_its_name(world, "runner"), source)
        assert receipt.stop_reason == StopReason.HOST_UNAVAILABLE
        failed = {asked.path for asked in site.requests if asked.status == 503}
        # The limit, and what batches had under way by then.
        assert BROKEN_AFTER <= len(failed) <= BROKEN_AFTER + 3 * host_batch.PAGES
        assert receipt.counters.created >= 50


async def test_a_full_sync_of_a_large_site_is_spread_too(tmp_path: Path, site: Site) -> None:
    async with a_world(tmp_path, site) as world:
        source = await world.add()
        await world.sync()
        site.clear_log()
        async with two_workers(world):
            receipt = await sync(under_its_name(world, "runner"), source, full=True)
        assert (receipt.counters.unchanged, receipt.counters.parses) == (PAGES, PAGES)
        assert len(set(visitors(site)) & {"w1", "w2"}) > 0


async def test_known_pages_are_asked_about_here_before_new_ones_are_spread(
    tmp_path: Path, site: Site
) -> None:
    async with a_world(tmp_path, site) as world:
        await world.add()
        await world.sync()
        new = [f"/p{number}.html" for number in range(PAGES, PAGES + 60)]
        for path in new:
            site.set(path, a_page(path, "new"))
        site.set("/p1.html", a_page("/p1.html", "told anew", links=["/", *new]))
        site.clear_log()
        async with two_workers(world):
            receipt = await sync(under_its_name(world, "runner"), await world.source())
        assert (receipt.counters.created, receipt.counters.updated) == (60, 1)
        by_workers = {asked.path for asked in site.requests if asked.headers["User-Agent"] != "runner"}
        assert by_workers
        assert by_workers <= set(new)


async def test_small_crawls_and_unchanged_ones_are_not_spread(tmp_path: Path, site: Site) -> None:
    async with a_world(tmp_path, site) as world:
        source = await world.add()
        async with two_workers(world):
            await sync(under_its_name(world, "runner"), source)
            site.clear_log()
            receipt = await sync(under_its_name(world, "runner"), await world.source())
        assert receipt.counters.unchanged == PAGES
        assert set(visitors(site)) == {"runner"}

    with a_site_of(crawl.LARGE) as little:
        (tmp_path / "little").mkdir()
        async with a_world(tmp_path / "little", little) as world:
            source = await world.add()
            async with two_workers(world):
                await sync(under_its_name(world, "runner"), source)
            assert set(visitors(little)) == {"runner"}


async def test_a_crawl_whose_workers_vanish_asks_by_itself(tmp_path: Path, site: Site) -> None:
    async with a_world(tmp_path, site) as world:
        source = await world.add()
        clock = FakeClock()
        ghost = as_process(world, "ghost", clock=clock)
        assert await acquire(ghost, worker_lease_name("ghost")) is not None
        receipt = await sync(under_its_name(world, "runner", clock=clock), source)
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, PAGES)
        assert max(Counter(asked.path for asked in site.requests).values()) == 1
        assert clock.monotonic() < 3 * spread.PATIENCE_S, "they are not waited for at each batch"
        assert await ghost.dispatcher().outstanding(FETCH) == [], "nobody needs its tickets any more"


async def test_what_a_worker_took_before_it_died_is_asked_by_others(tmp_path: Path, site: Site) -> None:
    async with a_world(tmp_path, site) as world:
        source = await world.add()
        clock = FakeClock()
        assert await acquire(as_process(world, "ghost", clock=clock), worker_lease_name("ghost")) is not None
        store = world.store

        class TakesAndDies:
            """A worker takes the questions of each batch at once, and is not heard of again."""

            def __getattr__(self, name: str) -> Any:
                return getattr(store, name)

            async def ask_pages(
                self, lease: Any, run: Any, host: str, *args: Any, **options: Any
            ) -> list[int]:
                numbers = await store.ask_pages(lease, run, host, *args, **options)
                await store.take_pages(lease, run, host, 1, limit=host_batch.PAGES)
                return numbers

        runner: Any = replace(under_its_name(world, "runner", clock=clock), store=TakesAndDies())
        receipt = await sync(runner, source)
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, PAGES)


async def test_a_host_that_sends_us_away_is_asked_no_further(tmp_path: Path, site: Site) -> None:
    for number in range(PAGES * 2 // 3, PAGES):
        site.set(f"/p{number}.html", status=429, headers={"Retry-After": "7200"})
    async with a_world(tmp_path, site) as world:
        source = await world.add()
        async with two_workers(world):
            receipt = await sync(under_its_name(world, "runner"), source)
        assert receipt.stop_reason == StopReason.RATE_LIMITED
        assert receipt.retry_after_s == 7200
        sent_away = [asked for asked in site.requests if asked.status == 429]
        # Those that were under way with the first one, and no more.
        assert len(sent_away) <= 3
        assert receipt.counters.failed <= 3
        assert receipt.counters.created >= PAGES // 2, "what came before is taken in"


async def test_a_page_that_takes_its_workers_down_is_left_alone(tmp_path: Path, site: Site) -> None:
    async with a_batch(tmp_path, site, ["/p1.html", "/p2.html"]) as (world, one):
        for _ in range(host_batch.MAX_ATTEMPTS):
            await world.store.take_pages(one.lease, one.run, one.host, 1, limit=1)
        await one.take(1)
        answers = await world.store.take_answers(one.lease, one.run)
        with pytest.raises(Unfetchable, match="workers that asked for it died, 3 times"):
            question.read_answer("", answers[one.numbers[0]])
        assert [asked.path for asked in site.requests] == []
        await one.take(2)
        answers = await world.store.take_answers(one.lease, one.run)
        assert question.read_answer("", answers[one.numbers[1]])[0].status == 200


async def test_whoever_lacks_a_credential_takes_no_question(tmp_path: Path, site: Site) -> None:
    async with a_batch(tmp_path, site, ["/p1.html"]) as (world, one):
        keyed = replace(one.source, params={**one.source.params, "bearer": "${NOT_SET}"})
        with pytest.raises(ConfigError):
            await replace(one, source=keyed).take(1)
        (question,) = await world.store.take_pages(one.lease, one.run, one.host, 1, limit=1)
        assert question.attempts == 1


async def test_a_store_that_is_away_for_a_moment_costs_no_page(tmp_path: Path, site: Site) -> None:
    paths = [f"/p{number}.html" for number in range(1, host_batch.PAGES + 1)]
    async with a_batch(tmp_path, site, paths) as (world, one):
        store, away = world.store, iter([True, True, True])

        class ComesAndGoes:
            def __getattr__(self, name: str) -> Any:
                return getattr(store, name)

            async def answer_pages(self, *args: Any) -> None:
                if next(away, False):
                    raise StoreBusy("the store: away")
                await store.answer_pages(*args)

        shaky: Any = ComesAndGoes()
        world.ports = replace(world.ports, store=shaky)
        await one.take(1)
        answers = await store.take_answers(one.lease, one.run)
        assert [question.read_answer("", answers[number])[0].status for number in one.numbers] == [200] * len(
            paths
        )
        assert len(site.requests) == len(paths)
        shares = [Counters.from_dict(share) for share in await store.shares(one.run.id)]
        assert sum(share.requests for share in shares) == len(paths)


async def test_a_run_that_is_over_asks_no_further(tmp_path: Path, site: Site) -> None:
    paths = [f"/p{number}.html" for number in range(1, host_batch.PAGES + 1)]
    asked_at: list[float] = []
    async with a_batch(tmp_path, site, paths, delay_s=1.0) as (world, one):
        world.ports = replace(world.ports, open_fetcher=noting(asked_at, world.clock))
        await world.store.finish_run(one.lease, one.run, an_end(one.run), now=world.clock.now())
        with suppress(LeaseLost):
            await one.take(1)
    assert len(asked_at) <= host_batch.LOOK_S + 3, "two were booked when it was noticed"


async def test_the_time_between_two_requests_holds_from_one_batch_to_the_next(
    tmp_path: Path, site: Site
) -> None:
    paths = [f"/p{number}.html" for number in range(1, 2 * host_batch.PAGES + 1)]
    asked_at: list[float] = []
    async with a_batch(tmp_path, site, paths, delay_s=1.0) as (world, one):
        world.ports = replace(world.ports, open_fetcher=noting(asked_at, world.clock))
        await one.take(1)
        await one.take(2)
    assert len(asked_at) == len(paths)
    assert min(later - earlier for earlier, later in itertools.pairwise(sorted(asked_at))) >= 1.0


async def test_a_slow_host_gets_fewer_pages_a_batch(tmp_path: Path, site: Site) -> None:
    paths = [f"/p{number}.html" for number in range(1, host_batch.PAGES + 1)]
    async with a_batch(tmp_path, site, paths, delay_s=10.0) as (world, one):
        await one.take(1)
        answers = await world.store.take_answers(one.lease, one.run)
        later = [number for number, written in answers.items() if written == question.LATER]
        assert len(answers) == host_batch.PAGES
        assert 0 < host_batch.PAGES - len(later) <= host_batch.SECONDS / 10.0 + 3


async def test_a_host_that_one_process_asks_is_not_asked_by_another(tmp_path: Path, site: Site) -> None:
    async with a_batch(tmp_path, site, ["/p1.html"]) as (world, one):
        async with host_lease(replace(world.ports, owner="another"), one.host):
            with pytest.raises(Conflict, match="being asked by another process"):
                await one.take(1)
        await one.take(1)
    assert [asked.path for asked in site.requests] == ["/p1.html"]


async def test_a_run_that_asks_by_itself_waits_for_whoever_is_at_the_host(tmp_path: Path, site: Site) -> None:
    async with a_world(tmp_path, site) as world:
        source = await world.add()
        clock, asked_at = FakeClock(), list[float]()
        ghost = as_process(world, "ghost", clock=clock)
        assert await acquire(ghost, worker_lease_name("ghost")) is not None
        assert await acquire(ghost, "host:127.0.0.1") is not None, "a batch of a run that was killed"
        runner = under_its_name(world, "runner", clock=clock, open_fetcher=noting(asked_at, clock))
        receipt = await sync(runner, source)
    assert receipt.status is RunStatus.COMPLETED
    assert min(asked_at) >= LEASE_TTL_S - 1


async def test_what_workers_did_counts_for_a_run_that_was_cancelled(tmp_path: Path, site: Site) -> None:
    gate = threading.Event()
    site.set("/p1.html", a_page("/p1.html", "late"), delay=gate)
    async with a_world(tmp_path, site) as world:
        source = await world.add()
        assert await acquire(as_process(world, "ghost"), worker_lease_name("ghost")) is not None
        task = asyncio.create_task(sync(under_its_name(world, "runner"), source))

        async def waits() -> bool:
            return bool(await world.store.runs(source.id, limit=1)) and bool(site.asked_for("/"))

        await until(waits)
        (run,) = await world.store.runs(source.id, limit=1)
        await world.store.save_share(run.id, Counters(requests=1000))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        gate.set()
        ended = await world.store.run(run.id)
    assert ended is not None
    assert ended.status is RunStatus.CANCELLED
    assert ended.counters["requests"] >= 1000


async def test_each_host_of_a_domain_is_asked_by_its_own_rules(tmp_path: Path) -> None:
    links = [f"http://{name}.farm.test/p{n}.html" for name in ("a", "b") for n in range(30)]
    with (
        Site(
            {"/": html("Home", "Farm", links=links), "/robots.txt": Page("", content_type="text/plain")}
        ) as root,
        a_host_of(30, "Disallow: /p3.html") as first,
        a_host_of(30, "Disallow: /p4.html") as second,
    ):
        hosts = {"farm.test": root, "a.farm.test": first, "b.farm.test": second}
        async with a_world(tmp_path, root) as world:
            world.ports = replace(world.ports, open_fetcher=to(hosts))
            source = await a_farm(world)
            async with two_workers(world):
                receipt = await sync(under_its_name(world, "runner"), source)
            assert (receipt.counters.created, receipt.counters.ignored["robots"]) == (59, 2)
            known = await world.store.known(source.id)
            assert "http://a.farm.test/p4.html" in known
            assert "http://a.farm.test/p3.html" not in known
            assert "http://b.farm.test/p3.html" in known
            for host in (first, second):
                assert len(host.asked_for("/robots.txt")) == 1
                assert visitors(host).count("runner") <= 1


async def test_a_host_that_does_not_say_what_it_allows_is_not_asked(tmp_path: Path) -> None:
    links = [f"http://a.farm.test/p{n}.html" for n in range(3)]
    with Site({"/": html("Home", "Farm", links=links)}) as root, a_host_of(3, "") as silent:
        silent.set("/robots.txt", status=503)
        async with a_world(tmp_path, root) as world:
            world.ports = replace(world.ports, open_fetcher=to({"farm.test": root, "a.farm.test": silent}))
            source = await a_farm(world)
            receipt = await sync(world.ports, source)
    assert (receipt.status, receipt.counters.created, receipt.counters.failed) == (RunStatus.PARTIAL, 1, 3)
    assert {asked.path for asked in silent.requests} == {"/robots.txt"}


def test_questions_answers_and_errors_survive_being_written_down() -> None:
    asked = PageQuestion("https://a.test/", Validators('"1"', "yesterday"), b"\x01", has_document=True)
    assert PageQuestion.from_dict(asked.as_dict(delay_s=1.0)) == asked
    headers = {"content-type": "text/html", "etag": '"1"'}
    response = Response(200, asked.url, {**headers, "server": "x"}, b"<p>text", 7)
    converted = Converted("A", "text\x00", ("https://a.test/b",), None, {"n": 1})
    page = ReadPage(converted, b"\x02", "text/html", scripted=True)
    found = question.read_answer(asked.url, question.written_answer(response, page))
    assert found == (Response(200, asked.url, headers, b"", 0), page)
    moved = Response(301, asked.url, {"location": "/b"}, b"", 0)
    assert question.read_answer(asked.url, question.written_answer(moved, None)) == (moved, None)
    with pytest.raises(RateLimited, match="too often") as limited:
        question.read_answer(
            "", question.written_error(RateLimited("too often", retry_after_s=7.0, hint="wait"))
        )
    assert (limited.value.retry_after_s, limited.value.hint) == (7.0, "wait")
    with pytest.raises(PermanentError):
        question.read_answer(
            "", {"error": "OfANewerVersion", "message": "x", "hint": None, "retry_after_s": None}
        )


# what these tests are made with


@dataclass(frozen=True)
class OneBatch:
    world: World
    run: Run
    lease: Lease
    source: Source
    host: str
    numbers: list[int]

    async def take(self, number: int) -> None:
        settings = parameters.complete(web.PARAMS, self.source.params)
        await HostBatch(
            self.world.ports, self.source, settings, self.lease, self.run, self.host, number
        ).take()


@asynccontextmanager
async def a_batch(
    folder: Path, site: Site, paths: list[str], *, delay_s: float = 0.0
) -> AsyncIterator[tuple[World, OneBatch]]:
    """A run that has asked for these pages of a host, and waits."""
    async with a_world(folder, site) as world:
        source = await world.add(delay_s=delay_s)
        lease = await acquire(world.ports, f"source:{source.id}")
        assert lease is not None
        run = await begun(world.store, lease, source.id, full=True, now=world.clock.now())
        pages = [PageQuestion(site.url + path, NO_VALIDATORS, None, has_document=False) for path in paths]
        questions = [page.as_dict(delay_s=delay_s) for page in pages]
        host = "127.0.0.1"
        numbers = await world.store.ask_pages(lease, run, host, questions, now=world.clock.now())
        yield world, OneBatch(world, run, lease, source, host, numbers)


def noting(asked_at: list[float], clock: FakeClock) -> Any:
    @asynccontextmanager
    async def opened(options: FetcherOptions) -> AsyncIterator[Fetcher]:
        async with open_fetcher(options) as fetcher:

            class Noting:
                async def fetch(self, request: Request) -> Response:
                    asked_at.append(clock.monotonic())
                    return await fetcher.fetch(request)

            yield Noting()

    return opened


def a_host_of(pages: int, robots: str) -> Site:
    content: dict[str, str | bytes | Page] = {
        f"/p{n}.html": a_page(f"/p{n}.html", "field", links=()) for n in range(pages)
    }
    return Site({**content, "/robots.txt": Page(f"User-agent: *\n{robots}", content_type="text/plain")})


async def a_farm(world: World) -> Source:
    added = await sources.add(world.ports, "http://farm.test/", name="farm", settings={"scope": "domain"})
    return added.source
