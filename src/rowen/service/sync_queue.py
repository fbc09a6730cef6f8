"""One queue for all syncs of this process: never two runs of a source, and every caller gets a result.

Calls for one source join one job; the jobs of different sources wait for a free slot. When another process
runs the source, the call waits for that run and returns it. A run can be watched through its events. What a
run does is decided in `attempts.run_source`; cancelling a caller does not cancel the job.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Self

from rowen.core.lease import source_lease_name
from rowen.core.run import Event, Mode, Run, RunStatus
from rowen.core.source import Source
from rowen.core.sync_request import SyncRequest
from rowen.engine.intake import OnEvent, unheard
from rowen.engine.leases import holder, pinned, reloaded
from rowen.engine.ports import Ports
from rowen.engine.receipt import Receipt
from rowen.engine.tasks import Dropped
from rowen.errors import Conflict, Pinned
from rowen.records import dataclass
from rowen.service.attempts import NotRun, RunResult, UpstreamPaused, paused, run_source, settles
from rowen.service.feed_wait import FeedWait, sleep_or
from rowen.service.sync_job import Stopping, SyncJob, Watch
from rowen.sinks.announcer import Announcer

POLL_S = 1.0
"""How often a run of another process is looked at."""
BEGIN_S = 1.0
"""How long `begin` waits for a run to start."""

_log = logging.getLogger("rowen.sync_queue")


@dataclass(frozen=True, kw_only=True, slots=True)
class Synced:
    """How a sync ended."""

    source: Source
    ended: Receipt | Run
    """A run of another process has a record, and no receipt."""
    run_ids: tuple[int, ...]
    """Every run of the job, the last one last."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Begun:
    """A sync request whose caller does not wait; it is in the store until it was carried out."""

    run_id: int | None
    """None while no run was begun for it."""
    after_run: int
    """The source's newest run when the request was stored: the run that carries it out comes after it."""


class SyncQueue:
    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._slots = asyncio.Semaphore(ports.max_parallel_runs)
        self._jobs: dict[int, list[SyncJob]] = {}
        """By source: the one under way, then the one that waits for it."""
        self._between: dict[int, list[asyncio.Event]] = {}
        """By source: calls that have no job now, because another process has the slot or the source; set when
        they are dropped."""
        self.announcer = Announcer(ports)
        self._background: set[asyncio.Task[Any]] = set()
        """Syncs that `begin` has started."""
        self._own_requests: dict[int, SyncRequest] = {}
        """By source: the newest stored request, if only calls of `begin` in this process have joined it."""
        self.feed_wait = FeedWait(ports.store, ports.clock)
        self.wake = asyncio.Event()
        """For the loop of `rowen serve`: set after a sync request was stored."""
        self.stopping = asyncio.Event()
        self.on_result: Callable[[Receipt], None] = lambda receipt: None
        """Called with the receipt of each job of this process."""
        self.around: Callable[[Source], AbstractContextManager[None]] = lambda source: nullcontext()
        """Entered around each job, for traces."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Take no more calls, answer the waiting ones, and cancel what is under way in good order."""
        self.stopping.set()
        self.feed_wait.close()
        jobs = self._all_jobs()
        tasks = {task for task in (*self._background, *(job.task for job in jobs)) if task is not None}
        for job in jobs:
            job.close_watches()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self.announcer.stop()

    async def sync(
        self,
        source: Source,
        *,
        full: bool = False,
        only: Sequence[str] | None = None,
        on_run: Callable[[int], None] = lambda run_id: None,
        join: bool = True,
        force: bool = False,
    ) -> Synced:
        """Wait for a run that does this, here or in another process; `on_run` is called when it begins.

        Without `join`, a run that had begun before this call does not count.
        Raises `UpstreamPaused` while the upstream may not be asked, unless the call is forced, and `Stopping`
        when this process ends.
        """

        def on_event(event: Event) -> None:
            if event.kind == "started" and event.run_id is not None:
                on_run(event.run_id)

        while True:
            job = self._job_for(source, full=full, only=only, on_event=on_event, join=join)
            job.force = job.force or force
            if job.run_ids:
                on_run(job.run_ids[-1])
            try:
                result = await job.ended()
            except Pinned:
                raise
            except Conflict:
                with self._between_jobs(source) as dropped:
                    run = await self._run_elsewhere(source, on_run)
                    if run is not None and join and not (full and run.mode is not Mode.FULL):
                        return Synced(source=source, ended=run, run_ids=(run.id,))
                    # Another process runs other sources, or a rollback holds the lease of this one.
                    await self._poll()
                    source = await reloaded(self._ports.store, source)
                    if dropped.is_set():
                        raise Dropped.of(source) from None
                continue
            if isinstance(result, NotRun):
                raise paused(self._ports.clock, result)
            return Synced(source=result.source, ended=result, run_ids=tuple(job.run_ids))

    async def begin(self, source: Source, *, full: bool = False, force: bool = False) -> Begun:
        """Start a sync that a restart does not lose: its request is stored first."""
        store = self._ports.store
        newest = await store.runs(source.id, limit=1)
        after_run = newest[0].id if newest else 0
        if self.stopping.is_set():
            raise Stopping.now()
        if source.is_pinned:
            raise pinned(source)
        request = await store.request_sync(
            source.id, only=None, full=full, reason="api", now=self._ports.clock.now()
        )
        begun: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def on_run(run_id: int) -> None:
            if not begun.done():
                begun.set_result(run_id)

        carried_out = self._in_background(self._carry_out(source, request, on_run, force=force))
        either: set[asyncio.Future[Any]] = {begun, carried_out}
        await asyncio.wait(either, timeout=BEGIN_S, return_when=asyncio.FIRST_COMPLETED)
        if begun.done():
            return Begun(run_id=begun.result(), after_run=after_run)
        begun.cancel()
        if carried_out.cancelled():
            raise Stopping.now()
        # While the upstream is paused the request stays stored; the loop carries it out after the pause.
        if carried_out.done() and not isinstance(carried_out.exception(), UpstreamPaused):
            return Begun(run_id=carried_out.result().run_ids[-1], after_run=after_run)
        return Begun(run_id=None, after_run=after_run)

    async def _carry_out(
        self, source: Source, request: SyncRequest, on_run: Callable[[int], None], *, force: bool
    ) -> Synced:
        """Sync for a stored request. After any failure it is still stored, for the loop."""
        own = self._own_requests.get(source.id)
        # A request that a web hook has joined needs a run that begins after the hook's delivery.
        ours = request.number == 1 or (own is not None and _follows(request, own))
        if ours:
            self._own_requests[source.id] = request
        try:
            synced = await self.sync(source, full=request.full, on_run=on_run, join=ours, force=force)
            if _settled(synced.ended):
                await self._ports.store.finish_request(request)
            return synced
        finally:
            if self._own_requests.get(source.id) is request:
                del self._own_requests[source.id]

    async def run_source(
        self,
        ports: Ports,
        source: Source,
        *,
        full: bool = False,
        only: Sequence[str] | None = None,
        hooked: Collection[str] = (),
        on_event: OnEvent = unheard,
    ) -> RunResult:
        """`attempts.run_source` through the queue, for the loop.

        A job that has begun is not joined: it may have looked before the change that a delivery was about.
        It is joined for a request that this queue has stored and carries out itself.
        """
        join = await self._is_own_request(source)
        job = self._job_for(source, full=full, only=only, on_event=on_event, join=join, hooked=hooked)
        return await job.ended()

    def drop(self, source: Source) -> int:
        """Cancel the syncs of a source that have not begun; their callers get `Dropped`. Returns how many."""
        waiting = [job for job in self._jobs.get(source.id, ()) if not job.begun and job.task is not None]
        for job in waiting:
            job.dropped = True
            if job.task is not None:
                job.task.cancel()
        between = self._between.get(source.id, ())
        for dropped in between:
            dropped.set()
        return len(waiting) + len(between)

    def is_beginning(self, source: Source) -> bool:
        """Has a job of this source begun that has no run under way: not yet, or not any more?"""
        return any(job.begun and job.running is None for job in self._jobs.get(source.id, ()))

    @contextmanager
    def watch(self, run_id: int) -> Iterator[Watch | None]:
        """The events of a run that is under way in this process; None of any other."""
        found = next((job for job in self._all_jobs() if job.running == run_id), None)
        if found is None or self.stopping.is_set():
            yield None
            return
        with found.watched() as watch:
            yield watch

    @property
    def waiting(self) -> int:
        """How many jobs have not begun."""
        return sum(not job.begun for job in self._all_jobs())

    @property
    def watchers(self) -> int:
        """How many watches are open."""
        return sum(job.watchers for job in self._all_jobs())

    def activated(self) -> None:
        """A generation was activated: wake the readers of the feed and announce to the sinks."""
        self.feed_wait.notify()
        self.announcer.notify()

    def _all_jobs(self) -> list[SyncJob]:
        return [job for jobs in self._jobs.values() for job in jobs]

    def _job_for(
        self,
        source: Source,
        *,
        full: bool,
        only: Sequence[str] | None,
        on_event: OnEvent,
        join: bool,
        hooked: Collection[str] = (),
    ) -> SyncJob:
        """The job that does this: one that is there already, or a new one."""
        if self.stopping.is_set():
            raise Stopping.now()
        wanted = None if only is None else tuple(only)
        jobs = self._jobs.setdefault(source.id, [])
        for job in jobs:
            if not job.begun:
                job.widen(full=full, only=wanted, hooked=hooked)
            elif not join or not job.covers(full=full, only=wanted):
                continue
            job.listen(on_event)
            return job
        job = SyncJob(source, full=full, only=wanted, hooked=hooked)
        job.listen(on_event)
        before = jobs[-1].task if jobs else None
        jobs.append(job)
        job.task = asyncio.create_task(self._run_job(job, before))
        job.task.add_done_callback(_retrieved)
        return job

    async def _run_job(self, job: SyncJob, before: asyncio.Task[RunResult] | None) -> RunResult:
        try:
            if before is not None:
                await asyncio.wait({before})
            async with self._slots:
                job.begun = True
                source = await reloaded(self._ports.store, job.source)
                with self.around(source):
                    result = await run_source(
                        self._ports,
                        source,
                        full=job.full,
                        only=job.only,
                        hooked=job.hooked,
                        force=job.force,
                        on_event=job.on_event,
                    )
                    if isinstance(result, Receipt):
                        self.on_result(result)
        finally:
            jobs = self._jobs[job.source.id]
            jobs.remove(job)
            if not jobs:
                del self._jobs[job.source.id]
            job.close_watches()
        if isinstance(result, Receipt):
            self.activated()
        return result

    @contextmanager
    def _between_jobs(self, source: Source) -> Iterator[asyncio.Event]:
        """While a call waits without a job; the event is set when it is dropped."""
        dropped = asyncio.Event()
        calls = self._between.setdefault(source.id, [])
        calls.append(dropped)
        try:
            yield dropped
        finally:
            calls.remove(dropped)
            if not calls:
                del self._between[source.id]

    def _in_background(self, work: Coroutine[Any, Any, Synced]) -> asyncio.Task[Synced]:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        task.add_done_callback(_retrieved)
        return task

    async def _is_own_request(self, source: Source) -> bool:
        """Is the stored request of this source one that only calls of `begin` here have joined?"""
        if source.id not in self._own_requests:
            return False
        stored = await self._ports.store.sync_request(source.id)
        return stored is not None and stored == self._own_requests.get(source.id)

    async def _run_elsewhere(self, source: Source, on_run: Callable[[int], None]) -> Run | None:
        """The run of another process, when it has ended; None when there is none, or its process died."""
        if not await self._held_elsewhere(source):
            return None
        newest = await self._ports.store.runs(source.id, limit=1)
        run = newest[0] if newest and newest[0].status is RunStatus.RUNNING else None
        if run is not None:
            on_run(run.id)
        while run is not None and run.status is RunStatus.RUNNING:
            await self._poll()
            alive = await self._held_elsewhere(source)
            # The record is read after the lease: of a run that ended in between it holds the end.
            run = await self._ports.store.run(run.id)
            if not alive and run is not None and run.status is RunStatus.RUNNING:
                return None
        return run

    async def _held_elsewhere(self, source: Source) -> bool:
        lease = await holder(self._ports, source_lease_name(source.id))
        return lease is not None and lease.owner != self._ports.owner

    async def _poll(self) -> None:
        await sleep_or(self.stopping, self._ports.clock, POLL_S)
        if self.stopping.is_set():
            raise Stopping.now()


def _retrieved(task: asyncio.Task[Any]) -> None:
    """asyncio logs an exception that no caller retrieves; the run's record and its callers have this one."""
    if not task.cancelled():
        task.exception()


def _follows(request: SyncRequest, before: SyncRequest) -> bool:
    """Did no other request join in between?"""
    return (request.requested_at, request.number) == (before.requested_at, before.number + 1)


def _settled(ended: Receipt | Run) -> bool:
    if isinstance(ended, Receipt):
        return settles(ended)
    return ended.status not in (RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.LOST)
