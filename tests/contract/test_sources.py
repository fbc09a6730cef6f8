"""What the store promises about sources, leases, references and validators."""

from __future__ import annotations

import asyncio
import gc
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from rowen.core.document import NO_VALIDATORS, Outcome, Validators
from rowen.core.run import Mode, RunItem
from rowen.core.search.hit import Filters
from rowen.core.source import FATAL, Status
from rowen.errors import Conflict
from rowen.ports.embedder import Model
from rowen.ports.store.documents import InventoryName, Listing, Refreshed
from rowen.ports.store.notes import Pause
from rowen.ports.store.search import SearchRequest
from rowen.ports.store.store import Store
from tests.contract.helpers import (
    LATER,
    MODEL,
    NOW,
    a_draft,
    a_generation,
    a_lease,
    a_run,
    a_source,
    an_end,
    ingest,
    reload,
    visible,
)

pytestmark = pytest.mark.anyio

A, B = "https://docs.example/a", "https://docs.example/b"


async def test_a_name_and_version_can_be_used_once(store: Store) -> None:
    await a_source(store, "docs", "1")
    await a_source(store, "docs", "2")
    with pytest.raises(Conflict, match="`docs@1`: exists already"):
        await a_source(store, "docs", "1")
    assert [source.label for source in await store.sources()] == ["docs@1", "docs@2"]


async def test_a_new_source_is_idle_and_shows_nothing(store: Store) -> None:
    source = await a_source(store)
    assert (source.status, source.active_generation) == (Status.IDLE, 0)
    assert (await store.stats(source.id)).documents == 0


async def test_a_changed_source_keeps_its_documents_and_forgets_how_far_it_was_read(store: Store) -> None:
    source = await a_source(store)
    lease = await a_lease(store, source)
    await store.save_listing(lease, source.id, Listing(url=A, validators=Validators(), payload={}))
    await store.release_lease(lease)
    await a_generation(store, source, {A: "text"})
    shown, before = await visible(store, source), await reload(store, source)
    assert before.watermark is not None
    other: dict[str, Any] = {"key": "web:docs:other", "params": {"max_depth": 3}, "metadata": {"x": 1}}
    await store.change_source(before.id, **other, forget=False)
    assert await reload(store, source) == replace(before, **other)
    assert len(await store.listings(source.id)) == 1
    await store.change_source(before.id, **other, forget=True)
    after = await reload(store, source)
    assert after == replace(before, **other, watermark=None)
    assert await store.listings(source.id) == {}
    assert await visible(store, source) == shown


async def test_one_source_is_read_by_its_id_until_it_is_removed(store: Store) -> None:
    docs, other = await a_source(store, "docs"), await a_source(store, "other")
    await store.set_paused(docs.id, True)
    assert await store.source(docs.id) == replace(docs, paused=True)
    assert await store.source(other.id) == other
    await store.remove_source(docs.id, now=NOW)
    assert await store.source(docs.id) is None
    assert await store.source(other.id) == other


async def test_a_lease_is_held_by_one_owner_until_it_expires(store: Store) -> None:
    source = await a_source(store)
    first = await a_lease(store, source)
    soon, late = NOW + timedelta(seconds=59), NOW + timedelta(seconds=61)
    assert await store.acquire_lease(first.name, "other", now=soon, ttl_s=60) is None
    second = await store.acquire_lease(first.name, "other", now=late, ttl_s=60)
    assert second is not None
    assert second.token > first.token


async def test_a_heartbeat_keeps_a_lease(store: Store) -> None:
    source = await a_source(store)
    lease = await a_lease(store, source)
    await store.renew_lease(lease, now=NOW + timedelta(seconds=50), ttl_s=60)
    late = NOW + timedelta(seconds=61)
    assert await store.acquire_lease(lease.name, "other", now=late, ttl_s=60) is None


async def test_leases_of_long_ago_are_forgotten_by_the_beginning_of_their_names(store: Store) -> None:
    for name, at in (("worker:a", NOW), ("worker:b", LATER), ("worker_c", NOW), ("worker:d", NOW)):
        lease = await store.acquire_lease(name, "me", now=at, ttl_s=60)
        assert lease is not None
        if name == "worker:d":
            await store.release_lease(lease)
    await store.forget_leases("worker:", before=NOW + timedelta(seconds=61))
    assert [one.name for one in await store.leases_like("worker")] == ["worker:b", "worker_c"]
    again = await store.acquire_lease("worker:d", "me", now=NOW, ttl_s=60)
    assert again is not None
    assert again.token == 1


async def test_tokens_grow_across_a_release(store: Store) -> None:
    source = await a_source(store)
    first = await a_lease(store, source)
    await store.release_lease(first)
    assert await store.lease(first.name) is None
    assert (await a_lease(store, source)).token == first.token + 1


async def test_a_stale_release_changes_nothing(store: Store) -> None:
    source = await a_source(store)
    first = await a_lease(store, source)
    await store.release_lease(first)
    await a_lease(store, source, "other")
    await store.release_lease(first)
    assert await store.acquire_lease(first.name, "third", now=NOW, ttl_s=60) is None


async def test_a_run_marks_its_source_running_and_then_successful(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    running = await reload(store, source)
    assert (running.status, running.last_run_at) == (Status.RUNNING, NOW)
    await store.finish_run(lease, run, an_end(run), now=LATER)
    done = await reload(store, source)
    assert (done.status, done.last_success_at, done.watermark) == (Status.SUCCESS, LATER, NOW)


async def test_links_come_back_in_page_order(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    links = [f"https://docs.example/{n}" for n in (5, 3, 9)]
    staged = await store.stage(lease, run, [a_draft(A, "a", links=links)], now=NOW)
    await ingest(store, lease, run, staged)
    await store.finish_run(lease, run, an_end(run), now=LATER)
    ids = (await store.references(source.id)).ids
    assert list((await store.known(source.id))[A].links) == [ids[link] for link in links]


async def test_aliases_are_remembered(store: Store) -> None:
    source = await a_source(store)
    lease = await a_lease(store, source)
    await store.save_aliases(lease, source.id, {B: A})
    references = await store.references(source.id)
    assert references.aliases == {B: A}
    assert set(references.ids) == {A, B}


async def test_listings_are_remembered_and_replaced(store: Store) -> None:
    source = await a_source(store)
    lease = await a_lease(store, source)
    for etag in ('"1"', '"2"'):
        listing = Listing(url=A, validators=Validators(etag), payload={"urls": [etag]})
        await store.save_listing(lease, source.id, listing)
        assert await store.listings(source.id) == {A: listing}


async def test_new_validators_change_no_version_and_no_generation(store: Store) -> None:
    source = await a_source(store)
    run = await a_generation(store, source, {A: "a"})
    lease, _ = await a_run(store, source)
    before = (await store.known(source.id))[A]
    refreshed = Refreshed(
        document_id=before.document_id,
        validators=Validators('W/"9"', "Fri, 01 May 2026 12:00:00 GMT"),
        body_hash=b"x" * 32,
        body_bytes=0,
        links=[B],
    )
    await store.refresh(lease, source.id, [refreshed])
    after = (await store.known(source.id))[A]
    assert (after.document_id, after.content_hash) == (before.document_id, before.content_hash)
    assert (after.validators, after.body_hash) == (refreshed.validators, refreshed.body_hash)
    assert list(after.links) == [(await store.references(source.id)).ids[B]]
    assert (await reload(store, source)).active_generation == run.generation


async def test_the_same_text_is_stored_and_embedded_once_for_all_who_use_it(store: Store) -> None:
    one, other = await a_source(store, "one"), await a_source(store, "other")
    await a_generation(store, one, {A: "# Shared\n\ntext"})
    lease, run = await a_run(store, other)
    (staged,) = await store.stage(lease, run, [a_draft(B, "# Shared\n\ntext")], now=NOW)
    assert staged.sectioned
    await ingest(store, lease, run, [staged])
    await store.finish_run(lease, run, an_end(run), now=LATER)
    assert await visible(store, one) == {A: staged.draft.content_hash}
    assert await visible(store, other) == {B: staged.draft.content_hash}
    assert await store.unembedded(MODEL, limit=10) == []


async def test_a_removed_source_takes_nothing_of_others_with_it(store: Store) -> None:
    one, other = await a_source(store, "one"), await a_source(store, "other")
    await a_generation(store, one, {A: "shared"})
    await a_generation(store, other, {B: "shared"})
    await store.remove_source(one.id, now=NOW)
    await store.vacuum({}, everything=True)
    assert [source.name for source in await store.sources()] == ["other"]
    assert len(await visible(store, other)) == 1


async def test_the_mode_of_a_run_is_written_down(store: Store) -> None:
    source = await a_source(store)
    lease = await a_lease(store, source)
    await store.begin_run(lease, source.id, full=True, now=NOW)
    assert (await store.runs(source.id, limit=1))[0].mode is Mode.FULL


async def test_a_run_begins_with_the_source_as_it_is_then(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "a"})
    await store.set_schedule(source.id, 3600.0)
    started = await store.begin_run(await a_lease(store, source), source.id, full=False, now=LATER)
    assert started is not None
    assert (started.source.every_s, started.source.active_generation) == (3600.0, 1)
    assert started.run.mode is Mode.INCREMENTAL


async def test_a_source_without_a_generation_has_a_full_run(store: Store) -> None:
    source = await a_source(store)
    started = await store.begin_run(await a_lease(store, source), source.id, full=False, now=NOW)
    assert started is not None
    assert started.run.mode is Mode.FULL


async def test_a_removed_source_has_no_run(store: Store) -> None:
    source = await a_source(store)
    lease = await a_lease(store, source)
    await store.remove_source(source.id, now=NOW)
    assert await store.begin_run(lease, source.id, full=False, now=NOW) is None


async def test_what_is_known_can_be_asked_for_by_reference(store: Store) -> None:
    source, other = await a_source(store), await a_source(store, "other")
    await a_generation(store, source, {A: "a", B: "b"})
    await a_generation(store, other, {A: "theirs"})
    everything = await store.known(source.id)
    assert await store.known(source.id, [A]) == {A: everything[A]}
    assert await store.known(source.id, []) == {}
    assert await store.known(source.id, ["https://docs.example/never"]) == {}


async def test_leftovers_can_be_asked_for_by_reference(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    await store.stage(lease, run, [a_draft(A, "a"), a_draft(B, "b")], now=NOW)
    everything = await store.leftovers(source.id)
    assert await store.leftovers(source.id, [B]) == {B: everything[B]}


async def test_visible_references_come_in_pages(store: Store) -> None:
    source = await a_source(store)
    names = [f"https://docs.example/{n:02}" for n in range(5)]
    await a_generation(store, source, dict.fromkeys(names, "same"))
    await a_generation(store, source, {}, gone=[names[2]])
    first = await store.visible_references(source.id, after="", limit=3)
    assert first == [names[0], names[1], names[3]]
    assert await store.visible_references(source.id, after=first[-1], limit=3) == [names[4]]


async def test_items_can_be_written_down_as_the_run_goes(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    items = [RunItem(A, Outcome.CREATED, "new"), RunItem(B, Outcome.FAILED, "timeout", "too slow")]
    for item in items:
        await store.save_items(lease, run, [item])
    assert await store.run_items(run.id) == items


async def test_notes_are_remembered_and_replaced(store: Store) -> None:
    assert await store.note("breaker") is None
    for value in ({"state": "open"}, {"state": "closed"}):
        await store.save_note("breaker", value)
        assert await store.note("breaker") == value
    await store.save_note("breaker:x", 1)
    await store.save_note("other", 2)
    assert await store.notes_like("breaker:") == {"breaker:x": 1}
    assert await store.notes(["breaker:x", "nothing"]) == {"breaker:x": 1}
    assert await store.notes([]) == {}


async def test_the_embedding_gap_counts_each_visible_text_once(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "# Same\n\ntext", B: "# Same\n\ntext"})
    other = Model(name="another", digest="d", dimensions=4, alpha=0.5)
    gap = await store.embedding_gap(other)
    assert (gap.passages, gap.missing) == (1, 1)
    assert gap.missing_chars == len("Same\ntext")
    assert (await store.embedding_gap(MODEL, source.id)).missing == 0


async def test_a_source_has_an_interval_and_can_be_paused(store: Store) -> None:
    source = await a_source(store)
    assert (source.every_s, source.paused) == (None, False)
    await store.set_schedule(source.id, 3600.0)
    await store.set_paused(source.id, True)
    after = await reload(store, source)
    assert (after.every_s, after.paused) == (3600.0, True)
    await store.set_paused(source.id, False)
    assert not (await reload(store, source)).paused


async def test_other_settings_leave_key_and_history_alone(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "# A\n\ntext"})
    before = await reload(store, source)
    await store.set_params(source.id, {"max_items": 5, "header": {"X-Key": "${KEY}"}, "overlap": 3600.0})
    after = await reload(store, source)
    assert after.params == {"max_items": 5, "header": {"X-Key": "${KEY}"}, "overlap": 3600.0}
    assert replace(after, params=before.params) == before
    assert set(await visible(store, source)) == {A}


async def test_a_broken_source_with_other_settings_is_tried_again(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    metadata = {FATAL: True, "learnt": 1}
    await store.finish_run(lease, run, replace(an_end(run), metadata=metadata), now=LATER)
    await store.set_params(source.id, {"max_items": 5})
    assert (await reload(store, source)).metadata == {"learnt": 1}


async def test_a_run_that_was_answered_lifts_the_pause_of_its_upstream_and_of_no_other(store: Store) -> None:
    source = await a_source(store)
    for upstream in ("docs.example", "other.example"):
        await store.pause_upstream(Pause(upstream=upstream, until=LATER + timedelta(hours=6), reason="429"))
    lease, run = await a_run(store, source)
    await store.finish_run(lease, run, replace(an_end(run), answered="docs.example"), now=LATER)
    assert list(await store.pauses(now=LATER)) == ["other.example"]


async def test_a_client_is_left_alone_until_its_pause_is_over(store: Store) -> None:
    pause = Pause(upstream="d.example", until=NOW + timedelta(hours=6), reason="429")
    await store.pause_upstream(pause)
    assert await store.pauses(now=NOW) == {"d.example": pause}
    assert await store.pauses(now=NOW + timedelta(hours=6)) == {}


async def test_the_names_of_an_inventory_are_found_where_readers_see_their_page(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: '# A\n\n## Graft {#graft}\n\nJoin.\n\n<a id="saw"></a> Saw.\n'})
    lease = await a_lease(store, source)
    listing = Listing(url=f"{A}/objects.inv", validators=Validators('"1"'), payload={"names": 4})
    names = [
        InventoryName("orchard.graft_all", "function", A, "graft"),
        InventoryName("saw_off", "function", A, "saw"),
        InventoryName("whole_page", "module", A, "nowhere"),
        InventoryName("unseen", "function", B, "unseen"),
    ]
    await store.save_inventory(lease, source.id, listing, names)
    assert await store.listings(source.id) == {listing.url: listing}

    async def places(*words: str) -> list[tuple[str | None, str | None, int]]:
        request = SearchRequest(terms=(), vector=None, model=None, filters=Filters(), names=words)
        found = (await store.search_snapshot(request)).places
        return [(place.symbol, place.anchor, place.position) for place in found]

    assert await places("graftall") == [("orchard.graft_all", "graft", 1)]
    assert await places("sawoff") == [("saw_off", "saw", 1)]
    assert await places("wholepage") == [("whole_page", "nowhere", 0)]
    assert await places("unseen") == []
    assert set(await store.symbol_words(shortest=6, longest=8)) == {"graftall", "sawoff", "unseen"}

    await store.save_inventory(lease, source.id, listing, names[1:2])
    assert await places("graftall", "sawoff") == [("saw_off", "saw", 1)]
    await store.release_lease(lease)
    await store.remove_source(source.id, now=NOW)
    assert await store.symbol_words(shortest=6, longest=8) == []


async def test_the_error_of_a_write_whose_caller_is_gone_is_nobodys_traceback(store: Store) -> None:
    handled: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: handled.append(context))
    source = await a_source(store)
    lost = await a_lease(store, source)
    await store.release_lease(lost)
    await a_lease(store, source)
    listing = Listing(url="https://docs.example/robots.txt", validators=NO_VALIDATORS, payload={})
    writing = asyncio.ensure_future(store.save_listing(lost, source.id, listing))
    await asyncio.sleep(0)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    await store.close()
    gc.collect()
    await asyncio.sleep(0)
    assert handled == []


async def test_what_will_be_seen_is_read_while_the_run_that_makes_it_is_under_way(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "old", B: "stays"})
    lease, run = await a_run(store, source)
    draft = a_draft(A, "new", links=[B, A])
    await ingest(store, lease, run, await store.stage(lease, run, [draft], now=NOW))
    first, second = await store.living(source.id, limit=10)
    assert first.reference_id < second.reference_id
    assert await store.living(source.id, after=first.reference_id, limit=10) == [second]
    assert await store.living(source.id, limit=1) == [first]
    assert await store.living(source.id, among=[second.reference_id], limit=10) == [second]
    new, stays = sorted((first, second), key=lambda one: one.draft.reference)
    assert (new.draft, stays.draft.text) == (draft, "stays")
    await store.retire(lease, run, [stays.reference_id])
    assert await store.living(source.id, limit=10) == [new]
    assert (await visible(store, source)).keys() == {A, B}, "readers see what they saw"
