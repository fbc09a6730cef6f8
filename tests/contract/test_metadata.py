"""What the store promises about metadata: that of what readers see."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rowen.core.document import Outcome
from rowen.core.feed import START
from rowen.core.run import RunItem
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


async def test_what_differs_in_a_new_version_of_the_same_text_is_said_by_the_feed_and_the_difference(
    store: Store,
) -> None:
    source = await a_source(store)
    for number, outcome in enumerate((Outcome.CREATED, Outcome.METADATA_UPDATED), 1):
        lease, run = await a_run(store, source)
        metadata = {"tags": ["rain", "snow"][:number], "license": "cc-by"}
        draft = replace(a_draft(A, "the same text"), metadata=metadata)
        await ingest(store, lease, run, await store.stage(lease, run, [draft], now=NOW))
        items = [RunItem(A, outcome, "metadata_changed", "tags")]
        await store.finish_run(lease, run, an_end(run, items=items), now=LATER)
        await store.release_lease(lease)
    assert [(item.change, item.fields) for item in await store.feed(START)] == [
        ("added", ()),
        ("changed", ("tags",)),
    ]
    (change,) = await store.changes(source.id, 1, 2)
    assert (change.kind, change.fields, change.headings_added) == ("changed", ("tags",), ())
    await store.activate(source.id, 1, now=LATER)
    assert [item.change for item in await store.feed(START)] == ["added", "changed", "changed"]
