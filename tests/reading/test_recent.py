"""What changed lately, told from the change feed: each document once, in pieces, from a cursor or a date."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowen.core.feed import these
from rowen.errors import UserError
from rowen.managing.find import find
from rowen.reading.recent import CHANGES_TOLD, what_changed
from tests.support.site import Site, html
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio


async def told(world: World, since: str = "") -> list[tuple[str, str, tuple[str, ...]]]:
    changes = await what_changed(world.ports.store, since=since)
    return [(one.change, one.title or one.url, one.headings) for one in changes.items]


async def test_the_last_change_is_told_with_the_headings_it_touched(world: World) -> None:
    assert {change for change, _, _ in await told(world)} == {"added"}
    assert ("added", "A", ("A", "A › More")) in await told(world)
    world.clock.advance(86_400)
    world.site.set("/", html("Home", "Hello", links=["/a.html", "/c.html"]))
    world.site.set("/a.html", html("A", "First.", '<h2 id="more">More</h2>', "New words."))
    world.site.set("/c.html", html("C", "Third."))
    world.site.remove("/b.html")
    await world.sync()
    assert sorted(await told(world)) == [
        ("added", "C", ("C",)),
        ("changed", "A", ("A › More",)),
        ("removed", "B", ()),
    ]
    assert sorted(await told(world, "2024-01-02")) == sorted(await told(world))
    since_begun = {title: change for change, title, _ in await told(world, "2024-01-01")}
    assert since_begun == dict.fromkeys(("Home", "A", "C"), "added"), "B came and went since"
    assert await told(world, "2024-01-03T00:00:00+00:00") == []


async def test_a_cursor_goes_on_where_the_answer_before_ended(world: World) -> None:
    first = await what_changed(world.ports.store)
    again = await what_changed(world.ports.store, since=str(first.cursor))
    assert (again.items, again.more, again.cursor) == ((), False, first.cursor)
    world.site.set("/b.html", html("B", "Another."))
    await world.sync()
    later = await what_changed(world.ports.store, since=str(again.cursor))
    assert [one.title for one in later.items] == ["B"]


async def test_many_changes_are_told_in_pieces(world: World) -> None:
    paths = [f"/n{number}.html" for number in range(CHANGES_TOLD + 5)]
    world.site.set("/", html("Home", "Hello", links=["/a.html", "/b.html", *paths]))
    for path in paths:
        world.site.set(path, html(path, "Text"))
    await world.sync()
    first = await what_changed(world.ports.store)
    assert (len(first.items), first.more) == (CHANGES_TOLD, True)
    rest = await what_changed(world.ports.store, since=str(first.cursor))
    assert (len(rest.items), rest.more) == (5, False)


async def test_the_last_change_of_one_source_is_its_own(world: World) -> None:
    await world.add("other", "/b.html")
    world.clock.advance(3600)
    await world.sync("other")
    docs, other = await find(world.ports.store, "docs"), await find(world.ports.store, "other")
    assert len((await what_changed(world.ports.store, these([docs]))).items) == 3
    assert {one.source for one in (await what_changed(world.ports.store, these([other]))).items} == {"other"}
    assert {one.source for one in (await what_changed(world.ports.store)).items} == {"other"}


async def test_an_empty_store_has_no_changes(tmp_path: Path) -> None:
    with Site({}) as site:
        async with a_world(tmp_path, site) as world:
            changes = await what_changed(world.ports.store)
            assert (changes.items, str(changes.cursor)) == ((), "0.0")


@pytest.mark.parametrize("since", ["yesterday", "1.2.3", "99.0", ".", "2024-13-01"])
async def test_a_wrong_since_is_refused(world: World, since: str) -> None:
    with pytest.raises(UserError, match=r"^(cursor|since) `"):
        await what_changed(world.ports.store, since=since)
