"""Embedding that failed for now: the attempts after the run, on both stores, by the engine's own steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from rowen.core.handoff import MAX_ATTEMPTS, RETRY_BASE_S, Handoff, HandoffStatus
from rowen.core.run import Counters
from rowen.core.source import Source
from rowen.engine.ingest import Ingestion, take_up, take_up_due
from rowen.engine.ports import Ports
from rowen.errors import Conflict, EmbedderUnavailable, LeaseLost
from rowen.ports.store.store import Store
from tests.contract.helpers import NOW, a_draft, a_generation, a_lease, a_run, a_source, an_end, visible
from tests.support.fakes import FakeClock, FakeEmbedder
from tests.support.site import Site
from tests.support.world import a_world

pytestmark = pytest.mark.anyio

PAGE = "https://docs.example/a"
QUEUED, RUNNING = HandoffStatus.QUEUED, HandoffStatus.RUNNING
COMPLETED, FAILED = HandoffStatus.COMPLETED, HandoffStatus.FAILED


class Embedder(FakeEmbedder):
    """Fails as it is told to, and shows what the store says of the handoffs while it is asked."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store
        self.fails: EmbedderUnavailable | BaseException | None = None
        self.seen: list[HandoffStatus] = []

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.seen += [one.status for one in await self.store.handoffs()]
        if self.fails is not None:
            self.calls += 1
            raise self.fails
        return await super().embed(texts)


class Place:
    def __init__(self, ports: Ports, clock: FakeClock, embedder: Embedder, source: Source) -> None:
        self.ports, self.store, self.clock = ports, ports.store, clock
        self.embedder, self.source = embedder, source

    async def harvest(self, text: str = "barley", *, activate: bool = True) -> None:
        """One run that finds one page."""
        lease, run = await a_run(self.store, self.source)
        ingestion = Ingestion(self.ports, lease, run, Counters())
        await ingestion.take([a_draft(PAGE, text)])
        await ingestion.rest()
        await self.store.finish_run(lease, run, an_end(run, activate=activate), now=self.clock.now())
        await self.store.release_lease(lease)

    async def handoff(self) -> Handoff:
        return (await self.store.handoffs())[0]

    async def attempt(self) -> Handoff:
        await take_up_due(self.ports, self.source)
        return await self.handoff()

    async def missing(self) -> int:
        return (await self.store.embedding_gap(self.embedder.model)).missing


@pytest.fixture
async def place(store: Store, tmp_path: Path) -> Place:
    clock, embedder = FakeClock(NOW), Embedder(store)
    async with a_world(tmp_path / "world", Site({}), clock=clock) as world:
        ports = replace(world.ports, store=store, embedder=lambda: embedder)
    return Place(ports, clock, embedder, await a_source(store))


def down(**facts: object) -> EmbedderUnavailable:
    return EmbedderUnavailable("model `fake`: 503", **{"kind": "server", **facts})  # type: ignore[arg-type]


async def test_a_failed_embedding_is_tried_three_times_with_growing_waits_then_given_up(place: Place) -> None:
    place.embedder.fails = down()
    await place.harvest()
    one, now = await place.handoff(), place.clock.now()
    assert (one.status, one.reason_code, one.attempts) == (QUEUED, "retry_scheduled", 1)
    assert (one.last_error, one.retry_at) == ("model `fake`: 503", now + timedelta(seconds=RETRY_BASE_S))
    assert await visible(place.store, place.source), "its text is stored"

    calls = place.embedder.calls
    assert (await place.attempt(), place.embedder.calls) == (one, calls), "not before it is due"
    place.clock.advance(RETRY_BASE_S)
    place.embedder.seen.clear()
    one = await place.attempt()
    assert place.embedder.seen == [RUNNING]
    assert (one.status, one.reason_code, one.attempts) == (QUEUED, "retry_scheduled", 2)
    assert one.retry_at == place.clock.now() + timedelta(seconds=2 * RETRY_BASE_S)

    place.clock.advance(2 * RETRY_BASE_S)
    one = await place.attempt()
    assert (one.status, one.reason_code, one.attempts) == (FAILED, "retry_exhausted", MAX_ATTEMPTS)
    assert (one.last_error, one.retry_at) == ("model `fake`: 503", None)
    assert [one] == await place.store.handoffs(status=FAILED, reason="retry_exhausted")
    assert await place.store.handoffs(reason="retry_scheduled") == []
    assert await place.store.retries(now=place.clock.now()) == {}


async def test_an_attempt_that_works_completes_the_handoff_and_makes_the_vectors(place: Place) -> None:
    place.embedder.fails = down(retry_after_s=100.0)
    await place.harvest()
    assert await place.missing() == 1
    place.embedder.fails = None
    place.clock.advance(RETRY_BASE_S)
    assert (await place.attempt()).status is QUEUED, "the provider wants to be left alone for longer"
    place.clock.advance(100)
    one = await place.attempt()
    assert (one.status, one.reason_code, one.attempts, one.retry_at) == (COMPLETED, "ingested", 2, None)
    assert await place.missing() == 0
    assert len(place.embedder.embedded) == 1


async def test_a_killed_attempt_counts_when_it_was_alone_and_the_third_one_is_the_last(place: Place) -> None:
    class Killed(BaseException):
        """Stands for the end of the process."""

    place.embedder.fails = down()
    await place.harvest()
    place.embedder.fails = Killed()
    place.clock.advance(RETRY_BASE_S)
    for attempts in (2, 1, 2, 3):
        with pytest.raises(Killed):
            await place.attempt()
        one = await place.handoff()
        assert (one.status, one.attempts) == (RUNNING, attempts)
    one = await place.attempt()
    assert (one.status, one.reason_code, one.attempts) == (FAILED, "worker_lost", 3)
    assert await visible(place.store, place.source)


async def test_an_open_circuit_is_no_attempt(place: Place) -> None:
    place.embedder.fails = down()
    await place.harvest()
    place.ports = replace(place.ports, breaker=replace(place.ports.breaker, failure_threshold=1))
    place.clock.advance(RETRY_BASE_S)
    assert (await place.attempt()).attempts == 2, "this one opens the circuit"
    again = (await place.handoff()).retry_at
    assert again is not None
    note = dict(await place.store.note("breaker:fake"))
    await place.store.save_note("breaker:fake", {**note, "timeout_s": 600.0})
    place.clock.advance((again - place.clock.now()).total_seconds())
    calls = place.embedder.calls
    one = await place.attempt()
    assert (one.attempts, one.status, place.embedder.calls) == (2, QUEUED, calls)
    assert one.retry_at is not None
    assert one.retry_at > again


async def test_a_text_that_was_replaced_meanwhile_is_not_tried_again(place: Place) -> None:
    place.embedder.fails = down()
    await place.harvest("barley")
    place.embedder.fails = None
    await place.harvest("rye")
    place.clock.advance(RETRY_BASE_S)
    await place.attempt()
    ended = {one.reason_code: one.status for one in await place.store.handoffs()}
    assert ended == {"ingested": COMPLETED, "superseded": FAILED}
    assert not any("barley" in text for text in place.embedder.embedded)


async def test_a_run_that_came_to_nothing_leaves_no_attempts(place: Place) -> None:
    place.embedder.fails = down()
    await place.harvest(activate=False)
    place.clock.advance(RETRY_BASE_S)
    assert await place.store.retries(now=place.clock.now()) == {}
    calls = place.embedder.calls
    await place.attempt()
    assert place.embedder.calls == calls
    await a_generation(place.store, place.source, {"https://docs.example/b": "rye"})
    assert {one.reason_code for one in await place.store.handoffs(status=FAILED)} == {"superseded"}


async def test_attempts_wait_for_the_run_that_holds_the_lease_and_a_lost_lease_writes_nothing(
    place: Place,
) -> None:
    place.embedder.fails = down()
    await place.harvest()
    place.clock.advance(RETRY_BASE_S)
    lease = await a_lease(place.store, place.source, owner="other")
    with pytest.raises(Conflict):
        await place.attempt()
    await place.store.release_lease(lease)
    await a_lease(place.store, place.source, owner="third")
    before = await place.handoff()
    with pytest.raises(LeaseLost):
        await take_up(place.ports, lease, place.source)
    assert await place.handoff() == before


async def test_a_person_may_have_an_exhausted_handoff_tried_again(place: Place) -> None:
    place.embedder.fails = down()
    await place.harvest()
    for waited in (1, 2):
        place.clock.advance(RETRY_BASE_S * waited)
        one = await place.attempt()
    assert one.reason_code == "retry_exhausted"
    place.embedder.fails = None
    assert await place.store.requeue_handoff(one.id, now=place.clock.now())
    place.clock.advance(600)
    one = await place.attempt()
    assert (one.status, one.attempts) == (COMPLETED, 1)
    assert await place.missing() == 0


async def test_an_attempt_that_a_clock_ahead_put_off_for_a_year_is_due_now(place: Place) -> None:
    place.embedder.fails = down()
    year_s = 365 * 86_400.0
    place.clock.advance(year_s)
    await place.harvest()
    place.clock.advance(-year_s)
    now, place.embedder.fails = place.clock.now(), None
    assert await place.store.retries(now=now) == {place.source.id: now}
    one = await place.attempt()
    assert (one.status, one.attempts, one.updated_at) == (COMPLETED, 2, now)


async def test_a_provider_that_asks_for_thirty_years_gets_a_day(place: Place) -> None:
    place.embedder.fails = down(retry_after_s=999_999_999.0)
    await place.harvest()
    assert (await place.handoff()).retry_at == place.clock.now() + timedelta(days=1)


async def test_a_clock_a_little_ahead_of_another_is_believed(place: Place) -> None:
    place.embedder.fails = down()
    place.clock.advance(60)
    await place.harvest()
    place.clock.advance(-60)
    calls = place.embedder.calls
    one = await place.attempt()
    assert (one.attempts, place.embedder.calls) == (1, calls)
    assert await place.store.retries(now=place.clock.now()) == {place.source.id: one.retry_at}
