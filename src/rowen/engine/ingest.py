"""From a durable handoff to something readers can find: sections, passages, vectors, a document.

A batch is two transactions: the outbox (references, contents, handoffs), then the result. What a crash
leaves between them is taken up by the next run. Nothing here knows where a draft came from.

Text whose embedding failed is stored, and readers find it by its words. The attempts after the run only make
its vectors, so no generation changes. An attempt needs the lease of the source, like a run.

A batch is written while the next one is embedded and the one after it is cut into sections, so that none of
them waits for the others.

What was in work when a process ended is suspect. Suspects are ingested after everything else, a few together:
one by one, a kill would cost a call of the embedding provider for each item of a batch. Those that were in
work with a few others when a process ended again are ingested one by one, and only these attempts are held
against them, from their start: the third that ends with its process is the last.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence, Set
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import datetime
from typing import TypeVar

from rowen.core.document import Draft
from rowen.core.handoff import (
    CIRCUIT_OPEN,
    INGESTED,
    MAX_ATTEMPTS,
    Ending,
    HandoffStatus,
    Reason,
    after_transient_failure,
    is_poison,
)
from rowen.core.lease import Lease
from rowen.core.rules import breaker as breakers
from rowen.core.run import Counters, Run
from rowen.core.section import Form, Passage, Section
from rowen.core.source import Source
from rowen.core.split import passages
from rowen.engine import embedding
from rowen.engine.embedding import Embedded, Filled
from rowen.engine.leases import beating, run_lease
from rowen.engine.ports import Ports
from rowen.errors import EmbedderRefused, RowenError
from rowen.ports.embedder import Model
from rowen.ports.splitter import Splitter
from rowen.ports.store.handoffs import Ingested, Staged, Waiting
from rowen.records import NamedTuple

GRACE_S = 0.5
"""For a batch that is being embedded when its run is cancelled."""
BATCH = 192
BATCH_CHARS = 800_000
"""A batch has so many drafts at most, and so much text: of pages fewer than of datasets, which are short. A
transaction costs the same for few short texts as for many."""
FEW = BATCH // 8
"""Suspects that are ingested together. Halves of halves would ask the provider less often, and end seven
processes more before the one item is found that ends them; this way it is one more."""
SUPERSEDED = Ending(HandoffStatus.FAILED, Reason.SUPERSEDED)
LOST = Ending(
    HandoffStatus.FAILED,
    Reason.WORKER_LOST,
    f"given up: {MAX_ATTEMPTS} times the process ended while this item was ingested by itself;"
    " it is retried when it changes, or by a full sync",
)

Suspect = TypeVar("Suspect", Staged, Waiting)

Ended = tuple[Reason, str | None]
"""Why an item ended as it did, and the words of an error."""
OnEnded = Callable[[Mapping[str, Ended]], None]
"""Is told how references ended, as soon as that is stored."""


def unheard(ended: Mapping[str, Ended]) -> None:
    """For ingestions that no run watches."""


class _Cut(NamedTuple):
    """A batch whose texts are cut into sections."""

    staged: Sequence[Staged]
    sections: dict[int, list[Section]]
    """By content; those of contents that have none yet."""
    found: dict[bytes, Passage]
    said: set[bytes]
    """Passages that get a vector."""


class _Prepared(NamedTuple):
    """A batch that can be written."""

    cut: _Cut
    embedded: Embedded
    missing: set[bytes]
    model: Model


class Ingestion:
    """Ingests the drafts of one run, in this process."""

    dispatch = False
    """Are there workers that take up what is handed off?"""

    def __init__(
        self, ports: Ports, lease: Lease, run: Run, counters: Counters, on_ended: OnEnded = unheard
    ) -> None:
        self._ports = ports
        self._lease = lease
        self._run = run
        self._counters = counters
        self.refused: EmbedderRefused | None = None
        """The provider refuses every text, and only a person can change that."""
        self._suspects: list[Staged] = []
        self._on_ended = on_ended
        self._embedding: asyncio.Task[None] | None = None
        self._writing: asyncio.Task[None] | None = None
        self._unwritten: Set[bytes] = frozenset()
        """Passages of the batch that is being written, all of them with their vectors."""

    async def take(self, drafts: Sequence[Draft], *, full: bool = False) -> None:
        """Hand off and ingest. The last of it is written, and suspects are taken up, by `rest`."""
        store, now = self._ports.store, self._ports.clock.now()
        staged = await store.stage(self._lease, self._run, drafts, now=now, full=full, dispatch=self.dispatch)
        await self.work_off(staged)

    async def revive(self, references: Sequence[str]) -> None:
        """The same for texts an interrupted run has stored already."""
        store, now = self._ports.store, self._ports.clock.now()
        staged = await store.revive(self._lease, self._run, references, now=now, dispatch=self.dispatch)
        await self.work_off(staged)

    async def work_off(self, staged: Sequence[Staged]) -> None:
        self._suspects += [one for one in staged if one.suspect]
        healthy = [one for one in staged if not one.suspect]
        if not healthy:
            return
        async with AsyncExitStack() as stack:
            ids = [one.handoff_id for one in healthy]
            await stack.enter_async_context(_in_work(self._ports, self._lease, ids))
            cut = await into_sections(self._ports.splitter, healthy)
            await self._embedded()
            self._embedding = asyncio.create_task(self._embed_in_work(stack.pop_all(), cut))

    async def rest(self) -> None:
        """The last batch, then the suspects: one that ends the process takes few others with it, or none."""
        await self.written()
        suspects, self._suspects = self._suspects, []
        lost = {one.handoff_id: LOST for one in suspects if is_poison(one.attempts)}
        if lost:
            await self._ports.store.settle_handoffs(self._lease, lost, now=self._ports.clock.now())
            self._on_ended({one.draft.reference: _ended(LOST) for one in suspects if one.handoff_id in lost})
        for batch in _few_then_alone([one for one in suspects if one.handoff_id not in lost]):
            ids = [one.handoff_id for one in batch]
            async with _in_work(self._ports, self._lease, ids, suspect=_retried(batch)):
                await self._write(await self._prepared(await into_sections(self._ports.splitter, batch)))

    async def abandon(self) -> None:
        """Leave the batches that are being embedded and written, if their run does not come to its end."""
        if self._embedding is not None:
            # What is nearly embedded is not thrown away, and a provider that is slow is not waited for.
            await asyncio.wait([self._embedding], timeout=GRACE_S)
        for task in (self._embedding, self._writing):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def written(self) -> None:
        """Wait for the batches that are being embedded and written."""
        await self._embedded()
        await self._stored()

    async def _embedded(self) -> None:
        """Wait until the batch before is embedded, and is being written."""
        if self._embedding is not None:
            await self._embedding
            self._embedding = None

    async def _stored(self) -> None:
        if self._writing is not None:
            await self._writing
            self._writing, self._unwritten = None, frozenset()

    async def _embed_in_work(self, in_work: AsyncExitStack, cut: _Cut) -> None:
        async with in_work:
            prepared = await self._prepared(cut)
            await self._stored()
            self._unwritten = frozenset(prepared.embedded.vectors)
            self._writing = asyncio.create_task(self._write_in_work(in_work.pop_all(), prepared))

    async def _write_in_work(self, in_work: AsyncExitStack, prepared: _Prepared) -> None:
        async with in_work:
            await self._write(prepared)

    async def _prepared(self, cut: _Cut) -> _Prepared:
        """Embed what has no vector."""
        model = self._ports.embedder().model
        embedded, missing = await self._embed(cut.found, cut.said, model)
        return _Prepared(cut, embedded, missing, model)

    async def _write(self, prepared: _Prepared) -> None:
        store, now = self._ports.store, self._ports.clock.now()
        (staged, sections, found, _), embedded, missing, model = prepared
        ingested = []
        for one in staged:
            tree = sections.get(one.content_id, [])
            hashes = {section.passage_hash for section in tree}
            end = _ending(one.attempts + 1, hashes, hashes & missing, embedded, self.refused, now=now)
            ingested.append(Ingested(staged=one, sections=tree, ending=end))
        await store.ingest(
            self._lease,
            self._run,
            ingested,
            list(found.values()),
            embedded.vectors,
            model,
            now=now,
        )
        self._on_ended({item.staged.draft.reference: _ended(item.ending) for item in ingested})

    async def _embed(
        self, found: Mapping[bytes, Passage], said: Set[bytes], model: Model
    ) -> tuple[Embedded, set[bytes]]:
        """Vectors of what is said and had none, and the passages that still have none."""
        if not found:
            return Embedded({}, {}, None), set()
        states = await self._ports.store.passage_states(list(found), model)
        embedded_before = {digest for digest, state in states.items() if state.embedded} | self._unwritten
        known = (states.keys() | self._unwritten) & found.keys()
        unembedded = said - embedded_before
        wanted = [passage for digest, passage in found.items() if digest in unembedded]
        if self.refused is None:
            embedded = await embedding.embed(self._ports, wanted)
            self.refused = embedding.refusal(embedded.error)
        else:
            # The provider refuses everything: it is asked once in a run.
            embedded = Embedded({}, {}, None)
        missing = {passage.hash for passage in wanted}.difference(embedded.vectors)
        if missing or not await embedding.is_search_model(self._ports.store, model):
            # Written down before the text is, so that a run after a crash fills in the missing vectors.
            await embedding.left_out(self._ports.store)
        counters = self._counters
        counters.passages_reused += len(known)
        counters.passages_new += len(found) - len(known)
        counters.embeddings_reused += len(said) - len(wanted)
        counters.embeddings_computed += len(embedded.vectors)
        # Text without a vector is stored and found by its words; its vectors are filled in later.
        return embedded, missing


async def into_sections(splitter: Splitter, staged: Sequence[Staged]) -> _Cut:
    """Cut the texts that have no sections yet, each once."""
    texts = {one.content_id: one.draft.text for one in staged if not one.sectioned}
    sections = dict(zip(texts, await splitter.split(list(texts.values())), strict=True)) if texts else {}
    found: dict[bytes, Passage] = {}
    said: set[bytes] = set()
    for tree in sections.values():
        found |= passages(tree)
        said.update(section.passage_hash for section in tree if section.form is not Form.DETAILS)
    return _Cut(staged, sections, found, said)


@asynccontextmanager
async def _in_work(
    ports: Ports, lease: Lease, handoff_ids: Sequence[int], *, suspect: Reason | None = None
) -> AsyncIterator[None]:
    """Their attempt, which counts from its start; one that is broken off on purpose does not."""
    store, clock, gate = ports.store, ports.clock, ports.ingestion_gate
    async with gate.alone() if suspect else gate.batch():
        await store.start_handoffs(lease, handoff_ids, now=clock.now(), suspect=suspect)
        try:
            yield
        except (asyncio.CancelledError, RowenError):
            with suppress(RowenError):
                await asyncio.shield(store.put_back_handoffs(lease, handoff_ids, now=clock.now()))
            raise


def _few_then_alone(suspects: Sequence[Suspect]) -> Iterator[Sequence[Suspect]]:
    """The batches in which they are ingested; the most suspicious come last."""
    together = [one for one in suspects if one.suspect is Reason.RETRIED_WITH_FEW]
    yield from (together[start : start + FEW] for start in range(0, len(together), FEW))
    yield from ([one] for one in suspects if one.suspect is Reason.RETRIED_ALONE)


def _retried(batch: Sequence[Staged] | Sequence[Waiting]) -> Reason | None:
    """How these are retried, if they are suspects."""
    suspect = batch[0].suspect
    return Reason.RETRIED_ALONE if suspect and len(batch) == 1 else suspect


def _ended(ending: Ending) -> Ended:
    return ending.reason, ending.error


def _ending(
    attempts: int,
    hashes: Set[bytes],
    missing: Set[bytes],
    embedded: Embedded,
    refused: EmbedderRefused | None,
    *,
    now: datetime,
) -> Ending:
    """Of a handoff with these passages, some of them still without a vector, after so many attempts."""
    if missing and refused is not None:
        return Ending(HandoffStatus.FAILED, Reason.PERMANENT_ERROR, refused.message)
    if missing:
        error = embedded.error
        if error is None or error.facts.get("kind") == embedding.CIRCUIT_OPEN:
            return CIRCUIT_OPEN
        return after_transient_failure(attempts, now, error.message, asked_s=error.retry_after_s)
    said = [words for digest, words in embedded.rejected.items() if digest in hashes]
    return Ending(HandoffStatus.FAILED, Reason.PERMANENT_ERROR, said[0]) if said else INGESTED


async def take_up_due(ports: Ports, source: Source) -> datetime | None:
    """Make the attempts of a source that are due; answers when the next one is. Raises `Conflict`."""
    async with run_lease(ports, source) as lease:
        await take_up(ports, lease, source)
    return (await ports.store.retries(now=ports.clock.now())).get(source.id)


async def catch_up(ports: Ports, lease: Lease, source: Source) -> Filled:
    """Before a run: the attempts that are due, and the vectors that earlier runs left out."""
    attempted = await take_up(ports, lease, source)
    if attempted.error is not None:
        return attempted
    filled = await embedding.fill_if_pending(ports, before_run=True)
    return Filled(attempted.texts + filled.texts, filled.error)


async def take_up(ports: Ports, lease: Lease, source: Source) -> Filled:
    """The attempts of a source that are due, under the lease of a caller."""
    store, now = ports.store, ports.clock.now()
    due = await store.due_retries(source.id, now=now)
    if not due:
        return Filled(0, None)
    settled = {one.handoff_id: SUPERSEDED for one in due if not one.is_visible}
    settled |= {one.handoff_id: LOST for one in due if one.suspect and is_poison(one.attempts)}
    await store.settle_handoffs(lease, settled, now=now)
    waiting = [one for one in due if one.handoff_id not in settled]
    breaker = breakers.before_call(await embedding.breaker_of(store, ports.embedder().model), now)
    if not breakers.allows(breaker):
        # Not an attempt: the provider is not asked.
        later = Ending(
            HandoffStatus.QUEUED, Reason.RETRY_SCHEDULED, breaker.last_error, breaker.opens_again_at
        )
        await store.settle_handoffs(lease, {one.handoff_id: later for one in waiting}, now=now)
        return Filled(0, None)
    healthy = [one for one in waiting if not one.suspect]
    suspects = [one for one in waiting if one.suspect]
    filled = Filled(0, None)
    async with beating(ports, lease):
        for batch in filter(None, [healthy, *_few_then_alone(suspects)]):
            ids = [one.handoff_id for one in batch]
            async with _in_work(ports, lease, ids, suspect=_retried(batch)):
                done = await _attempt(ports, lease, batch)
            filled = Filled(filled.texts + done.texts, done.error or filled.error)
    return filled


async def _attempt(ports: Ports, lease: Lease, waiting: Sequence[Waiting]) -> Filled:
    store, clock, model = ports.store, ports.clock, ports.embedder().model
    contents = [one.content_id for one in waiting if one.content_id is not None]
    missing = await store.unembedded_in(contents, model)
    texts = {passage.hash: passage for found in missing.values() for passage in found}
    embedded = await embedding.embed(ports, list(texts.values()))
    await store.save_vectors(embedded.vectors, model)
    refused, now, endings = embedding.refusal(embedded.error), clock.now(), {}
    for one in waiting:
        hashes = {passage.hash for passage in missing.get(one.content_id or 0, ())}
        without = hashes - embedded.vectors.keys()
        endings[one.handoff_id] = _ending(one.attempts + 1, hashes, without, embedded, refused, now=now)
    await store.settle_handoffs(lease, endings, now=now)
    return Filled(len(embedded.vectors), embedded.error)
