"""Several processes on one PostgreSQL: who may write, who waits for whom, and what readers see meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from rowen.adapters.store.postgres.jobs import dispatcher
from rowen.adapters.store.postgres.jobs.dispatcher import PgQueuerDispatcher
from rowen.adapters.store.postgres.store import PostgresStore
from rowen.adapters.store.shared.transaction import Transaction
from rowen.adapters.system.clock import SystemClock
from rowen.core.feed import START
from rowen.errors import LeaseLost, StoreUnusable
from rowen.ports.dispatcher import Answer, Done, Ticket
from rowen.ports.store.shards import FETCH
from tests.contract.helpers import (
    LATER,
    NOW,
    a_draft,
    a_generation,
    a_lease,
    a_run,
    a_source,
    an_end,
    ingest,
    visible,
)
from tests.support.postgres import Server
from tests.support.stores import a_postgres_schema
from tests.support.waiting import until

pytestmark = pytest.mark.anyio

A, B = "https://docs.example/a", "https://docs.example/b"
HOST = "docs.example"


@pytest.fixture
async def stores(postgres: Server) -> AsyncIterator[tuple[PostgresStore, PostgresStore]]:
    """Two processes, as far as the database can tell."""
    with a_postgres_schema(postgres) as schema:
        url = f"{postgres.url}&application_name={schema}"
        one, other = (PostgresStore(url, schema=schema) for _ in range(2))
        yield one, other
        await one.close()
        await other.close()


async def until_it_waits(server: Server, store: PostgresStore) -> None:
    """One of the two waits for a lock."""
    waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = %s"
    async with asyncio.timeout(120):
        with server.connect() as db:
            # The server does not announce who begins to wait: it must be asked.
            while not db.execute(waiting, (store.database.schema,)).fetchone():  # noqa: ASYNC110
                await asyncio.sleep(0)


def unit(method: Any) -> Callable[..., Any]:
    """What a method of the store does on its transaction, for a transaction that does more."""
    return partial(method.__wrapped__, method.__self__)


async def begun(work: Awaitable[object]) -> asyncio.Future[object]:
    return asyncio.ensure_future(work)


async def test_of_many_who_want_a_lease_one_gets_it(stores: tuple[PostgresStore, PostgresStore]) -> None:
    for turn in range(5):
        now = NOW + timedelta(hours=turn)
        asked = [
            store.acquire_lease("source:1", f"{turn}-{n}", now=now, ttl_s=60)
            for n in range(6)
            for store in stores
        ]
        got = [lease for lease in await asyncio.gather(*asked) if lease]
        assert len(got) == 1
        assert got[0].token == turn + 1


async def test_a_takeover_waits_for_the_write_that_is_under_way(
    stores: tuple[PostgresStore, PostgresStore], postgres: Server
) -> None:
    store, other = stores
    source = await a_source(store)
    lease, run = await a_run(store, source)
    reached, go_on = threading.Event(), threading.Event()

    def slow_write(db: Transaction) -> None:
        db.value("lease_check", name=lease.name, token=lease.token)
        reached.set()
        assert go_on.wait(120)
        db.write("run_progress", run=run.id, counters='{"pages": 7}')

    writing = await begun(store.database.write(slow_write))
    assert await asyncio.to_thread(reached.wait, 120)
    # The heartbeat goes through: it does not change who holds the lease.
    lease = await other.renew_lease(lease, now=NOW, ttl_s=60)
    late = NOW + timedelta(hours=1)
    taking = await begun(other.acquire_lease(lease.name, "other", now=late, ttl_s=60))
    await until_it_waits(postgres, store)
    assert not taking.done()
    go_on.set()
    await asyncio.gather(writing, taking)
    stored = await other.run(run.id)
    assert stored is not None
    assert stored.counters == {"pages": 7}, "the write came before the takeover"
    with pytest.raises(LeaseLost):
        await store.stage(lease, run, [a_draft(A, "late")], now=NOW)


async def test_a_unit_of_work_that_has_begun_ends_though_its_caller_is_gone(
    stores: tuple[PostgresStore, PostgresStore],
) -> None:
    store, _ = stores
    reached, go_on = threading.Event(), threading.Event()

    def slow_write(db: Transaction) -> None:
        db.write("note_save", name="slow", value="1")
        reached.set()
        assert go_on.wait(120)

    writing = await begun(store.database.write(slow_write))
    assert await asyncio.to_thread(reached.wait, 120)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    go_on.set()
    await store.close()
    reopened = stores[1]
    assert await reopened.note("slow") == 1


async def test_two_who_meet_the_same_texts_at_once_share_them(
    stores: tuple[PostgresStore, PostgresStore],
) -> None:
    pages = {f"https://docs.example/{n}": f"# Page {n}\n\nthe same text {n}" for n in range(40)}
    backwards = dict(reversed(pages.items()))
    sources = [await a_source(stores[0], name) for name in ("one", "other", "third", "fourth")]
    await asyncio.gather(
        *(
            a_generation(stores[number % 2], source, backwards if number % 2 else pages)
            for number, source in enumerate(sources)
        )
    )
    seen = [await visible(stores[0], source) for source in sources]
    assert seen[0] == seen[1] == seen[2] == seen[3]
    assert len(seen[0]) == 40


async def test_workers_of_one_run_may_bring_the_same_page_twice(
    stores: tuple[PostgresStore, PostgresStore],
) -> None:
    source = await a_source(stores[0])
    lease, run = await a_run(stores[0], source)
    drafts = [a_draft(f"https://docs.example/{n}", f"text {n}") for n in range(30)]
    staged = await stores[0].stage(lease, run, drafts, now=NOW)
    await asyncio.gather(*(ingest(store, lease, run, staged) for store in stores for _ in range(2)))
    await stores[0].finish_run(lease, run, an_end(run), now=LATER)
    assert len(await visible(stores[0], source)) == 30
    assert len(await stores[0].documents(source.id)) == 30


async def test_two_first_requests_at_once_become_one_that_has_both(
    stores: tuple[PostgresStore, PostgresStore],
) -> None:
    source = await a_source(stores[0])
    requests = [
        store.request_sync(source.id, only=[f"{n}"], reason="push", now=NOW)
        for n, store in enumerate([*stores, *stores])
    ]
    await asyncio.gather(*requests)
    (request,) = await stores[0].sync_requests()
    assert request.only is not None
    assert sorted(request.only) == ["0", "1", "2", "3"]


async def test_news_becomes_visible_in_the_order_of_its_numbers(
    stores: tuple[PostgresStore, PostgresStore], postgres: Server
) -> None:
    store, other = stores
    first, second = await a_source(store, "first"), await a_source(store, "second")
    lease, run = await a_run(other, second)
    await ingest(other, lease, run, await other.stage(lease, run, [a_draft(A, "a")], now=NOW))
    reached, go_on = threading.Event(), threading.Event()

    def slow_activation(db: Transaction) -> None:
        unit(store.activate)(db, first.id, 0, now=NOW)
        reached.set()
        assert go_on.wait(120)

    slow = await begun(store.database.write(slow_activation))
    assert await asyncio.to_thread(reached.wait, 120)
    finishing = await begun(other.finish_run(lease, run, an_end(run), now=LATER))
    await until_it_waits(postgres, store)
    assert (await store.feed_end()) == START, "no reader may see the later one before the earlier one"
    go_on.set()
    await asyncio.gather(slow, finishing)
    assert (await store.feed_end()).activation == 2


async def test_forgetting_waits_for_those_who_are_about_to_use_a_text(
    stores: tuple[PostgresStore, PostgresStore], postgres: Server
) -> None:
    store, other = stores
    source = await a_source(store)
    await a_generation(store, source, {A: "once used"})
    await store.remove_source(source.id, now=NOW)
    source = await a_source(store)
    lease, run = await a_run(store, source)
    reached, go_on = threading.Event(), threading.Event()

    def slow_stage(db: Transaction) -> object:
        staged = unit(store.stage)(db, lease, run, [a_draft(B, "once used")], now=NOW)
        reached.set()
        assert go_on.wait(120)
        return staged

    staging = await begun(store.database.write(slow_stage))
    assert await asyncio.to_thread(reached.wait, 120)
    vacuuming = await begun(other.vacuum({}, everything=True))
    await until_it_waits(postgres, store)
    go_on.set()
    await asyncio.gather(staging, vacuuming)
    (handoff,) = await store.handoffs()
    (kept,) = await store.staged(run, [handoff.id])
    assert kept.draft.text == "once used"


async def test_a_reader_sees_one_state_however_long_it_reads(
    stores: tuple[PostgresStore, PostgresStore],
) -> None:
    store, other = stores
    source = await a_source(store)
    await a_generation(store, source, {A: "old"})
    reached, go_on = threading.Event(), threading.Event()

    def slow_read(db: Transaction) -> tuple[int, int]:
        before = len(db.rows("known", source=source.id))
        reached.set()
        assert go_on.wait(120)
        return before, len(db.rows("known", source=source.id))

    reading = asyncio.ensure_future(store.database.read(slow_read))
    assert await asyncio.to_thread(reached.wait, 120)
    await a_generation(other, source, {A: "new", B: "b"})
    go_on.set()
    assert await reading == (1, 1)
    assert len(await visible(store, source)) == 2


async def test_a_reader_can_write_nothing(stores: tuple[PostgresStore, PostgresStore]) -> None:
    with pytest.raises(StoreUnusable, match="read-only"):
        await stores[0].database.read(lambda db: db.write("note_save", name="n", value="1"))


async def test_a_row_that_was_rolled_back_was_not_written(
    stores: tuple[PostgresStore, PostgresStore],
) -> None:
    store, _ = stores
    before = store.rows_written()

    def fails(db: Transaction) -> None:
        db.write("note_save", name="n", value="1")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.database.write(fails)
    assert store.rows_written() == before
    assert await store.note("n") is None
    await store.save_note("n", 1)
    assert store.rows_written() == before + 1


async def test_a_run_taken_over_in_the_middle_leaves_one_history(
    stores: tuple[PostgresStore, PostgresStore],
) -> None:
    zombie, heir = stores
    source = await a_source(zombie)
    lease, run = await a_run(zombie, source)
    staged = await zombie.stage(lease, run, [a_draft(A, "a")], now=NOW)
    await heir.release_lease(lease)
    mine = await a_lease(heir, source, "heir")
    await heir.begin_run(mine, source.id, full=True, now=LATER)
    with pytest.raises(LeaseLost):
        await ingest(zombie, lease, run, staged)
    assert [one.status.value for one in await heir.runs(source.id, limit=5)] == ["running", "lost"]


async def turns_sent(server: Server, store: PostgresStore) -> list[int]:
    tickets = PgQueuerDispatcher(server.url, SystemClock(), schema=store.database.schema)
    return [ticket["turn"] for ticket in await tickets.outstanding(FETCH)]


async def test_a_question_asked_while_a_batch_ends_waits_and_brings_the_next(
    stores: tuple[PostgresStore, PostgresStore], postgres: Server
) -> None:
    store, other = stores
    lease, run = await a_run(store, await a_source(store))
    await store.ask_pages(lease, run, HOST, [{"page": A}], now=NOW)
    await other.take_pages(lease, run, HOST, 1, limit=10)
    reached, go_on = threading.Event(), threading.Event()

    def slow_end(db: Transaction) -> None:
        unit(other.pass_batch)(db, lease, run, HOST, 1, now=NOW)
        reached.set()
        assert go_on.wait(120)

    passing = await begun(other.database.write(slow_end))
    assert await asyncio.to_thread(reached.wait, 120)
    asking = await begun(store.ask_pages(lease, run, HOST, [{"page": B}], now=NOW))
    await until_it_waits(postgres, store)
    go_on.set()
    await asyncio.gather(passing, asking)
    assert await turns_sent(postgres, store) == [1, 2]
    assert [one.asked for one in await other.take_pages(lease, run, HOST, 2, limit=10)] == [{"page": B}]


async def test_the_end_of_a_batch_waits_for_a_question_and_sees_it(
    stores: tuple[PostgresStore, PostgresStore], postgres: Server
) -> None:
    store, other = stores
    lease, run = await a_run(store, await a_source(store))
    await store.ask_pages(lease, run, HOST, [{"page": A}], now=NOW)
    await other.take_pages(lease, run, HOST, 1, limit=10)
    reached, go_on = threading.Event(), threading.Event()

    def slow_question(db: Transaction) -> None:
        unit(store.ask_pages)(db, lease, run, HOST, [{"page": B}], now=NOW)
        reached.set()
        assert go_on.wait(120)

    asking = await begun(store.database.write(slow_question))
    assert await asyncio.to_thread(reached.wait, 120)
    passing = await begun(other.pass_batch(lease, run, HOST, 1, now=NOW))
    await until_it_waits(postgres, store)
    go_on.set()
    await asyncio.gather(asking, passing)
    assert await turns_sent(postgres, store) == [1, 2]
    assert [one.asked for one in await other.take_pages(lease, run, HOST, 2, limit=10)] == [{"page": B}]


async def test_no_question_is_left_without_a_batch_however_they_fall(
    stores: tuple[PostgresStore, PostgresStore], postgres: Server
) -> None:
    store, other = stores
    lease, run = await a_run(store, await a_source(store))
    asked: set[int] = set()
    answered: set[int] = set()

    async def ask(asker: int) -> None:
        for number in range(40):
            question = {"page": f"{asker}/{number}"}
            asked.update(await store.ask_pages(lease, run, HOST, [question], now=NOW))

    async def visit(asking: asyncio.Future[list[None]]) -> None:
        """Every batch that was sent, once; it ends when no ticket is sent any more."""
        done, over = 0, False
        while not over or answered < asked:
            # Before the tickets are looked at: from then on no question brings one.
            over = asking.done()
            sent = await turns_sent(postgres, store)
            assert sent == list(range(1, len(sent) + 1)), "each batch has one ticket"
            assert len(sent) > done or not over, f"no ticket for {asked - answered}"
            for batch in range(done + 1, len(sent) + 1):
                questions = await other.take_pages(lease, run, HOST, batch, limit=5)
                assert not answered & {one.id for one in questions}
                await other.answer_pages(lease, run, {one.id: {} for one in questions})
                answered.update(one.id for one in questions)
                await other.pass_batch(lease, run, HOST, batch, now=NOW)
            done = len(sent)
        await asking

    async with asyncio.timeout(120):
        await visit(asyncio.gather(*(ask(asker) for asker in range(3))))
    assert len(answered) == 120
    assert set(await store.take_answers(lease, run)) == asked


async def test_of_many_with_one_ticket_all_get_the_same_questions(
    stores: tuple[PostgresStore, PostgresStore],
) -> None:
    lease, run = await a_run(stores[0], await a_source(stores[0]))
    ids = await stores[0].ask_pages(lease, run, HOST, [{"page": n} for n in range(30)], now=NOW)
    taken = await asyncio.gather(
        *(store.take_pages(lease, run, HOST, 1, limit=10) for store in stores for _ in range(3))
    )
    assert [[one.id for one in questions] for questions in taken] == [ids[:10]] * 6
    assert sorted(questions[0].attempts for questions in taken) == [1, 2, 3, 4, 5, 6]


async def test_the_end_of_a_run_waits_for_a_batch_that_is_being_passed_on(
    stores: tuple[PostgresStore, PostgresStore], postgres: Server
) -> None:
    store, other = stores
    lease, run = await a_run(store, await a_source(store))
    await store.ask_pages(lease, run, HOST, [{"page": A}], now=NOW)
    reached, go_on = threading.Event(), threading.Event()

    def slow_end(db: Transaction) -> None:
        unit(other.pass_batch)(db, lease, run, HOST, 1, now=NOW)
        reached.set()
        assert go_on.wait(120)

    passing = await begun(other.database.write(slow_end))
    assert await asyncio.to_thread(reached.wait, 120)
    ending = await begun(store.forget_tickets(run.id))
    await until_it_waits(postgres, store)
    go_on.set()
    await asyncio.gather(passing, ending)
    assert await turns_sent(postgres, store) == [], "the ticket it sent last is forgotten too"


async def test_a_process_asleep_in_a_transaction_does_not_hold_others_for_ever(postgres: Server) -> None:
    with a_postgres_schema(postgres) as schema:
        store = PostgresStore(postgres.url, schema=schema)
        limit = await store.database.read(
            lambda db: db.query("SELECT current_setting('idle_in_transaction_session_timeout')", {})
        )
        assert limit == [("1min",)]
        await store.close()


async def test_a_worker_waits_for_tables_that_are_away_while_a_backup_is_restored(
    stores: tuple[PostgresStore, PostgresStore],
    postgres: Server,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(dispatcher, "RECONNECT_S", 0.01)
    schema, stop = stores[0].database.schema, asyncio.Event()
    tickets = PgQueuerDispatcher(postgres.url, SystemClock(), schema=schema)

    async def handle(ticket: Ticket) -> Answer:
        stop.set()
        return Done()

    async def waiting() -> bool:
        return "tickets_interrupted" in caplog.text

    with postgres.connect() as db:
        db.execute(f"ALTER TABLE {schema}.pgqueuer_log RENAME TO away")
        working = asyncio.create_task(tickets.run({"work": handle}, concurrency=1, stop=stop))
        await until(waiting)
        db.execute(f"ALTER TABLE {schema}.away RENAME TO pgqueuer_log")
    await tickets.submit("work", [{}])
    await asyncio.wait_for(working, 120)
