"""The life of a run: lease, discard, harvest, guard, activate, and a true word about how it went.

Whatever happens in between (an error, a cancellation, a lost lease), readers keep the old generation until
the one UPDATE that shows the new one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from rowen.core import params as parameters
from rowen.core.generation import oldest_kept
from rowen.core.lease import HEARTBEAT_S, LEASE_TTL_S, Lease
from rowen.core.rules.guard import reason_to_hold
from rowen.core.rules.retry import RetryPolicy
from rowen.core.rules.schedule import Failure
from rowen.core.run import Counters, Event, Mode, Run, RunStatus, StopReason
from rowen.core.source import FATAL, WHOLE_RUN_AT, Source, Status
from rowen.core.state import Step, after
from rowen.core.window import Window, reached_by
from rowen.engine import confine, embedding
from rowen.engine.intake import Intake, OnEvent, Wish
from rowen.engine.kind import Harvested
from rowen.engine.leases import reloaded, run_lease, run_slot
from rowen.engine.patience import patiently
from rowen.engine.ports import Ports
from rowen.engine.tasks import first
from rowen.engine.workers import workers
from rowen.errors import LeaseLost, RateLimited, RowenError, TransientError, UserError
from rowen.ports.store.runs import RunEnd

ENDING = RetryPolicy(retries=4, base_s=1.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """What a run did and what it avoided."""

    source: Source
    run_id: int
    mode: Mode
    status: RunStatus
    generation: int
    """What readers see now."""
    held_generation: int | None
    counters: Counters
    stop_reason: str
    error: str | None
    hint: str | None
    duration_s: float
    failure: Failure | None
    """What kind of failure stopped it, if one did."""
    retry_after_s: float | None
    """When the client said it may be asked again."""
    window: Window | None = None
    """The stretch of time it asked for, where the source is asked by date."""
    more: bool = False
    """There is more to take in right now: history that one run does not reach."""

    @property
    def good(self) -> bool:
        return self.status.is_good


async def sync(
    ports: Ports,
    source: Source,
    *,
    full: bool = False,
    only: Sequence[str] | None = None,
    part: int = 0,
    on_event: OnEvent = lambda event: None,
) -> Receipt:
    """One run: bring the copy of one source in step with it.

    `only` names the references that are said to have changed; a kind that cannot ask for them alone asks for
    everything. `part` is 0 for the newest, more for each stretch of history after it.
    """
    async with run_slot(ports), run_lease(ports, source) as lease:
        source = await reloaded(ports, source)
        mode = Mode.FULL if full or not source.active_generation else Mode.INCREMENTAL
        # Before the run begins: from there to its execution nothing may be waited for.
        wish = Wish(
            full=full,
            only=None if only is None else tuple(only),
            part=part,
            dispatch=bool(await workers(ports)),
        )
        run = await ports.store.begin_run(lease, source.id, mode=mode, now=ports.clock.now())
        on_event(Event(source.label, "started", run_id=run.id))
        receipt = await _Execution(ports, source, lease, run, wish, on_event).execute()
        on_event(
            Event(
                source.label,
                "finished",
                counters=receipt.counters,
                detail=receipt.status,
                run_id=run.id,
            )
        )
        return receipt


class _Execution:
    def __init__(
        self, ports: Ports, source: Source, lease: Lease, run: Run, wish: Wish, on_event: OnEvent
    ) -> None:
        self._wish = wish
        self._ports = ports
        self._source = source
        self._lease = lease
        self._run = run
        self._on_event = on_event
        self._started = ports.clock.monotonic()
        self._intake: Intake | None = None
        self._documents = 0

    async def execute(self) -> Receipt:
        try:
            harvested = await self._harvest()
        except LeaseLost:
            raise
        except asyncio.CancelledError:
            end = self._broken(RunStatus.CANCELLED, StopReason.CANCELLED, None)
            await asyncio.shield(self._finish(end))
            raise
        except RowenError as exc:
            return await self._finish(self._broken(RunStatus.FAILED, StopReason.ERROR, exc), exc)
        except BaseException as exc:
            # A bug. The run must not stay open, and the traceback must not be lost.
            problem = f"{type(exc).__name__}: {exc}"
            await self._finish(self._broken(RunStatus.FAILED, StopReason.ERROR, None, problem))
            raise
        receipt = await self._finish(self._decide(harvested), harvested.error, hint=harvested.hint)
        return replace(receipt, window=harvested.window, more=harvested.more and receipt.good)

    async def _harvest(self) -> Harvested:
        kind = self._ports.kinds.named(self._source.kind)
        generations = await self._ports.store.generations(self._source.id)
        self._documents = next((g.documents for g in generations if g.active), 0)
        self._intake = intake = Intake(
            self._ports,
            self._lease,
            self._run,
            source=self._source.label,
            wish=self._wish,
            on_event=self._on_event,
        )
        if kind.preload:
            await intake.load_known()
        settings = parameters.complete(kind.params, self._source.params)
        ports = confine.of_source(self._ports, self._source)
        heartbeat = asyncio.create_task(self._keep_lease())
        try:
            async with asyncio.TaskGroup() as group:
                working = group.create_task(intake.work())
                harvesting = group.create_task(kind.harvest(ports, self._source, settings, intake))
                group.create_task(self._close_after(harvesting, intake, heartbeat))
            if working.cancelled() or harvesting.cancelled():
                # A group does not tell of a task that cancelled itself; half a run must not look like one.
                raise AssertionError("a part of the run was cancelled from inside")
            await intake.write_rest()
            return harvesting.result()
        except BaseExceptionGroup as group_error:
            raise first(group_error) from None
        finally:
            heartbeat.cancel()

    async def _close_after(
        self, harvesting: asyncio.Task[Harvested], intake: Intake, heartbeat: asyncio.Task[None]
    ) -> None:
        await asyncio.wait({harvesting, heartbeat}, return_when=asyncio.FIRST_COMPLETED)
        if heartbeat.done() and not harvesting.done():
            heartbeat.result()
        await intake.close()

    async def _keep_lease(self) -> None:
        while True:
            await self._ports.clock.sleep(HEARTBEAT_S)
            # A store that does not answer now is told again: there are some beats to a lease.
            with suppress(TransientError):
                self._lease = await self._ports.store.renew_lease(
                    self._lease, now=self._ports.clock.now(), ttl_s=LEASE_TTL_S
                )
                if self._intake is not None:
                    await self._ports.store.save_progress(self._lease, self._run, self._intake.counters)

    def _decide(self, harvested: Harvested) -> RunEnd:
        intake = self._require_intake()
        counters = intake.counters
        answered = counters.unchanged + intake.staged
        documents = self._documents + intake.added - counters.deleted
        # Being told that nothing changed is an answer too.
        nothing_new = harvested.mode is Mode.INCREMENTAL and harvested.error is None
        if not answered and not nothing_new:
            problem = harvested.error.message if harvested.error else self._why_nothing(intake)
            return self._broken(RunStatus.FAILED, harvested.stop_reason, harvested.error, problem)
        hold = reason_to_hold(
            before=self._documents,
            deleted=intake.lost,
            max_deleted_share=self._share(),
            root_answered=harvested.root_answered,
        )
        if hold is not None:
            return RunEnd(
                status=RunStatus.HELD,
                mode=harvested.mode or self._run.mode,
                stop_reason=StopReason.DELETION_GUARD,
                counters=counters,
                error=f"generation {self._run.generation} not shown: {hold}",
                items=intake.items,
                hold=self._run.generation,
                hold_reason=hold,
                documents=documents,
                source_status=after(Status.RUNNING, Step.FAIL),
                window=harvested.window,
                metadata=self._metadata({}, whole=self._was_whole(harvested)),
            )
        clean = not counters.failed and harvested.error is None
        settled = counters.failed <= harvested.given_up and harvested.error is None
        whole = settled and harvested.complete
        window = harvested.window
        return RunEnd(
            status=RunStatus.COMPLETED if clean else RunStatus.PARTIAL,
            mode=harvested.mode or self._run.mode,
            stop_reason=harvested.stop_reason,
            counters=counters,
            error=harvested.error.message if harvested.error else None,
            items=intake.items,
            activate=self._run.generation if intake.staged else None,
            documents=documents,
            source_status=after(Status.RUNNING, Step.SUCCEED if harvested.error is None else Step.FAIL),
            # invariant: the watermark is the start of the last run that took in all of its window without
            # failures, never past them; what failed again and again is given up, and the source says so.
            watermark=self._run.started_at if whole and not (window and window.seeding) else None,
            last_processed_date=reached_by(window, before=self._source.last_processed_date)
            if whole and window
            else None,
            window=window,
            metadata=self._metadata(
                {FATAL: False, **_kept(harvested.metadata, clean=settled), **harvested.remember},
                whole=self._was_whole(harvested),
            ),
        )

    def _why_nothing(self, intake: Intake) -> str:
        if intake.first_failure is not None:
            return intake.first_failure.detail or intake.first_failure.reason
        ignored = ", ".join(f"{count} {reason}" for reason, count in intake.counters.ignored.items())
        return f"`{self._source.location}`: nothing to index" + (f" ({ignored})" if ignored else "")

    def _broken(
        self,
        status: RunStatus,
        stop_reason: StopReason,
        exc: RowenError | None,
        problem: str | None = None,
    ) -> RunEnd:
        step = Step.FAIL
        if status is RunStatus.CANCELLED:
            step = Step.CANCEL_SHOWN if self._source.active_generation else Step.CANCEL_NEW
        return RunEnd(
            status=status,
            mode=self._run.mode,
            stop_reason=stop_reason,
            counters=self._intake.counters if self._intake else Counters(),
            error=problem or (exc.message if exc else None),
            items=self._intake.items if self._intake else (),
            source_status=after(Status.RUNNING, step),
            metadata=self._metadata(
                {FATAL: exc is not None and classify(exc) is Failure.FATAL}, whole=self._wish.only is None
            ),
        )

    async def _finish(
        self, end: RunEnd, exc: RowenError | None = None, *, hint: str | None = None
    ) -> Receipt:
        ports = self._ports
        await self._write_down(end)
        if end.activate is not None:
            await self._forget()
        if end.status.is_good:
            # Not after an interruption: whoever presses Ctrl-C does not want a provider to be asked.
            await self._about_vectors(end.counters)
        generation = end.activate if end.activate is not None else self._source.active_generation
        hint = exc.hint if exc else hint
        if end.hold is not None:
            label = self._source.label
            hint = f"look at it with `rowen diff {label} --to {end.hold}`, then `rowen approve {label}`"
        return Receipt(
            source=self._source,
            run_id=self._run.id,
            mode=end.mode,
            status=end.status,
            generation=generation,
            held_generation=end.hold,
            counters=end.counters,
            stop_reason=end.stop_reason,
            error=end.error,
            hint=hint,
            duration_s=ports.clock.monotonic() - self._started,
            failure=classify(exc) if exc or not end.status.is_good else None,
            retry_after_s=exc.retry_after_s if isinstance(exc, TransientError) else None,
        )

    async def _write_down(self, end: RunEnd) -> None:
        """The end of a run is worth some patience: without it the run stays open until its lease ends."""
        store, clock = self._ports.store, self._ports.clock
        if self._wish.dispatch:
            with suppress(TransientError):
                await store.forget_tickets(self._run.id)
                if self._intake is not None:
                    await self._intake.join_shares()

        async def finish() -> None:
            await store.finish_run(self._lease, self._run, end, now=clock.now())

        await patiently(finish, clock, ENDING)

    async def _forget(self) -> None:
        """History is bounded: what died before it goes, in proportion to what changed."""
        generations = await self._ports.store.generations(self._source.id)
        shown = [generation.number for generation in generations if generation.activated_at]
        if len(shown) > self._ports.keep_generations:
            floor = oldest_kept(shown, active=self._run.generation, keep=self._ports.keep_generations)
            await self._ports.store.vacuum({self._source.id: floor}, everything=False)

    async def _about_vectors(self, counters: Counters) -> None:
        if counters.embeddings_computed or counters.skipped:
            await embedding.begin(self._ports)
        counters.embeddings_computed += await embedding.fill_if_pending(self._ports)

    def _was_whole(self, harvested: Harvested) -> bool:
        """Was everything asked for, also when the wish was for less?"""
        return self._wish.only is None or harvested.complete

    def _metadata(self, learnt: Mapping[str, Any], *, whole: bool) -> dict[str, Any] | None:
        metadata = {**self._source.metadata, **learnt}
        before = self._source.whole_run_at
        if whole:
            metadata.pop(WHOLE_RUN_AT, None)
        elif before is not None:
            # A source that is told of changes all day is still asked for everything when that is due.
            metadata[WHOLE_RUN_AT] = before.isoformat()
        if not metadata.get(FATAL):
            metadata.pop(FATAL, None)
        return metadata if metadata != self._source.metadata else None

    def _share(self) -> float:
        kind = self._ports.kinds.named(self._source.kind)
        return float(parameters.complete(kind.params, self._source.params)["max_deleted_share"])

    def _require_intake(self) -> Intake:
        if self._intake is None:
            raise AssertionError("decided before harvesting")
        return self._intake


def joined(first: Receipt, last: Receipt) -> Receipt:
    """Two runs of one turn as one receipt: what both did, and how the last one ended."""
    counters = Counters()
    for one in (first.counters, last.counters):
        counters.join(one)
    window = last.window
    if first.window and last.window:
        window = replace(last.window, until=max(first.window.until, last.window.until))
    return replace(
        last,
        mode=Mode.FULL if Mode.FULL in (first.mode, last.mode) else last.mode,
        status=RunStatus.PARTIAL if first.status is RunStatus.PARTIAL and last.good else last.status,
        counters=counters,
        hint=last.hint or first.hint,
        duration_s=first.duration_s + last.duration_s,
        window=window,
    )


def _kept(learnt: Mapping[str, Any], *, clean: bool) -> dict[str, Any]:
    """What a source learnt is kept after a clean run; what it wants forgotten is forgotten after any."""
    return {key: value for key, value in learnt.items() if clean or value is None}


def classify(exc: RowenError | None) -> Failure:
    if isinstance(exc, RateLimited):
        return Failure.RATE_LIMIT
    if isinstance(exc, UserError) or (exc is not None and exc.facts.get("status") in (401, 403)):
        return Failure.FATAL
    return Failure.TRANSIENT
