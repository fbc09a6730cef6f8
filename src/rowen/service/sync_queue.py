"""One desk for all wishes to sync in this process: never two runs of a source, and everybody gets an answer.

Wishes for one source join one run; different sources queue behind each other. When another process runs the
source, its run is waited for and answers. Whoever wants to watch a run sees its events. The desk decides
nothing about runs: `turns.run_source` does the work, and a caller that goes away takes nothing with it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Self

from rowen.core.lease import source_lease_name
from rowen.core.run import Event, Mode, Run, RunStatus
from rowen.core.source import Source
from rowen.core.sync_request import SyncRequest
from rowen.engine.intake import OnEvent
from rowen.engine.leases import reloaded
from rowen.engine.ports import Ports
from rowen.engine.run import Receipt
from rowen.errors import Conflict, RowenError, TransientError
from rowen.service.attempts import Passed, Turn, run_source, settles
from rowen.service.feed_wait import Lookout, sleep_or
from rowen.service.sync_job import Errand, Stopping, Watch

LOOK_AGAIN_S = 1.0
"""How often a run of another process is looked at, and how long `begin` waits for a run to start."""

_log = logging.getLogger("rowen.desk")


class ClientPaused(TransientError):
    """Who answers the source's requests asked to be left alone."""

    reason = "client_paused"


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What became of a wish."""

    source: Source
    ended: Receipt | Run
    """A run of another process has a record, and no receipt."""
    run_ids: tuple[int, ...]
    """Every run of the turn, the last one last."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Begun:
    """A wish that nobody waits for; it is in the store until it was carried out."""

    run_id: int | None
    """None while it waits for its turn."""
    after_run: int
    """The source's newest run at the time of the wish: runs up to it are not the one that was asked for."""


class Desk:
    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._slots = asyncio.Semaphore(ports.max_parallel_runs)
        self._errands: dict[int, list[Errand]] = {}
        """By source: the one under way, then the one that waits for it."""
        self._announcing: asyncio.Task[None] | None = None
        self._announce_again = False
        self._left: set[asyncio.Task[Any]] = set()
        """Wishes whose callers did not wait."""
        self._own: dict[int, SyncRequest] = {}
        """By source: the newest stored wish that holds nothing but what callers here asked for."""
        self.lookout = Lookout(ports)
        self.wake = asyncio.Event()
        """For the loop of `rowen serve`: set by whoever has left a wish in the store."""
        self.stopping = asyncio.Event()
        self.on_turn: Callable[[Receipt], None] = lambda receipt: None
        """Told how each turn of this process ended."""
        self.around: Callable[[Source], AbstractContextManager[None]] = lambda source: nullcontext()
        """Entered for each turn: for those who measure."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Take no more wishes, answer those who wait, and end what is under way in good order."""
        self.stopping.set()
        self.lookout.close()
        errands = [errand for errands in self._errands.values() for errand in errands]
        tasks = {*self._left, *(errand.task for errand in errands), self._announcing} - {None}
        for errand in errands:
            errand.let_go()
        for task in tasks:
            if task is not None:
                task.cancel()
        if tasks:
            await asyncio.wait([task for task in tasks if task is not None])

    async def sync(
        self,
        source: Source,
        *,
        full: bool = False,
        only: Sequence[str] | None = None,
        on_run: Callable[[int], None] = lambda run_id: None,
        join: bool = True,
    ) -> Answer:
        """Wait for a run that does this, here or in another process; `on_run` hears its number first.

        Without `join`, a run that had begun before does not answer.
        Raises `ClientPaused` when nobody may be asked now, `Stopping` when this process ends.
        """

        def hear(event: Event) -> None:
            if event.kind == "started" and event.run_id is not None:
                on_run(event.run_id)

        while True:
            errand = self._want(source, full=full, only=only, on_event=hear, join=join)
            errand.tells_sinks = True
            if errand.run_ids:
                on_run(errand.run_ids[-1])
            try:
                turn = await errand.ended()
            except Conflict:
                run = await self._other_run(source, on_run)
                if run is not None and join and not (full and run.mode is not Mode.FULL):
                    return Answer(source=source, ended=run, run_ids=(run.id,))
                # Another process runs other sources, or somebody rolls this one back.
                await self._look_again()
                source = await reloaded(self._ports, source)
                continue
            if isinstance(turn, Passed):
                raise _paused(self._ports, turn)
            return Answer(source=turn.source, ended=turn, run_ids=tuple(errand.run_ids))

    async def begin(self, source: Source, *, full: bool = False) -> Begun:
        """See to it that a run is made, also if this process ends before: the wish is stored first."""
        store = self._ports.store
        newest = await store.runs(source.id, limit=1)
        after_run = newest[0].id if newest else 0
        if self.stopping.is_set():
            raise Stopping.now()
        request = await store.request_sync(
            source.id, only=None, full=full, reason="api", now=self._ports.clock.now()
        )
        begun: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def on_run(run_id: int) -> None:
            if not begun.done():
                begun.set_result(run_id)

        left = self._leave(self._fulfil(source, request, on_run))
        either: set[asyncio.Future[Any]] = {begun, left}
        await asyncio.wait(either, timeout=LOOK_AGAIN_S, return_when=asyncio.FIRST_COMPLETED)
        if begun.done():
            return Begun(run_id=begun.result(), after_run=after_run)
        begun.cancel()
        if left.cancelled():
            raise Stopping.now()
        # Whoever may not be asked now is asked when the pause ends, by the loop.
        if left.done() and not isinstance(left.exception(), ClientPaused):
            return Begun(run_id=left.result().run_ids[-1], after_run=after_run)
        return Begun(run_id=None, after_run=after_run)

    async def _fulfil(self, source: Source, request: SyncRequest, on_run: Callable[[int], None]) -> Answer:
        """Carry a stored wish out. Whatever goes wrong, it is still in the store, for the loop."""
        own = self._own.get(source.id)
        # A wish that somebody else's joined, a web hook's perhaps, needs a run that begins after it.
        ours = request.number == 1 or (own is not None and _follows(request, own))
        if ours:
            self._own[source.id] = request
        try:
            answer = await self.sync(source, full=request.full, on_run=on_run, join=ours)
            if _settled(answer.ended):
                await self._ports.store.finish_request(request)
            return answer
        finally:
            if self._own.get(source.id) is request:
                del self._own[source.id]

    async def run_source(
        self,
        ports: Ports,
        source: Source,
        *,
        full: bool = False,
        only: Sequence[str] | None = None,
        on_event: OnEvent = lambda event: None,
    ) -> Turn:
        """What `turns.run_source` does, through the desk: for the loop, which tells the sinks itself.

        A run that has begun is not joined: a change that somebody announced meanwhile may have come after it
        had looked there. Only for a wish that this desk has stored and carries out itself, it is.
        """
        join = await self._is_own_wish(source)
        return await self._want(source, full=full, only=only, on_event=on_event, join=join).ended()

    @contextmanager
    def watch(self, run_id: int) -> Iterator[Watch | None]:
        """The events of a run that is under way in this process; None of any other."""
        every = (errand for errands in self._errands.values() for errand in errands)
        found = next((errand for errand in every if errand.running == run_id), None)
        if found is None or self.stopping.is_set():
            yield None
            return
        with found.watched() as watch:
            yield watch

    @property
    def waiting(self) -> int:
        """How many runs wait for their turn at this moment."""
        return sum(not errand.begun for errands in self._errands.values() for errand in errands)

    @property
    def watchers(self) -> int:
        """How many watch a run at this moment."""
        return sum(errand.watchers for errands in self._errands.values() for errand in errands)

    def shown(self) -> None:
        """Something was shown to readers: whoever waits for it and the sinks are told."""
        self.lookout.ring()
        if self._announcing is None or self._announcing.done():
            self._announcing = asyncio.create_task(self._announce())
        else:
            self._announce_again = True

    def _want(
        self,
        source: Source,
        *,
        full: bool,
        only: Sequence[str] | None,
        on_event: OnEvent,
        join: bool = True,
    ) -> Errand:
        """The errand that does this: one that is there already, or a new one."""
        if self.stopping.is_set():
            raise Stopping.now()
        wanted = None if only is None else tuple(only)
        errands = self._errands.setdefault(source.id, [])
        for errand in errands:
            if not errand.begun:
                errand.widen(full=full, only=wanted)
            elif not join or not errand.covers(full=full, only=wanted):
                continue
            errand.listen(on_event)
            return errand
        errand = Errand(source, full=full, only=wanted)
        errand.listen(on_event)
        before = errands[-1].task if errands else None
        errands.append(errand)
        errand.task = asyncio.create_task(self._carry_out(errand, before))
        # Who waits for it hears of a failure; without anybody it is in the run's record.
        errand.task.add_done_callback(lambda task: None if task.cancelled() else task.exception())
        return errand

    async def _carry_out(self, errand: Errand, before: asyncio.Task[Turn] | None) -> Turn:
        try:
            if before is not None:
                await asyncio.wait({before})
            async with self._slots:
                errand.begun = True
                source = await reloaded(self._ports, errand.source)
                with self.around(source):
                    turn = await run_source(
                        self._ports, source, full=errand.full, only=errand.only, on_event=errand.tell
                    )
                    if isinstance(turn, Receipt):
                        self.on_turn(turn)
        finally:
            errands = self._errands[errand.source.id]
            errands.remove(errand)
            if not errands:
                del self._errands[errand.source.id]
            errand.let_go()
        if isinstance(turn, Receipt) and errand.tells_sinks:
            self.shown()
        else:
            self.lookout.ring()
        return turn

    def _leave(self, work: Coroutine[Any, Any, Answer]) -> asyncio.Task[Answer]:
        task = asyncio.create_task(work)
        self._left.add(task)
        task.add_done_callback(self._left.discard)
        task.add_done_callback(lambda done: None if done.cancelled() else done.exception())
        return task

    async def _is_own_wish(self, source: Source) -> bool:
        """Does nothing wait for this source but what callers of this desk asked for?"""
        if source.id not in self._own:
            return False
        waiting = await self._ports.store.sync_requests()
        return any(one == self._own.get(source.id) for one in waiting)

    async def _announce(self) -> None:
        from rowen.sinks.announce import announce  # the sinks are many, and most runs need none of them

        again = True
        while again:
            self._announce_again = False
            try:
                await announce(self._ports)
            except RowenError as exc:
                _log.error("announce_failed error=%r", exc.message)
            except Exception:
                _log.exception("announce_bug")
            again = self._announce_again

    async def _other_run(self, source: Source, on_run: Callable[[int], None]) -> Run | None:
        """The run of another process, when it has ended; None when there is none, or it died."""
        if not await self._held_elsewhere(source):
            return None
        newest = await self._ports.store.runs(source.id, limit=1)
        run = newest[0] if newest and newest[0].status is RunStatus.RUNNING else None
        if run is not None:
            on_run(run.id)
        while run is not None and run.status is RunStatus.RUNNING:
            await self._look_again()
            alive = await self._held_elsewhere(source)
            # The record after the lease: one that ended in between has its end in it.
            run = await self._ports.store.run(run.id)
            if not alive and run is not None and run.status is RunStatus.RUNNING:
                return None
        return run

    async def _held_elsewhere(self, source: Source) -> bool:
        ports = self._ports
        lease = await ports.store.lease(source_lease_name(source.id))
        return (
            lease is not None
            and lease.owner != ports.owner
            and lease.expires_at > ports.clock.now()
            and not ports.is_dead(lease.owner)
        )

    async def _look_again(self) -> None:
        await sleep_or(self.stopping, self._ports.clock, LOOK_AGAIN_S)
        if self.stopping.is_set():
            raise Stopping.now()


def _follows(request: SyncRequest, before: SyncRequest) -> bool:
    """Has nobody else joined in between?"""
    return (request.requested_at, request.number) == (before.requested_at, before.number + 1)


def _settled(ended: Receipt | Run) -> bool:
    if isinstance(ended, Receipt):
        return settles(ended)
    return ended.status not in (RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.LOST)


def _paused(ports: Ports, passed: Passed) -> ClientPaused:
    wait_s = max(0.0, (passed.until - ports.clock.now()).total_seconds()) if passed.until else None
    return ClientPaused(f"source `{passed.source.label}`: not run, {passed.reason}", retry_after_s=wait_s)
