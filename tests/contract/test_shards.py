"""What the store promises about pages that workers ask for: questions, whose batch it is, and answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from rowen.adapters.store.postgres.jobs.dispatcher import PgQueuerDispatcher
from rowen.adapters.store.postgres.store import PostgresStore
from rowen.adapters.store.sqlite.jobs import SqliteDispatcher
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.adapters.system.clock import SystemClock
from rowen.core.lease import Lease
from rowen.core.run import Run
from rowen.errors import LeaseLost
from rowen.ports.dispatcher import INGEST, Answer, Dispatcher, Done, Ticket
from rowen.ports.store.shards import FETCH, Question, fetch_payload
from rowen.ports.store.store import Store
from tests.contract.helpers import LATER, NOW, a_draft, a_generation, a_lease, a_run, a_source, an_end
from tests.support.begun import begun

pytestmark = pytest.mark.anyio

HOST, OTHER = "docs.example", "img.example"
MANY = 100


@pytest.fixture
def dispatcher(store: Store, request: pytest.FixtureRequest) -> Dispatcher:
    """What carries the tickets of this store."""
    if isinstance(store, SqliteStore):
        return SqliteDispatcher(store.database, SystemClock(), owner="worker")
    assert isinstance(store, PostgresStore)
    url = request.getfixturevalue("postgres").url
    return PgQueuerDispatcher(url, SystemClock(), schema=store.database.schema)


class Crawl:
    """A run that asks, and the batches at its hosts."""

    def __init__(self, store: Store, lease: Lease, run: Run) -> None:
        self.store, self.lease, self.run = store, lease, run

    async def ask(self, *pages: str, host: str = HOST) -> list[int]:
        asked = [{"page": page} for page in pages]
        return await self.store.ask_pages(self.lease, self.run, host, asked, now=NOW)

    async def take(self, batch: int, *, limit: int = MANY, host: str = HOST) -> list[Question]:
        return await self.store.take_pages(self.lease, self.run, host, batch, limit=limit)

    async def taken(self, batch: int, *, limit: int = MANY, host: str = HOST) -> list[str]:
        return [one.asked["page"] for one in await self.take(batch, limit=limit, host=host)]

    async def answer(self, ids: list[int], text: str = "text") -> None:
        await self.store.answer_pages(self.lease, self.run, {one: {"text": text} for one in ids})

    async def pass_on(self, batch: int, *, host: str = HOST) -> None:
        await self.store.pass_batch(self.lease, self.run, host, batch, now=NOW)

    async def seize(self, *, host: str = HOST, begun: bool = True) -> int:
        return await self.store.seize_batch(self.lease, self.run, host, begun=begun)

    async def answers(self) -> dict[int, Any]:
        return await self.store.take_answers(self.lease, self.run)


@pytest.fixture
async def crawl(store: Store) -> Crawl:
    return Crawl(store, *await a_run(store, await a_source(store)))


async def sent(dispatcher: Dispatcher, host: str = HOST) -> list[int]:
    """The batches at a host that have a ticket."""
    return [ticket["turn"] for ticket in await dispatcher.outstanding(FETCH) if ticket["host"] == host]


# asking


async def test_questions_get_numbers_in_the_order_they_were_asked_in(crawl: Crawl) -> None:
    first, second = await crawl.ask("a", "b"), await crawl.ask("c", host=OTHER)
    assert len({*first, *second}) == 3
    assert [*first, *second] == sorted([*first, *second])


async def test_the_first_question_brings_the_hosts_first_batch(crawl: Crawl, dispatcher: Dispatcher) -> None:
    await crawl.ask("a", "b")
    (ticket,) = await dispatcher.outstanding(FETCH)
    assert ticket == fetch_payload(crawl.lease, crawl.run, HOST, 1)
    assert ticket == {
        "run": crawl.run.id,
        "lease": crawl.lease.name,
        "token": crawl.lease.token,
        "owner": crawl.lease.owner,
        "host": HOST,
        "turn": 1,
    }


async def test_there_is_no_second_ticket_while_a_worker_has_the_batch(
    crawl: Crawl, dispatcher: Dispatcher
) -> None:
    await crawl.ask("a")
    await crawl.ask("b")
    await crawl.take(1)
    await crawl.ask("c")
    assert await sent(dispatcher) == [1]


async def test_every_host_has_batches_of_its_own(crawl: Crawl, dispatcher: Dispatcher) -> None:
    await crawl.ask("a")
    await crawl.ask("b", host=OTHER)
    assert (await sent(dispatcher), await sent(dispatcher, OTHER)) == ([1], [1])
    await crawl.take(1)
    await crawl.pass_on(1)
    assert await crawl.taken(1, host=OTHER) == ["b"]


async def test_every_run_has_batches_and_questions_of_its_own(
    store: Store, crawl: Crawl, dispatcher: Dispatcher
) -> None:
    other = Crawl(store, *await a_run(store, await a_source(store, "other")))
    await crawl.ask("mine")
    ids = await other.ask("theirs")
    assert await sent(dispatcher) == [1, 1]
    assert await crawl.taken(1) == ["mine"]
    await crawl.answer(ids)
    assert await other.answers() == {}, "no run answers for another"
    assert await other.taken(1) == ["theirs"]
    await other.answer(ids)
    assert await crawl.answers() == {}, "no run takes another's answers"
    assert list(await other.answers()) == ids


async def test_asking_nothing_sends_no_ticket(crawl: Crawl, dispatcher: Dispatcher) -> None:
    assert await crawl.ask() == []
    assert await sent(dispatcher) == []


async def test_a_host_that_waits_goes_before_what_was_fetched(
    store: Store, crawl: Crawl, dispatcher: Dispatcher
) -> None:
    drafts = [a_draft("https://docs.example/a", "a")]
    await store.stage(crawl.lease, crawl.run, drafts, now=NOW, dispatch=True)
    await crawl.ask("b")
    met: list[str] = []
    stop = asyncio.Event()

    async def handle(ticket: Ticket) -> Answer:
        met.append(ticket.task)
        if len(met) == 2:
            stop.set()
        return Done()

    async with asyncio.timeout(120):
        await dispatcher.run({FETCH: handle, INGEST: handle}, concurrency=1, stop=stop)
    assert met == [FETCH, INGEST]


# taking


async def test_the_oldest_questions_are_taken_first_and_no_more_than_wanted(crawl: Crawl) -> None:
    ids = await crawl.ask("a", "b", "c")
    found = await crawl.take(1, limit=2)
    assert found == [Question(ids[0], {"page": "a"}, 1), Question(ids[1], {"page": "b"}, 1)]


async def test_a_batch_whose_ticket_comes_again_gets_the_same_questions(crawl: Crawl) -> None:
    await crawl.ask("a", "b", "c")
    first = await crawl.take(1, limit=2)
    again = await crawl.take(1, limit=2)
    assert again == [replace(one, attempts=2) for one in first]
    assert [one.attempts for one in await crawl.take(1, limit=2)] == [3, 3]


async def test_what_was_answered_is_not_given_again(crawl: Crawl) -> None:
    ids = await crawl.ask("a", "b", "c")
    await crawl.take(1, limit=2)
    await crawl.answer(ids[:1])
    assert await crawl.taken(1, limit=2) == ["b"]


async def test_a_batch_that_answered_all_it_took_goes_on_with_the_next(crawl: Crawl) -> None:
    ids = await crawl.ask("a", "b", "c")
    await crawl.take(1, limit=2)
    await crawl.answer(ids[:2])
    assert await crawl.taken(1, limit=2) == ["c"]


async def test_a_batch_takes_what_was_asked_after_it_began(crawl: Crawl) -> None:
    await crawl.ask("a")
    await crawl.ask("b")
    assert await crawl.taken(1) == ["a", "b"]


async def test_a_batch_that_was_passed_on_takes_nothing_new(crawl: Crawl) -> None:
    await crawl.ask("a", "b")
    assert await crawl.taken(1, limit=1) == ["a"]
    await crawl.pass_on(1)
    assert await crawl.taken(1) == ["a"], "what it took and has not answered is still its own"
    assert await crawl.taken(2) == ["b"]


async def test_a_batch_after_which_no_ticket_was_sent_takes_nothing_new(crawl: Crawl) -> None:
    ids = await crawl.ask("a")
    await crawl.take(1)
    await crawl.answer(ids)
    await crawl.pass_on(1)
    await crawl.ask("b")
    assert await crawl.taken(1) == []
    assert await crawl.taken(2) == ["b"]


async def test_a_batch_that_never_was_takes_nothing(crawl: Crawl) -> None:
    assert await crawl.take(1) == []
    await crawl.ask("a")
    assert await crawl.take(2) == []
    assert await crawl.take(1, host=OTHER) == []
    assert await crawl.taken(1) == ["a"]


# passing a batch on


async def test_where_questions_wait_the_next_batch_begins(crawl: Crawl, dispatcher: Dispatcher) -> None:
    await crawl.ask("a", "b")
    await crawl.take(1, limit=1)
    await crawl.pass_on(1)
    assert await sent(dispatcher) == [1, 2]
    assert (await dispatcher.outstanding(FETCH))[1] == fetch_payload(crawl.lease, crawl.run, HOST, 2)


async def test_where_no_question_waits_no_ticket_is_sent_until_there_is_one(
    crawl: Crawl, dispatcher: Dispatcher
) -> None:
    ids = await crawl.ask("a")
    await crawl.take(1)
    await crawl.answer(ids)
    await crawl.pass_on(1)
    assert await sent(dispatcher) == [1]
    await crawl.ask("b")
    assert await sent(dispatcher) == [1, 2], "numbers of batches are not given again"


async def test_what_a_batch_took_does_not_wait_for_the_next(crawl: Crawl, dispatcher: Dispatcher) -> None:
    await crawl.ask("a")
    await crawl.take(1)
    await crawl.pass_on(1)
    assert await sent(dispatcher) == [1]


async def test_questions_of_other_hosts_begin_no_batch_here(crawl: Crawl, dispatcher: Dispatcher) -> None:
    await crawl.ask("a")
    await crawl.take(1)
    await crawl.ask("b", host=OTHER)
    await crawl.pass_on(1)
    assert await sent(dispatcher) == [1]


@pytest.mark.parametrize("waiting", [True, False])
async def test_a_batch_is_passed_on_once_however_late_its_ticket_comes(
    crawl: Crawl, dispatcher: Dispatcher, waiting: bool
) -> None:
    await crawl.ask("a", "b")
    await crawl.take(1, limit=1 if waiting else 2)
    await crawl.pass_on(1)
    before = await sent(dispatcher)
    await crawl.pass_on(1)
    await crawl.pass_on(1)
    assert await sent(dispatcher) == before
    await crawl.ask("c")
    assert await sent(dispatcher) == [1, 2], "an early end of batch 2 would have sent a third"
    assert await crawl.taken(2) == (["b", "c"] if waiting else ["c"])


async def test_a_batch_that_never_was_cannot_be_passed_on(crawl: Crawl, dispatcher: Dispatcher) -> None:
    await crawl.pass_on(1)
    await crawl.ask("a")
    await crawl.pass_on(2)
    await crawl.pass_on(0)
    assert await sent(dispatcher) == [1]
    assert await crawl.taken(1) == ["a"]


# seizing a host


async def test_seizing_frees_what_a_dead_worker_had_taken(crawl: Crawl) -> None:
    ids = await crawl.ask("a", "b", "c")
    await crawl.take(1, limit=2)
    await crawl.answer(ids[:1])
    batch = await crawl.seize()
    assert batch == 2
    found = await crawl.take(batch)
    assert [(one.asked["page"], one.attempts) for one in found] == [("b", 2), ("c", 1)]


async def test_seizing_what_no_worker_began_leaves_the_rest_to_those_who_took_it(crawl: Crawl) -> None:
    await crawl.ask("a", "b", "c")
    await crawl.take(1, limit=2)
    batch = await crawl.seize(begun=False)
    assert await crawl.taken(batch) == ["c"]
    assert await crawl.taken(1) == ["a", "b"]


async def test_seizing_sends_no_ticket_and_neither_do_questions_after_it(
    crawl: Crawl, dispatcher: Dispatcher
) -> None:
    await crawl.ask("a")
    assert await crawl.seize() == 2
    await crawl.ask("b")
    assert await sent(dispatcher) == [1]


async def test_a_batch_that_lost_its_host_is_powerless(crawl: Crawl, dispatcher: Dispatcher) -> None:
    await crawl.ask("a", "b")
    await crawl.take(1, limit=1)
    batch = await crawl.seize()
    assert await crawl.take(1) == []
    await crawl.pass_on(1)
    assert await sent(dispatcher) == [1]
    assert await crawl.taken(batch) == ["a", "b"]


async def test_a_worker_that_lost_its_host_may_still_answer_what_it_asked(crawl: Crawl) -> None:
    ids = await crawl.ask("a", "b")
    await crawl.take(1)
    batch = await crawl.seize()
    await crawl.answer(ids[:1], "late")
    assert await crawl.taken(batch) == ["b"], "what was answered is not asked again"
    assert await crawl.answers() == {ids[0]: {"text": "late"}}


async def test_a_seized_batch_is_passed_on_like_any_other(crawl: Crawl, dispatcher: Dispatcher) -> None:
    await crawl.ask("a", "b")
    batch = await crawl.seize()
    await crawl.take(batch, limit=1)
    await crawl.pass_on(batch)
    assert await sent(dispatcher) == [1, 3]
    assert await crawl.taken(3) == ["b"]


async def test_seizing_again_frees_what_was_seized(crawl: Crawl) -> None:
    await crawl.ask("a")
    await crawl.take(await crawl.seize())
    assert await crawl.seize() == 3
    assert await crawl.taken(3) == ["a"]


async def test_a_host_that_was_not_asked_about_can_be_seized(crawl: Crawl, dispatcher: Dispatcher) -> None:
    assert await crawl.seize() == 1
    await crawl.ask("a")
    assert await sent(dispatcher) == []
    assert await crawl.taken(1) == ["a"]


async def test_seizing_one_host_leaves_the_others_alone(crawl: Crawl) -> None:
    await crawl.ask("a", host=OTHER)
    await crawl.take(1, host=OTHER)
    await crawl.seize()
    assert await crawl.taken(1, host=OTHER) == ["a"]


# answers


async def test_answers_are_taken_once_in_the_order_of_questions(crawl: Crawl) -> None:
    ids = await crawl.ask("a", "b", "c")
    await crawl.answer([ids[2], ids[0]])
    found = await crawl.answers()
    assert list(found) == [ids[0], ids[2]]
    assert found[ids[0]] == {"text": "text"}
    assert await crawl.answers() == {}
    await crawl.answer([ids[1]])
    assert list(await crawl.answers()) == [ids[1]]


async def test_the_first_answer_stands(crawl: Crawl) -> None:
    (question,) = await crawl.ask("a")
    await crawl.answer([question], "first")
    await crawl.answer([question], "second")
    assert await crawl.answers() == {question: {"text": "first"}}


async def test_an_answer_to_a_question_that_is_gone_is_nothing(crawl: Crawl) -> None:
    (question,) = await crawl.ask("a")
    await crawl.answer([question])
    await crawl.answers()
    await crawl.answer([question, question + 1000], "late")
    assert await crawl.answers() == {}
    (other,) = await crawl.ask("b")
    assert other > question, "its number is not given again"
    assert await crawl.answers() == {}


async def test_answering_nothing_is_nothing(crawl: Crawl) -> None:
    await crawl.answer([])
    assert await crawl.answers() == {}


async def test_everything_in_a_page_comes_back_as_it_was(store: Store, crawl: Crawl) -> None:
    odd = {
        "text": "nul \0 here, \\u0000 there, é 漢字 🌾, a quote ' and a \\",
        "list": [1, 1.5, None, True, {"\0": ""}],
    }
    (question,) = await store.ask_pages(crawl.lease, crawl.run, HOST, [odd], now=NOW)
    (found,) = await crawl.take(1)
    assert found.asked == odd
    await store.answer_pages(crawl.lease, crawl.run, {question: odd})
    assert await crawl.answers() == {question: odd}


# who may, and until when

CALLS: dict[str, Callable[[Crawl], Awaitable[object]]] = {
    "ask": lambda crawl: crawl.ask("late"),
    "ask nothing": lambda crawl: crawl.ask(),
    "take": lambda crawl: crawl.take(1),
    "pass": lambda crawl: crawl.pass_on(1),
    "seize": lambda crawl: crawl.seize(),
    "answer": lambda crawl: crawl.answer([1]),
    "answer nothing": lambda crawl: crawl.answer([]),
    "take answers": lambda crawl: crawl.answers(),
}


@pytest.mark.parametrize("call", CALLS)
async def test_a_process_that_lost_the_lease_changes_nothing(
    store: Store, crawl: Crawl, dispatcher: Dispatcher, call: str
) -> None:
    first, second, _ = await crawl.ask("a", "b", "c")
    await crawl.take(1, limit=2)
    await crawl.answer([first])
    await store.release_lease(crawl.lease)
    (source,) = await store.sources()
    heir = Crawl(store, await a_lease(store, source, owner="other"), crawl.run)
    with pytest.raises(LeaseLost):
        await CALLS[call](crawl)
    assert await sent(dispatcher) == [1]
    assert await heir.take(1) == [Question(second, {"page": "b"}, 2)]
    assert list(await heir.answers()) == [first]


async def test_the_end_of_a_run_removes_everything(
    store: Store, crawl: Crawl, dispatcher: Dispatcher
) -> None:
    other = Crawl(store, *await a_run(store, await a_source(store, "other")))
    await other.ask("theirs")
    ids = await crawl.ask("a", "b", "c")
    await crawl.ask("d", host=OTHER)
    await crawl.take(1, limit=2)
    await crawl.answer(ids[:1])
    await store.forget_tickets(crawl.run.id)
    assert {ticket["run"] for ticket in await dispatcher.outstanding(FETCH)} == {other.run.id}
    assert await rows_left(store, crawl.run) == 0
    assert await crawl.answers() == {}
    assert await crawl.take(1) == await crawl.take(2) == await crawl.take(1, host=OTHER) == []
    await crawl.answer(ids)
    await crawl.pass_on(1)
    assert await rows_left(store, crawl.run) == 0, "who comes late brings nothing back"
    assert await other.taken(1) == ["theirs"]


async def test_a_run_that_was_lost_leaves_nothing(store: Store, crawl: Crawl, dispatcher: Dispatcher) -> None:
    other = Crawl(store, *await a_run(store, await a_source(store, "other")))
    await other.ask("theirs")
    ids = await crawl.ask("a", "b")
    await crawl.answer(ids[:1])
    await store.release_lease(crawl.lease)
    source = next(one for one in await store.sources() if one.id == crawl.run.source_id)
    heir = await a_lease(store, source, owner="heir")
    assert await store.close_lost_run(heir, source.id, now=LATER)
    assert await rows_left(store, crawl.run) == 0
    assert [ticket["run"] for ticket in await dispatcher.outstanding(FETCH)] == [other.run.id]
    assert await rows_left(store, other.run) == 2


async def test_the_next_run_of_a_source_removes_what_an_earlier_one_left(store: Store, crawl: Crawl) -> None:
    await crawl.ask("a")
    # It ended, but could not tidy up before.
    await store.finish_run(crawl.lease, crawl.run, an_end(crawl.run), now=NOW)
    run = await begun(store, crawl.lease, crawl.run.source_id, full=True, now=LATER)
    assert await rows_left(store, crawl.run) == 0
    following = Crawl(store, crawl.lease, run)
    await following.ask("b")
    assert await following.taken(1) == ["b"]


async def test_a_source_that_is_removed_takes_its_questions_along(store: Store, crawl: Crawl) -> None:
    await crawl.ask("a")
    await store.remove_source(crawl.run.source_id, now=NOW)
    assert await rows_left(store, crawl.run) == 0


async def test_a_run_that_asks_no_worker_writes_no_more_rows(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {"https://docs.example/a": "a"})
    before = store.rows_written()
    _, run = await a_run(store, source)
    assert store.rows_written() - before == 3, "its lease, itself, and its source"
    before = store.rows_written()
    await store.forget_tickets(run.id)
    assert store.rows_written() == before


async def rows_left(store: Store, run: Run) -> int:
    """Of a run's questions and batches."""
    text = (
        f"SELECT (SELECT count(*) FROM questions WHERE run_id = {run.id})"
        f" + (SELECT count(*) FROM shard_turns WHERE run_id = {run.id})"
    )
    assert isinstance(store, SqliteStore | PostgresStore)
    ((count,),) = await store.database.read(lambda db: db.query(text, {}))
    return int(count)
