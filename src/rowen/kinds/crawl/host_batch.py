"""A turn at a host: one process asks for some pages of a crawl that another process leads.

The host is held while it is asked, and until it may be asked again; what came is read after the turn was
passed on. So the workers of a large crawl read pages side by side, while its host sees one visitor.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Any

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
from rowen.kinds.crawl import question as page
from rowen.kinds.crawl.ask import Pages
from rowen.kinds.web.rules import PageRules
from rowen.ports.store.shards import Question

PAGES = 64
SECONDS = 30.0
"""So long a turn takes at most: at a slow host a worker leaves some pages to a later one."""
WRITE_EVERY = 16
WRITING = RetryPolicy(retries=5, base_s=1.0)
LOOK_S = 2.0
MAX_ATTEMPTS = 3
"""A page that took so many workers down with it is left alone."""


LATER: dict[str, Any] = {"later": True}
"""In place of an answer: the turn was over before this page came."""


def asked_for(question: page.Question, *, delay_s: float) -> dict[str, Any]:
    """What the store carries from a crawl to a turn: the question, and the time between two requests."""
    return {**question.as_dict(), "delay_s": delay_s}


def delay_of(asked: Mapping[str, Any]) -> float:
    return float(asked["delay_s"])


class Turn:
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
        """`number` is None for the run itself: it seizes the turn when nobody is at the host.

        With `begun` it also asks what others took and have not answered: they are taken for dead.
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
        self._pages = Pages(self._ports, PageRules(self._ports), self._counters)
        self._answers = _Answers(ports, lease, run, self._counters)
        self._ends_at = ports.clock.monotonic() + SECONDS
        self._looked_at = ports.clock.monotonic()
        self._unwelcome = False
        """The host sent us away, or has another visitor, or the run is over: it is not asked on."""

    async def take(self) -> bool:
        """False when there was nothing to ask.

        Raises `Conflict` while the host has another visitor, `LeaseLost` when the run is over.
        """
        async with AsyncExitStack() as visit:
            held = await visit.enter_async_context(host_lease(self._ports, self._host))
            # Whoever lacks a credential takes no question.
            client = await visit.enter_async_context(
                open_client(self._ports, self._source.location, self._settings, self._counters)
            )
            if self._number is None:
                self._number = await self._store.seize_turn(
                    self._lease, self._run, self._host, begun=self._begun
                )
            questions = await self._store.take_pages(
                self._lease, self._run, self._host, self._number, limit=PAGES
            )
            if not questions:
                await self._pass_on()
                return False
            await self._ask_and_read(questions, visit, client, held)
        await self._answers.finish()
        if held.is_lost():
            # This process slept. What it took and did not ask stays with its ticket.
            raise Conflict(f"host `{self._host}`: being asked by another process")
        return True

    async def _ask_and_read(
        self, questions: Sequence[Question], visit: AsyncExitStack, client: Client, held: Held
    ) -> None:
        delay_s = max(delay_of(question.asked) for question in questions)
        client.slow_down(self._host, delay_s)
        # With time between requests, those that are booked and wait would still go when it is over.
        at_a_time = self._settings["concurrency"]
        slots = asyncio.Semaphore(min(at_a_time, 2) if delay_s else at_a_time)
        try:
            async with asyncio.TaskGroup() as group:
                asked = [asyncio.Event() for _ in questions]
                for question, done in zip(questions, asked, strict=True):
                    group.create_task(self._one(client, question, slots, held, done))
                for done in asked:
                    await done.wait()
                if not self._unwelcome:
                    await client.rest()
                    # What is left is reading: the next one may ask.
                    await visit.aclose()
                    await self._pass_on()
        except BaseExceptionGroup as group_error:
            raise first(group_error) from None

    async def _one(
        self, client: Client, taken: Question, slots: asyncio.Semaphore, held: Held, asked: asyncio.Event
    ) -> None:
        try:
            answer = await self._answer(client, taken, slots, held, asked)
        except (TransientError, PermanentError) as exc:
            self._unwelcome = self._unwelcome or isinstance(exc, STOPS)
            answer = page.written(exc)
        finally:
            asked.set()
        if answer is not None:
            await self._answers.note(taken.id, answer)

    async def _answer(
        self, client: Client, taken: Question, slots: asyncio.Semaphore, held: Held, asked: asyncio.Event
    ) -> dict[str, Any] | None:
        """None for a page that was not asked for."""
        question = page.Question.from_dict(taken.asked)
        if taken.attempts > MAX_ATTEMPTS:
            raise Unfetchable(f"`{question.url}`: whoever asked for it died, {MAX_ATTEMPTS} times")
        async with slots:
            if not await self._may_ask(held):
                return None
            if self._ports.clock.monotonic() >= self._ends_at:
                return LATER
            response = await client.ask(self._pages.request(question))
        asked.set()
        return page.written(await self._pages.read(question, response))

    async def _may_ask(self, held: Held) -> bool:
        """Is it still our host, and the run not over? The second is looked up every few seconds."""
        now = self._ports.clock.monotonic()
        if now - self._looked_at >= LOOK_S:
            self._looked_at = now
            with suppress(TransientError):
                run = await self._store.run(self._run.id)
                self._unwelcome = self._unwelcome or run is None or run.status is not RunStatus.RUNNING
        self._unwelcome = self._unwelcome or held.is_lost()
        return not self._unwelcome

    async def _pass_on(self) -> None:
        assert self._number is not None
        await self._store.pass_turn(
            self._lease, self._run, self._host, self._number, now=self._ports.clock.now()
        )


class _Answers:
    """What became of a turn's questions, written down some at a time; a store that is away is waited for."""

    def __init__(self, ports: Ports, lease: Lease, run: Run, counters: Counters) -> None:
        self._store = ports.store
        self._clock = ports.clock
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
