"""How long the body of a version was: told to the next run, kept by handoffs, refreshed in place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rowen.core.document import Validators
from rowen.ports.store.documents import Refreshed
from rowen.ports.store.store import Store
from tests.contract.helpers import NOW, a_draft, a_run, a_source, an_end, ingest

pytestmark = pytest.mark.anyio

A, B = "https://docs.example/a", "https://docs.example/b"


async def test_the_length_of_a_body_goes_with_its_version(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    drafts = [replace(a_draft(A, "Oats."), body_bytes=5_000_000_000), a_draft(B, "Rye.")]
    staged = await store.stage(lease, run, drafts, now=NOW)
    assert [one.draft.body_bytes for one in staged] == [5_000_000_000, 0]
    left = await store.leftovers(source.id)
    assert (left[A].body_bytes, left[B].body_bytes) == (5_000_000_000, 0)
    await ingest(store, lease, run, staged)
    living = await store.living(source.id, limit=10)
    assert {one.draft.reference: one.draft.body_bytes for one in living} == {A: 5_000_000_000, B: 0}
    await store.finish_run(lease, run, an_end(run, documents=2), now=NOW)
    known = await store.known(source.id)
    assert (known[A].body_bytes, known[B].body_bytes) == (5_000_000_000, 0)
    assert (await store.known(source.id, [A]))[A].body_bytes == 5_000_000_000


async def test_another_body_with_the_same_text_has_a_length_of_its_own(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    staged = await store.stage(lease, run, [replace(a_draft(A, "Oats."), body_bytes=70)], now=NOW)
    await ingest(store, lease, run, staged)
    await store.finish_run(lease, run, an_end(run, documents=1), now=NOW)
    known = (await store.known(source.id))[A]
    again = Refreshed(
        document_id=known.document_id, validators=Validators('"2"'), body_hash=b"2" * 32, body_bytes=90
    )
    await store.refresh(lease, source.id, [again])
    assert (await store.known(source.id))[A].body_bytes == 90
