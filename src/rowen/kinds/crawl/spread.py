"""A large crawl, spread over workers: questions go out by host, workers answer them in host batches.

The run stays the owner: it decides which page is next and what an answer means. When no worker takes the
batch of a host for a while the run takes it itself, so that a cluster that shrinks to one process still ends
its runs.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Self

from rowen.core.source import Source
from rowen.core.web import urls
from rowen.engine.intake import Intake
from rowen.engine.leases import other_workers
from rowen.engine.ports import Ports
from rowen.errors import Conflict, PermanentError, TransientError
from rowen.fetching.client import STOPS, Streak
from rowen.kinds.crawl.host_batch import HostBatch
from rowen.kinds.crawl.pages import ReadPage
from rowen.kinds.crawl.question import LATER, PageQuestion, read_answer
from rowen.ports.fetcher import Response
from rowen.records import dataclass

PAGES_OUT = 512
"""Pages a crawl has under way at a time: several batches of a host, so that none waits for the next."""
LOOK_AGAIN_S = 0.1
PATIENCE_S = 5.0
"""So long without an answer, and the run asks hosts that no worker asks."""
LOST_S = 60.0
"""So long without an answer, and the workers that took a batch are taken for dead."""
STORE_AWAY_S = 60.0
"""So long without the store, and the run ends."""


class NotAsked(Exception):
    """The crawl was stopped before this page was asked for."""


@dataclass(frozen=True, eq=False, slots=True)
class _Waiting:
    question: PageQuestion
    answer: asyncio.Future[tuple[Response, ReadPage | None]]

    @property
    def host(self) -> str:
        return urls.host_of(self.question.url)

    def refuse(self, exc: Exception) -> None:
        self.answer.set_exception(exc)
        # The task that waits may be cancelled at this moment; an exception that is not read is a warning.
        self.answer.exception()


class Spread:
    def __init__(
        self,
        ports: Ports,
        source: Source,
        settings: Mapping[str, Any],
        intake: Intake,
        delay_s: Callable[[str], float],
    ) -> None:
        """`delay_s` is the time between two requests to a host."""
        self._ports = ports
        self._source = source
        self._settings = settings
        self._lease = intake.lease
        self._run = intake.run
        self._delay_s = delay_s
        self._fresh: list[_Waiting] = []
        self._out: dict[int, _Waiting] = {}
        """By the number that the store gave the question."""
        self._hosts: set[str] = set()
        self._failures: defaultdict[str, Streak] = defaultdict(Streak)
        self._abandoned = False
        self._broken: Exception | None = None
        self._carrying: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._carrying = asyncio.create_task(self._carry())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        assert self._carrying is not None
        if not self._abandoned or kind is not None:
            self._carrying.cancel()
        with suppress(asyncio.CancelledError):
            await self._carrying
        if self._broken is not None and kind is None:
            raise self._broken

    async def ask(self, question: PageQuestion) -> tuple[Response, ReadPage | None]:
        """The answer of a worker; raises what it raised."""
        if self._abandoned:
            raise NotAsked
        one = _Waiting(question, asyncio.get_running_loop().create_future())
        self._fresh.append(one)
        return await one.answer

    def abandon(self) -> None:
        """No further page is asked for."""
        self._abandoned = True
        for one in [*self._fresh, *self._out.values()]:
            if not one.answer.done():
                one.refuse(NotAsked())
        self._fresh, self._out = [], {}

    async def _carry(self) -> None:
        clock = self._ports.clock
        answered = reached = clock.monotonic()
        patience_s = PATIENCE_S
        try:
            while not self._abandoned:
                try:
                    await self._send()
                    received = await self._receive()
                    reached = clock.monotonic()
                    if received:
                        answered, patience_s = reached, PATIENCE_S
                    elif self._out and reached - answered >= patience_s:
                        went = await self._go_myself(reached - answered)
                        # Workers that did not take this batch are not waited for at the next one.
                        patience_s = 0.0 if went else patience_s + PATIENCE_S
                        answered = clock.monotonic() if went else answered
                        reached = clock.monotonic()
                except TransientError:
                    if clock.monotonic() - reached >= STORE_AWAY_S:
                        raise
                await clock.sleep(LOOK_AGAIN_S)
            for host in self._hosts:
                # Batches that are still out find nothing to ask.
                await self._ports.store.seize_batch(self._lease, self._run, host, begun=True)
        except Exception as exc:
            self._broken = exc
            self.abandon()

    async def _send(self) -> None:
        by_host: dict[str, list[_Waiting]] = defaultdict(list)
        for one in self._fresh:
            by_host[one.host].append(one)
        for host, asked in by_host.items():
            delay_s = self._delay_s(host)
            numbers = await self._ports.store.ask_pages(
                self._lease,
                self._run,
                host,
                [one.question.as_dict(delay_s=delay_s) for one in asked],
                now=self._ports.clock.now(),
            )
            sent = set(asked)
            self._fresh = [one for one in self._fresh if one not in sent]
            self._hosts.add(host)
            self._out |= zip(numbers, asked, strict=True)

    async def _receive(self) -> bool:
        answers = await self._ports.store.take_answers(self._lease, self._run)
        for number, written in answers.items():
            one = self._out.pop(number, None)
            if one is None or one.answer.done():
                continue
            if written == LATER:
                self._fresh.append(one)
                continue
            # Batches come and go; that a host is away shows in the failures of all of them.
            failures = self._failures[one.host]
            try:
                answer = read_answer(one.question.url, written)
            except TransientError as exc:
                away = None if isinstance(exc, STOPS) else failures.add(exc)
                one.refuse(away or exc)
            except PermanentError as exc:
                one.refuse(exc)
            else:
                failures.end()
                one.answer.set_result(answer)
        return bool(answers)

    async def _go_myself(self, quiet_s: float) -> bool:
        """Take the batch of each host that no worker asks; what living workers took is left to them."""
        alone = quiet_s >= LOST_S or not await other_workers(self._ports)
        went = False
        for host in sorted({one.host for one in self._out.values()}):
            batch = HostBatch(
                self._ports,
                self._source,
                self._settings,
                self._lease,
                self._run,
                host,
                None,
                begun=alone,
            )
            with suppress(Conflict):
                went |= await batch.take()
        await self._receive()
        return went
