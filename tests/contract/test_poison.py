"""Items that end the process that ingests them: found one by one, and no other item is ever blamed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from rowen.core.document import Draft
from rowen.core.handoff import MAX_ATTEMPTS, HandoffStatus, Reason
from rowen.core.run import Counters
from rowen.core.source import Source
from rowen.engine.ingest import BATCH, FEW, Ended, Ingestion
from rowen.engine.ports import Ports
from rowen.engine.tasks import IngestionGate
from rowen.ports.store.store import Store
from tests.contract.helpers import NOW, a_draft, a_run, a_source, an_end
from tests.support.fakes import FakeClock, FakeEmbedder
from tests.support.site import Site
from tests.support.world import a_world

pytestmark = pytest.mark.anyio

PAGES = [f"https://docs.example/{name}" for name in "abcdefg"]
POISON = PAGES[3]
FAILED = HandoffStatus.FAILED


class Killed(BaseException):
    """Stands for the end of the process."""


class Embedder(FakeEmbedder):
    """Calls `meets` with the texts it is given: what that raises ends the process."""

    def __init__(self) -> None:
        super().__init__()
        self.meets: Callable[[Sequence[str]], None] = lambda texts: None

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.meets(texts)
        return await super().embed(texts)


class Place:
    def __init__(self, ports: Ports, embedder: Embedder, source: Source) -> None:
        self.ports, self.store, self.embedder, self.source = ports, ports.store, embedder, source
        self.deaths = 0

    async def harvest(self, drafts: Sequence[Draft], *, full: bool = False) -> dict[str, Reason] | None:
        """One run in one process: why its items ended as they did, None when the process ended."""
        lease, run = await a_run(self.store, self.source)
        ended: dict[str, Ended] = {}
        ingestion = Ingestion(self.ports, lease, run, Counters(), ended.update)
        try:
            await ingestion.take(drafts, full=full)
            await ingestion.rest()
        except Killed:
            self.deaths += 1
            return None
        else:
            await self.store.finish_run(lease, run, an_end(run), now=NOW)
            return {reference: reason for reference, (reason, _) in ended.items()}
        finally:
            await self.store.release_lease(lease)

    async def blamed(self) -> set[str]:
        return {one.reference for one in await self.store.handoffs(status=FAILED)}


@pytest.fixture
async def place(store: Store, tmp_path: Path) -> Place:
    embedder = Embedder()
    async with a_world(tmp_path / "world", Site({}), clock=FakeClock(NOW)) as world:
        ports = replace(world.ports, store=store, embedder=lambda: embedder)
    return Place(ports, embedder, await a_source(store))


def drafts(edition: int = 1) -> list[Draft]:
    return [a_draft(page, f"Page {page} says thing {edition}.") for page in PAGES]


def kill(texts: Sequence[str]) -> None:
    if any(f"Page {POISON} says thing 1." in text for text in texts):
        raise Killed


def kill_at_once() -> None:
    raise Killed


def kill_after(embedder: Embedder, calls: int, texts: Sequence[str]) -> None:
    if embedder.calls >= calls:
        raise Killed


async def test_a_poisonous_page_is_found_and_no_other_is_ever_blamed(place: Place) -> None:
    place.embedder.meets = kill
    while (ended := await place.harvest(drafts())) is None:
        assert not await place.blamed()
    assert place.deaths == 2 + MAX_ATTEMPTS, "with its batch, with a few of it, then by itself"
    assert ended.pop(POISON) is Reason.WORKER_LOST
    assert ended == {page: Reason.INGESTED for page in PAGES if page != POISON}
    assert set(await place.store.known(place.source.id)) == set(ended)
    (lost,) = await place.store.handoffs(status=FAILED)
    assert (lost.reference, lost.attempts) == (POISON, MAX_ATTEMPTS)
    assert lost.last_error is not None
    assert "retried when it changes, or by a full sync" in lost.last_error


async def test_what_was_given_up_is_tried_again_when_it_changes_or_by_a_full_sync(place: Place) -> None:
    place.embedder.meets = kill
    while await place.harvest(drafts()) is None:
        pass
    assert await place.harvest(drafts()) == {
        page: Reason.WORKER_LOST if page == POISON else Reason.INGESTED for page in PAGES
    }, "it is said in every run, and takes no process down"
    assert await place.harvest(drafts()[3:4], full=True) is None
    assert await place.harvest(drafts(edition=2)) == dict.fromkeys(PAGES, Reason.INGESTED)
    place.embedder.meets = lambda texts: None
    assert await place.harvest(drafts()[3:4], full=True) == {POISON: Reason.INGESTED}


async def test_a_page_that_was_in_work_by_itself_goes_alone_at_once(place: Place) -> None:
    place.embedder.meets = kill
    while (ended := await place.harvest(drafts()[3:4])) is None:
        pass
    assert place.deaths == 1 + MAX_ATTEMPTS
    assert ended == {POISON: Reason.WORKER_LOST}


async def test_after_a_kill_each_page_of_a_batch_was_a_call_of_the_provider(place: Place) -> None:
    texts = [a_draft(f"https://docs.example/{number}", f"Thing {number}.") for number in range(BATCH)]
    place.embedder.meets = lambda given: kill_at_once()
    assert await place.harvest(texts) is None
    place.embedder.meets, place.embedder.batch_size = lambda given: None, BATCH
    ended = await place.harvest(texts)
    assert ended is not None
    assert (len(ended), set(ended.values())) == (BATCH, {Reason.INGESTED})
    assert place.embedder.calls == BATCH // FEW == 8


async def test_a_few_that_lost_their_process_are_ingested_one_by_one_and_the_others_together(
    place: Place,
) -> None:
    texts = [a_draft(f"https://docs.example/{number}", f"Thing {number}.") for number in range(3 * FEW)]
    place.embedder.batch_size = BATCH
    for calls in (0, 1):
        place.embedder.meets = partial(kill_after, place.embedder, place.embedder.calls + calls)
        assert await place.harvest(texts) is None
    before, place.embedder.meets = place.embedder.calls, lambda given: None
    ended = await place.harvest(texts)
    assert ended is not None
    assert set(ended.values()) == {Reason.INGESTED}
    # The first few of the second run are done, the second few lost their process, the last few had no turn.
    assert place.embedder.calls - before == 1 + FEW


@pytest.mark.parametrize("kills", [3, 12])
async def test_kills_that_meet_a_batch_blame_no_page_of_it(place: Place, kills: int) -> None:
    """A process that is killed at each moment in turn: no page is by itself in work three times."""
    for death in range(kills):
        met = 0

        def meets(texts: Sequence[str], death: int = death) -> None:
            nonlocal met
            met += 1
            if met == 1 + death % len(PAGES):
                raise Killed

        place.embedder.meets = meets
        await place.harvest(drafts())
        assert not await place.blamed()
    place.embedder.meets = lambda texts: None
    assert await place.harvest(drafts()) == dict.fromkeys(PAGES, Reason.INGESTED)
    assert not await place.blamed()


async def test_three_kills_over_the_same_page_are_not_yet_proof_against_it(place: Place) -> None:
    place.embedder.meets = kill
    for _ in range(3):
        assert await place.harvest(drafts()) is None
    place.embedder.meets = lambda texts: None
    assert await place.harvest(drafts()) == dict.fromkeys(PAGES, Reason.INGESTED)


async def test_workers_that_end_over_a_ticket_leave_its_other_pages_to_the_next(place: Place) -> None:
    place.embedder.meets = kill
    lease, run = await a_run(place.store, place.source)
    ids = [one.handoff_id for one in await place.store.stage(lease, run, drafts(), now=NOW)]
    deaths, at_the_end = 0, False
    while not at_the_end:
        ingestion = Ingestion(place.ports, lease, run, Counters())
        try:
            await ingestion.work_off(await place.store.staged(run, ids))
            await ingestion.rest()
            at_the_end = True
        except Killed:
            deaths += 1
            assert not await place.blamed()
    assert deaths == 2 + MAX_ATTEMPTS
    assert await place.blamed() == {POISON}
    assert not await place.store.staged(run, ids)


async def test_an_ingestion_that_is_cancelled_is_held_against_no_page(place: Place) -> None:
    reached = asyncio.Event()

    async def hang(texts: Sequence[str]) -> list[bytes]:
        reached.set()
        await asyncio.Event().wait()
        return []

    answers, place.embedder.embed = place.embedder.embed, hang  # type: ignore[method-assign]
    for _ in range(5):
        reached.clear()
        harvesting = asyncio.create_task(place.harvest(drafts()))
        await reached.wait()
        assert {one.status for one in await place.store.handoffs()} == {HandoffStatus.RUNNING}
        harvesting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await harvesting
        found = {(one.status, one.attempts) for one in await place.store.handoffs()}
        assert found == {(HandoffStatus.QUEUED, 0)}
    place.embedder.embed = answers  # type: ignore[method-assign]
    assert await place.harvest(drafts()) == dict.fromkeys(PAGES, Reason.INGESTED)
    assert place.embedder.calls == 1, "one batch: none of them is suspect"


async def test_a_suspect_is_ingested_while_nothing_else_is_in_its_process() -> None:
    gate, told, let_go = IngestionGate(), [], asyncio.Event()

    async def batch(name: str) -> None:
        async with gate.batch():
            told.append(name)
            await let_go.wait()
            told.append(f"{name} ends")

    async def suspect(name: str) -> None:
        async with gate.alone():
            told.append(name)
            await asyncio.sleep(0)
            told.append(f"{name} ends")

    async with asyncio.TaskGroup() as group:
        for work in (batch("batch"), suspect("one"), suspect("two"), batch("late")):
            group.create_task(work)
            await asyncio.sleep(0)
        broken = group.create_task(suspect("cancelled"))
        await asyncio.sleep(0)
        broken.cancel()
        let_go.set()
    assert told == ["batch", "batch ends", "one", "one ends", "two", "two ends", "late", "late ends"]
