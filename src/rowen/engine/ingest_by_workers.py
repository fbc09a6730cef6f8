"""Ingestion of a run by workers: hand off, let them work, and read what became of it.

The run stays the owner: it holds the lease whose token every worker writes with, and it alone activates. When
no worker takes a ticket for a while the run does the work itself, so that a cluster that shrinks to one
process still ends its runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rowen.core.handoff import RETRY_BASE_S, Reason
from rowen.core.lease import Lease
from rowen.core.run import Counters, Run
from rowen.engine import embedding
from rowen.engine.ingest import Ended, Ingestion, OnEnded
from rowen.engine.leases import workers
from rowen.engine.ports import Ports
from rowen.ports.dispatcher import RETRY, retry_payload
from rowen.ports.store.handoffs import Staged

TICKET = 64
"""Handoffs of one ticket: more would keep a worker busy while others wait."""
MAX_OUT = 2_000
"""Handoffs that may be out with workers before the harvest waits for them."""
LOOK_AGAIN_S = 0.2
PATIENCE_S = 5.0
"""So long without a settled handoff, and the run ingests a batch that no worker has begun."""
LOST_S = 60.0
"""So long without one, and the workers that began something are taken for dead."""


class IngestionByWorkers(Ingestion):
    """The same calls; each of them also looks at what workers have done meanwhile."""

    dispatch = True

    def __init__(self, ports: Ports, lease: Lease, run: Run, counters: Counters, on_ended: OnEnded) -> None:
        super().__init__(ports, lease, run, counters, self._ended)
        self._tell_run = on_ended
        self._out: dict[int, Staged] = {}
        self._patience_s = PATIENCE_S
        self._joined = False
        self._reasons: set[Reason] = set()

    async def work_off(self, staged: Sequence[Staged]) -> None:
        if staged and not staged[0].handoff_id:
            # A store without handoffs has nothing to hand out.
            await super().work_off(staged)
            return
        self._out |= {one.handoff_id: one for one in staged}
        await self._wait_until(MAX_OUT)

    async def rest(self) -> None:
        """Everything that is still out."""
        await self.written()
        await self._wait_until(0)
        await self.join_shares()
        if Reason.PERMANENT_ERROR in self._reasons and self.refused is None:
            # Of one text, or of all? The workers that were told so are elsewhere.
            self.refused = await embedding.check(self._ports)
        if Reason.RETRY_SCHEDULED in self._reasons:
            await self._ports.dispatcher().submit(
                RETRY, [retry_payload(self._run.source_id)], delay_s=RETRY_BASE_S
            )

    def _ended(self, ended: Mapping[str, Ended]) -> None:
        self._reasons.update(reason for reason, _ in ended.values())
        self._tell_run(ended)

    async def join_shares(self) -> None:
        """What workers did counts as the run's, however it ends; once."""
        if self._joined:
            return
        for share in await self._ports.store.shares(self._run.id):
            self._counters.join(Counters.from_dict(share))
        self._joined = True

    async def _wait_until(self, at_most: int) -> None:
        clock = self._ports.clock
        last_at = clock.monotonic()
        while True:
            settled = await self._settled()
            quiet_s = clock.monotonic() - last_at
            if settled:
                self._patience_s = PATIENCE_S
            elif quiet_s >= self._patience_s:
                # What a worker has begun is left to it while it may be alive.
                alone = quiet_s >= LOST_S or not await workers(self._ports)
                settled = await self._do_it_here(begun=alone)
                # The workers that did not take this batch are not waited for at the next one.
                self._patience_s = 0.0 if settled else PATIENCE_S
            if settled:
                last_at = clock.monotonic()
            if len(self._out) <= at_most:
                return
            if not settled:
                await clock.sleep(LOOK_AGAIN_S)

    async def _settled(self) -> bool:
        """Take note of what workers have done; is there any?"""
        settled = await self._ports.store.settled(list(self._out))
        for one in settled:
            del self._out[one.handoff_id]
        self._ended({one.reference: (Reason(one.reason), one.error) for one in settled})
        return bool(settled)

    async def _do_it_here(self, *, begun: bool) -> bool:
        waiting = await self._ports.store.staged(self._run, list(self._out), begun=begun, limit=TICKET)
        await super().work_off(waiting)
        await super().rest()
        for one in waiting:
            self._out.pop(one.handoff_id, None)
        return bool(waiting)
