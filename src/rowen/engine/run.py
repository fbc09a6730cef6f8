"""The life of a run: lease, discard, harvest, decide, activate, and a report of how it went.

On an error, a cancellation or a lost lease readers keep the old generation; only the one UPDATE of the end
shows them the new one. How a run ends is decided in `ending.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from rowen.core import params as parameters
from rowen.core.generation import oldest_kept
from rowen.core.rules.clocks import believed
from rowen.core.rules.guard import must_look
from rowen.core.rules.retry import RetryPolicy
from rowen.core.run import Event, RunStatus, StopReason
from rowen.core.source import AUTO_EVERY_S, Edited, Source
from rowen.engine import confine, embedding, ending
from rowen.engine.embedding import Filled
from rowen.engine.ingest import catch_up
from rowen.engine.intake import Agreed, Intake, OnEvent, unheard
from rowen.engine.kind import Harvested, Kind, save_progress
from rowen.engine.learning.rates import learn_rates
from rowen.engine.learning.turns import interval_of
from rowen.engine.leases import (
    Held,
    OnWait,
    beating,
    other_workers,
    pinned,
    removed,
    run_lease,
    run_slot,
)
from rowen.engine.patience import patiently
from rowen.engine.ports import Ports
from rowen.engine.receipt import Receipt, joined
from rowen.engine.tasks import CancelRequested, first, forget_cancel, is_cancelled, within
from rowen.errors import LeaseLost, RowenError, TransientError
from rowen.ports.store.runs import RunEnd
from rowen.records import dataclass

ENDING = RetryPolicy(retries=4, base_s=1.0)
CANCELLED = "cancelled by request"

Asking = Callable[[Ports], Ports]
"""The ports a kind asks its source through, made from those of the run."""


def as_it_is(ports: Ports) -> Ports:
    return ports


@dataclass(frozen=True, kw_only=True, slots=True)
class Applied:
    """A plan for a run to apply: the answers it was made from, and what may come of them."""

    asking: Asking
    agreed: Agreed
    asked_at: datetime
    """When the source gave those answers: what changed there later is for the next run to find."""


async def sync(
    ports: Ports,
    source: Source,
    *,
    full: bool = False,
    only: Sequence[str] | None = None,
    hooked: Collection[str] = (),
    within_s: float | None = None,
    on_event: OnEvent = unheard,
    on_wait: OnWait | None = None,
    applied: Applied | None = None,
) -> Receipt:
    """Bring the copy of one source in step with it: the newest items, then history as far as its kind asks.

    Each part is a run of its own, and its generation is activated before the next part begins, so an
    interruption loses at most one part. `only` names the references that are said to have changed; a kind
    that cannot ask for them alone asks for everything. `hooked` are those that web hooks named. With
    `within_s` exactly `only` is asked for, and nothing when that time is over. With `on_wait` it waits for
    its turn. With `applied` it does what a plan says, and no more.
    """
    heard = partial(sync_part, ports, source, on_event=on_event, on_wait=on_wait, applied=applied)
    receipt = await heard(full=full, only=only, hooked=hooked, within_s=within_s)
    part, more = 0, receipt.more
    while more:
        part += 1
        latest = await heard(part=part)
        receipt, more = joined(receipt, latest), latest.more
    return receipt


async def sync_part(
    ports: Ports,
    source: Source,
    *,
    full: bool = False,
    only: Sequence[str] | None = None,
    hooked: Collection[str] = (),
    within_s: float | None = None,
    part: int = 0,
    on_event: OnEvent = unheard,
    on_wait: OnWait | None = None,
    applied: Applied | None = None,
) -> Receipt:
    """One run. `part` is 0 for the newest items, more for each stretch of history after them."""
    async with run_slot(ports, source, on_wait=on_wait), run_lease(ports, source) as lease:
        # Before the run begins: later nothing may be waited for. A worker alone would wait for itself.
        working = await other_workers(ports) if applied is None else ()
        begun = await ports.store.begin_run(lease, source.id, full=full, now=ports.clock.now())
        if begun is None:
            raise removed(source)
        source, run = begun
        if run is None:
            raise pinned(source)
        if applied is not None:
            run = replace(run, started_at=applied.asked_at)
        source = believed(source, run.started_at)
        label = source.label
        intake = Intake(
            ports,
            lease,
            run,
            source=label,
            full=full or (only is None and source.edited is Edited.READ),
            only=None if only is None else tuple(only),
            hooked=hooked,
            within_s=within_s,
            part=part,
            dispatch=bool(working),
            on_event=on_event,
            agreed=applied.agreed if applied else None,
        )
        on_event(Event(label, "started", run_id=run.id))
        asking = applied.asking if applied else as_it_is
        receipt = await Execution(ports, source, intake, asking=asking).execute()
        ended = receipt.result.state
        on_event(Event(label, "finished", counters=receipt.counters, detail=ended, run_id=run.id))
        return receipt


class Execution:
    """A run from its first request to its end, given that it has begun."""

    def __init__(self, ports: Ports, source: Source, intake: Intake, *, asking: Asking = as_it_is) -> None:
        self._ports = ports
        self._asking = asking
        self._source = source
        self._intake = intake
        self._started = ports.clock.monotonic()

    async def execute(self) -> Receipt:
        source, intake = self._source, self._intake
        try:
            harvested, end = await self._harvest()
        except LeaseLost:
            raise
        except asyncio.CancelledError:
            end = ending.broken_end(source, intake, RunStatus.CANCELLED, StopReason.CANCELLED, None)
            await asyncio.shield(self._finish(end))
            raise
        except CancelRequested as exc:
            end = ending.broken_end(
                source, intake, RunStatus.CANCELLED, StopReason.CANCELLED, None, problem=exc.message
            )
            receipt = await self._finish(end)
            await forget_cancel(self._ports.store, intake.run.id)
            return replace(receipt, failure=None)
        except RowenError as exc:
            end = ending.broken_end(source, intake, RunStatus.FAILED, StopReason.ERROR, exc)
            return await self._finish(end, exc)
        except BaseException as exc:
            # A bug. The run must not stay open, and the traceback must not be lost.
            problem = f"{type(exc).__name__}: {exc}"
            end = ending.broken_end(source, intake, RunStatus.FAILED, StopReason.ERROR, None, problem=problem)
            await self._finish(end)
            raise
        receipt = await self._finish(end, harvested.error or intake.refused, hint=harvested.hint)
        return replace(receipt, window=harvested.window, more=harvested.more and receipt.good)

    async def _harvest(self) -> tuple[Harvested, RunEnd]:
        source, intake = self._source, self._intake
        kind = self._ports.kinds.stored(source.kind)
        intake.begin(await self._caught_up())
        settings = parameters.complete(kind.params, source.params)
        # After a rollback readers may see what an edit before it had dropped.
        rolled_back = source.active_generation < source.last_generation
        covers = kind.covers if intake.only is None and (source.edited or rolled_back) else None
        if kind.preload or (kind.lists and covers is not None):
            await intake.load_known()
            before = len(intake.known)
        else:
            generations = await self._ports.store.generations(source.id)
            before = next((g.documents for g in generations if g.active), 0)
        if covers is not None:
            intake.drop_uncovered(covers(source, settings))
        async with beating(self._ports, intake.lease, on_beat=self._save_progress) as held:
            harvested = await self._worked(kind, settings, held)
            await self._ports.store.index_soon()
            await intake.write_rest()
            if harvested.settle is not None and harvested.complete and intake.out_of_time is None:
                await harvested.settle()
        share, replaced = settings["max_deleted_share"], None
        if must_look(
            before=before - intake.dropped, touched=intake.lost + intake.replaced, max_deleted_share=share
        ):
            replaced = await self._ports.store.replacements(source.id, intake.run.generation)
        end = ending.harvested_end(
            source, intake, harvested, before=before, max_deleted_share=share, replaced=replaced or ()
        )
        await save_progress(self._ports.store, source, intake, harvested, end)
        return harvested, end

    async def _caught_up(self) -> Filled:
        return await catch_up(self._ports, self._intake.lease, self._source)

    async def _harvested(self, kind: Kind, settings: Mapping[str, Any]) -> Harvested:
        source, intake = self._source, self._intake
        own = settings.get("time_limit_s")
        limit_s = self._ports.time_limit_s if own is None else own
        if intake.within_s is not None:
            limit_s = min(limit_s or intake.within_s, intake.within_s)
        ports = self._asking(confine.of_source(self._ports, source))
        harvest = kind.harvest(ports, source, settings, intake)
        harvested = await within(limit_s, self._ports.clock, harvest, partial(intake.cut_off, limit_s))
        if intake.out_of_time:
            intake.delete_nothing()
        return harvested or Harvested(stop_reason=StopReason.TIME_LIMIT, complete=False)

    async def _worked(self, kind: Kind, settings: Mapping[str, Any], held: Held) -> Harvested:
        """The harvest and the work on what it reports, side by side, until both end or the run is to end."""
        with self._ports.cancels.watched(self._intake.run.id) as cancelled:
            # invariant: watched first, then this look, then the first request of the harvest.
            with suppress(TransientError):
                if await is_cancelled(self._ports.store, self._intake.run.id):
                    raise CancelRequested(CANCELLED)
            try:
                async with asyncio.TaskGroup() as group:
                    working = group.create_task(self._intake.work())
                    harvesting = group.create_task(self._harvested(kind, settings))
                    group.create_task(self._close_after(harvesting, held, cancelled))
            except BaseExceptionGroup as group_error:
                raise first(group_error) from None
        if working.cancelled() or harvesting.cancelled():
            # A group does not tell of a task that cancelled itself; half a run must not look like one.
            raise AssertionError("a part of the run was cancelled from inside")
        return harvesting.result()

    async def _close_after(
        self, harvesting: asyncio.Task[Harvested], held: Held, cancelled: asyncio.Event
    ) -> None:
        asked = asyncio.ensure_future(cancelled.wait())
        try:
            await asyncio.wait({harvesting, held.heartbeat, asked}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            asked.cancel()
        if not harvesting.done():
            if cancelled.is_set():
                raise CancelRequested(CANCELLED)
            if held.is_lost():
                held.heartbeat.result()
        await self._intake.close()

    async def _save_progress(self) -> None:
        intake = self._intake
        await self._ports.store.save_progress(intake.lease, intake.run, intake.counters)
        if await is_cancelled(self._ports.store, intake.run.id):
            self._ports.cancels.request(intake.run.id)

    async def _finish(
        self, end: RunEnd, exc: RowenError | None = None, *, hint: str | None = None
    ) -> Receipt:
        source = self._source
        if end.looked is not None and self._intake.only is None:
            # What cannot be learnt now is learnt by the next run.
            with suppress(TransientError):
                began = self._intake.run.started_at
                end = replace(end, rates=await learn_rates(self._ports.store, source, now=began))
                if source.is_auto:
                    end = await self._with_interval(end)
        await self._write_down(end)
        if end.activate is not None:
            await self._forget()
        good = end.status.is_good
        if good:
            # Not after an interruption: Ctrl-C ends the run without another call of the embedding provider.
            if end.counters.embeddings_computed or end.counters.skipped:
                await embedding.begin(self._ports)
            if not self._intake.provider_failed:
                end.counters.embeddings_computed += (await embedding.fill_if_pending(self._ports)).texts
        hint = exc.hint if exc else hint
        if end.hold is not None:
            label = source.label
            hint = f"look at it with `rowen diff {label} --to {end.hold}`, then `rowen approve {label}`"
        return Receipt(
            source=source,
            run_id=self._intake.run.id,
            mode=end.mode,
            status=end.status,
            generation=end.activate if end.activate is not None else source.active_generation,
            held_generation=end.hold,
            counters=end.counters,
            stop_reason=end.stop_reason,
            error=end.error,
            hint=hint,
            duration_s=self._ports.clock.monotonic() - self._started,
            failure=ending.classify(exc) if exc or not good else None,
            retry_after_s=exc.retry_after_s if isinstance(exc, TransientError) else None,
        )

    async def _with_interval(self, end: RunEnd) -> RunEnd:
        """With the time after which the source is worth its next run, where that is to be chosen."""
        source, began = self._source, self._intake.run.started_at
        chosen_s = await interval_of(self._ports.store, source, source.params, now=began, rates=end.rates)
        known = source.metadata if end.metadata is None else end.metadata
        if chosen_s is None or known.get(AUTO_EVERY_S) == chosen_s:
            return end
        return replace(end, metadata={**known, AUTO_EVERY_S: chosen_s})

    async def _write_down(self, end: RunEnd) -> None:
        """The end of a run is tried again: without it the run stays open until its lease ends."""
        store, clock, intake = self._ports.store, self._ports.clock, self._intake
        if intake.dispatch:
            with suppress(TransientError):
                await store.forget_tickets(intake.run.id)
                await intake.join_shares()

        if end.activate is not None:
            # Before readers see it, and no part of the one UPDATE that shows it.
            with suppress(TransientError):
                await store.index_ahead(intake.run, end.activate)

        async def finish() -> None:
            await store.finish_run(intake.lease, intake.run, end, now=clock.now())

        await patiently(finish, clock, ENDING)

    async def _forget(self) -> None:
        """History is bounded: what died before it goes, in proportion to what changed."""
        ports, store = self._ports, self._ports.store
        generations = await store.generations(self._source.id)
        shown = [generation.number for generation in generations if generation.activated_at]
        if len(shown) > ports.keep_generations:
            keep_s = self._source.params.get("keep") or ports.keep_s
            seen = None
            if keep_s:
                since = ports.clock.now() - timedelta(seconds=keep_s)
                seen = await store.oldest_seen(self._source.id, since)
            active, keep = self._intake.run.generation, ports.keep_generations
            floor = oldest_kept(shown, active=active, keep=keep, seen=seen)
            before = ports.clock.now() - timedelta(seconds=ports.keep_handoffs_s)
            await store.vacuum({self._source.id: floor}, handoffs_before=before, everything=False)
