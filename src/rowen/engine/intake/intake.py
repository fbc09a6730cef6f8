"""Where the items of a run arrive, from a source of any kind.

The kind says of each item: not modified, fetched (with a `Draft`), gone or failed. The intake compares, hands
changed items to ingestion in batches, and keeps what the run must write down at its end; what became of the
items is counted in `tally.py`. It knows nothing of HTTP, links or listings.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from rowen.core.document import NO_VALIDATORS, TEXT, Converted, Draft, Known, Outcome, Validators
from rowen.core.feed import changed_fields
from rowen.core.handoff import WITHOUT_VECTORS, Reason
from rowen.core.lease import Lease
from rowen.core.rules import duration
from rowen.core.run import Counters, Run
from rowen.core.web import urls, verified
from rowen.engine.embedding import Filled, refusal
from rowen.engine.ingest import BATCH, BATCH_CHARS, Ended, Ingestion, OnEnded
from rowen.engine.ingest_by_workers import TICKET, IngestionByWorkers
from rowen.engine.intake import collecting
from rowen.engine.intake.tally import OnEvent, Tally
from rowen.engine.ports import Ports
from rowen.errors import EmbedderRefused, EmbedderUnavailable, RowenError
from rowen.ports.store.documents import Refreshed

MakeIngestion = Callable[[Ports, Lease, Run, Counters, OnEnded], Ingestion]


class Agreed(Protocol):
    """What a run that applies a plan may do, and nothing else."""

    def allows(self, draft: Draft) -> bool: ...

    def allows_deletion(self, reference: str) -> bool: ...


NOT_PLANNED = "not_planned"
RESUMED = "stored by an earlier run, and not modified since"


def _chars(arrived: Draft | str | None) -> int:
    return len(arrived.text) if isinstance(arrived, Draft) else 0


class Intake(Tally):
    def __init__(
        self,
        ports: Ports,
        lease: Lease,
        run: Run,
        *,
        source: str,
        full: bool,
        only: tuple[str, ...] | None,
        hooked: Collection[str] = (),
        part: int,
        dispatch: bool,
        within_s: float | None = None,
        on_event: OnEvent,
        agreed: Agreed | None = None,
        make_ingestion: MakeIngestion = Ingestion,
    ) -> None:
        super().__init__(
            source, on_event, hooked=frozenset(name for one in hooked for name in _spellings(one))
        )
        self.unconditional = full
        """A full sync was asked for: every body is fetched, even if its validators are the known ones."""
        self.only = only
        """The references that are said to have changed; None for everything."""
        self.within_s = within_s
        """Exactly `only` is asked for, for so long at most; None for a run that follows what it finds."""
        self.asks_some = only is not None
        self.part = part
        """0 for the newest, more for each stretch of history after it."""
        self.dispatch = dispatch
        """There are workers: they ingest."""
        self.run = run
        self.lease = lease
        self._ports = ports
        self._agreed = agreed
        self._make_ingestion = make_ingestion
        self._workers = (
            IngestionByWorkers(ports, lease, run, self.counters, self._ingested) if dispatch else None
        )
        self._ingestion: Ingestion | None = self._workers
        """In this process it is made for the first new version: most runs have none."""
        self._arrivals: asyncio.Queue[Draft | str | None] = asyncio.Queue(BATCH)
        """New versions on their way to ingestion, and references of what an interrupted run has stored."""
        self._retired: list[int] = []
        self._refreshed: list[Refreshed] = []
        self._resumed: set[str] = set()
        """References of what an interrupted run has stored."""
        self._fields: dict[str, tuple[str, ...]] = {}
        """What differs between the version readers see and the one that is being stored."""
        self.out_of_time: str | None = None
        """Why the harvest was cut off by its time limit, if it was."""
        self._began_with: EmbedderUnavailable | None = None

    def begin(self, filled: Filled) -> None:
        """What was embedded for earlier runs before this one asks its source."""
        self.counters.embeddings_computed += filled.texts
        self._began_with = filled.error
        if self._workers is not None:
            self._workers.refused = refusal(filled.error)

    @property
    def refused(self) -> EmbedderRefused | None:
        """The embedding provider refuses every text; what arrives is stored and found by its words."""
        return refusal(self._began_with) if self._ingestion is None else self._ingestion.refused

    @property
    def provider_failed(self) -> bool:
        """The embedding provider has failed in this run: what it left out waits for a later one."""
        return self._began_with is not None or bool(self.counters.skipped)

    async def load_known(self) -> None:
        """Everything readers see: for sources that go through all they have."""
        self.known = await self._ports.store.known(self.run.source_id)

    async def look_up(self, references: Sequence[str]) -> None:
        """What readers see of these references, in place of what was looked up before."""
        self.known = await self._ports.store.known(self.run.source_id, references)

    # what a kind says of an item

    def not_modified(
        self,
        known: Known,
        validators: Validators = NO_VALIDATORS,
        *,
        by: str = verified.LISTING,
        sent: bool = False,
    ) -> None:
        """It is as it was; `validators` are those that came with the answer, if any did.

        `by` is who says so: a listing, or the server with a 304. `sent` says that the body came all the same,
        as a part of the listing.
        """
        self.counters.not_modified += 1
        self.counters.bytes_avoided += 0 if sent else known.body_bytes
        self._refresh_validators(known, known.validators.updated_by(validators))
        self._unchanged(known.reference, "not_modified", by)

    def all_not_modified(self, ones: Sequence[Known]) -> None:
        """A listing says that these are as they were: `not_modified` of each, counted together."""
        self.counters.not_modified += len(ones)
        self.counters.bytes_avoided += sum(known.body_bytes for known in ones)
        self._all_unchanged([known.reference for known in ones], "not_modified", verified.LISTING)

    def none_modified(self, number: int, body_bytes: int) -> None:
        """A listing says that everything readers see is as it was: so many items, with so many bytes."""
        self.counters.not_modified += number
        self.counters.bytes_avoided += body_bytes
        self._count_unchanged(number, verified.LISTING)

    def same_body(self, known: Known, validators: Validators) -> None:
        """The same bytes came again: nothing to parse."""
        self.counters.same_body += 1
        self._refresh_validators(known, validators)
        self._unchanged(known.reference, "same_body", verified.SAME_BODY)

    async def revived(self, known: Known) -> None:
        """An interrupted run stored this version; the server says it still stands."""
        self.counters.not_modified += 1
        self.counters.resumed += 1
        self._resumed.add(known.reference)
        self.counters.bytes_avoided += known.body_bytes
        if known.reference in self.known:
            self._updates[known.reference] = None
        self.arrived += 1
        self.arriving += 1
        await self._arrivals.put(known.reference)

    async def convert(self, body: bytes, *, content_type: str, url: str) -> Converted:
        self.counters.parses += 1
        return await self._ports.converter.convert(body, content_type=content_type, url=url)

    async def fetched(self, draft: Draft, *, links_changed: bool = False) -> None:
        """A body came and was read: decide whether its text or metadata differ from what readers see."""
        known = self.known.get(draft.reference)
        if known is None or draft.payload_hash != known.payload_hash:
            if self._agreed is not None and not self._agreed.allows(draft):
                self._not_planned(draft.reference)
                return
            if known is not None:
                self._updates[draft.reference] = None
            self.arrived += 1
            self.arriving += 1
            await self._arrivals.put(draft)
            return
        self.counters.same_content += 1
        # A page that sends no validators and differs in its wrapping each time costs no write each time.
        if draft.validators != known.validators or links_changed:
            self._refresh(
                Refreshed(
                    document_id=known.document_id,
                    validators=draft.validators,
                    body_hash=draft.body_hash,
                    body_bytes=draft.body_bytes,
                    links=draft.links if links_changed else None,
                )
            )
        self._unchanged(draft.reference, "same_content", verified.SAME_CONTENT)

    def gone(
        self,
        reference: str,
        reason: str,
        detail: str | None = None,
        *,
        lost: bool = True,
        answered: bool = False,
    ) -> None:
        """It is not there any more. For a reference without a visible version nothing changes.

        `lost` is False for text that lives on at another address; the deletion guard does not count it.
        `answered` says that the item was already counted in this run: that outcome is replaced.
        """
        known = self.known.get(reference)
        if known is None:
            return
        if self._agreed is not None and not self._agreed.allows_deletion(reference):
            self._not_planned(reference)
            return
        self._retired.append(known.reference_id)
        self.lost += lost
        if answered:
            self._take_back(reference)
        self._item(reference, Outcome.DELETED, reason, detail)

    def drop_uncovered(self, covers: Callable[[str], bool]) -> None:
        """What the settings of an edited source do not cover goes, and the kind does not see it any more.

        A person asked for it, so the guard counts neither these documents nor their deletion.
        """
        uncovered = [reference for reference in self.known if not covers(reference)]
        for reference in uncovered:
            self.gone(reference, "not_covered", lost=False)
        self.dropped = len(uncovered)
        if uncovered:
            gone = set(uncovered)
            self.known = {name: known for name, known in self.known.items() if name not in gone}

    def failed(self, reference: str, error: RowenError) -> None:
        """Whether it changed is not known: what readers see stays."""
        self._item(reference, Outcome.FAILED, error.reason, error.message)

    def failed_because(self, reference: str, reason: str, detail: str | None = None) -> None:
        self._item(reference, Outcome.FAILED, reason, detail)

    def _not_planned(self, reference: str) -> None:
        self.failed_because(reference, NOT_PLANNED, "it changed after the plan that is applied")

    def cut_off(self, limit_s: float) -> None:
        """The time of the harvest is over."""
        self.out_of_time = f"stopped after {duration.text_of(limit_s)} (`time_limit_s`)"

    def delete_nothing(self) -> None:
        """What a harvest that was cut off found gone is asked for again, and goes with a whole run."""
        self._retired = []
        self._forget_deletions()

    # how the work gets done

    async def work(self) -> None:
        """Ingest what arrives until `close` was called and everything is stored."""
        try:
            with collecting.seldom():
                await self._work()
        finally:
            if self._ingestion is not None:
                await self._ingestion.abandon()

    async def _work(self) -> None:
        closed, most = False, TICKET if self.dispatch else BATCH
        while not closed:
            batch = [await self._arrivals.get()]
            chars = _chars(batch[0])
            while len(batch) < most and chars < BATCH_CHARS and not self._arrivals.empty():
                batch.append(self._arrivals.get_nowait())
                chars += _chars(batch[-1])
            closed = None in batch
            if self._ingestion is None and batch != [None]:
                self._ingestion = self._make_ingestion(
                    self._ports, self.lease, self.run, self.counters, self._ingested
                )
                self._ingestion.refused = refusal(self._began_with)
            if self._ingestion is not None:
                drafts = [one for one in batch if isinstance(one, Draft)]
                if drafts:
                    await self._compare(drafts)
                    await self._ingestion.take(drafts, full=self.unconditional)
                references = [one for one in batch if isinstance(one, str)]
                if references:
                    await self._ingestion.revive(references)
            if closed and self._ingestion is not None:
                await self._ingestion.rest()
            if len(self._refreshed) >= BATCH * 3:
                await self._write_refreshed()
            if len(self.items) - self.counters.deleted >= BATCH * 3:
                # Deletions stand at the end of the run, when it is certain that they do.
                items = [item for item in self.items if item.outcome is not Outcome.DELETED]
                self.items = [item for item in self.items if item.outcome is Outcome.DELETED]
                await self._ports.store.save_items(self.lease, self.run, items)

    async def _compare(self, drafts: Sequence[Draft]) -> None:
        """Which fields of known references are new; what readers see of them is still there."""
        updates = {draft.reference: draft for draft in drafts if draft.reference in self._updates}
        if not updates:
            return
        source_id = self.run.source_id
        for before in await self._ports.store.documents(source_id, references=list(updates), text=True):
            self._fields[before.reference] = tuple(changed_fields(before, updates[before.reference]))

    async def close(self) -> None:
        await self._arrivals.put(None)

    async def replace(self, drafts: Sequence[Draft], reason: str) -> None:
        """Other texts of items that are stored, when everything that arrived is.

        An item of this run stays what it was; one that had not changed is updated, for this reason.
        """
        ended: dict[str, Ended] = {}
        ingestion = self._make_ingestion(self._ports, self.lease, self.run, self.counters, ended.update)
        ingestion.refused = self.refused
        try:
            await ingestion.take(drafts, full=True)
            await ingestion.rest()
        finally:
            await ingestion.abandon()
        for reference, (why, error) in ended.items():
            if why is not Reason.INGESTED and why not in WITHOUT_VECTORS:
                self._item(reference, Outcome.FAILED, why.value, error)
            elif reference in self.known and reference not in self._updates:
                self.counters.unchanged -= reference not in self._failed
                self._updates[reference] = None
                self._item(reference, Outcome.UPDATED, reason)

    async def join_shares(self) -> None:
        """Count what workers did, also for a run that did not come to its end."""
        if self._workers is not None:
            await self._workers.join_shares()

    async def write_rest(self) -> None:
        """What needs no ingestion: deaths and validators, in one transaction each."""
        if self._retired:
            await self._ports.store.retire(self.lease, self.run, self._retired)
            self._retired = []
        await self._write_refreshed()

    async def _write_refreshed(self) -> None:
        if self._refreshed:
            batch, self._refreshed = self._refreshed, []
            await self._ports.store.refresh(self.lease, self.run.source_id, batch)

    def _refresh_validators(self, known: Known, validators: Validators) -> None:
        if validators != known.validators:
            self._refresh(
                Refreshed(
                    document_id=known.document_id,
                    validators=validators,
                    body_hash=known.body_hash,
                    body_bytes=known.body_bytes,
                )
            )

    def _refresh(self, refreshed: Refreshed) -> None:
        self.counters.validators_refreshed += 1
        self._refreshed.append(refreshed)

    def _ingested(self, reasons: Mapping[str, Ended]) -> None:
        for reference, (reason, error) in reasons.items():
            self.arriving -= 1
            if reference in self._taken_back:
                continue
            if reason is not Reason.INGESTED and reason not in WITHOUT_VECTORS:
                self._item(reference, Outcome.FAILED, reason.value, error)
                continue
            self.added += reference not in self._updates
            if reason in WITHOUT_VECTORS:
                self._item(reference, Outcome.SKIPPED, reason.value, error)
            elif reference in self._updates:
                fields = self._fields.pop(reference, (TEXT,))
                if TEXT in fields:
                    said = ", ".join(fields) if fields != (TEXT,) else None
                    self._item(reference, Outcome.UPDATED, "content_changed", said)
                else:
                    self._item(reference, Outcome.METADATA_UPDATED, "metadata_changed", ", ".join(fields))
            else:
                resumed = RESUMED if reference in self._resumed else None
                self._item(reference, Outcome.CREATED, "new", resumed)


def _spellings(reference: str) -> tuple[str, ...]:
    """The names that a reference may have in its source: an address is normalised, a path has no `./`."""
    address = urls.normalise(reference)
    return tuple(dict.fromkeys(filter(None, (reference, reference.removeprefix("./"), address))))
