"""What the store promises about metadata: that of what readers see."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rowen.ports.store.store import Store
from tests.contract.helpers import LATER, NOW, a_draft, a_run, a_source, an_end, ingest

pytestmark = pytest.mark.anyio

A = "https://docs.example/a"


async def test_metadata_is_that_of_the_visible_version(store: Store) -> None:
    source, other = await a_source(store), await a_source(store, "other")
    seen = []
    for note in ("first", "second"):
        lease, run = await a_run(store, source)
        draft = replace(a_draft(A, "the same text"), metadata={"note": note, "optional": True})
        await ingest(store, lease, run, await store.stage(lease, run, [draft], now=NOW))
        seen.append(await store.metadata(source.id))
        await store.finish_run(lease, run, an_end(run), now=LATER)
        await store.release_lease(lease)
    seen.append(await store.metadata(source.id))
    assert seen == [{}, {A: {"note": "first", "optional": True}}, {A: {"note": "second", "optional": True}}]
    assert await store.metadata(other.id) == {}
