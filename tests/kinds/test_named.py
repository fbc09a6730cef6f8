"""Some items of a source alone, asked for by themselves: what a search does before it answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from rowen.core.document import Outcome
from rowen.core.freshness.recheck import WITHIN_S
from rowen.core.run import Event
from rowen.core.search.hit import SearchMode
from rowen.core.source import Source
from rowen.doors import asking
from rowen.engine.kind import asks_named
from rowen.engine.receipt import Receipt
from rowen.engine.run import sync
from rowen.kinds.api.kind import KINDS
from rowen.managing import sources
from rowen.reading.history import rollback
from tests.support.board_server import ApiServer, an_item
from tests.support.planned import CASES
from tests.support.portals.every import FAMILIES
from tests.support.portals.skeleton import Family
from tests.support.portals.trying import a_source_of
from tests.support.unhurried import unhurried as unhurried
from tests.support.world import World, a_world

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("unhurried")]

HOUR_S = 3600.0
NOT_ASKED = {"rest", "rest_by_date"}
"""Paged lists whose items have no address."""


async def ask(world: World, source: Source, references: Sequence[str]) -> tuple[Receipt, dict[str, Outcome]]:
    """A run for exactly these references, and what it said of them."""
    said: dict[str, Outcome] = {}

    def on_event(event: Event) -> None:
        if event.reference is not None and event.outcome is not None:
            said[event.reference] = event.outcome

    world.site.clear_log()
    receipt = await sync(world.ports, source, only=references, within_s=WITHIN_S, on_event=on_event)
    return receipt, said


async def some(world: World, source: Source, number: int = 3) -> list[str]:
    return sorted(await world.store.known(source.id))[:number]


@pytest.mark.parametrize("kind", [name for name in CASES if name not in NOT_ASKED])
async def test_what_is_as_it_was_is_confirmed_and_nothing_else_is(tmp_path: Path, kind: str) -> None:
    async with CASES[kind](tmp_path) as case:
        world = case.world
        await world.sync()
        world.clock.advance(HOUR_S)
        source = await case.source()
        assert asks_named(world.ports.kinds.stored(source.kind), source)
        named = await some(world, source)
        receipt, said = await ask(world, source, named)
        assert said == dict.fromkeys(named, Outcome.UNCHANGED)
        assert receipt.good
        assert receipt.generation == source.active_generation
        assert len(world.site.requests) <= len(named) + 1, "one each, and robots.txt"
        began = (await world.store.runs(source.id, limit=1))[0].started_at
        documents = await world.store.documents(source.id)
        verified = {one.reference for one in documents if one.verified_at == began}
        assert verified == set(named)


@pytest.mark.parametrize("kind", ["git", "github", "ckan", "job_board"])
async def test_what_changed_and_what_went_is_taken_in_and_nothing_else_is(tmp_path: Path, kind: str) -> None:
    async with CASES[kind](tmp_path) as case:
        world = case.world
        await world.sync()
        world.clock.advance(HOUR_S)
        source, before = await case.source(), set(await world.store.known((await case.source()).id))
        case.change(1)
        receipt, said = await ask(world, source, sorted(before))
        assert receipt.counters.created == 0, "a new item is for a run that looks for it"
        assert (receipt.counters.updated, receipt.counters.deleted) == (1, 1)
        gone = [one for one, outcome in said.items() if outcome is Outcome.DELETED]
        assert set(await world.store.known(source.id)) == before - set(gone)
        # The next run finds what this one left, and nothing twice.
        world.clock.advance(HOUR_S)
        following = await world.sync()
        assert (following.counters.created, following.counters.updated) == (1, 0)


async def test_a_repository_is_asked_once_for_all_its_hits(tmp_path: Path) -> None:
    for kind in ("git", "github"):
        async with CASES[kind](tmp_path / kind) as case:
            await case.world.sync()
            source = await case.source()
            receipt, said = await ask(case.world, source, await some(case.world, source, 6))
            assert (len(said), receipt.counters.requests) == (6, 1)


async def test_a_repository_that_moved_on_is_asked_for_the_files_that_differ(tmp_path: Path) -> None:
    async with CASES["github"](tmp_path) as case:
        await case.world.sync()
        source = await case.source()
        case.change(1)
        receipt, said = await ask(case.world, source, ["n0.md", "n2.md"])
        assert set(said.values()) == {Outcome.UNCHANGED}
        assert receipt.counters.requests == 1, "the tree says that these two are as they were"
        receipt, said = await ask(case.world, source, ["n1.md", "n4.md"])
        assert said == {"n1.md": Outcome.UPDATED, "n4.md": Outcome.DELETED}


async def test_a_list_in_one_answer_is_asked_once_and_stays_to_be_read(tmp_path: Path) -> None:
    async with CASES["job_board"](tmp_path) as case:
        await case.world.sync()
        source = await case.source()
        named = await some(case.world, source)
        receipt, _ = await ask(case.world, source, named)
        assert receipt.counters.requests == 1
        case.change(1)
        await ask(case.world, source, named[-1:])
        assert (await case.world.sync()).counters.created == 1, "its validators are those of the run before"


async def test_after_a_rollback_what_readers_see_is_compared(tmp_path: Path) -> None:
    for kind in ("git", "ckan", "job_board"):
        async with CASES[kind](tmp_path / kind) as case:
            world = case.world
            await world.sync()
            case.change(1)
            world.clock.advance(HOUR_S)
            await world.sync()
            await rollback(world.ports, await case.source())
            world.clock.advance(HOUR_S)
            source = await case.source()
            every = sorted(await world.store.known(source.id))
            receipt, _ = await ask(world, source, every)
            assert receipt.counters.updated == 1, kind


@pytest.mark.parametrize("family", FAMILIES, ids=lambda one: one.__name__)
async def test_a_dataset_of_each_family_that_has_an_address_is_asked_by_it(
    tmp_path: Path, family: type[Family]
) -> None:
    portal = family(8)
    catalogue = KINDS[portal.kind].preset.catalogue
    async with a_source_of(portal, tmp_path) as world:
        await world.sync("data")
        source = await world.source("data")
        world.clock.advance(HOUR_S)
        can = asks_named(world.ports.kinds.stored(source.kind), source)
        if catalogue is None or not catalogue.check:
            assert not can or source.metadata.get("validators")
            return
        assert can
        named = await some(world, source, 2)
        receipt, said = await ask(world, source, named)
        assert said == dict.fromkeys(named, Outcome.UNCHANGED)
        assert receipt.counters.requests == len(named)
        assert receipt.generation == source.active_generation
        record = portal.records[next(one for one in portal.records if one in named[0])]
        record.title, record.text = "Altered", "Another text."
        receipt, said = await ask(world, source, named)
        assert said == {named[0]: Outcome.UPDATED, named[1]: Outcome.UNCHANGED}


async def test_an_item_with_a_detail_is_compared_by_it(tmp_path: Path) -> None:
    with ApiServer([an_item(number) for number in range(6)]) as api:
        async with a_world(tmp_path, api) as world:
            given = {"path": "/items", "items": "items", "detail": "/items/{id}", "text": "detail.body"}
            await sources.add(world.ports, api.url, name="docs", kind="rest", settings=given, check=False)
            await world.sync()
            source = await world.source()
            named = await some(world, source, 3)
            receipt, said = await ask(world, source, named)
            assert (set(said.values()), receipt.counters.requests) == ({Outcome.UNCHANGED}, 3)
            api.edit(int(named[0]), secret="another text")
            api.remove(int(named[1]))
            _, said = await ask(world, source, named)
            assert list(said.values()).count(Outcome.UNCHANGED) == 1
            assert (said[named[0]], said[named[1]]) == (Outcome.UPDATED, Outcome.DELETED)


async def test_a_paged_list_whose_items_have_no_address_is_not_asked(tmp_path: Path) -> None:
    async with CASES["rest"](tmp_path) as case:
        await case.world.sync()
        source = await case.source()
        assert not asks_named(case.world.ports.kinds.stored(source.kind), source)


async def test_a_search_with_fresh_asks_a_repository_and_a_portal_before_it_answers(tmp_path: Path) -> None:
    for kind, word in (("git", "Note"), ("ckan", "dataset")):
        async with CASES[kind](tmp_path / kind) as case:
            world = case.world
            await world.sync()
            world.clock.advance(HOUR_S)
            found = await asking.search(world.ports, word, fresh=0.99, mode=SearchMode.KEYWORD)
            assert found.rechecked is not None
            assert found.rechecked.confirmed == len(found.hits) > 0
            assert (found.rechecked.not_asked, found.rechecked.notes) == (0, ())
            began = world.clock.now()
            assert {hit.verified_at for hit in found.hits} == {began}
