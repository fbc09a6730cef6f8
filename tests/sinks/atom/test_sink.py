"""The Atom feed: the last changes, valid, and written only when it changes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from rowen.managing import sources
from rowen.reading import history
from rowen.sinks.announce import Outcome
from rowen.sinks.atom import sink as atom
from tests.support.sinks import Died, SinkWorld, a_sink_world

pytestmark = pytest.mark.anyio
NAMES = {"a": "http://www.w3.org/2005/Atom"}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[SinkWorld]:
    async with a_sink_world(tmp_path) as made:
        yield made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "changes.xml"


def titles(path: Path) -> list[str | None]:
    return [one.text for one in ElementTree.parse(path).getroot().findall("a:entry/a:title", NAMES)]


def ids(path: Path) -> list[str | None]:
    return [one.text for one in ElementTree.parse(path).getroot().findall("a:entry/a:id", NAMES)]


async def test_a_new_sink_writes_an_empty_feed_at_once(world: SinkWorld, path: Path) -> None:
    await world.show(await world.source(), a="one")
    await world.sink("news", "atom", file=str(path), title="What is new", url="https://me.example/news.xml")
    await world.announce()
    root = ElementTree.parse(path).getroot()
    assert root.findtext("a:title", namespaces=NAMES) == "What is new"
    assert (root.findtext("a:id", namespaces=NAMES) or "").startswith("urn:uuid:")
    link = root.find("a:link", NAMES)
    assert link is not None
    assert (link.get("rel"), link.get("href")) == ("self", "https://me.example/news.xml")
    assert titles(path) == []


async def test_the_newest_change_comes_first(world: SinkWorld, path: Path) -> None:
    source = await world.source()
    await world.sink("news", "atom", file=str(path))
    await world.show(source, a="# First\n\nSome   words.")
    await world.announce()
    await world.show(source, "a", b="two")
    await world.announce()
    assert titles(path) == ["Removed: a", "Added: b", "Added: a"]
    root = ElementTree.parse(path).getroot()
    first = root.findall("a:entry", NAMES)[2]
    link = first.find("a:link", NAMES)
    assert link is not None
    assert link.get("href") == "https://docs.example/a"
    assert first.findtext("a:summary", namespaces=NAMES) == (
        "Added in docs, generation 1. # First Some words."
    )
    assert first.findtext("a:updated", namespaces=NAMES) == "2026-05-01T12:05:00Z"
    assert root.findtext("a:updated", namespaces=NAMES) == "2026-05-01T12:05:00Z"


async def test_only_the_last_changes_are_kept(world: SinkWorld, path: Path) -> None:
    source = await world.source()
    await world.sink("news", "atom", file=str(path), limit=3)
    await world.show(source, **{f"p{n}": "text" for n in range(5)})
    assert (await world.announce())["news"].sent == 5
    assert titles(path) == ["Added: p4", "Added: p3", "Added: p2"]
    await world.show(source, p0="other")
    await world.announce()
    assert titles(path) == ["Changed: p0", "Added: p4", "Added: p3"]


async def test_a_feed_that_stays_the_same_is_not_written(world: SinkWorld, path: Path) -> None:
    source, other = await world.source(), await world.source("other")
    await world.sink("news", "atom", file=str(path), sources=["docs"])
    await world.show(source, a="one")
    await world.announce()
    written = path.stat().st_mtime_ns, path.stat().st_ino
    await world.show(other, z="z")
    assert (await world.announce())["news"].outcome is Outcome.NOTHING
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == written
    before = world.store.rows_written()
    await world.announce()
    assert world.store.rows_written() == before


async def test_a_crash_before_it_was_written_down_repeats_no_entry(
    world: SinkWorld, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = await world.source()
    await world.sink("news", "atom", file=str(path))
    await world.show(source, a="one")

    async def crash(*arguments: Any, **named: Any) -> None:
        raise Died

    with monkeypatch.context() as patched:
        patched.setattr(world.store, "move_sink", crash)
        with pytest.raises(Died):
            await world.announce()
    first = ids(path)
    await world.show(source, b="two")
    await world.announce()
    assert ids(path)[1:] == first
    assert len(set(ids(path))) == len(ids(path)) == 2


async def test_a_rollback_is_told_with_the_titles_it_takes_away(world: SinkWorld, path: Path) -> None:
    source = await world.source()
    await world.sink("news", "atom", file=str(path))
    await world.show(source, a="one")
    await world.show(source, b="two")
    await world.announce()
    await history.rollback(world.ports, await world.reload(source))
    await history.vacuum(world.ports.store, await world.store.sources(), keep=1)
    await world.announce()
    assert titles(path)[0] == "Removed: b"


async def test_other_settings_write_the_feed_anew(world: SinkWorld, path: Path) -> None:
    source = await world.source()
    await world.sink("news", "atom", file=str(path))
    await world.show(source, a="one")
    await world.announce()
    await world.sink("news", "atom", file=str(path), title="Another title")
    await world.announce()
    assert "Another title" in path.read_text()
    assert titles(path) == ["Added: a"]


async def test_a_feed_can_be_had_without_a_sink(world: SinkWorld, path: Path) -> None:
    source, other = await world.source(), await world.source("other")
    await world.show(source, a="one")
    await world.show(other, z="z")
    await world.show(source, a="two")
    assert await atom.export(world.ports, str(path), None) == 2
    assert titles(path) == ["Changed: a", "Added: z"]
    assert await atom.export(world.ports, str(path), [other]) == 1
    assert "Changes of other" in path.read_text()


async def test_a_removed_source_is_one_entry_in_place_of_those_it_had(world: SinkWorld, path: Path) -> None:
    source, other = await world.source(), await world.source("other")
    await world.sink("news", "atom", file=str(path))
    await world.show(source, a="one")
    await world.show(other, z="z")
    await world.announce()
    await sources.remove(world.ports, source)
    await world.announce()
    assert titles(path) == ["Source removed: docs", "Added: z"]
    assert "Source docs was removed with all its documents." in path.read_text()
    await world.show(await world.source(), b="two")
    await world.announce()
    assert titles(path) == ["Added: b", "Source removed: docs", "Added: z"]
