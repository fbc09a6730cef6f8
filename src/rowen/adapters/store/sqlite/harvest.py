"""What a run reads and writes: known versions, listings, ingested documents, vectors.

Each function is one unit of work on an open transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import apsw

from rowen.adapters.store.sqlite.handoffs import settle
from rowen.adapters.store.sqlite.leases import fence
from rowen.adapters.store.sqlite.queries import sql
from rowen.adapters.store.sqlite.references import reference_ids
from rowen.adapters.store.sqlite.rows import (
    blobs_parameter,
    ids_parameter,
    json_in,
    json_out,
    links_in,
    links_out,
    texts_parameter,
    time_out,
)
from rowen.core.document import Known, Validators
from rowen.core.handoff import HandoffStatus
from rowen.core.lease import Lease
from rowen.core.run import Run
from rowen.core.search.query import indexable
from rowen.core.section import Passage
from rowen.ports.embedder import Model
from rowen.ports.store.documents import Listing, References, Refreshed
from rowen.ports.store.handoffs import Ingested
from rowen.ports.store.passages import EmbeddingGap, PassageState


def known(db: apsw.Connection, source_id: int, references: Sequence[str] | None = None) -> dict[str, Known]:
    if references is None:
        rows = db.execute(sql("known"), (source_id,))
    else:
        rows = db.execute(
            sql("known_among"), {"source": source_id, "references": texts_parameter(references)}
        )
    return {row[2]: _known(row) for row in rows}


def leftovers(
    db: apsw.Connection, source_id: int, references: Sequence[str] | None = None
) -> dict[str, Known]:
    if references is None:
        rows = db.execute(sql("leftovers"), {"source": source_id})
    else:
        rows = db.execute(
            sql("leftovers_among"), {"source": source_id, "references": texts_parameter(references)}
        )
    return {row[1]: _known((0, *row)) for row in rows}


def visible_references(db: apsw.Connection, source_id: int, after: str, limit: int) -> list[str]:
    rows = db.execute(sql("visible_references"), {"source": source_id, "after": after, "limit": limit})
    return [row[0] for row in rows]


def metadata(db: apsw.Connection, source_id: int) -> dict[str, dict[str, Any]]:
    return {row[0]: json_in(row[1]) for row in db.execute(sql("metadata_by_source"), (source_id,))}


def references(db: apsw.Connection, source_id: int) -> References:
    ids: dict[str, int] = {}
    names: dict[int, str] = {}
    aliases: list[tuple[str, int]] = []
    for ref_id, reference, alias_of in db.execute(sql("refs_by_source"), (source_id,)):
        ids[reference] = ref_id
        names[ref_id] = reference
        if alias_of is not None:
            aliases.append((reference, alias_of))
    return References(ids=ids, aliases={alias: names[of] for alias, of in aliases})


def save_aliases(db: apsw.Connection, held: Lease, source_id: int, aliases: Mapping[str, str | None]) -> None:
    fence(db, held)
    ids = reference_ids(db, source_id, [*aliases, *filter(None, aliases.values())])
    db.executemany(
        sql("ref_alias"), ((None if of is None else ids[of], ids[alias]) for alias, of in aliases.items())
    )


def listings(db: apsw.Connection, source_id: int) -> dict[str, Listing]:
    return {
        url: Listing(url=url, validators=Validators(etag, last_modified), payload=json_in(payload))
        for url, etag, last_modified, payload in db.execute(sql("listings_by_source"), (source_id,))
    }


def save_listing(db: apsw.Connection, held: Lease, source_id: int, listing: Listing) -> None:
    fence(db, held)
    validators = listing.validators
    db.execute(
        sql("listing_save"),
        (source_id, listing.url, validators.etag, validators.last_modified, json_out(listing.payload)),
    )


def passage_states(db: apsw.Connection, hashes: Sequence[bytes], model: Model) -> dict[bytes, PassageState]:
    model_id = find_model(db, model)
    rows = db.execute(sql("passage_states"), (model_id, blobs_parameter(hashes)))
    return {row[0]: PassageState(passage_id=row[1], embedded=bool(row[2])) for row in rows}


def ingest(
    db: apsw.Connection,
    held: Lease,
    run: Run,
    ingested: Sequence[Ingested],
    passages: Sequence[Passage],
    vectors: Mapping[bytes, bytes],
    model: Model,
    now: datetime,
) -> None:
    fence(db, held)
    passage_ids = {passage.hash: _passage_id(db, passage) for passage in passages}
    _save_vectors(db, vectors, passage_ids, model)
    for item in ingested:
        if db.execute(sql("handoff_is_done"), (item.staged.handoff_id,)).get:
            continue
        content_id = item.staged.content_id
        if item.sections and not db.execute(sql("content_find"), (item.staged.draft.content_hash,)).get[1]:
            db.executemany(
                sql("section_insert"),
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
                        passage_ids[section.passage_hash],
                    )
                    for section in item.sections
                ),
            )
            db.execute(sql("content_sectioned"), (content_id,))
        values = {"source": run.source_id, "ref": item.staged.reference_id, "generation": run.generation}
        db.execute(sql("document_supersede"), values)
        db.execute(
            sql("document_insert"),
            {"handoff": item.staged.handoff_id, "generation": run.generation, "now": time_out(now)},
        )
        settle(db, item.staged.handoff_id, HandoffStatus.COMPLETED, item.reason, None, now)


def retire(db: apsw.Connection, held: Lease, run: Run, reference_ids: Sequence[int]) -> None:
    fence(db, held)
    values = {"source": run.source_id, "generation": run.generation}
    db.execute(sql("documents_unborn"), {**values, "refs": ids_parameter(reference_ids)})
    db.execute(sql("documents_retire"), {**values, "refs": ids_parameter(reference_ids)})


def refresh(db: apsw.Connection, held: Lease, source_id: int, refreshed: Sequence[Refreshed]) -> None:
    fence(db, held)
    ids = reference_ids(db, source_id, [url for one in refreshed for url in one.links or ()])
    db.executemany(
        sql("document_refresh"),
        (
            {
                "document": one.document_id,
                "etag": one.validators.etag,
                "last_modified": one.validators.last_modified,
                "body_hash": one.body_hash,
                "links": None if one.links is None else links_out(ids[url] for url in one.links),
            }
            for one in refreshed
        ),
    )


def embedding_gap(db: apsw.Connection, model: Model, source_id: int | None) -> EmbeddingGap:
    values = {"model": find_model(db, model), "source": source_id}
    passages, missing, chars = db.execute(sql("embedding_gap"), values).get
    return EmbeddingGap(passages=passages, missing=missing, missing_chars=chars)


def unembedded(db: apsw.Connection, model: Model, limit: int) -> list[Passage]:
    rows = db.execute(sql("unembedded"), (find_model(db, model), limit))
    return [Passage(hash=row[0], heading_path=row[1], text=row[2]) for row in rows]


def save_passages(
    db: apsw.Connection, passages: Sequence[Passage], vectors: Mapping[bytes, bytes], model: Model
) -> None:
    _save_vectors(db, vectors, {passage.hash: _passage_id(db, passage) for passage in passages}, model)


def save_vectors(db: apsw.Connection, vectors: Mapping[bytes, bytes], model: Model) -> None:
    states = passage_states(db, list(vectors), model)
    _save_vectors(db, vectors, {digest: state.passage_id for digest, state in states.items()}, model)


def find_model(db: apsw.Connection, model: Model) -> int:
    """0 for a model that has no vectors here yet."""
    found = db.execute(sql("model_find"), (model.name, model.digest, model.dimensions)).get
    return int(found) if found is not None else 0


def _save_vectors(
    db: apsw.Connection, vectors: Mapping[bytes, bytes], passage_ids: Mapping[bytes, int], model: Model
) -> None:
    if not vectors:
        return
    model_id = find_model(db, model)
    if not model_id:
        model_id = db.execute(sql("model_insert"), (model.name, model.digest, model.dimensions)).get
    db.executemany(
        sql("vector_insert"),
        (
            (passage_ids[digest], model_id, vector)
            for digest, vector in vectors.items()
            if digest in passage_ids
        ),
    )


def _passage_id(db: apsw.Connection, passage: Passage) -> int:
    found = db.execute(sql("passage_find"), (passage.hash,)).get
    if found is not None:
        return int(found)
    passage_id = db.execute(sql("passage_insert"), (passage.hash, passage.heading_path, passage.text)).get
    db.execute(sql("fts_insert"), (passage_id, indexable(passage.heading_path), indexable(passage.text)))
    return int(passage_id)


def _known(row: tuple[Any, ...]) -> Known:
    return Known(
        row[0], row[1], row[2], row[3], row[4], row[5], Validators(row[6], row[7]), row[8], links_in(row[9])
    )
