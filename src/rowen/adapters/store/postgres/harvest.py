"""What a run reads and writes: known versions, listings, ingested documents.

Each function is one unit of work on an open transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rowen.adapters.store.postgres.leases import fence
from rowen.adapters.store.postgres.migrate import ADVISORY
from rowen.adapters.store.postgres.references import digests, reference_ids
from rowen.adapters.store.postgres.rows import json_out, links_in, links_out
from rowen.adapters.store.postgres.texts import passage_ids, store_vectors
from rowen.adapters.store.postgres.transaction import Row, Transaction
from rowen.core import hashing
from rowen.core.document import Known, Validators
from rowen.core.lease import Lease
from rowen.core.run import Run
from rowen.core.section import Passage
from rowen.ports.embedder import Model
from rowen.ports.store.documents import Listing, References, Refreshed
from rowen.ports.store.handoffs import Ingested


def known(db: Transaction, source_id: int, references: Sequence[str] | None = None) -> dict[str, Known]:
    if references is None:
        rows = db.rows("known", source=source_id)
    else:
        rows = db.rows("known_among", source=source_id, digests=list(digests(references)))
    return {row[2]: _known(row) for row in rows}


def leftovers(db: Transaction, source_id: int, references: Sequence[str] | None = None) -> dict[str, Known]:
    if references is None:
        rows = db.rows("leftovers", source=source_id)
    else:
        rows = db.rows("leftovers_among", source=source_id, digests=list(digests(references)))
    return {row[1]: _known((0, *row)) for row in rows}


def visible_references(db: Transaction, source_id: int, after: str, limit: int) -> list[str]:
    return [row[0] for row in db.rows("visible_references", source=source_id, after=after, limit=limit)]


def metadata(db: Transaction, source_id: int) -> dict[str, dict[str, Any]]:
    return dict(db.rows("metadata_by_source", source=source_id))


def references(db: Transaction, source_id: int) -> References:
    ids: dict[str, int] = {}
    names: dict[int, str] = {}
    aliases: list[tuple[str, int]] = []
    for ref_id, reference, alias_of in db.rows("refs_by_source", source=source_id):
        ids[reference] = ref_id
        names[ref_id] = reference
        if alias_of is not None:
            aliases.append((reference, alias_of))
    return References(ids=ids, aliases={alias: names[of] for alias, of in aliases})


def save_aliases(db: Transaction, held: Lease, source_id: int, aliases: Mapping[str, str | None]) -> None:
    fence(db, held)
    ids = reference_ids(db, source_id, [*aliases, *filter(None, aliases.values())])
    db.write_many(
        "ref_alias",
        [{"of": None if of is None else ids[of], "ref": ids[alias]} for alias, of in aliases.items()],
    )


def listings(db: Transaction, source_id: int) -> dict[str, Listing]:
    return {
        url: Listing(url=url, validators=Validators(etag, last_modified), payload=payload)
        for url, etag, last_modified, payload in db.rows("listings_by_source", source=source_id)
    }


def save_listing(db: Transaction, held: Lease, source_id: int, listing: Listing) -> None:
    fence(db, held)
    db.write(
        "listing_save",
        source=source_id,
        digest=hashing.of_text(listing.url),
        url=listing.url,
        etag=listing.validators.etag,
        last_modified=listing.validators.last_modified,
        payload=json_out(listing.payload),
    )


def ingest(
    db: Transaction,
    held: Lease,
    run: Run,
    ingested: Sequence[Ingested],
    passages: Sequence[Passage],
    vectors: Mapping[bytes, bytes],
    model: Model,
    now: datetime,
) -> None:
    fence(db, held)
    db.rows("texts_used", key=ADVISORY)
    not_done = {
        row[0] for row in db.rows("handoffs_not_done", ids=[item.staged.handoff_id for item in ingested])
    }
    ingested = [item for item in ingested if item.staged.handoff_id in not_done]
    ids = passage_ids(db, passages)
    store_vectors(db, vectors, ids, model)
    _store_sections(db, ingested, ids)
    # The last one of a reference, should a batch hold two: the others were never seen by anybody.
    newest = {item.staged.reference_id: item.staged.handoff_id for item in ingested}
    db.write("documents_supersede", source=run.source_id, generation=run.generation, refs=list(newest))
    db.write("documents_insert", handoffs=list(newest.values()), generation=run.generation, now=now)
    db.write(
        "handoffs_complete",
        ids=[item.staged.handoff_id for item in ingested],
        reasons=[item.reason for item in ingested],
        now=now,
    )


def _store_sections(db: Transaction, ingested: Sequence[Ingested], passages: Mapping[bytes, int]) -> None:
    trees = {item.staged.content_id: item.sections for item in ingested if item.sections}
    missing = [row[0] for row in db.rows("contents_to_section", ids=list(trees))]
    if not missing:
        return
    db.copy(
        "sections_insert",
        (
            (
                content_id,
                section.position,
                section.level,
                section.parent,
                section.heading,
                section.anchor,
                section.start,
                section.end,
                passages[section.passage_hash],
            )
            for content_id in missing
            for section in trees[content_id]
        ),
    )
    db.write("contents_sectioned", ids=missing)


def retire(db: Transaction, held: Lease, run: Run, reference_ids: Sequence[int]) -> None:
    fence(db, held)
    values = {"source": run.source_id, "generation": run.generation, "refs": list(reference_ids)}
    db.write("documents_unborn", **values)
    db.write("documents_retire", **values)


def refresh(db: Transaction, held: Lease, source_id: int, refreshed: Sequence[Refreshed]) -> None:
    fence(db, held)
    ids = reference_ids(db, source_id, [url for one in refreshed for url in one.links or ()])
    db.write_many(
        "document_refresh",
        [
            {
                "document": one.document_id,
                "etag": one.validators.etag,
                "last_modified": one.validators.last_modified,
                "body_hash": one.body_hash,
                "links": None if one.links is None else links_out(ids[url] for url in one.links),
            }
            for one in refreshed
        ],
    )


def _known(row: Row) -> Known:
    return Known(
        row[0], row[1], row[2], row[3], row[4], row[5], Validators(row[6], row[7]), row[8], links_in(row[9])
    )
