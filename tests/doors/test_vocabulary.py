"""One vocabulary in all doors: new, updated, removed, unchanged, failed, held. JSON keeps its own names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rowen.core.run import RunStatus
from rowen.doors.cli import receipt as cli
from rowen.doors.cli.commands.runs import _summary as summary
from rowen.doors.mcp import answers as mcp
from rowen.doors.shapes import runs as json
from rowen.doors.web import told
from rowen.doors.web import words as web
from tests.doors.web.test_figures import a_run
from tests.support.site import Site, html
from tests.support.world import World, a_page, a_site_of, a_world

pytestmark = pytest.mark.anyio

OTHER_WORDS = re.compile(r"\b(created|deleted|added|changed|modified|gone|errors?|skipped)\b", re.IGNORECASE)


async def test_what_became_of_items_is_said_in_the_same_words(tmp_path: Path) -> None:
    pages = {f"/{name}": a_page(f"/{name}", name) for name in ("a", "b", "c", "d")}
    with Site({"/": html("Home", "barley", links=list(pages)), **pages}) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            site.set("/b", a_page("/b", "rye", links=["/", "/e"]))
            site.set("/e", a_page("/e", "wheat"))
            site.remove("/c")
            site.set("/d", status=500)
            receipt = await world.sync()
            run = await world.store.run(receipt.run_id)
            assert run is not None
            source = await world.source()
    shown = json.Receipt.show(receipt)
    names = ("created", "updated", "deleted", "unchanged", "failed")
    assert [shown[name] for name in names] == [1, 1, 1, 2, 1]
    expected = ["1 new", "1 updated", "1 removed", "2 unchanged", "1 failed"]
    line = cli.outcomes(receipt.counters).plain
    assert line.split(" · ") == expected
    said = mcp.refreshed(source, receipt).text.partition("generation 2: ")[2].splitlines()[0]
    assert said.rstrip(".").split(", ") == expected
    signs = web.signs(receipt.counters.as_dict()).striptags()
    assert signs == "+1 new ~1 updated −1 removed !1 failed"
    sentence = told.outcome(run, source)
    assert sentence.startswith("1 new, 1 updated, 1 removed.")
    for text in (line, said, signs):
        assert not OTHER_WORDS.search(text), text


def test_of_a_run_whose_process_ended_nothing_is_said_that_was_not_counted() -> None:
    assert summary(a_run(1, RunStatus.LOST)).plain == "not counted"
    assert "not counted" in web.signs({}, "interrupted")
    assert summary(a_run(1, RunStatus.LOST, created=3, requests=4)).plain == "3 new · 4 requests"


async def test_a_generation_that_waits_for_a_person_is_held_everywhere(tmp_path: Path) -> None:
    with a_site_of(30) as site:
        async with a_world(tmp_path, site) as world:
            held = await a_held_run(world)
            run = await world.store.run(held.run_id)
            assert run is not None
            source = await world.source()
    assert held.status is RunStatus.HELD
    assert json.Receipt.show(held)["status"] == source.result.state == "held"  # type: ignore[union-attr]
    assert "2 is held" in cli.headline(held).plain and cli.state_of(held).plain == "held"
    assert mcp.refreshed(source, held).text.startswith("`docs`: held")
    assert web.badge(held.result.state, runs=True).striptags() == web.badge("held").striptags() == "Held"
    assert told.outcome(run, source).startswith("Held: ")


async def a_held_run(world: World) -> cli.Receipt:
    await world.add()
    await world.sync()
    world.site.holds_only({"/": html("Home", "All gone.")})
    return await world.sync()
