"""What the store promises about single handoffs: finding, counting, another life, an early end."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from rowen.config import Config
from rowen.core.handoff import Ending, HandoffStatus, Reason
from rowen.core.lease import Lease
from rowen.core.run import Run
from rowen.errors import LeaseLost
from rowen.ports.store.handoffs import Staged
from rowen.ports.store.store import Store
from tests.contract.helpers import LATER, NOW, a_draft, a_generation, a_lease, a_run, a_source, ingest
from tests.support.world import a_page, a_site_of, a_world

pytestmark = pytest.mark.anyio

DAY_S = 86_400
QUEUED, RUNNING = HandoffStatus.QUEUED, HandoffStatus.RUNNING
COMPLETED, FAILED = HandoffStatus.COMPLETED, HandoffStatus.FAILED


async def staged(store: Store, *names: str) -> tuple[Lease, Run, list[Staged]]:
    lease, run = await a_run(store, await a_source(store))
    drafts = [a_draft(f"https://docs.example/{name}", name) for name in names]
    return lease, run, await store.stage(lease, run, drafts, now=NOW)


async def fail(store: Store, lease: Lease, one: Staged) -> None:
    await store.start_handoffs(lease, [one.handoff_id], now=NOW)
    ending = Ending(FAILED, Reason.RETRY_EXHAUSTED, "gone")
    await store.settle_handoffs(lease, {one.handoff_id: ending}, now=NOW)


async def test_a_handoff_is_found_by_its_number(store: Store) -> None:
    _, run, (one,) = await staged(store, "a")
    found = await store.handoff(one.handoff_id)
    assert found is not None
    assert (found.reference, found.run_id, found.status) == ("https://docs.example/a", run.id, QUEUED)
    assert [found] == await store.handoffs()
    assert await store.handoff(one.handoff_id + 1) is None


async def test_handoffs_are_counted_by_status_and_reason(store: Store) -> None:
    lease, run, (one, other, _) = await staged(store, "a", "b", "c")
    await ingest(store, lease, run, [one])
    await fail(store, lease, other)
    counts = {
        (COMPLETED, "ingested"): 1,
        (FAILED, "retry_exhausted"): 1,
        (QUEUED, "queued_from_scrape"): 1,
    }
    assert await store.handoff_counts(run_id=run.id) == counts
    assert await store.handoff_counts() == counts
    assert await store.handoff_counts(run_id=run.id + 1) == {}


async def test_handoffs_of_other_runs_are_not_counted(store: Store) -> None:
    first = await a_generation(store, await a_source(store), {"https://docs.example/a": "one"})
    second = await a_generation(store, await a_source(store, "other"), {"https://other.example/a": "two"})
    assert await store.handoff_counts(run_id=first.id) == {(COMPLETED, "ingested"): 1}
    assert await store.handoff_counts(run_id=second.id) == {(COMPLETED, "ingested"): 1}
    assert await store.handoff_counts() == {(COMPLETED, "ingested"): 2}


async def test_a_failed_handoff_gets_another_life_and_only_a_failed_one(store: Store) -> None:
    lease, _, (one,) = await staged(store, "a")
    assert not await store.requeue_handoff(one.handoff_id, now=NOW)
    await fail(store, lease, one)
    assert await store.requeue_handoff(one.handoff_id, now=LATER)
    found = await store.handoff(one.handoff_id)
    assert found is not None
    assert (found.status, found.reason_code) == (QUEUED, "retry_scheduled")
    assert (found.attempts, found.last_error, found.updated_at) == (0, None, LATER)
    assert not await store.requeue_handoff(one.handoff_id, now=LATER)
    assert not await store.requeue_handoff(4711, now=LATER)


@pytest.mark.parametrize("started", [False, True])
async def test_a_handoff_that_has_not_ended_can_be_ended(store: Store, started: bool) -> None:
    lease, _, (one,) = await staged(store, "a")
    if started:
        await store.start_handoffs(lease, [one.handoff_id], now=NOW)
    assert await store.cancel_handoff(lease, one.handoff_id, now=LATER)
    found = await store.handoff(one.handoff_id)
    assert found is not None
    assert (found.status, found.reason_code, found.updated_at) == (FAILED, "cancelled", LATER)
    assert not await store.cancel_handoff(lease, one.handoff_id, now=LATER)


async def test_a_handoff_that_ended_stays_as_it_ended(store: Store) -> None:
    lease, run, (one,) = await staged(store, "a")
    await ingest(store, lease, run, [one])
    assert not await store.cancel_handoff(lease, one.handoff_id, now=LATER)
    found = await store.handoff(one.handoff_id)
    assert found is not None
    assert found.status is COMPLETED


async def test_a_process_that_lost_the_lease_cancels_nothing(store: Store) -> None:
    lease, _, (one,) = await staged(store, "a")
    await store.release_lease(lease)
    (source,) = await store.sources()
    await a_lease(store, source, owner="other")
    with pytest.raises(LeaseLost):
        await store.cancel_handoff(lease, one.handoff_id, now=LATER)


async def test_finished_handoffs_are_kept_by_time_and_unfinished_ones_for_ever(store: Store) -> None:
    source = await a_source(store)
    first = await a_generation(store, source, {"https://docs.example/a": "one"})
    second = await a_generation(store, source, {"https://docs.example/a": "two"})
    lease, run = await a_run(store, source)
    (open_one,) = await store.stage(lease, run, [a_draft("https://docs.example/b", "three")], now=NOW)

    floors = {source.id: second.generation}
    done = await store.vacuum(floors, handoffs_before=NOW, everything=True)
    assert (done.handoffs, done.documents, done.contents) == (0, 1, 1), "the text goes, its record stays"
    kept = await store.handoffs()
    assert {one.run_id for one in kept} == {first.id, second.id, run.id}
    done = await store.vacuum(floors, handoffs_before=LATER + timedelta(days=999), everything=True)
    assert (done.handoffs, done.contents) == (2, 0)
    assert [one.id for one in await store.handoffs()] == [open_one.handoff_id]


async def test_a_page_that_goes_back_to_a_forgotten_text_opens_its_handoff_again(store: Store) -> None:
    source = await a_source(store)
    for text in ("one", "two"):
        last = await a_generation(store, source, {"https://docs.example/a": text})
    await store.vacuum({source.id: last.generation}, everything=True)
    await a_generation(store, source, {"https://docs.example/a": "one"})
    assert len(await store.handoffs(status=COMPLETED)) == 2
    (known,) = (await store.known(source.id)).values()
    assert known.content_hash == a_draft("https://docs.example/a", "one").content_hash


async def test_runs_keep_the_records_of_handoffs_by_time_however_many_generations_pass(
    tmp_path: Path, store: Store
) -> None:
    assert Config().history.keep_handoffs == "30d"
    with a_site_of(2) as site:
        async with a_world(tmp_path, site, store=store) as world:
            await world.add()
            for edition in range(7):
                site.set("/p1.html", a_page("/p1.html", f"edition{edition}"))
                await world.sync()
                world.clock.advance(4 * DAY_S)
            assert len(await store.handoffs(limit=99)) == 2 + 6, "more than three generations ago"
            world.clock.advance(10 * DAY_S)
            site.set("/p1.html", a_page("/p1.html", "the last edition"))
            await world.sync()
            kept = await store.handoffs(limit=99)
            assert min(one.run_id for one in kept) == 3, "those of 38 and 34 days ago are forgotten"


async def test_what_a_run_made_and_no_reader_has_seen_is_left_over_until_it_is_shown(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    drafts = [a_draft(f"https://docs.example/{number}", f"text {number}") for number in range(3)]
    staged = await store.stage(lease, run, drafts, now=NOW)
    await ingest(store, lease, run, staged[:2])
    made = {draft.reference: draft.payload_hash for draft in drafts}
    for references in (None, list(made)):
        left = await store.leftovers(source.id, references)
        assert {one: known.payload_hash for one, known in left.items()} == made
    await store.begin_run(lease, source.id, full=False, now=LATER)
    left = await store.leftovers(source.id)
    assert {one: known.payload_hash for one, known in left.items()} == made
