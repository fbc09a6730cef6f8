"""An embedding provider that fails: nothing is lost, nothing is paid twice, and search stays up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rowen.core.handoff import RETRY_BASE_S, HandoffStatus, Reason
from rowen.core.rules.breaker import BreakerState
from rowen.core.rules.schedule import Failure
from rowen.core.run import RunStatus
from rowen.core.search.hit import SearchMode
from rowen.core.source import Status
from rowen.engine import embedding
from rowen.engine.run import sync
from rowen.errors import EmbedderUnavailable
from rowen.reading import search as searching
from tests.support.fakes import FakeEmbedder
from tests.support.site import html
from tests.support.world import World, a_page, a_site_of, a_world

pytestmark = pytest.mark.anyio

PAGES = 40


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with a_site_of(PAGES) as site:
        async with a_world(tmp_path, site) as made:
            made.embedder.batch_size = 4
            await made.add()
            yield made


class Flaky:
    """A provider that fails for a stretch of its calls."""

    def __init__(self, world: World, *, fails: range, kind: str = "server") -> None:
        self.calls = 0
        self._real = FakeEmbedder.embed
        self._embedder = world.embedder
        self._fails = fails
        self._kind = kind
        world.embedder.embed = self.embed  # type: ignore[method-assign]

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.calls += 1
        if self.calls in self._fails:
            raise EmbedderUnavailable("model `fake`: 500 from the provider", kind=self._kind)
        return await self._real(self._embedder, texts)


async def test_with_the_circuit_open_every_page_is_stored_and_only_the_missing_vectors_are_filled_in(
    world: World,
) -> None:
    flaky = Flaky(world, fails=range(4, 1000))
    receipt = await world.sync()
    counters = receipt.counters
    assert counters.created + counters.skipped == PAGES
    assert counters.skipped > 0
    assert flaky.calls < 15, "an open circuit asks nobody"
    assert len(await world.found("harvest")) == PAGES, "every page is found by its words"
    state = await embedding.breaker_of(world.store, world.embedder.model)
    assert state.state is BreakerState.OPEN
    paid = set(world.embedder.embedded)

    Flaky(world, fails=range(0))
    world.clock.advance(31)
    world.site.clear_log()
    again = await world.sync()
    assert all(asked.status in (304, 404) for asked in world.site.requests), "nothing is fetched again"
    late = world.embedder.embedded[len(paid) :]
    assert again.counters.embeddings_computed == len(late) == len(set(late))
    assert not paid & set(late), "and nothing is paid twice"
    assert (await world.store.embedding_gap(world.embedder.model)).missing == 0
    assert (await embedding.breaker_of(world.store, world.embedder.model)).state is BreakerState.CLOSED


async def test_a_provider_that_recovers_during_the_run_leaves_nothing_pending(world: World) -> None:
    flaky = Flaky(world, fails=range(3, 8))

    async def embed(texts: Sequence[str]) -> list[bytes]:
        try:
            return await flaky.embed(texts)
        finally:
            world.clock.advance(10)

    world.embedder.embed = embed  # type: ignore[method-assign]
    await world.sync()
    world.clock.advance(31)
    await world.sync()
    assert (await world.store.embedding_gap(world.embedder.model)).missing == 0
    assert len(world.embedder.embedded) == len(set(world.embedder.embedded))


async def test_a_text_the_provider_refuses_is_found_and_the_others_go_through(world: World) -> None:
    world.site.set("/p7.html", a_page("/p7.html", "harvest", "forbidden"))
    real = FakeEmbedder.embed

    async def embed(texts: Sequence[str]) -> list[bytes]:
        if any("forbidden" in text for text in texts):
            raise EmbedderUnavailable("model `fake`: 400, bad text", kind="rejected")
        return await real(world.embedder, texts)

    world.embedder.embed = embed  # type: ignore[method-assign]
    receipt = await world.sync()
    assert (receipt.counters.created, receipt.counters.skipped) == (PAGES - 1, 1)
    assert (receipt.status, receipt.failure) == (RunStatus.COMPLETED, None)
    (given_up,) = await world.store.handoffs(reason=Reason.PERMANENT_ERROR)
    assert (given_up.status, given_up.last_error) == ("failed", "model `fake`: 400, bad text")
    assert given_up.reference.endswith("/p7.html")
    assert await world.found("forbidden") == ["/p7.html"], "its words are found"
    assert (await world.store.embedding_gap(world.embedder.model)).missing == 0
    state = await embedding.breaker_of(world.store, world.embedder.model)
    assert state.state is BreakerState.CLOSED, "a refused text is not an outage"


async def test_an_unchanged_run_asks_no_provider_and_writes_no_notes(world: World) -> None:
    await world.sync()
    calls, rows = world.embedder.calls, world.store.rows_written()
    await world.sync()
    assert world.embedder.calls == calls
    assert world.store.rows_written() - rows <= 9


async def test_a_new_model_is_filled_in_beside_the_old_one_and_then_search_switches(world: World) -> None:
    await world.sync()
    newer = FakeEmbedder(name="newer", dimensions=16)
    ports = replace(world.ports, embedder=lambda: newer)

    assert (await embedding.for_search(ports)).model.name == "fake", "search stays with the complete model"
    answer = await searching.search(
        ports.store, await embedding.for_search(ports), "harvest", mode=SearchMode.VECTOR
    )
    assert answer.hits
    assert answer.degraded is None

    texts = len(set(world.embedder.embedded))
    assert (await embedding.fill(ports)).texts == texts
    assert (await embedding.for_search(ports)).model.name == "newer"
    answer = await searching.search(ports.store, newer, "harvest", mode=SearchMode.VECTOR)
    assert answer.hits
    assert answer.degraded is None
    assert (await embedding.fill(ports)).texts == 0


async def test_a_fill_that_is_interrupted_goes_on_where_it_stopped(world: World) -> None:
    await world.sync()
    newer = FakeEmbedder(name="newer")
    newer.batch_size = 3
    ports = replace(world.ports, embedder=lambda: newer)
    real = newer.embed

    async def embed(texts: Sequence[str]) -> list[bytes]:
        if newer.calls >= 5:
            raise EmbedderUnavailable("model `newer`: gone", kind="connection")
        return await real(texts)

    newer.embed = embed  # type: ignore[method-assign]
    assert (await embedding.fill(ports)).error is not None
    assert (await embedding.for_search(ports)).model.name == "fake"
    paid = len(newer.embedded)
    assert paid == 15
    newer.embed = real  # type: ignore[method-assign]
    world.clock.advance(31)
    await embedding.fill(ports)
    assert len(newer.embedded) == len(set(newer.embedded)) == len(set(world.embedder.embedded))


async def test_text_that_arrives_during_a_switch_is_embedded_with_the_new_model(world: World) -> None:
    await world.sync()
    newer = FakeEmbedder(name="newer")
    ports = replace(world.ports, embedder=lambda: newer)
    world.site.set("/p1.html", html("Page", "something quite new"))
    await sync(ports, await world.source())
    assert any("quite new" in text for text in newer.embedded)
    assert (await embedding.for_search(ports)).model.name == "fake"


async def test_a_provider_that_refuses_everything_needs_a_person_and_no_text_is_given_up(
    world: World,
) -> None:
    flaky = Flaky(world, fails=range(2, 1000), kind="rejected")
    receipt = await world.sync()
    assert receipt.counters.skipped > 0
    assert receipt.failure is Failure.FATAL
    assert flaky.calls <= 4, "the calls under way, and the harmless text"
    gap = await world.store.embedding_gap(world.embedder.model)
    assert gap.missing == receipt.counters.skipped


async def test_a_crash_during_an_outage_is_made_good_by_the_next_run(world: World) -> None:
    class Crash(BaseException):
        """Stands for the end of the process."""

    Flaky(world, fails=range(3, 5))
    finish = type(world.store).finish_run

    async def die(*args: object, **kwargs: object) -> None:
        raise Crash

    type(world.store).finish_run = die  # type: ignore[method-assign, assignment]
    try:
        with pytest.raises(Crash):
            await world.sync()
    finally:
        type(world.store).finish_run = finish  # type: ignore[method-assign]
    await world.sync()
    assert (await world.store.embedding_gap(world.embedder.model)).missing == 0
    assert len(world.embedder.embedded) == len(set(world.embedder.embedded))


async def test_an_interruption_costs_the_call_in_flight_and_nothing_more(world: World) -> None:
    real, calls, hanging = FakeEmbedder.embed, 0, asyncio.Event()

    async def embed(texts: Sequence[str]) -> list[bytes]:
        nonlocal calls
        calls += 1
        if calls == 6:
            hanging.set()
            await asyncio.Event().wait()
        return await real(world.embedder, texts)

    world.embedder.embed = embed  # type: ignore[method-assign]
    running = asyncio.create_task(world.sync())
    await asyncio.wait_for(hanging.wait(), 120)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    world.embedder.embed = real.__get__(world.embedder)  # type: ignore[method-assign]
    await world.sync()
    assert len(world.embedder.embedded) == len(set(world.embedder.embedded)), "nothing was paid for twice"


async def test_a_sync_never_moves_a_store_to_another_model(world: World) -> None:
    await world.sync()
    newer = FakeEmbedder(name="newer")
    newer.down = True
    ports = replace(world.ports, embedder=lambda: newer)
    world.site.set("/p1.html", html("Page", "something quite new"))
    await sync(ports, await world.source())
    newer.down = False
    world.clock.advance(31)
    await sync(ports, await world.source())
    assert newer.embedded == ["Page\nsomething quite new"], "the rest is for `rowen embed`"
    assert (await embedding.for_search(ports)).model.name == "fake"


async def test_going_back_to_the_old_model_fills_what_it_missed(world: World) -> None:
    await world.sync()
    newer = FakeEmbedder(name="newer")
    ports = replace(world.ports, embedder=lambda: newer)
    world.site.set("/p1.html", html("Page", "zebra crossings"))
    await sync(ports, await world.source())
    assert await world.store.note(embedding.PENDING)
    await world.sync()
    assert (await world.store.embedding_gap(world.embedder.model)).missing == 0
    assert not await world.store.note(embedding.PENDING)


async def test_a_search_does_not_wait_for_a_provider_whose_circuit_is_open(world: World) -> None:
    Flaky(world, fails=range(1, 1000))
    await world.sync()
    queries = len(world.embedder.queries)
    answer = await searching.search(
        world.store, await embedding.for_search(world.ports), "harvest", mode=SearchMode.HYBRID
    )
    assert answer.hits
    assert "circuit open" in (answer.degraded or "")
    assert len(world.embedder.queries) == queries


class Slow:
    """A provider whose calls end when several are under way, as far as there are that many."""

    def __init__(self, world: World, *, fails: bool = False) -> None:
        self.most = self.calls = self._now = 0
        self._fails = fails
        self._embedder = world.embedder
        world.embedder.embed = self.embed  # type: ignore[method-assign]

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.calls += 1
        self._now += 1
        self.most = max(self.most, self._now)
        for _ in range(100):
            await asyncio.sleep(0)
        self._now -= 1
        if self._fails:
            raise EmbedderUnavailable("model `fake`: asked too often", kind="rate_limited")
        return await FakeEmbedder.embed(self._embedder, texts)


async def test_a_provider_has_as_many_calls_under_way_as_it_may(world: World) -> None:
    slow = Slow(world)
    world.ports = replace(world.ports, embedding_calls=3)
    receipt = await world.sync()
    assert slow.most == 3
    assert receipt.counters.embeddings_computed == len(world.embedder.embedded)
    assert len(set(world.embedder.embedded)) == len(world.embedder.embedded)


async def test_a_provider_that_failed_is_tried_by_one_call_at_a_time(world: World) -> None:
    world.ports = replace(world.ports, embedding_calls=3)
    Slow(world, fails=True)
    await world.sync()
    model = world.embedder.model
    assert (await embedding.breaker_of(world.store, model)).state is BreakerState.OPEN
    world.clock.advance(1000)
    slow = Slow(world)
    await embedding.embed(world.ports, await world.store.unembedded(model, limit=40))
    assert (slow.most, slow.calls) == (1, 10)


@pytest.mark.parametrize("kind", ["auth", "settings"])
async def test_a_wrong_key_or_model_is_fatal_and_the_text_is_found_by_its_words(
    world: World, kind: str
) -> None:
    flaky = Flaky(world, fails=range(1, 1000), kind=kind)
    receipt = await world.sync()
    assert (receipt.status, receipt.failure) == (RunStatus.PARTIAL, Failure.FATAL)
    assert receipt.error == "model `fake`: 500 from the provider"
    assert (receipt.counters.skipped, receipt.counters.failed, flaky.calls) == (PAGES, 0, 1), "asked once"
    assert len(await world.found("harvest")) == PAGES
    source = await world.source()
    assert (source.status, source.last_error, source.is_broken) == (Status.ERROR, receipt.error, False)
    assert await world.store.handoff_counts() == {(HandoffStatus.FAILED, "permanent_error"): PAGES}

    again = await world.sync()
    assert (again.failure, again.error) == (Failure.FATAL, receipt.error), (
        "nothing changed, nothing is better"
    )
    assert (again.counters.unchanged, flaky.calls) == (PAGES, 2)

    Flaky(world, fails=range(0))
    healed = await world.sync()
    assert (healed.status, healed.failure, healed.error) == (RunStatus.COMPLETED, None, None)
    assert (await world.source()).status is Status.SUCCESS
    assert (await world.store.embedding_gap(world.embedder.model)).missing == 0


async def test_the_next_sync_makes_the_attempts_that_are_due_and_no_calls_before(world: World) -> None:
    world.ports = replace(world.ports, breaker=replace(world.ports.breaker, failure_threshold=1000))
    flaky = Flaky(world, fails=range(1, 1000))
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.skipped) == (RunStatus.COMPLETED, PAGES)
    calls = flaky.calls
    await world.sync()
    assert flaky.calls == calls
    Flaky(world, fails=range(0))
    world.clock.advance(RETRY_BASE_S)
    healed = await world.sync()
    assert healed.counters.embeddings_computed == PAGES
    assert await world.store.handoff_counts() == {(HandoffStatus.COMPLETED, "ingested"): PAGES}
