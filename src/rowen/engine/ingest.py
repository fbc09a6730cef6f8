"""From a durable handoff to something readers can find: sections, passages, vectors, a document.

A batch is two transactions: the outbox (references, contents, handoffs), then the result. What a crash
leaves between them is taken up by the next run. Nothing here knows where a draft came from.
"""

from __future__ import annotations

from collections.abc import Sequence

from rowen.core.document import Draft
from rowen.core.handoff import HandoffStatus, Reason, is_poison
from rowen.core.lease import Lease
from rowen.core.run import Counters, Run
from rowen.core.section import Passage, Section
from rowen.core.split import passages, split
from rowen.engine import embedding
from rowen.engine.ports import Ports
from rowen.ports.embedder import Model
from rowen.ports.store.handoffs import Ingested, Staged

BATCH = 64


class Ingestion:
    """Ingests the drafts of one run, in this process."""

    dispatch = False
    """Are there workers that take up what is handed off?"""

    def __init__(self, ports: Ports, lease: Lease, run: Run, counters: Counters) -> None:
        self._ports = ports
        self._lease = lease
        self._run = run
        self._counters = counters

    async def take(self, drafts: Sequence[Draft]) -> dict[str, Reason]:
        """Hand off and ingest; answers why each reference ended as it did."""
        store, now = self._ports.store, self._ports.clock.now()
        staged = await store.stage(self._lease, self._run, drafts, now=now, dispatch=self.dispatch)
        return await self.work_off(staged)

    async def revive(self, references: Sequence[str]) -> dict[str, Reason]:
        """The same for texts an interrupted run has stored already."""
        store, now = self._ports.store, self._ports.clock.now()
        staged = await store.revive(self._lease, self._run, references, now=now, dispatch=self.dispatch)
        return await self.work_off(staged)

    async def work_off(self, staged: Sequence[Staged]) -> dict[str, Reason]:
        reasons: dict[str, Reason] = {}
        healthy = [one for one in staged if not one.attempts]
        if healthy:
            reasons |= await self._ingest(healthy)
        # What was under way when a process died goes alone, so that poison takes nothing down with it.
        for one in staged:
            if one.attempts and is_poison(one.attempts):
                reasons |= await self._give_up(one)
            elif one.attempts:
                reasons |= await self._ingest([one])
        return reasons

    async def _ingest(self, staged: Sequence[Staged]) -> dict[str, Reason]:
        store, clock = self._ports.store, self._ports.clock
        await store.start_handoffs(self._lease, [one.handoff_id for one in staged], now=clock.now())
        sections = {one.content_id: split(one.draft.text) for one in staged if not one.sectioned}
        found: dict[bytes, Passage] = {}
        for tree in sections.values():
            found |= passages(tree)
        model = self._ports.embedder().model
        vectors, missing = await self._embed(found, model)
        reasons = {one.draft.reference: _reason(sections.get(one.content_id, ()), missing) for one in staged}
        await store.ingest(
            self._lease,
            self._run,
            [
                Ingested(
                    staged=one,
                    sections=sections.get(one.content_id, ()),
                    reason=reasons[one.draft.reference].value,
                )
                for one in staged
            ],
            list(found.values()),
            vectors,
            model,
            now=clock.now(),
        )
        return reasons

    async def _embed(
        self, found: dict[bytes, Passage], model: Model
    ) -> tuple[dict[bytes, bytes], set[bytes]]:
        """Vectors of what had none, and the passages that still have none."""
        if not found:
            return {}, set()
        states = await self._ports.store.passage_states(list(found), model)
        wanted = [
            passage for digest, passage in found.items() if not (digest in states and states[digest].embedded)
        ]
        vectors, error = await embedding.embed(self._ports, wanted)
        if error is not None or not await embedding.is_search_model(self._ports.store, model):
            # Written down before the text is, so that a run after a crash fills in the missing vectors.
            await embedding.left_out(self._ports.store)
        counters = self._counters
        counters.passages_reused += len(states)
        counters.passages_new += len(found) - len(states)
        counters.embeddings_reused += len(found) - len(wanted)
        counters.embeddings_computed += len(vectors)
        # Text without a vector is stored and found by its words; its vectors are filled in later.
        return vectors, {p.hash for p in wanted}.difference(vectors)

    async def _give_up(self, staged: Staged) -> dict[str, Reason]:
        await self._ports.store.settle_handoff(
            self._lease,
            staged.handoff_id,
            status=HandoffStatus.FAILED,
            reason=Reason.WORKER_LOST.value,
            error=f"its worker died {staged.attempts} times",
            now=self._ports.clock.now(),
        )
        return {staged.draft.reference: Reason.WORKER_LOST}


def _reason(sections: Sequence[Section], missing: set[bytes]) -> Reason:
    if missing and any(section.passage_hash in missing for section in sections):
        return Reason.CIRCUIT_OPEN
    return Reason.INGESTED
