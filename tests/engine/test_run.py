"""The life of a run: one owner, a true word at the end, and nothing lost in between."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from rowen.core.handoff import RETRY_BASE_S, HandoffStatus, Reason
from rowen.core.lease import source_lease_name
from rowen.core.run import Mode, RunStatus
from rowen.core.search.hit import SearchMode
from rowen.core.source import Status
from rowen.engine.run import sync
from rowen.errors import Conflict, LeaseLost, NotFound, StoreBusy
from rowen.reading import history
from tests.support.site import Site, html
from tests.support.world import World, a_page, a_site_of, a_world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with a_site_of(30) as site:
        async with a_world(tmp_path, site) as made:
            await made.add()
            yield made


async def test_a_source_is_never_run_by_two_owners_at_once(world: World) -> None:
    source = await world.source()
    now = world.clock.now()
    await world.store.acquire_lease(source_lease_name(source.id), "elsewhere:1", now=now, ttl_s=60)
    with pytest.raises(Conflict, match="being synced by `elsewhere:1`"):
        await world.sync()
    world.clock.advance(61)
    assert (await world.sync()).status is RunStatus.COMPLETED


async def test_the_lease_of_a_dead_process_is_taken_over_at_once(world: World) -> None:
    source = await world.source()
    now = world.clock.now()
    await world.store.acquire_lease(source_lease_name(source.id), "dead", now=now, ttl_s=60)
    ports = replace(world.ports, is_dead=lambda owner: owner == "dead")
    assert (await sync(ports, source)).status is RunStatus.COMPLETED


async def test_a_run_that_loses_its_lease_stops_and_writes_nothing_more(world: World) -> None:
    source = await world.source()
    gate = threading.Event()
    world.site.set("/p1.html", a_page("/p1.html", "slow"), delay=gate)
    started = asyncio.Event()
    running = asyncio.create_task(sync(world.ports, source, on_event=lambda event: started.set()))
    await asyncio.wait_for(started.wait(), 120)
    held = await world.store.lease(source_lease_name(source.id))
    assert held is not None
    await world.store.release_lease(held)
    await world.store.acquire_lease(held.name, "thief", now=world.clock.now(), ttl_s=600)
    gate.set()
    with pytest.raises(LeaseLost):
        await running
    assert await world.pages() == set()


async def test_a_cancelled_run_ends_as_cancelled_and_the_next_one_takes_up_what_was_stored(
    world: World,
) -> None:
    source = await world.source()
    gate = threading.Event()
    world.site.set("/p29.html", a_page("/p29.html", "slow"), delay=gate)
    seen = asyncio.Event()
    running = asyncio.create_task(
        sync(world.ports, source, on_event=lambda event: seen.set() if event.kind == "item" else None)
    )
    await asyncio.wait_for(seen.wait(), 120)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    gate.set()
    (run,) = await world.store.runs(source.id, limit=1)
    assert run.status is RunStatus.CANCELLED
    assert (await world.source()).status is Status.IDLE
    assert await world.pages() == set(), "whole generations only"
    stored = len(await world.store.leftovers(source.id))
    assert stored > 0

    embedded = list(world.embedder.embedded)
    receipt = await world.sync()
    assert (receipt.counters.created, receipt.status) == (30, RunStatus.COMPLETED)
    assert receipt.counters.not_modified == stored, "asked with the validators the cancelled run stored"
    assert not set(embedded) & set(world.embedder.embedded[len(embedded) :]), "nothing is embedded twice"


async def test_what_ends_its_process_three_times_by_itself_is_given_up_and_takes_nothing_down(
    world: World,
) -> None:
    await world.sync()
    world.site.set("/p1.html", a_page("/p1.html", "poison"))
    world.site.set("/p2.html", a_page("/p2.html", "innocent"))

    class Crash(BaseException):
        """Stands for the end of the process."""

    async def embed(texts: list[str]) -> list[bytes]:
        if any("poison" in text for text in texts):
            raise Crash
        return await type(world.embedder).embed(world.embedder, texts)

    world.embedder.embed = embed  # type: ignore[method-assign]
    for _ in range(5):
        with pytest.raises(Crash):
            await world.sync()
    receipt = await world.sync()
    assert (receipt.counters.failed, receipt.counters.updated) == (1, 1)
    assert receipt.result.words == "partial: 1 item failed"
    assert await world.found("innocent") == ["/p2.html"]
    assert "/p1.html" in await world.pages(), "its old version stays visible"
    (failed,) = await world.store.handoffs(status=HandoffStatus.FAILED)
    assert failed.reason_code == Reason.WORKER_LOST
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.failed) == (RunStatus.PARTIAL, 1), "said until it changes"
    world.site.set("/p1.html", a_page("/p1.html", "cured"))
    assert (await world.sync()).status is RunStatus.COMPLETED


async def test_text_is_stored_and_found_by_its_words_while_the_embedder_is_down(world: World) -> None:
    await world.sync()
    world.site.set("/p1.html", a_page("/p1.html", "amaranth"))
    world.embedder.down = True
    receipt = await world.sync()
    assert receipt.counters.skipped == 1
    assert await world.found("amaranth") == ["/p1.html"]
    answer = await world.search("amaranth", mode=SearchMode.HYBRID)
    assert answer.mode is SearchMode.KEYWORD
    assert answer.degraded

    world.embedder.down = False
    world.clock.advance(RETRY_BASE_S)
    world.site.clear_log()
    receipt = await world.sync()
    assert receipt.counters.embeddings_computed >= 1
    fetched = [asked for asked in world.site.requests if asked.status not in (304, 404)]
    assert len(fetched) == receipt.counters.claims_checked, (
        "filled in without a new fetch but those that check 304s"
    )
    assert await world.store.unembedded(world.embedder.model, limit=5) == []


async def test_a_generation_that_removes_too_much_is_held_until_it_is_approved(world: World) -> None:
    await world.sync()
    for number in range(1, 12):
        world.site.remove(f"/p{number}.html")
    receipt = await world.sync()
    assert (receipt.status, receipt.held_generation, receipt.generation) == (RunStatus.HELD, 2, 1)
    source = await world.source()
    assert source.held_reason == "it would remove 11 of 30 documents, more than 30%"
    assert len(await world.found("harvest")) == 30
    assert await history.approve(world.ports, source) == 2
    assert len(await world.found("harvest")) == 19
    with pytest.raises(NotFound, match="nothing is held"):
        await history.approve(world.ports, await world.source())


async def test_a_held_generation_is_discarded_by_the_next_run(world: World) -> None:
    await world.sync()
    pages = dict(world.site.pages)
    for number in range(1, 12):
        world.site.remove(f"/p{number}.html")
    await world.sync()
    world.site.pages.update(pages)
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.unchanged) == (RunStatus.COMPLETED, 30)
    assert (await world.source()).held_generation is None


async def test_rollback_shows_the_older_generation_and_the_next_sync_builds_on_it(world: World) -> None:
    await world.sync()
    world.site.set("/p1.html", a_page("/p1.html", "millet"))
    await world.sync()
    assert await history.rollback(world.ports, await world.source()) == 1
    assert await world.found("millet") == []
    receipt = await world.sync()
    assert (receipt.counters.updated, receipt.generation) == (1, 3)
    assert receipt.counters.embeddings_computed == 0
    assert await world.found("millet") == ["/p1.html"]


async def test_rollback_to_what_is_not_kept_says_what_is(world: World) -> None:
    await world.sync()
    with pytest.raises(NotFound, match="no generation before 1 is kept"):
        await history.rollback(world.ports, await world.source())
    with pytest.raises(NotFound) as caught:
        await history.rollback(world.ports, await world.source(), to_generation=7)
    assert caught.value.hint == "kept: 1"


async def test_history_is_bounded_by_itself(world: World) -> None:
    for edition in range(6):
        world.site.set("/p1.html", a_page("/p1.html", f"edition{edition}"))
        await world.sync()
    source = await world.source()
    assert [g.number for g in await world.store.generations(source.id)] == [4, 5, 6]
    diff = await history.diff(world.ports.store, source)
    assert (diff.from_generation, diff.to_generation) == (5, 6)
    assert [change.reference.endswith("/p1.html") for change in diff.changes] == [True]


async def test_the_watermark_is_the_start_of_the_last_run_without_failures(world: World) -> None:
    began = world.clock.now()
    await world.sync()
    assert (await world.source()).watermark == began
    world.clock.advance(100)
    world.site.set("/p1.html", "oops", status=500)
    await world.sync()
    assert (await world.source()).watermark == began
    world.site.set("/p1.html", a_page("/p1.html", "well again"))
    later = world.clock.now()
    await world.sync()
    assert (await world.source()).watermark == later


async def test_a_bug_ends_the_run_as_failed_and_is_not_swallowed(world: World) -> None:
    async def broken(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError("a bug")

    world.ports.converter.convert = broken  # type: ignore[method-assign, assignment]
    with pytest.raises(ZeroDivisionError):
        await world.sync()
    source = await world.source()
    (run,) = await world.store.runs(source.id, limit=1)
    assert (run.status, source.status) == (RunStatus.FAILED, Status.ERROR)
    assert "ZeroDivisionError: a bug" in (source.last_error or "")


async def test_a_first_harvest_that_finds_nothing_says_why(tmp_path: Path) -> None:
    with Site({"/": html("Home", "x")}) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            site.remove("/")
            receipt = await world.sync()
            assert receipt.status is RunStatus.FAILED
            assert "404" in (receipt.error or "")
            assert (await world.source()).consecutive_failures == 1


async def test_events_tell_the_whole_run_in_one_stream(world: World) -> None:
    await world.sync()
    kinds = [event.kind for event in world.events]
    assert (kinds[0], kinds[-1]) == ("started", "finished")
    assert kinds.count("item") == 30
    assert world.events[-1].counters is not None
    assert world.events[-1].counters.created == 30


async def test_a_run_begins_from_what_the_store_says_now_not_from_what_was_read_before(world: World) -> None:
    before = await world.source()
    await world.sync()
    world.site.set("/p1.html", a_page("/p1.html", "millet"))
    receipt = await sync(world.ports, before)
    assert (receipt.mode, receipt.generation, receipt.counters.updated) == (Mode.INCREMENTAL, 2, 1)
    assert await history.rollback(world.ports, before) == 1


async def test_texts_are_indexed_before_readers_see_them_and_trouble_with_that_stops_no_run(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    visible_then: list[set[str]] = []

    async def busy(run: object, generation: int) -> None:
        visible_then.append(await world.pages())
        raise StoreBusy("another process is writing")

    monkeypatch.setattr(world.store, "index_ahead", busy)
    receipt = await world.sync()
    assert (receipt.status, visible_then) == (RunStatus.COMPLETED, [set()])
    assert len(await world.pages()) == receipt.counters.created
