"""Changed references on their way to readers: the durable outbox, and the ingestion that empties it.

A batch is a handful of statements, however many drafts it has: the server of a database may be far away.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from rowen.adapters.store.shared.database import Topic, reads, writes
from rowen.adapters.store.shared.slices import said
from rowen.adapters.store.shared.topics.documents import contents_of, queue, reference_ids, values_of
from rowen.adapters.store.shared.topics.leases import fence
from rowen.adapters.store.shared.topics.passages import (
    find_model,
    passage_ids,
    store_sections,
    store_vectors,
)
from rowen.adapters.store.shared.topics.records import Records, store_records
from rowen.adapters.store.shared.transaction import Lock, Row, Transaction
from rowen.adapters.store.shared.values import json_in, links_in, time_in, value_out
from rowen.core.document import Draft, Validators
from rowen.core.handoff import Ending, Handoff, HandoffStatus, Reason, again
from rowen.core.lease import Lease
from rowen.core.rules.clocks import SKEW
from rowen.core.run import Run
from rowen.core.section import Passage
from rowen.ports.dispatcher import INGEST, ingest_payload
from rowen.ports.embedder import Model
from rowen.ports.store.handoffs import Ingested, Settled, Staged, Waiting

TABLES = ("handoffs", "drafts")
"""They can be taken down together."""
NOT_RECORDED = 0
"""The id of a handoff in a store that records none."""


class Handoffs(Topic):
    @writes
    def stage(
        self,
        db: Transaction,
        lease: Lease,
        run: Run,
        drafts: Sequence[Draft],
        *,
        now: datetime,
        full: bool = False,
        dispatch: bool = False,
    ) -> list[Staged]:
        fence(db, lease)
        db.lock(Lock.TEXTS_USED)
        urls = [url for draft in drafts for url in (draft.reference, *draft.links)]
        ids = reference_ids(db, run.source_id, urls)
        packing = db.packing(run.source_id, drafts)
        records = Records(db, drafts)
        texts = {draft.content_hash: draft.text for draft in drafts}
        contents = contents_of(db, texts, packing, records.by_text())
        by_key = [((ids[draft.reference], draft.payload_hash), draft) for draft in drafts]
        wanted = {
            key: values_of(run, key, contents[draft.content_hash][0], draft, ids, packing, now)
            for key, draft in by_key
        }
        store_records(db, by_key, records, contents, packing)
        recorded = there(db)
        handoffs = queue(db, wanted, full) if recorded else dict.fromkeys(wanted, (NOT_RECORDED, 0, None))
        found = [
            Staged(
                handoff_id=handoffs[key][0],
                reference_id=key[0],
                content_id=contents[draft.content_hash][0],
                sectioned=contents[draft.content_hash][1],
                attempts=handoffs[key][1],
                suspect=handoffs[key][2],
                draft=draft,
            )
            for key, draft in by_key
        ]
        if dispatch and recorded:
            _dispatch(db, lease, run, found, now)
        return found

    @writes
    def revive(
        self,
        db: Transaction,
        lease: Lease,
        run: Run,
        references: Sequence[str],
        *,
        now: datetime,
        dispatch: bool = False,
    ) -> list[Staged]:
        fence(db, lease)
        db.lock(Lock.TEXTS_USED)
        keys = [db.key(reference) for reference in references]
        rows = db.rows("handoffs_newest", source=run.source_id, keys=keys)
        links = {row[0]: links_in(row[16]) for row in rows}
        linked = {link for ids in links.values() for link in ids}
        urls: dict[int, str] = dict(db.rows("refs_by_id", ids=list(linked)))
        found = [_staged(row, tuple(urls[link] for link in links[row[0]])) for row in rows]
        db.write_many(
            "handoff_revive",
            [
                {
                    "handoff": one.handoff_id,
                    "run": run.id,
                    "generation": run.generation,
                    "reason": (one.suspect or Reason.REOPENED_AFTER_DISCARD).value,
                    "attempts": one.attempts,
                    "now": now,
                }
                for one in found
            ],
        )
        if dispatch:
            _dispatch(db, lease, run, found, now)
        return found

    @reads
    def staged(
        self,
        db: Transaction,
        run: Run,
        handoff_ids: Sequence[int],
        *,
        begun: bool = True,
        limit: int = 1000,
    ) -> list[Staged]:
        rows = db.rows("handoffs_staged", ids=list(handoff_ids), run=run.id, begun=begun, limit=limit)
        # The links are stored already; a worker has no use for their names.
        return [_staged(row, ()) for row in rows]

    @reads
    def settled(self, db: Transaction, handoff_ids: Sequence[int]) -> list[Settled]:
        return [Settled(*row) for row in db.rows("handoffs_settled", ids=list(handoff_ids))]

    @writes
    def start_handoffs(
        self,
        db: Transaction,
        lease: Lease,
        handoff_ids: Sequence[int],
        *,
        now: datetime,
        suspect: Reason | None = None,
    ) -> None:
        fence(db, lease)
        if not there(db):
            return
        if suspect is None:
            db.write("handoffs_start", ids=list(handoff_ids), now=now)
        else:
            db.write("handoffs_start_again", ids=list(handoff_ids), reason=suspect.value, now=now)

    @writes
    def put_back_handoffs(
        self, db: Transaction, lease: Lease, handoff_ids: Sequence[int], *, now: datetime
    ) -> None:
        fence(db, lease)
        if there(db):
            db.write("handoffs_put_back", ids=list(handoff_ids), now=now)

    @writes
    def ingest(
        self,
        db: Transaction,
        lease: Lease,
        run: Run,
        ingested: Sequence[Ingested],
        passages: Sequence[Passage],
        vectors: Mapping[bytes, bytes],
        model: Model,
        *,
        now: datetime,
    ) -> None:
        fence(db, lease)
        db.lock(Lock.TEXTS_USED)
        recorded = there(db)
        if recorded:
            rows = db.rows("handoffs_not_done", ids=[item.staged.handoff_id for item in ingested])
            not_done = {row[0] for row in rows}
            ingested = [item for item in ingested if item.staged.handoff_id in not_done]
        else:
            ingested = _with_texts(db, run, ingested)
        ids = passage_ids(db, passages)
        store_vectors(db, vectors, ids, model)
        trees = {item.staged.content_id: item.sections for item in ingested if item.sections}
        store_sections(db, trees, ids)
        # The last one of a reference, should a batch hold two: no reader saw the others.
        newest = {item.staged.reference_id: item.staged for item in ingested}
        drafts: set[int] = set()
        if recorded:
            # Another worker may have made a document of one that is not done, such as one without vectors.
            asked = [item.staged.handoff_id for item in ingested]
            drafts = {row[0] for row in db.rows("drafts_there", handoffs=asked)}
            newest = {ref: one for ref, one in newest.items() if one.handoff_id in drafts}
        db.write("documents_supersede", source=run.source_id, generation=run.generation, refs=list(newest))
        if recorded:
            born = [one.handoff_id for one in newest.values()]
            db.write("documents_insert", handoffs=born, generation=run.generation, now=now)
            db.write("drafts_delete", handoffs=list(drafts))
            _settle(db, {item.staged.handoff_id: item.ending for item in ingested}, now)
        else:
            _insert_documents(db, run, list(newest.values()), now)

    @writes
    def settle_handoffs(
        self, db: Transaction, lease: Lease, endings: Mapping[int, Ending], *, now: datetime
    ) -> None:
        fence(db, lease)
        if there(db):
            _settle(db, endings, now)

    @reads
    def retries(self, db: Transaction, *, now: datetime) -> dict[int, datetime]:
        rows = db.rows("handoffs_retries", now=now, ahead=now + SKEW) if there(db) else []
        return {source_id: time_in(at) for source_id, at in rows}

    @reads
    def due_retries(
        self, db: Transaction, source_id: int, *, now: datetime, limit: int = 1000
    ) -> list[Waiting]:
        if not there(db):
            return []
        rows = db.rows("handoffs_due", source=source_id, now=now, ahead=now + SKEW, limit=limit)
        return [_waiting(row) for row in rows]

    @reads
    def unembedded_in(
        self, db: Transaction, content_ids: Sequence[int], model: Model
    ) -> dict[int, list[Passage]]:
        found: defaultdict[int, list[Passage]] = defaultdict(list)
        rows = db.rows("unembedded_in", contents=list(content_ids), model=find_model(db, model))
        texts = said(db, {passage_id for _, passage_id in rows})
        for content_id, passage_id in rows:
            found[content_id].append(Passage(*texts[passage_id]))
        return dict(found)

    @reads
    def handoffs(
        self,
        db: Transaction,
        *,
        source_id: int | None = None,
        status: HandoffStatus | None = None,
        reason: str | None = None,
        run_id: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Handoff]:
        wanted = {
            "source": source_id,
            "status": status.value if status else None,
            "reason": reason,
            "run": run_id,
        }
        return db.all(Handoff, "handoffs_list", **wanted, limit=limit, offset=offset)

    @reads
    def handoff(self, db: Transaction, handoff_id: int) -> Handoff | None:
        return db.one(Handoff, "handoff_by_id", handoff=handoff_id)

    @reads
    def handoff_counts(
        self, db: Transaction, *, run_id: int | None = None
    ) -> dict[tuple[HandoffStatus, str], int]:
        if not there(db):
            return {}
        rows = db.rows("handoffs_count") if run_id is None else db.rows("handoffs_count_run", run=run_id)
        return {(HandoffStatus(status), reason): count for status, reason, count in rows}

    @writes
    def requeue_handoff(self, db: Transaction, handoff_id: int, *, now: datetime) -> bool:
        reason = Reason.RETRY_SCHEDULED.value
        return bool(db.write("handoff_requeue", handoff=handoff_id, reason=reason, now=now))

    @writes
    def cancel_handoff(self, db: Transaction, lease: Lease, handoff_id: int, *, now: datetime) -> bool:
        fence(db, lease)
        reason = Reason.CANCELLED.value
        return bool(db.write("handoff_cancel", handoff=handoff_id, reason=reason, now=now))


def there(db: Transaction) -> bool:
    """Does the store record handoffs? Their table can be taken down alone; items are stored without it."""
    return bool(db.value("handoffs_there"))


def _with_texts(db: Transaction, run: Run, ingested: Sequence[Ingested]) -> list[Ingested]:
    """Their texts once more: without a handoff, nothing held those that were stored before."""
    drafts = [item.staged.draft for item in ingested]
    packing = db.packing(run.source_id, drafts)
    contents = contents_of(db, {draft.content_hash: draft.text for draft in drafts}, packing)
    return [
        item._replace(staged=replace(item.staged, content_id=contents[item.staged.draft.content_hash][0]))
        for item in ingested
    ]


def _insert_documents(db: Transaction, run: Run, staged: Sequence[Staged], now: datetime) -> None:
    ids = reference_ids(db, run.source_id, [link for one in staged for link in one.draft.links])
    keys = [(one.reference_id, one.draft.payload_hash) for one in staged]
    packing = db.packing(run.source_id, [one.draft for one in staged])
    db.write_many(
        "document_insert",
        [
            values_of(run, key, one.content_id, one.draft, ids, packing, now)
            for key, one in zip(keys, staged, strict=True)
        ],
    )


def _dispatch(db: Transaction, lease: Lease, run: Run, found: Sequence[Staged], now: datetime) -> None:
    db.submit(INGEST, [ingest_payload(lease, run, [one.handoff_id for one in found])], now=now)


def _settle(db: Transaction, endings: Mapping[int, Ending], now: datetime) -> None:
    alike: defaultdict[Ending, list[int]] = defaultdict(list)
    for handoff_id, ending in endings.items():
        alike[ending].append(handoff_id)
    for ending, ids in alike.items():
        db.write("handoffs_settle", ids=ids, **value_out(ending), now=now)


def _waiting(row: Row) -> Waiting:
    taken = again(HandoffStatus(row[1]), row[2], row[3])
    return Waiting(row[0], taken.attempts if taken.suspect else row[3], taken.suspect, bool(row[4]), row[5])


def _staged(row: Row, links: tuple[str, ...]) -> Staged:
    draft = Draft(
        reference=row[2],
        url=row[7],
        title=row[8],
        text=row[9],
        content_hash=row[10],
        body_hash=row[11],
        validators=Validators(row[12], row[13]),
        content_type=row[14],
        depth=row[15],
        links=links,
        metadata=json_in(row[17]),
        body_bytes=row[19],
    )
    taken = again(HandoffStatus(row[5]), row[18], row[6])
    return Staged(
        handoff_id=row[0],
        reference_id=row[1],
        content_id=row[3],
        sectioned=bool(row[4]),
        attempts=taken.attempts,
        suspect=taken.suspect,
        draft=draft,
    )
