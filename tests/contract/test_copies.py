"""What the store promises about datasets that are on several portals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rowen.core.document import Draft
from rowen.core.search.copies import MOST_HOLDERS, Dataset, Sign
from rowen.core.source import Source
from rowen.ports.store.store import Store
from tests.contract.helpers import LATER, NOW, a_draft, a_run, a_source, an_end, ingest

pytestmark = pytest.mark.anyio

KEYS = tuple(number * 8 + Sign.PAGE for number in range(-3, 60))
FILES = tuple(number * 8 + Sign.FILE for number in range(20))


def a_dataset(name: str, *keys: int, text: str = "") -> Draft:
    record = f'{{"id": "{name}", "says": "{text}"}}'.encode()
    return replace(a_draft(f"https://data.example/{name}", f"{name} {text}"), record=record, keys=keys)


async def shown(store: Store, source: Source, *drafts: Draft, gone: str = "") -> None:
    lease, run = await a_run(store, source)
    await ingest(store, lease, run, await store.stage(lease, run, drafts, now=NOW))
    if gone:
        known = (await store.known(source.id))[f"https://data.example/{gone}"]
        await store.retire(lease, run, [known.reference_id])
    await store.finish_run(lease, run, an_end(run), now=LATER)
    await store.release_lease(lease)


async def alike(store: Store, source: Source, name: str) -> dict[str, Dataset]:
    known = (await store.known(source.id))[f"https://data.example/{name}"]
    found = await store.datasets_alike([known.document_id])
    return {f"{one.source}/{one.url.rpartition('/')[2]}": one for one in found}


async def test_visible_datasets_that_share_a_key_are_found_with_what_they_share(store: Store) -> None:
    one, other = await a_source(store, "one"), await a_source(store, "other")
    await shown(store, one, a_dataset("a", KEYS[0], FILES[0]), a_dataset("x", KEYS[5]), a_draft("p", "p"))
    await shown(store, other, a_dataset("b", KEYS[0], KEYS[1], FILES[1]), a_dataset("y", KEYS[6]))
    found = await alike(store, one, "a")
    assert set(found) == {"one/a", "other/b"}
    assert found["one/a"].keys == {KEYS[0], FILES[0]}
    assert (found["other/b"].keys, found["other/b"].files, found["other/b"].source_id) == (
        {KEYS[0]},
        1,
        other.id,
    )
    assert await alike(store, one, "x") == {}
    assert await store.datasets_alike([]) == []


async def test_what_readers_do_not_see_is_not_found(store: Store) -> None:
    one, other = await a_source(store, "one"), await a_source(store, "other")
    await shown(store, one, a_dataset("a", KEYS[0]))
    lease, run = await a_run(store, other)
    await ingest(store, lease, run, await store.stage(lease, run, [a_dataset("b", KEYS[0])], now=NOW))
    assert await alike(store, one, "a") == {}
    await store.finish_run(lease, run, an_end(run), now=LATER)
    await store.release_lease(lease)
    assert set(await alike(store, one, "a")) == {"one/a", "other/b"}
    # A version that no longer says it, a copy that went, and a source that is removed.
    await shown(store, other, a_dataset("b", KEYS[1], text="new"))
    assert await alike(store, one, "a") == {}
    await shown(store, other, a_dataset("c", KEYS[0]))
    assert set(await alike(store, one, "a")) == {"one/a", "other/c"}
    await shown(store, other, a_dataset("d", KEYS[2]), gone="c")
    assert await alike(store, one, "a") == {}
    await shown(store, other, a_dataset("e", KEYS[0]))
    assert set(await alike(store, one, "a")) == {"one/a", "other/e"}
    await store.remove_source(other.id, now=LATER)
    assert await alike(store, one, "a") == {}


async def test_an_earlier_time_has_the_copies_it_had(store: Store) -> None:
    one, other = await a_source(store, "one"), await a_source(store, "other")
    await shown(store, one, a_dataset("a", KEYS[0]))
    await shown(store, other, a_dataset("b", KEYS[0]))
    document = (await store.known(one.id))["https://data.example/a"].document_id
    await shown(store, other, a_dataset("b", KEYS[1], text="new"))
    assert await store.datasets_alike([document]) == []
    then = await store.datasets_alike([document], shown={one.id: 1, other.id: 1})
    assert {found.source for found in then} == {"one", "other"}


async def test_a_key_that_too_many_have_is_not_followed(store: Store) -> None:
    one, other = await a_source(store, "one"), await a_source(store, "other")
    await shown(store, one, a_dataset("a", KEYS[0], FILES[0], FILES[1]))
    crowd = [a_dataset(f"b{number}", KEYS[number + 1], FILES[0]) for number in range(MOST_HOLDERS)]
    await shown(store, other, *crowd, a_dataset("c", KEYS[0], FILES[0]))
    found = await alike(store, one, "a")
    assert set(found) == {"one/a", "other/c"}
    assert all(FILES[0] not in dataset.keys for dataset in found.values())
    # It is no file of theirs either.
    assert (found["one/a"].files, found["other/c"].files) == (1, 0)


async def test_the_same_record_in_two_sources_is_two_datasets_with_its_keys(store: Store) -> None:
    one, other = await a_source(store, "one"), await a_source(store, "other")
    for source in (one, other):
        await shown(store, source, a_dataset("a", KEYS[0], KEYS[1]))
    found = await alike(store, one, "a")
    assert {name: set(dataset.keys) for name, dataset in found.items()} == {
        "one/a": {KEYS[0], KEYS[1]},
        "other/a": {KEYS[0], KEYS[1]},
    }
