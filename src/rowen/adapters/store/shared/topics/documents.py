"""What a run compares with: the visible versions of a source, its addresses and remembered listings.

And drafts on their way into tables. What a document is to be made of waits in a table of its own until the
document is there: in the row of its handoff it would stand in the store twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from rowen.adapters.store.shared.database import Topic, reads, writes
from rowen.adapters.store.shared.topics.leases import fence
from rowen.adapters.store.shared.topics.records import find_record
from rowen.adapters.store.shared.transaction import Lock, Packing, Row, Transaction
from rowen.adapters.store.shared.values import Json, json_in, links_in, links_out
from rowen.core.document import Draft, Known, Validators
from rowen.core.handoff import HandoffStatus, Reason, again
from rowen.core.lease import Lease
from rowen.core.run import Run
from rowen.core.search import symbols
from rowen.ports.store.documents import InventoryName, Linked, Listing, Living, References, Refreshed


class Documents(Topic):
    @reads
    def known(
        self, db: Transaction, source_id: int, references: Sequence[str] | None = None
    ) -> dict[str, Known]:
        if references is None:
            rows = db.each("known", source=source_id)
        else:
            rows = db.each("known_among", source=source_id, keys=_keys(db, references))
        return {row[2]: _known(row) for row in rows}

    @reads
    def leftovers(
        self, db: Transaction, source_id: int, references: Sequence[str] | None = None
    ) -> dict[str, Known]:
        if not db.value("handoffs_there"):
            return {}
        if references is None:
            rows = db.each("leftovers", source=source_id)
        else:
            rows = db.each("leftovers_among", source=source_id, keys=_keys(db, references))
        return {row[1]: _known((0, *row)) for row in rows}

    @reads
    def visible_references(self, db: Transaction, source_id: int, *, after: str, limit: int) -> list[str]:
        return [row[0] for row in db.rows("visible_references", source=source_id, after=after, limit=limit)]

    @reads
    def living(
        self,
        db: Transaction,
        source_id: int,
        *,
        after: int = 0,
        among: Sequence[int] | None = None,
        limit: int,
    ) -> list[Living]:
        if among is None:
            rows = db.rows("living_after", source=source_id, after=after, limit=limit)
        else:
            rows = db.rows("living_among", source=source_id, refs=list(among), limit=limit)
        links = [links_in(row[11]) for row in rows]
        urls: dict[int, str] = dict(db.rows("refs_by_id", ids=list({link for one in links for link in one})))
        return [_living(row, tuple(urls[link] for link in one)) for row, one in zip(rows, links, strict=True)]

    @reads
    def metadata(self, db: Transaction, source_id: int) -> dict[str, dict[str, Any]]:
        rows = db.each("metadata_by_source", source=source_id)
        return {reference: json_in(metadata) for reference, metadata in rows}

    @reads
    def record(self, db: Transaction, document_id: int) -> bytes | None:
        return find_record(db, document_id)

    @reads
    def record_hashes(self, db: Transaction, document_ids: Sequence[int]) -> dict[int, bytes]:
        return dict(db.rows("record_hashes", documents=list(document_ids))) if document_ids else {}

    @reads
    def references(self, db: Transaction, source_id: int) -> References:
        ids: dict[str, int] = {}
        names: dict[int, str] = {}
        aliases: list[tuple[str, int]] = []
        for ref_id, reference, alias_of in db.each("refs_by_source", source=source_id):
            ids[reference] = ref_id
            names[ref_id] = reference
            if alias_of is not None:
                aliases.append((reference, alias_of))
        return References(ids=ids, aliases={alias: names[of] for alias, of in aliases})

    @reads
    def aliases(self, db: Transaction, document_id: int) -> list[str]:
        return sorted(row[0] for row in db.rows("aliases_of", document=document_id))

    @reads
    def linked(self, db: Transaction, reference_ids: Sequence[int]) -> dict[int, Linked]:
        rows = db.rows("linked", refs=list(reference_ids)) if reference_ids else []
        return {row[0]: Linked(row[1], row[2], row[3] or "") for row in rows}

    @writes
    def save_aliases(
        self, db: Transaction, lease: Lease, source_id: int, aliases: Mapping[str, str | None]
    ) -> None:
        fence(db, lease)
        db.lock(Lock.TEXTS_USED)
        ids = reference_ids(db, source_id, [*aliases, *filter(None, aliases.values())])
        db.write_many(
            "ref_alias",
            [{"of": None if of is None else ids[of], "ref": ids[alias]} for alias, of in aliases.items()],
        )

    @reads
    def listings(self, db: Transaction, source_id: int) -> dict[str, Listing]:
        return {
            url: Listing(url=url, validators=Validators(etag, last_modified), payload=json_in(payload))
            for url, etag, last_modified, payload in db.rows("listings_by_source", source=source_id)
        }

    @writes
    def save_listing(self, db: Transaction, lease: Lease, source_id: int, listing: Listing) -> None:
        fence(db, lease)
        _save_listing(db, source_id, listing)

    @writes
    def save_inventory(
        self,
        db: Transaction,
        lease: Lease,
        source_id: int,
        listing: Listing,
        names: Sequence[InventoryName],
    ) -> None:
        fence(db, lease)
        _save_listing(db, source_id, listing)
        before = {InventoryName(*row[1:]): row[0] for row in db.rows("inventory_names", source=source_id)}
        stale = [before[one] for one in before.keys() - set(names)]
        if stale:
            db.write("inventory_forget", ids=stale)
        db.copy(
            "inventory_insert",
            (
                (source_id, db.key(one.page), symbols.words_of(one.name), *one)
                for one in dict.fromkeys(names)
                if one not in before
            ),
        )

    @writes
    def retire(self, db: Transaction, lease: Lease, run: Run, reference_ids: Sequence[int]) -> None:
        fence(db, lease)
        values = {"source": run.source_id, "generation": run.generation, "refs": list(reference_ids)}
        db.write("documents_unborn", **values)
        db.write("documents_retire", **values)

    @writes
    def refresh(self, db: Transaction, lease: Lease, source_id: int, refreshed: Sequence[Refreshed]) -> None:
        fence(db, lease)
        db.lock(Lock.TEXTS_USED)
        ids = reference_ids(db, source_id, [url for one in refreshed for url in one.links or ()])
        db.write_many(
            "document_refresh",
            [
                {
                    "document": one.document_id,
                    "etag": one.validators.etag,
                    "last_modified": one.validators.last_modified,
                    "body_hash": one.body_hash,
                    "body_bytes": one.body_bytes,
                    "links": None if one.links is None else links_out(ids[url] for url in one.links),
                }
                for one in refreshed
            ],
        )


def _save_listing(db: Transaction, source_id: int, listing: Listing) -> None:
    db.write(
        "listing_save",
        source=source_id,
        digest=db.key(listing.url),
        url=listing.url,
        etag=listing.validators.etag,
        last_modified=listing.validators.last_modified,
        payload=Json(listing.payload),
    )


def reference_ids(db: Transaction, source_id: int, urls: Iterable[str]) -> dict[str, int]:
    """Ids of all these addresses; the ones met for the first time get theirs now."""
    wanted = {db.key(url): url for url in urls}
    if not wanted:
        return {}
    ids: dict[Any, int] = dict(db.rows("refs_find", source=source_id, keys=list(wanted)))
    missing = db.in_order(key for key in wanted if key not in ids)
    if missing:
        db.copy("refs_insert", ((source_id, key, wanted[key]) for key in missing))
        ids |= dict(db.rows("refs_find", source=source_id, keys=missing))
    return {url: ids[key] for key, url in wanted.items()}


def _keys(db: Transaction, references: Iterable[str]) -> list[Any]:
    return [db.key(reference) for reference in references]


def _living(row: Row, links: tuple[str, ...]) -> Living:
    draft = Draft(
        reference=row[1],
        url=row[2],
        title=row[3],
        text=row[4],
        content_hash=row[5],
        body_hash=row[6],
        validators=Validators(row[7], row[8]),
        content_type=row[9],
        depth=row[10],
        links=links,
        metadata=json_in(row[12]),
        body_bytes=row[13],
    )
    return Living(row[0], draft)


def _known(row: Row) -> Known:
    validators, links = Validators(row[6], row[7]), links_in(row[9])
    return Known(row[0], row[1], row[2], row[3], row[4], row[5], validators, row[8], links, row[10])


# drafts on their way into tables

_DRAFT = (
    "url", "title", "metadata", "content_type", "etag", "last_modified", "body_hash", "body_bytes", "depth",
    "links",
)  # fmt: skip
"""What a document is made of."""
Key = tuple[int, bytes]
"""A reference and the hash of its payload: there is one handoff of them."""


def contents_of(
    db: Transaction,
    texts: Mapping[bytes, str],
    packing: Packing,
    records: Mapping[bytes, bytes] = MappingProxyType({}),
) -> dict[bytes, tuple[int, bool]]:
    """Ids of these texts, and whether their sections exist; the ones met for the first time are stored.

    `records` are new as well: what some of the texts were made from.
    """
    found = {row[0]: (row[1], bool(row[2])) for row in db.rows("contents_find", hashes=list(texts))}
    missing = db.in_order(digest for digest in texts if digest not in found)
    if missing:
        db.copy("contents_insert", ((one, packing.text(texts[one], records.get(one))) for one in missing))
        found |= {row[0]: (row[1], False) for row in db.rows("contents_find", hashes=missing)}
    return found


def queue(
    db: Transaction, wanted: Mapping[Key, dict[str, Any]], full: bool
) -> dict[Key, tuple[int, int, Reason | None]]:
    """Handoffs with these values, new or there before: their ids, attempts, and how suspects are retried."""
    rows = db.rows("handoffs_find", refs=[ref for ref, _ in wanted])
    earlier = {(row[0], row[1]): row[2:] for row in rows}
    fresh = [key for key in wanted if key not in earlier]
    found: dict[Key, tuple[int, int, Reason | None]] = {}
    reopened: list[dict[str, Any]] = []
    for key in (key for key in wanted if key in earlier):
        handoff_id, status, attempts, code = earlier[key]
        taken = again(HandoffStatus(status), code, attempts, full=full)
        found[key] = (handoff_id, taken.attempts, taken.suspect)
        values = {"handoff": handoff_id, "attempts": taken.attempts, "reason": taken.reason.value}
        reopened.append(wanted[key] | values)
    new = {"reason": Reason.QUEUED_FROM_SCRAPE.value}
    ids = db.insert_many("handoff_insert", [wanted[key] | new for key in fresh])
    made = zip(ids, fresh, strict=True)
    db.copy("drafts_insert", ((number, *(wanted[key][name] for name in _DRAFT)) for number, key in made))
    db.write_many("handoff_reopen", reopened)
    db.write_many("draft_save", reopened)
    return found | {key: (handoff_id, 0, None) for key, handoff_id in zip(fresh, ids, strict=True)}


def values_of(
    run: Run,
    key: Key,
    content_id: int,
    draft: Draft,
    ids: Mapping[str, int],
    packing: Packing,
    now: datetime,
) -> dict[str, Any]:
    return {
        "url": draft.url,
        "title": draft.title,
        "metadata": packing.metadata(draft.metadata),
        "content_type": draft.content_type,
        "body_hash": draft.body_hash,
        "body_bytes": draft.body_bytes,
        "depth": draft.depth,
        "source": run.source_id,
        "ref": key[0],
        "payload_hash": key[1],
        "content": content_id,
        "run": run.id,
        "generation": run.generation,
        "etag": draft.validators.etag,
        "last_modified": draft.validators.last_modified,
        "links": links_out(ids[url] for url in draft.links),
        "now": now,
    }
