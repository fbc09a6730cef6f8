"""What the store keeps of how fast pages change: a row for a page that changed, none for the others."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from rowen.core.document import Outcome
from rowen.core.freshness.evidence import Evidence
from rowen.core.freshness.source_rates import learnt
from rowen.core.run import RunItem
from rowen.core.source import Source
from rowen.core.web.verified import Looked, LookedAtSome
from rowen.ports.store.store import Store
from tests.contract.helpers import NOW, a_draft, a_generation, a_lease, a_source, an_end, ingest
from tests.contract.test_verified import a_look
from tests.support.begun import begun

pytestmark = pytest.mark.anyio

A, B = "https://docs.example/guide/a", "https://docs.example/guide/b"
DAY = timedelta(days=1)
DAY_S = 86_400.0


async def pages(store: Store, source: Source) -> dict[str, Evidence]:
    found = await store.checked_pages(source.id, most=100)
    return {reference.rpartition("/")[2]: evidence for reference, evidence in found}


async def a_change(
    store: Store,
    source: Source,
    texts: dict[str, str],
    *,
    days: float,
    reason: str = "content_changed",
    hold: bool = False,
) -> int:
    """A run on that day that finds new versions of these pages; the generation it makes."""
    lease = await a_lease(store, source)
    run = await begun(store, lease, source.id, full=False, now=NOW + days * DAY)
    drafts = [a_draft(reference, text) for reference, text in texts.items()]
    await ingest(store, lease, run, await store.stage(lease, run, drafts, now=NOW))
    items = [RunItem(reference, Outcome.UPDATED, reason) for reference in texts]
    end = replace(an_end(run, items=items, documents=2, activate=not hold), looked=Looked(by="not_modified"))
    if hold:
        end = replace(end, hold=run.generation, hold_reason="too much", looked=None)
    await store.finish_run(lease, run, end, now=NOW + days * DAY)
    await store.release_lease(lease)
    return run.generation


async def test_a_page_that_never_changed_is_known_for_as_long_as_it_stood(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "one", B: "b"})
    assert await store.checked_pages(source.id, most=100) == [], "nothing was checked yet"
    await a_look(store, source, Looked(by="not_modified", failed=[B]), days=2)
    found = await pages(store, source)
    assert found["a"].changes == 0.0
    assert found["a"].unchanged_s == pytest.approx(2 * DAY_S, rel=0.02)
    assert found["b"] == Evidence(), "a page that failed was not seen unchanged"


async def test_a_change_is_counted_with_the_interval_since_the_page_was_last_verified(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "one", B: "b"})
    await a_look(store, source, Looked(by="not_modified"), days=2)
    await a_change(store, source, {A: "two"}, days=5)
    found = await pages(store, source)
    assert found["a"].changes == pytest.approx(1.0, rel=0.1)
    assert found["a"].changed_s / found["a"].changes == pytest.approx(3 * DAY_S)
    assert found["b"].changes == 0.0
    assert found["b"].unchanged_s == pytest.approx(5 * DAY_S, rel=0.05)


async def test_a_new_version_that_only_we_made_is_no_change_of_the_page(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "one", B: "b"})
    await a_look(store, source, Looked(by="not_modified"), days=2)
    await a_change(store, source, {A: "two"}, days=5, reason="boilerplate")
    assert (await pages(store, source))["a"].changes == 0.0


async def test_what_a_held_run_found_counts_when_it_is_approved(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "one", B: "b"})
    await a_look(store, source, Looked(by="not_modified"), days=1)
    held = await a_change(store, source, {A: "two"}, days=3, hold=True)
    assert (await pages(store, source))["a"].changes == 0.0
    await store.activate(source.id, held, now=NOW + 4 * DAY)
    assert (await pages(store, source))["a"].changes == pytest.approx(1.0, rel=0.1)


async def test_a_large_source_is_sampled(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {f"https://docs.example/{n}": str(n) for n in range(20)})
    await a_look(store, source, Looked(by="not_modified"), days=1)
    assert 4 <= len(await store.checked_pages(source.id, most=5)) <= 5
    assert len(await store.checked_pages(source.id, most=20)) == 20


async def test_rates_that_were_learnt_are_those_of_documents(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "one", B: "b"})
    await a_look(store, source, Looked(by="not_modified"), days=1)
    ids = {one.reference: one.id for one in await store.documents(source.id)}
    assert await store.rates_learnt_at(source.id) is None
    assert {one.rate for one in (await store.proofs(list(ids.values()))).values()} == {None}
    await a_change(store, source, {A: "two"}, days=2)
    ids = {one.reference: one.id for one in await store.documents(source.id)}
    rates = learnt(await store.checked_pages(source.id, most=100))
    without = await a_look(store, source, Looked(by="not_modified"), days=3)
    assert await a_look(store, source, Looked(by="not_modified"), days=4, rates=rates) == without
    assert await store.rates_learnt_at(source.id) == NOW + 4 * DAY
    await a_look(store, source, Looked(by="not_modified"), days=5)
    assert await store.rates_learnt_at(source.id) == NOW + 4 * DAY, "kept until they are learnt again"
    found = {name: proof.rate or 0.0 for name, proof in (await store.proofs(list(ids.values()))).items()}
    assert found[ids[A]] > found[ids[B]] > 0.0
    assert await store.proofs([]) == {}


async def test_the_history_of_a_page_goes_with_its_last_version(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "one", B: "b"})
    await a_look(store, source, Looked(by="not_modified"), days=1)
    await a_change(store, source, {A: "two"}, days=2)
    last = await a_generation(store, source, {}, gone=[A])
    await store.vacuum({source.id: last.generation}, everything=True)
    again = await a_generation(store, source, {A: "three"})
    assert again.generation > last.generation
    assert (await pages(store, source))["a"].changes == 0.0


async def test_every_visible_page_can_be_scheduled_by_its_last_check(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "one", B: "b"})
    rates, found = await store.pages_to_schedule(source.id)
    assert rates is None
    assert {one.reference: one.verified_at for one in found} == {A: NOW, B: NOW}
    await a_look(store, source, LookedAtSome(unchanged={"not_modified": [A]}), days=2)
    _, found = await store.pages_to_schedule(source.id)
    assert {one.reference: one.verified_at for one in found} == {A: NOW + 2 * DAY, B: NOW}
    learnt_rates = learnt([(one.reference, one.evidence) for one in found])
    some = LookedAtSome(unchanged={"same_body": [B]}, changed=[A])
    await a_look(store, source, some, days=3, rates=learnt_rates)
    rates, found = await store.pages_to_schedule(source.id)
    assert rates is not None
    assert rates.priors.keys() == learnt_rates.priors.keys()
    assert {one.reference: one.verified_at for one in found} == {A: NOW, B: NOW + 3 * DAY}
    (a, b) = sorted(await store.documents(source.id), key=lambda one: one.reference)
    assert (a.verified_by, b.verified_by) == ("fetched", "same_body")


async def test_what_readers_were_shown_is_one_row_a_source(store: Store) -> None:
    source, other = await a_source(store), await a_source(store, "other")
    await a_generation(store, source, {A: "one", B: "b"})
    await a_generation(store, other, {A: "one"})
    ids = {one.reference: one.id for one in await store.documents(source.id)}
    (elsewhere,) = await store.documents(other.id)
    assert await store.shown(source.id) == {}
    before = store.rows_written()
    await store.add_shown({ids[A]: 8, ids[B]: 2, elsewhere.id: 1, 10**6: 5}, now=NOW)
    assert store.rows_written() - before == 2
    assert await store.shown(source.id) == {A: 8.0, B: 2.0}
    await store.add_shown({ids[A]: 1}, now=NOW + 90 * DAY)
    assert await store.shown(source.id) == {A: 5.0, B: 1.0}, "older counts fade"
    assert await store.shown(other.id) == {A: 1.0}
