"""A search that asks again for hits that may be outdated, before it answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rowen.core.freshness.recheck import WITHIN_S
from rowen.core.search.hit import Answer, SearchMode
from rowen.doors import asking
from rowen.engine.run import run_lease
from rowen.errors import UserError
from rowen.managing import pausing
from tests.support.fakes import FakeClock
from tests.support.site import Site, html
from tests.support.world import World, a_page, a_world

pytestmark = pytest.mark.anyio

DAY_S = 86_400
PAGES = 15


class Unhurried(FakeClock):
    """The time limit of a search is not reached; other waits are over at once."""

    async def sleep(self, seconds: float) -> None:
        if WITHIN_S - 1.0 < seconds <= WITHIN_S:
            await asyncio.Event().wait()
        await super().sleep(seconds)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A site whose pages all speak of rye; how fast they change is known."""
    pages = {f"/p{number}.html": a_page(f"/p{number}.html", "rye") for number in range(PAGES)}
    pages["/"] = html("Home", "Welcome.", links=list(pages))
    with Site(pages) as site:
        async with a_world(tmp_path, site, clock=Unhurried()) as made:
            await made.add()
            for _ in range(4):
                await made.sync()
                made.clock.advance(DAY_S)
            site.clear_log()
            yield made


async def fresh(world: World, query: str = "rye", wanted: float = 0.999, **options: object) -> Answer:
    world.site.clear_log()
    return await asking.search(world.ports, query, fresh=wanted, mode=SearchMode.KEYWORD, **options)  # type: ignore[arg-type]


def asked(world: World) -> list[str]:
    """The pages; what robots.txt says is looked at again once a day."""
    return [request.path for request in world.site.requests if request.path != "/robots.txt"]


async def test_hits_below_are_asked_for_and_verified_by_the_answer(world: World) -> None:
    before = await asking.search(world.ports, "rye", mode=SearchMode.KEYWORD)
    assert all(0.5 < (hit.p_fresh or 0.0) < 0.999 for hit in before.hits)
    answer = await fresh(world)
    assert answer.rechecked is not None
    done = answer.rechecked
    assert (done.asked, done.confirmed, done.changed, done.gone, done.not_asked) == (10, 10, 0, 0, 0)
    assert len(world.site.requests) <= 11
    assert len(asked(world)) == 10, "one conditional request for each hit, and no other"
    assert [hit.p_fresh for hit in answer.hits] == [1.0] * 10
    assert {hit.verified_by for hit in answer.hits} == {"not_modified"}
    again = await fresh(world)
    assert again.rechecked is not None
    assert (again.rechecked.asked, again.rechecked.sure) == (0, 10)
    assert asked(world) == []


async def test_pages_that_were_not_asked_for_are_not_declared_fresh(world: World) -> None:
    await fresh(world, limit=2)
    source = await world.source()
    fetched = {one.reference: one.verified_at for one in await world.store.documents(source.id)}
    assert sum(at == world.clock.now() for at in fetched.values()) == 2


async def test_no_hit_is_asked_for_when_all_are_likely_enough(world: World) -> None:
    answer = await fresh(world, wanted=0.2)
    assert answer.rechecked is not None
    assert answer.rechecked.says == "no hit asked for again: all 20 % likely current or more"
    assert asked(world) == []


async def test_what_changed_is_in_the_answer(world: World) -> None:
    generation = (await world.source()).active_generation
    world.site.set("/p3.html", a_page("/p3.html", "rye and spelt", links=["/", "/new.html"]))
    world.site.set("/new.html", a_page("/new.html", "rye"))
    changes: list[None] = []
    answer = await fresh(world, "rye p3", limit=10, on_change=lambda: changes.append(None))
    assert answer.rechecked is not None
    assert answer.rechecked.changed == 1
    assert answer.rechecked.says == "10 hits asked for again: 9 confirmed, 1 changed, 0 gone"
    assert "spelt" in answer.hits[0].snippet
    assert answer.hits[0].verified_by == "fetched"
    assert (await world.source()).active_generation == generation + 1
    assert "/new.html" not in asked(world), "where it leads to is for the next run"
    assert len(asked(world)) == 10
    assert len(changes) == 1


async def test_what_is_gone_is_not_in_the_answer(world: World) -> None:
    world.site.remove("/p3.html")
    answer = await fresh(world, "rye p3")
    assert answer.rechecked is not None
    assert answer.rechecked.gone == 1
    assert not any("/p3.html" in hit.url for hit in answer.hits)


async def test_an_error_takes_nothing_away_and_is_told(world: World) -> None:
    world.site.set("/p3.html", status=404)
    for number in range(PAGES):
        world.site.set(f"/p{number}.html", status=500)
    answer = await fresh(world)
    assert answer.rechecked is not None
    assert answer.rechecked.confirmed == answer.rechecked.gone == 0
    assert answer.rechecked.failed + answer.rechecked.not_asked == 10
    assert len(answer.hits) == 10, "what readers saw, they see"


async def test_many_deletions_are_held_by_the_usual_guard(tmp_path: Path) -> None:
    pages = {f"/p{number}.html": a_page(f"/p{number}.html", "rye") for number in range(24)}
    pages["/"] = html("Home", "Welcome.", links=list(pages))
    with Site(pages) as site:
        async with a_world(tmp_path, site, clock=Unhurried()) as world:
            await world.add(max_deleted_share=0.2)
            await world.sync()
            for number in range(24):
                site.remove(f"/p{number}.html")
            answer = await fresh(world)
            assert answer.rechecked is not None
            assert answer.rechecked.gone == 10
            assert any("not shown" in note for note in answer.rechecked.notes)
            assert len(answer.hits) == 10


async def test_sources_that_cannot_be_asked_now_are_told(world: World) -> None:
    source = await world.source()
    async with run_lease(world.ports, source):
        busy = (await fresh(world)).rechecked
    assert busy is not None
    assert (busy.asked, busy.not_asked) == (0, 10)
    assert "being synced" in busy.notes[0]
    await pausing.pause(world.store, world.clock, source, by="test")
    paused = (await fresh(world)).rechecked
    assert paused is not None
    assert paused.notes == ("docs: paused by a person",)
    assert paused.says == "0 hits asked for again: 0 confirmed, 0 changed, 0 gone, 10 could not be asked for"
    assert asked(world) == []


async def test_an_earlier_time_is_not_asked_for_again(world: World) -> None:
    with pytest.raises(UserError, match="an earlier time"):
        await fresh(world, as_of="1h")


async def test_a_run_for_hits_leaves_the_schedule_of_the_source_alone(world: World) -> None:
    before = await world.source()
    await fresh(world)
    after = await world.source()
    assert after.whole_run_at == before.whole_run_at
    assert after.left_out == before.left_out


async def test_no_source_gets_more_time_than_there_is(tmp_path: Path) -> None:
    pages = {"/": html("Home", "Welcome.", links=["/a.html"]), "/a.html": a_page("/a.html", "rye")}
    with Site(pages) as site:
        # Time passes as soon as something waits: every limit is reached at once.
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            done = (await fresh(world)).rechecked
            assert done is not None
            assert (done.asked, done.not_asked) == (0, 1)
            assert "stopped after 10s" in done.notes[0]
            assert await world.found("rye") == ["/a.html"]
