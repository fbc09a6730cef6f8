"""Plan, then exactly that: on every kind of source, line by line, and without fetching twice."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from rowen.core.document import Outcome
from rowen.core.run import Event
from rowen.errors import Conflict, UserError
from rowen.managing import edit, plans
from rowen.managing.plans import SIGNS, PlanApplied, PlannedSync
from tests.support.planned import CASES, Case

pytestmark = pytest.mark.anyio

Lines = dict[str, str]


@pytest.fixture(params=sorted(CASES))
async def case(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Case]:
    async with CASES[request.param](tmp_path) as opened:
        yield opened


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Case]:
    async with CASES["web"](tmp_path) as opened:
        await opened.world.sync()
        yield opened


async def planned(case: Case, *, full: bool = False) -> PlannedSync:
    case.world.site.clear_log()
    return await plans.make(case.world.ports, await case.source(), full=full)


async def applied(case: Case, plan: PlannedSync, *, anyway: bool = False) -> tuple[PlanApplied, Lines]:
    """How it went, and what became of the items."""
    case.world.site.clear_log()
    told: dict[str, Lines] = {}

    def hear(event: Event) -> None:
        if event.kind == "started":
            told[str(event.run_id)] = {}
        elif event.reference is not None and event.outcome is not None:
            *_, lines = told.values()
            lines[event.reference] = SIGNS.get(event.outcome, "")

    done = await plans.apply(case.world.ports, await case.source(), plan, anyway=anyway, on_event=hear)
    happened: Lines = {}
    for lines in told.values():
        happened |= {reference: word for reference, word in lines.items() if word}
    return done, happened


def words(plan: PlannedSync) -> Lines:
    return {line.reference: SIGNS[line.outcome] for line in plan.lines}


async def what_readers_see(case: Case) -> object:
    source = await case.source()
    known = await case.world.store.known(source.id)
    return source.active_generation, {name: one.payload_hash for name, one in known.items()}


# the plan and the sync after it


async def test_the_plan_of_a_first_harvest_is_what_the_sync_does_to_the_item(case: Case) -> None:
    plan = await planned(case)
    assert plan.counts["new"] == len(plan.lines) > 3
    assert await what_readers_see(case) == (0, {})
    assert len(case.world.embedder.embedded) == 0
    done, happened = await applied(case, plan)
    assert done.receipt is not None and done.receipt.good
    assert happened == words(plan)
    assert done.receipt.counters.embeddings_computed == len(case.world.embedder.embedded) == plan.embeddings


async def test_the_plan_of_a_refresh_is_what_the_sync_does_to_the_item(case: Case) -> None:
    await case.world.sync(case.name)
    case.world.clock.advance(60)
    case.change(1)
    before, embedded = await what_readers_see(case), len(case.world.embedder.embedded)
    runs = len(await case.world.store.runs((await case.source()).id, limit=100))
    plan = await planned(case)
    assert plan.counts["changed"] >= 1
    assert not case.deletes or plan.counts["gone"] >= 1 or plan.counts["new"] == 0
    assert await what_readers_see(case) == before
    assert len(case.world.embedder.embedded) == embedded
    assert len(await case.world.store.runs((await case.source()).id, limit=100)) == runs
    done, happened = await applied(case, plan)
    assert done.broken == ()
    assert done.receipt is not None and done.receipt.good
    assert happened == words(plan)
    assert done.receipt.counters.embeddings_computed == plan.embeddings
    assert len(case.world.embedder.embedded) - embedded == plan.embeddings


async def test_a_source_that_changed_in_between_is_told_line_by_line_and_nothing_is_changed(
    case: Case,
) -> None:
    await case.world.sync(case.name)
    case.world.clock.advance(60)
    case.change(1)
    plan = await planned(case)
    before = await what_readers_see(case)
    case.change(2)
    done, happened = await applied(case, plan)
    assert done.receipt is None
    assert done.broken and happened == {}
    assert await what_readers_see(case) == before
    now = await planned(case)
    expected = {
        reference
        for reference in words(plan).keys() | words(now).keys()
        if _version(plan, reference) != _version(now, reference)
    }
    assert {one.reference for one in done.broken} == expected


def _version(plan: PlannedSync, reference: str) -> object:
    return next(((one.outcome, one.version) for one in plan.lines if one.reference == reference), None)


async def test_after_a_plan_a_plain_sync_does_the_same(case: Case) -> None:
    await case.world.sync(case.name)
    case.change(1)
    plan = await planned(case)
    await case.world.sync(case.name)
    items: Lines = {}
    for event in case.world.events:
        if event.reference is not None and event.outcome is not None:
            items[event.reference] = SIGNS.get(event.outcome, "")
    assert {reference: word for reference, word in items.items() if word} == words(plan)


async def test_a_source_without_news_has_a_plan_without_lines(case: Case) -> None:
    await case.world.sync(case.name)
    case.world.clock.advance(60)
    plan = await planned(case)
    assert plan.lines == ()
    assert plan.embeddings == 0
    done, happened = await applied(case, plan)
    assert done.receipt is not None and happened == {}


# what it costs


async def test_what_a_plan_fetched_is_not_fetched_again(site: Case) -> None:
    site.change(1)
    plan = await planned(site)
    assert plan.bytes_received > 0
    assert plan.requests == len(site.world.site.requests)
    done, _ = await applied(site, plan)
    assert done.receipt is not None
    answered = [one for one in site.world.site.requests if one.status == 200]
    assert answered == []
    assert (done.checked_bytes, done.receipt.counters.bytes_received) == (0, 0)
    # Each page is asked once whether it is still the same; the sync itself asks nothing.
    assert len(site.world.site.requests) == done.checked_requests == plan.requests


async def test_answers_are_kept_for_one_plan_of_a_source_and_for_a_day(site: Case) -> None:
    store, source = site.world.store, await site.source()
    site.change(1)
    await planned(site)
    first = await store.forget_answers(source_id=source.id, but="")
    assert first > 0
    plan = await planned(site)
    await planned(site)
    now = site.world.clock.now()
    assert await plans.forget(store, now=now) == 0
    assert await plans.forget(store, now=now + timedelta(days=1, seconds=1)) > 0
    # A plan whose answers are gone holds all the same: it costs its bodies again.
    done, happened = await applied(site, plan)
    assert done.receipt is not None and happened == words(plan)
    assert done.checked_bytes == plan.bytes_received


async def test_nothing_is_kept_after_a_plan_was_applied(site: Case) -> None:
    site.change(1)
    plan = await planned(site)
    await applied(site, plan)
    source = await site.source()
    assert await site.world.store.forget_answers(source_id=source.id) == 0


# which plan it is


async def test_a_plan_for_another_state_of_its_source_is_refused(site: Case) -> None:
    site.change(1)
    plan = await planned(site)
    await site.world.sync()
    with pytest.raises(Conflict, match="readers see generation 2; the plan was made for generation 1"):
        await applied(site, plan)
    plan = await planned(site)
    await edit.carry_out(
        site.world.ports,
        await edit.plan(site.world.ports, await site.source(), {"max_depth": "3"}),
    )
    with pytest.raises(Conflict, match="its settings were edited after the plan was made"):
        await applied(site, plan)


async def test_a_plan_of_another_source_is_refused(site: Case) -> None:
    plan = await planned(site)
    other = await site.world.add("other", "/p1.html")
    with pytest.raises(UserError, match="the plan is for source `docs`, not for `other`"):
        await plans.apply(site.world.ports, other, plan)


async def test_what_came_meanwhile_is_applied_when_it_is_asked_for(site: Case) -> None:
    site.change(1)
    plan = await planned(site)
    site.change(2)
    done, happened = await applied(site, plan, anyway=True)
    assert done.receipt is not None and done.broken
    now = await planned(site)
    assert now.lines == ()
    assert happened.keys() > {f"{site.world.site.url}/p2.html"}


async def test_a_plan_that_the_guard_would_hold_says_so(site: Case) -> None:
    site.world.site.set("/", "<title>Home</title><main><h1>Home</h1><p>Nothing else</p></main>")
    plan = await planned(site)
    assert plan.held is not None and "it would remove 11 of 12 documents" in plan.held
    done, happened = await applied(site, plan)
    assert done.receipt is not None and done.receipt.held_generation == 2
    assert happened == words(plan)


async def test_what_a_held_generation_shows_is_still_there_after_a_plan(site: Case) -> None:
    site.world.site.set("/", "<title>Home</title><main><h1>Home</h1><p>Nothing else</p></main>")
    await site.world.sync()
    assert (await site.source()).held_generation == 2
    site.change(1)
    plan = await planned(site)
    site.change(2)
    await applied(site, plan)
    assert (await site.source()).held_generation == 2


# the file


async def test_a_plan_goes_through_its_file_unchanged_and_without_secrets(site: Case) -> None:
    site.change(1)
    plan = await planned(site)
    assert plans.from_dict(plans.to_dict(plan), name="plan.json") == plan
    assert plans.to_dict(plan)["rowen_plan"] == 1


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ([], "is no plan of Rowen"),
        ({"rowen_plan": 2}, "is a plan of format 2; this version reads 1"),
        ({"rowen_plan": 1, "lines": [{"reference": "x"}]}, "is damaged"),
    ],
)
def test_a_file_that_is_no_plan_is_refused(found: object, words: str) -> None:
    with pytest.raises(UserError, match=words):
        plans.from_dict(found, name="plan.json")


def test_every_outcome_has_a_word_but_unchanged() -> None:
    assert set(Outcome) - set(SIGNS) == {Outcome.UNCHANGED}
