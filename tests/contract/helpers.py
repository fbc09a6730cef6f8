"""Short ways to say what a contract test needs to have happened."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from rowen.core import hashing
from rowen.core.document import Draft, Outcome, Validators
from rowen.core.handoff import INGESTED
from rowen.core.lease import Lease
from rowen.core.run import Counters, Run, RunItem, RunStatus
from rowen.core.source import NewSource, Source, Status
from rowen.core.split import passages, split
from rowen.ports.embedder import Model
from rowen.ports.store.handoffs import Ingested, Staged
from rowen.ports.store.runs import RunEnd
from rowen.ports.store.store import Store
from tests.support.begun import begun

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)
MODEL = Model(name="test", digest="d", dimensions=4, alpha=0.5)


async def a_source(
    store: Store, name: str = "docs", version: str = "", *, kind: str = "web", now: datetime = NOW
) -> Source:
    new = NewSource(
        kind=kind,
        name=name,
        version=version,
        location=f"https://{name}.example/",
        key=f"{kind}:{name}:{version}",
    )
    return await store.add_source(new, now=now)


async def a_lease(store: Store, source: Source, owner: str = "me") -> Lease:
    lease = await store.acquire_lease(f"source:{source.id}", owner, now=NOW, ttl_s=60)
    assert lease is not None
    return lease


async def a_run(store: Store, source: Source) -> tuple[Lease, Run]:
    lease = await a_lease(store, source)
    return lease, await begun(store, lease, source.id, full=False, now=NOW)


def a_draft(reference: str, text: str, *, links: Sequence[str] = (), etag: str | None = '"1"') -> Draft:
    return Draft(
        reference=reference,
        url=reference,
        title=reference.rsplit("/", 1)[-1],
        text=text,
        content_hash=hashing.of_text(text),
        body_hash=hashing.of_text("<html>" + text),
        validators=Validators(etag, None),
        content_type="text/html",
        depth=1,
        links=tuple(links),
        metadata={},
    )


async def ingest(store: Store, lease: Lease, run: Run, staged: Sequence[Staged]) -> None:
    await store.start_handoffs(lease, [one.handoff_id for one in staged], now=NOW)
    trees = {one.content_id: split(one.draft.text) for one in staged if not one.sectioned}
    found = {}
    for tree in trees.values():
        found |= passages(tree)
    vectors = {digest: bytes([len(passage.text) % 100, 1, 2, 3]) for digest, passage in found.items()}
    items = [Ingested(staged=one, sections=trees.get(one.content_id, ()), ending=INGESTED) for one in staged]
    await store.ingest(lease, run, items, list(found.values()), vectors, MODEL, now=NOW)


def an_end(run: Run, *, activate: bool = True, documents: int = 0, items: Sequence[RunItem] = ()) -> RunEnd:
    return RunEnd(
        status=RunStatus.COMPLETED,
        mode=run.mode,
        stop_reason="exhausted",
        counters=Counters(),
        error=None,
        items=items,
        activate=run.generation if activate else None,
        documents=documents,
        source_status=Status.SUCCESS,
        watermark=run.started_at,
    )


async def a_generation(
    store: Store, source: Source, pages: dict[str, str], *, gone: Sequence[str] = (), at: datetime = LATER
) -> Run:
    """One whole run: these pages stored, those gone, the generation shown."""
    lease, run = await a_run(store, source)
    drafts = [a_draft(reference, text) for reference, text in pages.items()]
    if drafts:
        await ingest(store, lease, run, await store.stage(lease, run, drafts, now=NOW))
    known = await store.known(source.id)
    if gone:
        await store.retire(lease, run, [known[reference].reference_id for reference in gone])
    items = [
        RunItem(page, Outcome.UPDATED if page in known else Outcome.CREATED, "content") for page in pages
    ]
    items += [RunItem(reference, Outcome.DELETED, "absent") for reference in gone]
    documents = len((known.keys() | pages.keys()) - set(gone))
    await store.index_ahead(run, run.generation)
    await store.finish_run(lease, run, an_end(run, items=items, documents=documents), now=at)
    await store.release_lease(lease)
    return run


async def visible(store: Store, source: Source) -> dict[str, bytes]:
    return {reference: page.content_hash for reference, page in (await store.known(source.id)).items()}


async def reload(store: Store, source: Source) -> Source:
    return next(one for one in await store.sources() if one.id == source.id)
