"""A host batch: one process asks a host for some pages of a crawl that another process leads.

The lease of the host is held while it is asked, and until it may be asked again; what came is read after the
next batch was let go. So the workers of a large crawl read pages side by side, while one at a time asks its
host.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any

from rowen.core.lease import Lease
from rowen.core.rules.retry import RetryPolicy
from rowen.core.run import Counters, Run, RunStatus
from rowen.core.source import Source
from rowen.engine import confine
from rowen.engine.leases import Held, host_lease
from rowen.engine.patience import patiently
from rowen.engine.ports import Ports
from rowen.engine.tasks import first
from rowen.errors import Conflict, PermanentError, TransientError, Unfetchable
from rowen.fetching.client import STOPS, Client, open_client
from rowen.kinds.crawl.pages import DELIVERED
from rowen.kinds.crawl.question import LATER, PageQuestion, delay_of, written_answer, written_error
from rowen.kinds.web.pages import WebPages
from rowen.ports.clock import Clock
from rowen.ports.store.shards import Question

if TYPE_CHECKING:
    from rowen.ports.store.store import Store

PAGES = 64
SECONDS = 30.0
"""So long a batch takes at most: at a slow host a worker leaves some pages to a later batch."""
WRITE_EVERY = 16
WRITING = RetryPolicy(retries=5, base_s=1.0)
LOOK_S = 2.0
MAX_ATTEMPTS = 3
"""A page that took so many workers down with it is left alone."""


class HostBatch:
    def __init__(
        self,
        ports: Ports,
        source: Source,
        settings: Mapping[str, Any],
        lease: Lease,
        run: Run,
        host: str,
        number: int | None,
        *,
        begun: bool = False,
    ) -> None:
        """`number` is the batch that a ticket names; the run itself has none and seizes the next one.

        With `begun` it also asks what workers took and have not answered: they are taken for dead.
        """
        self._ports = confine.of_source(ports, source)
        self._store = ports.store
        self._source = source
        self._settings = settings
        self._lease = lease
        self._run = run
        self._host = host
        self._number = number
        self._begun = begun
        self._counters = Counters()
        self._pages = WebPages(self._ports, self._counters)
        self._outbox = _Outbox(ports.store, ports.clock, lease, run, self._counters)
        self._ends_at = ports.clock.monotonic() + SECONDS
        self._looked_at = ports.clock.monotonic()
        self._stopped = False
        """The host limits us, its lease is lost, or the run is over: no further page is asked for."""

    async def take(self) -> bool:
        """False when there was nothing to ask.

        Raises `Conflict` while another process asks the host, `LeaseLost` when the run is over.
        """
        async with AsyncExitStack() as asking:
            held = await asking.enter_async_context(host_lease(self._ports, self._host))
            # Before questions are taken: a process that lacks a credential takes none.
            client = await asking.enter_async_context(
                open_client(self._ports, self._source.location, self._settings, self._counters)
            )
            if self._number is None:
                self._number = await self._store.seize_batch(
                    self._lease, self._run, self._host, begun=self._begun
                )
            questions = await self._store.take_pages(
                self._lease, self._run, self._host, self._number, limit=PAGES
            )
            if not questions:
                await self._pass_on()
                return False
            await self._ask_and_read(questions, asking, client, held)
        await self._outbox.finish()
        if held.is_lost():
            # This process was suspended. What it took and did not ask stays with its ticket.
            raise Conflict(f"host `{self._host}`: being asked by another process")
        return True

    async def _ask_and_read(
        self, questions: Sequence[Question], asking: AsyncExitStack, client: Client, held: Held
    ) -> None:
        delay_s = max(delay_of(question.asked) for question in questions)
        client.slow_down(self._host, delay_s)
        # With a delay, requests that have reserved their time would still be sent when the batch is over.
        at_a_time = self._settings["concurrency"]
        slots = asyncio.Semaphore(min(at_a_time, 2) if delay_s else at_a_time)
        try:
            async with asyncio.TaskGroup() as group:
                asked = [asyncio.Event() for _ in questions]
                for question, done in zip(questions, asked, strict=True):
                    group.create_task(self._one(client, question, slots, held, done))
                for done in asked:
                    await done.wait()
                if not self._stopped:
                    await client.rest()
                    # What is left is reading: the next batch may be asked.
                    await asking.aclose()
                    await self._pass_on()
        except BaseExceptionGroup as group_error:
            raise first(group_error) from None

    async def _one(
        self, client: Client, taken: Question, slots: asyncio.Semaphore, held: Held, asked: asyncio.Event
    ) -> None:
        try:
            answer = await self._answer(client, taken, slots, held, asked)
        except (TransientError, PermanentError) as exc:
            self._stopped = self._stopped or isinstance(exc, STOPS)
            answer = written_error(exc)
        finally:
            asked.set()
        if answer is not None:
            await self._outbox.note(taken.id, answer)

    async def _answer(
        self, client: Client, taken: Question, slots: asyncio.Semaphore, held: Held, asked: asyncio.Event
    ) -> dict[str, Any] | None:
        """None for a page that was not asked for."""
        question = PageQuestion.from_dict(taken.asked)
        if taken.attempts > MAX_ATTEMPTS:
            raise Unfetchable(f"`{question.url}`: the workers that asked for it died, {MAX_ATTEMPTS} times")
        async with slots:
            if not await self._may_ask(held):
                return None
            if self._ports.clock.monotonic() >= self._ends_at:
                return LATER
            response = await client.ask(self._pages.request(question.url, question.validators))
        asked.set()
        page = None
        if response.status in DELIVERED and not response.refused:
            page = await self._pages.read(
                question.url,
                response,
                known_hash=question.known_hash,
                has_document=question.has_document,
            )
        return written_answer(response, page)

    async def _may_ask(self, held: Held) -> bool:
        """Is the lease of the host still held, and the run not over? The second is looked up now and then."""
        now = self._ports.clock.monotonic()
        if now - self._looked_at >= LOOK_S:
            self._looked_at = now
            with suppress(TransientError):
                run = await self._store.run(self._run.id)
                self._stopped = self._stopped or run is None or run.status is not RunStatus.RUNNING
        self._stopped = self._stopped or held.is_lost()
        return not self._stopped

    async def _pass_on(self) -> None:
        assert self._number is not None
        await self._store.pass_batch(
            self._lease, self._run, self._host, self._number, now=self._ports.clock.now()
        )


class _Outbox:
    """The answers of a batch, written down some at a time; a store that is away is waited for."""

    def __init__(self, store: Store, clock: Clock, lease: Lease, run: Run, counters: Counters) -> None:
        self._store = store
        self._clock = clock
        self._lease = lease
        self._run = run
        self._counters = counters
        self._waiting: dict[int, dict[str, Any]] = {}
        self._gate = asyncio.Lock()

    async def note(self, question_id: int, answer: dict[str, Any]) -> None:
        self._waiting[question_id] = answer
        if len(self._waiting) >= WRITE_EVERY and not self._gate.locked():
            with suppress(TransientError):
                await self._write()

    async def finish(self) -> None:
        await patiently(self._write, self._clock, WRITING)

    async def _write(self) -> None:
        async with self._gate:
            answers = dict(self._waiting)
            if not answers:
                return
            share = self._counters.cut()
            try:
                # Before the answers: with the last of them the run may be over.
                await self._store.save_share(self._run.id, share)
            except TransientError:
                self._counters.join(share)
                raise
            await self._store.answer_pages(self._lease, self._run, answers)
            for question_id in answers:
                del self._waiting[question_id]
