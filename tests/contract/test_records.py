"""What the store promises about records: items as their sources sent them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rowen.core import hashing
from rowen.core.document import Draft
from rowen.core.source import Source
from rowen.ports.store.store import Store
from tests.contract.helpers import LATER, NOW, a_draft, a_run, a_source, an_end, ingest

pytestmark = pytest.mark.anyio


async def test_documents_are_told_by_the_hash_of_the_record_they_were_made_from(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    drafts = [
        replace(a_draft("rain", "Rain"), record=b'{"id": 1}'),
        replace(a_draft("snow", "Snow"), record=b'{"id": 1}'),
        a_draft("page", "A page"),
    ]
    await ingest(store, lease, run, await store.stage(lease, run, drafts, now=NOW))
    await store.finish_run(lease, run, an_end(run), now=LATER)
    ids = {name: known.document_id for name, known in (await store.known(source.id)).items()}
    digest = hashing.of_bytes(b'{"id": 1}')
    assert await store.record_hashes(list(ids.values())) == {ids["rain"]: digest, ids["snow"]: digest}
    assert await store.record_hashes([]) == {}


A, B = "https://docs.example/a", "https://docs.example/b"


async def shown(store: Store, source: Source, *drafts: Draft) -> None:
    lease, run = await a_run(store, source)
    await ingest(store, lease, run, await store.stage(lease, run, drafts, now=NOW))
    await store.finish_run(lease, run, an_end(run), now=LATER)
    await store.release_lease(lease)


async def record(store: Store, source: Source, reference: str) -> bytes | None:
    (document,) = await store.documents(source.id, references=[reference])
    return await store.record(document.id)


async def test_a_document_has_the_record_it_was_made_from(store: Store) -> None:
    source, other = await a_source(store), await a_source(store, "other")
    long = b'{"notes": "' + b"rain " * 50_000 + b'"}'
    await shown(store, source, replace(a_draft(A, "a"), record=long), a_draft(B, "b"))
    await shown(store, other, replace(a_draft(A, "a"), record=long))
    assert await record(store, source, A) == await record(store, other, A) == long
    assert await record(store, source, B) is None
    assert await store.record(10**9) is None


async def test_a_new_version_has_its_own_record_and_the_old_one_goes_with_its_history(store: Store) -> None:
    source = await a_source(store)
    for number in range(3):
        draft = replace(a_draft(A, "a"), metadata={"number": number}, record=b'{"number": %d}' % number)
        await shown(store, source, draft)
    assert await record(store, source, A) == b'{"number": 2}'
    await store.activate(source.id, 2, now=LATER)
    assert await record(store, source, A) == b'{"number": 1}'
    await store.activate(source.id, 3, now=LATER)
    await store.vacuum({source.id: 3}, handoffs_before=LATER, everything=False)
    assert await record(store, source, A) == b'{"number": 2}'
    await store.remove_source(source.id, now=LATER)
    await store.vacuum({}, everything=True)


async def test_a_version_that_comes_again_has_the_newest_record(store: Store) -> None:
    source = await a_source(store)
    await shown(store, source, replace(a_draft(A, "a"), record=b'{"seen": 1}'))
    await shown(store, source, replace(a_draft(A, "b"), record=b'{"seen": 2}'))
    await shown(store, source, replace(a_draft(A, "a"), record=b'{"seen": 3}'))
    assert await record(store, source, A) == b'{"seen": 3}'
