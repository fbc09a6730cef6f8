"""A turn at a host: one process asks for some pages of a crawl that another process leads.

The host is held while it is asked, and until it may be asked again; what came is read after the turn was
passed on. So the workers of a large crawl read pages side by side, while its host sees one visitor.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from rowen.core import page
from rowen.core.lease import Lease
from rowen.core.run import Counters, Run
from rowen.core.source import Source
from rowen.errors import PermanentError, TransientError, Unfetchable
from rowen.flows import reach
from rowen.flows.client import STOPS, Client
from rowen.flows.crawl_rules import open_client
from rowen.flows.groups import first
from rowen.flows.leases import Held, host_lease
from rowen.flows.pages import Pages
from rowen.flows.tools import Tools
from rowen.flows.web_rules import PageRules
from rowen.ports.shards import Question

PAGES = 64
SECONDS = 30.0
"""So long a turn takes at most: at a slow host a worker leaves some pages to a later one."""
WRITE_EVERY = 16
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
        tools: Tools,
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
        self._tools = reach.of_source(tools, source)
        self._store = tools.store
        self._source = source
        self._settings = settings
        self._lease = lease
        self._run = run
        self._host = host
        self._number = number
        self._begun = begun
        self._counters = Counters()
        self._pages = Pages(self._tools, PageRules(self._tools), self._counters)
        self._answers: dict[int, dict[str, Any]] = {}
        self._unwritten = 0
        self._ends_at = tools.clock.monotonic() + SECONDS
        self._unwelcome = False
        """The host sent us away, or has another visitor: it is not asked on."""

    async def take(self) -> bool:
        """False when there was nothing to ask.

        Raises `Conflict` while the host has another visitor, `LeaseLost` when the run is over.
        """
        async with AsyncExitStack() as visit:
            held = await visit.enter_async_context(host_lease(self._tools, self._host))
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
            self._unwritten = len(questions)
            await self._ask_and_read(questions, visit, held)
        # Before the last answers: with those the run may be over.
        await self._store.save_share(self._run.id, self._counters)
        await self._write()
        return True

    async def _ask_and_read(self, questions: Sequence[Question], visit: AsyncExitStack, held: Held) -> None:
        client = await visit.enter_async_context(
            open_client(self._tools, self._source, self._settings, self._counters)
        )
        client.slow_down(self._host, max(delay_of(question.asked) for question in questions))
        slots = asyncio.Semaphore(self._settings["concurrency"])
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
        question = page.Question.from_dict(taken.asked)
        try:
            if taken.attempts > MAX_ATTEMPTS:
                raise Unfetchable(f"`{question.url}`: whoever asked for it died, {MAX_ATTEMPTS} times")
            async with slots:
                if self._unwelcome or held.is_lost():
                    self._unwelcome = True
                    return None
                if self._tools.clock.monotonic() >= self._ends_at:
                    return await self._note(taken, LATER)
                response = await client.ask(self._pages.request(question))
            asked.set()
            await self._note(taken, page.written(await self._pages.read(question, response)))
        except (TransientError, PermanentError) as exc:
            self._unwelcome = self._unwelcome or isinstance(exc, STOPS)
            await self._note(taken, page.written(exc))
        finally:
            asked.set()

    async def _note(self, taken: Question, answer: dict[str, Any]) -> None:
        self._answers[taken.id] = answer
        if WRITE_EVERY <= len(self._answers) < self._unwritten:
            await self._write()

    async def _write(self) -> None:
        answers, self._answers = self._answers, {}
        self._unwritten -= len(answers)
        if answers:
            await self._store.answer_pages(self._lease, self._run, answers)

    async def _pass_on(self) -> None:
        assert self._number is not None
        await self._store.pass_turn(
            self._lease, self._run, self._host, self._number, now=self._tools.clock.now()
        )
