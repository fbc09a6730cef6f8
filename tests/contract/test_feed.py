"""What the store promises about the change feed, visible documents and sinks."""

from __future__ import annotations

from datetime import timedelta

import pytest

from rowen.core.feed import START, Cursor
from rowen.errors import LeaseLost
from rowen.ports.store.store import Store
from tests.contract.helpers import (
    LATER,
    NOW,
    a_draft,
    a_generation,
    a_run,
    a_source,
    an_end,
    ingest,
    reload,
)

pytestmark = pytest.mark.anyio

A, B, C = "https://docs.example/a", "https://docs.example/b", "https://docs.example/c"


async def changes(store: Store, after: Cursor = START) -> list[tuple[str, str]]:
    return [(item.reference, item.change) for item in await store.feed(after)]


async def test_the_feed_tells_what_readers_saw_change_in_its_order(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "a", B: "b"})
    seen = await store.feed_end()
    await a_generation(store, source, {B: "b2", C: "c"}, gone=[A])
    assert await changes(store, seen) == [(B, "changed"), (C, "added"), (A, "removed")]
    assert await changes(store, await store.feed_end()) == []


async def test_the_end_of_the_feed_can_be_written_down(store: Store) -> None:
    await a_generation(store, await a_source(store), {A: "a"})
    end = await store.feed_end()
    assert Cursor.parse(str(end)) == end


async def test_the_feed_says_nothing_of_a_generation_no_reader_saw(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    await ingest(store, lease, run, await store.stage(lease, run, [a_draft(A, "a")], now=NOW))
    await store.finish_run(lease, run, an_end(run, activate=False), now=LATER)
    assert await store.feed(START) == []
    assert await store.feed_end() == START


async def test_an_item_of_the_feed_carries_what_readers_see_of_it_now(store: Store) -> None:
    source = await a_source(store, version="2")
    await a_generation(store, source, {A: "old"})
    await a_generation(store, source, {A: "new"})
    first, second = await store.feed(START)
    assert first.document == second.document
    assert first.document is not None
    assert (first.source, first.kind, first.document.reference) == ("docs@2", "web", A)
    assert (first.generation, second.generation) == (1, 2)
    assert first.at == LATER


async def test_the_feed_is_read_piece_by_piece_without_gaps_or_repeats(store: Store) -> None:
    source, other = await a_source(store), await a_source(store, "other")
    await a_generation(store, source, {f"https://docs.example/{n}": str(n) for n in range(7)})
    await a_generation(store, other, {"https://other.example/x": "x"})
    await a_generation(store, source, {f"https://docs.example/{n}": f"new {n}" for n in range(4)})
    cursor, met = START, []
    while page := await store.feed(cursor, limit=3):
        met += [item.reference for item in page]
        assert len(page) <= 3
        cursor = page[-1].cursor
    assert len(met) == 12
    assert met[:7] == [f"https://docs.example/{n}" for n in range(7)]


async def test_the_feed_of_one_source_leaves_the_others_out(store: Store) -> None:
    source, other = await a_source(store), await a_source(store, "other")
    await a_generation(store, source, {A: "a"})
    await a_generation(store, other, {"https://other.example/x": "x"})
    assert [item.source for item in await store.feed(START, source_ids=[other.id])] == ["other"]
    assert await store.feed(START, source_ids=[]) == []


async def test_a_rollback_is_news_of_everything_it_undoes(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "a", B: "b"})
    await a_generation(store, source, {B: "b2"})
    await a_generation(store, source, {C: "c"}, gone=[A])
    seen = await store.feed_end()
    await store.activate(source.id, 1, now=LATER)
    assert sorted(await changes(store, seen)) == [(A, "changed"), (B, "changed"), (C, "removed")]


async def test_removals_stay_in_the_feed_when_history_is_forgotten(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "a", B: "b"})
    seen = await store.feed_end()
    await a_generation(store, source, {}, gone=[A])
    await a_generation(store, source, {C: "c"})
    await store.vacuum({source.id: 3}, everything=True)
    assert await changes(store, seen) == [(A, "removed"), (C, "added")]


async def test_a_removed_source_is_one_change_in_place_of_all_it_had(store: Store) -> None:
    source, other = await a_source(store, version="2"), await a_source(store, "other")
    await a_generation(store, source, {A: "a", B: "b"})
    await a_generation(store, other, {C: "c"})
    seen = await store.feed_end()
    await store.remove_source(source.id, now=LATER)
    kept, gone = await store.feed(START)
    assert (kept.source, kept.reference) == ("other", C)
    assert await store.feed(seen) == [gone]
    assert (gone.source, gone.kind, gone.change, gone.reference) == ("docs@2", "web", "source_removed", "")
    assert (gone.source_id, gone.generation, gone.at, gone.document) == (0, 1, LATER, None)
    assert await store.feed(gone.cursor) == []
    assert await store.feed(await store.feed_end()) == []
    assert await store.feed(START, limit=1) == [kept]
    assert await store.removed_sources() == ["docs@2"]


async def test_the_end_of_the_feed_never_goes_back(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "a"})
    seen = await store.feed_end()
    await store.remove_source(source.id, now=LATER)
    gone = await store.feed_end()
    assert gone > seen
    await a_generation(store, await a_source(store, "new"), {B: "b"})
    assert await changes(store, gone) == [(B, "added")]
    await store.remove_source(10**9, now=LATER)
    assert len(await store.removed_sources()) == 1


async def test_a_removal_is_told_by_label_as_numbers_of_sources_come_again(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "a"})
    seen = await store.feed_end()
    await store.remove_source(source.id, now=LATER)
    # On SQLite this one has the number of the one that was removed.
    other = await a_source(store, "other")
    await a_generation(store, other, {B: "b"})
    assert [item.source for item in await store.feed(seen, source_ids=[other.id])] == ["other"]
    both = await store.feed(seen, source_ids=[other.id], removed=["docs"])
    assert [(item.source, item.change) for item in both] == [("docs", "source_removed"), ("other", "added")]
    assert [item.source for item in await store.feed(seen, source_ids=[], removed=["docs"])] == ["docs"]


async def test_a_source_added_again_is_new_and_its_removals_are_told_as_one(store: Store) -> None:
    for number in (1, 2):
        source = await a_source(store)
        await a_generation(store, source, {A: f"text {number}"})
        told = await changes(store)
        assert told == [("", "source_removed"), (A, "added")][-number:]
        await store.remove_source(source.id, now=LATER)
    assert await changes(store) == [("", "source_removed")]


async def test_removals_are_read_piece_by_piece_among_the_changes(store: Store) -> None:
    for number in range(5):
        source = await a_source(store, f"s{number}")
        await a_generation(store, source, {A: "a", B: "b"})
        if number % 2:
            await store.remove_source(source.id, now=LATER)
    cursor, met = START, []
    while page := await store.feed(cursor, limit=2):
        met += [(item.source, item.reference) for item in page]
        cursor = page[-1].cursor
    assert met == [(f"s{n}", ref) for n in range(5) for ref in (("",) if n % 2 else (A, B))]


async def test_visible_documents_come_in_pages_and_by_reference(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "# A\n\ntext a", B: "b", C: "c"})
    await a_generation(store, source, {}, gone=[B])
    first = await store.documents(source.id, limit=1)
    assert [one.reference for one in first] == [A]
    assert first[0].text is None
    assert [one.reference for one in await store.documents(source.id, after=A)] == [C]
    assert [one.reference for one in await store.documents(source.id, references=[C, B])] == [C]
    found = await store.document(first[0].id)
    assert found is not None
    assert found.text == "# A\n\ntext a"
    assert (found.generation, found.born, found.fetched_at) == (2, 1, NOW)
    assert await store.document(10**9) is None


async def test_a_sink_moves_only_by_its_own_lease_and_keeps_its_place(store: Store) -> None:
    await store.save_sink("hook", kind="webhook", settings={"url": "u"}, cursor=Cursor(3, 4))
    lease = await store.acquire_lease("sink:hook", "me", now=NOW, ttl_s=60)
    assert lease is not None
    await store.move_sink(lease, "hook", cursor=Cursor(5, 6), state={"n": 1}, error=None, now=NOW)
    await store.save_sink("hook", kind="webhook", settings={"url": "v"}, cursor=START)
    (sink,) = await store.sinks()
    assert (sink.cursor, sink.settings, sink.state) == (Cursor(5, 6), {"url": "v"}, {"n": 1})
    assert (sink.last_success_at, sink.last_error, sink.failures) == (NOW, None, 0)

    for expected in (1, 2):
        await store.move_sink(lease, "hook", cursor=None, state=None, error="down", now=LATER)
        (sink,) = await store.sinks()
        assert (sink.cursor, sink.failures, sink.last_error) == (Cursor(5, 6), expected, "down")
        assert sink.last_success_at == NOW

    await store.acquire_lease("sink:hook", "other", now=NOW + timedelta(hours=1), ttl_s=60)
    with pytest.raises(LeaseLost):
        await store.move_sink(lease, "hook", cursor=START, state=None, error=None, now=LATER)


async def test_a_sink_of_another_kind_starts_anew(store: Store) -> None:
    await store.save_sink("out", kind="webhook", settings={}, cursor=Cursor(3, 4))
    await store.save_sink("out", kind="atom", settings={}, cursor=Cursor(9, 0))
    (sink,) = await store.sinks()
    assert (sink.kind, sink.cursor) == ("atom", Cursor(9, 0))
    await store.remove_sink("out")
    assert await store.sinks() == []


async def test_a_source_left_running_by_a_dead_process_is_put_in_order(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    assert await store.close_lost_run(lease, source.id, now=LATER)
    assert not await store.close_lost_run(lease, source.id, now=LATER)
    found = await reload(store, source)
    assert (found.status.value, found.consecutive_failures) == ("ERROR", 1)
    stored = await store.run(run.id)
    assert stored is not None
    assert stored.status.value == "lost"
    assert await store.run(10**9) is None
