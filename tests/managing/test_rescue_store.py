"""A damaged file: what is readable is saved, what is lost is said exactly, and a sync fills the holes."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import pytest

from rowen import config as settings
from rowen import wiring
from rowen.adapters.store.sqlite.texts import teach
from rowen.core.exchange.store_rescue import Rescued
from rowen.errors import Conflict, RowenError, StoreDamaged
from rowen.managing import check_store
from rowen.managing.rescue_store import rescue
from tests.support.damage import at_random, copied, cut, erase, pages_of, spoil
from tests.support.site import Site, html
from tests.support.world import a_world

pytestmark = pytest.mark.anyio

PAGES = 40
LARGE = 12_000
"""Characters of a page's text, of which half a byte each is stored: more than a page of the file holds."""


@dataclass(frozen=True)
class Harvest:
    file: Path
    site: Site
    texts: dict[str, str]
    """What readers saw before the damage."""


@pytest.fixture(scope="module")
def harvest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harvest]:
    """Made once; each test damages a copy of the file."""
    folder = tmp_path_factory.mktemp("harvest")
    paths = [f"/p{number}.html" for number in range(1, PAGES)]
    pages = {
        path: html(path, "barley " + random.Random(path).randbytes(LARGE // 2).hex(), links=["/"])
        for path in paths
    }
    with Site({"/": html("Home", "Start here", links=paths), **pages}) as site:
        asyncio.run(_harvest(folder, site))
        yield Harvest(folder / "rowen.db", site, texts_in(folder / "rowen.db"))


async def _harvest(folder: Path, site: Site) -> None:
    async with a_world(folder, site) as world:
        await world.add("docs")
        assert (await world.sync()).good


def texts_in(file: Path) -> dict[str, str]:
    db = apsw.Connection(str(file))
    teach(db)
    found: Any = db.execute(
        "SELECT d.url, text_of(c.text) FROM documents_active d JOIN contents c ON c.id = d.content_id"
    ).fetchall()
    db.close()
    return dict(found)


def counted(file: Path) -> dict[str, int]:
    db = apsw.Connection(str(file))
    tables = ("sources", "refs", "contents", "documents", "passages", "sections", "vectors", "handoffs")
    found = {table: int(db.execute(f"SELECT count(*) FROM {table}").get) for table in tables}
    db.close()
    return found


async def rescued(damaged: Path) -> tuple[Rescued, Path]:
    """The new store is in a folder of its own, as a world expects it."""
    target = damaged.parent / "new" / "rowen.db"
    before = damaged.read_bytes()
    one, other = (settings.load(db=f"sqlite:///{path}")[0] for path in (damaged, target))
    with wiring.open_rescue(one, other) as ports:
        done = await rescue(ports)
    assert damaged.read_bytes() == before, "the damaged file is only read"
    assert [path.name for path in target.parent.iterdir()] == ["rowen.db"], "nothing else is left"
    return done, target


async def found_in(file: Path) -> list[str]:
    try:
        async with wiring.open_check(settings.load(db=f"sqlite:///{file}")[0]) as ports:
            return [one.part for one in (await check_store.check(ports)).findings]
    except RowenError:
        return ["file"]


# lost and found again


@pytest.mark.parametrize("table", ["contents", "documents", "refs"])
async def test_a_sync_after_a_rescue_fetches_what_was_lost(
    harvest: Harvest, tmp_path: Path, table: str
) -> None:
    damaged = copied(harvest.file, tmp_path)
    spoil(damaged, pages_of(damaged, table)[0])
    assert await found_in(damaged)
    done, target = await rescued(damaged)
    assert await found_in(target) == []
    lost = len(harvest.texts) - len(texts_in(target))
    assert [(one.source, one.documents, one.lost) for one in done.sources] == [
        ("docs", len(harvest.texts) - lost, lost)
    ]
    before, after = counted(harvest.file), counted(target)
    assert {name: done.tables[name].lost for name in before} == {
        name: before[name] - after[name] for name in before
    }, "what was lost is said exactly"
    assert done.tables[table].pages == 1
    # An index holds the references, so none of them is lost with a page of the table.
    assert lost == 0 if table == "refs" else lost > 0
    async with a_world(target.parent, harvest.site) as world:
        receipt = await world.sync()
        assert (receipt.good, receipt.counters.created, receipt.counters.deleted) == (True, lost, 0)
        assert (await world.sync()).counters.created == 0
    assert texts_in(target) == harvest.texts
    assert await found_in(target) == []


@pytest.mark.parametrize("table", ["passages", "sections", "vectors"])
async def test_what_can_be_made_again_from_the_texts_is_not_lost(
    harvest: Harvest, tmp_path: Path, table: str
) -> None:
    damaged = copied(harvest.file, tmp_path)
    for page in pages_of(damaged, table):
        spoil(damaged, page)
    assert await found_in(damaged)
    done, target = await rescued(damaged)
    assert [one.lost for one in done.sources] == [0]
    assert texts_in(target) == harvest.texts
    async with a_world(target.parent, harvest.site) as world:
        assert (await world.sync()).counters.created == 0
        assert len((await world.search("barley", limit=PAGES)).hits) == PAGES - 1
    assert counted(target)["vectors"] == counted(harvest.file)["vectors"], "the sync has embedded the rest"


@pytest.mark.parametrize("index", ["contents_by_hash", "documents_by_ref", "documents_current"])
async def test_a_damaged_index_costs_nothing(harvest: Harvest, tmp_path: Path, index: str) -> None:
    damaged = copied(harvest.file, tmp_path)
    spoil(damaged, pages_of(damaged, index)[0])
    assert "file" in await found_in(damaged)
    done, target = await rescued(damaged)
    assert (done.whole, done.lost) == (True, 0)
    assert texts_in(target) == harvest.texts


async def test_a_text_that_changed_behind_our_back_is_found_and_lost(
    harvest: Harvest, tmp_path: Path
) -> None:
    damaged = copied(harvest.file, tmp_path)
    overflow = pages_of(damaged, "contents", "overflow")[0]
    with damaged.open("r+b") as file:
        file.seek(overflow * 4096 + 100)
        file.write(b"another text")
    assert "contents" in await found_in(damaged), "though SQLite finds nothing wrong with its pages"
    done, _ = await rescued(damaged)
    assert (done.tables["contents"].lost, done.sources[0].lost) == (1, 1)


async def test_a_lost_source_is_named(harvest: Harvest, tmp_path: Path) -> None:
    damaged = copied(harvest.file, tmp_path)
    spoil(damaged, pages_of(damaged, "sources")[0])
    done, target = await rescued(damaged)
    assert (list(done.lost_sources), done.sources) == (["docs"], [])
    assert await found_in(target) == []


@pytest.mark.parametrize("size", [16, 100])
async def test_a_damaged_header_costs_nothing(harvest: Harvest, tmp_path: Path, size: int) -> None:
    damaged = copied(harvest.file, tmp_path)
    spoil(damaged, 0, size=size)
    assert await found_in(damaged) == ["file"]
    done, target = await rescued(damaged)
    assert done.whole
    assert texts_in(target) == harvest.texts


async def test_what_only_the_log_holds_is_saved_too_unless_it_is_noise(
    harvest: Harvest, tmp_path: Path
) -> None:
    damaged = copied(harvest.file, tmp_path)
    writer = apsw.Connection(str(damaged))
    writer.execute("UPDATE sources SET location = 'https://moved.example/'")
    done, target = await rescued(damaged)
    made = apsw.Connection(str(target))
    assert (done.whole, made.execute("SELECT location FROM sources").get) == (True, "https://moved.example/")
    made.close()
    writer.close()
    shutil.rmtree(target.parent)
    damaged.with_name("damaged.db-wal").write_bytes(random.Random(1).randbytes(50_000))
    done, target = await rescued(damaged)
    assert done.whole


async def test_a_file_that_was_cut_in_the_middle_gives_what_is_left(harvest: Harvest, tmp_path: Path) -> None:
    found = []
    # What lies behind a cut depends on where SQLite put the tables: the last page, then more of the file.
    for share in (0.996, 0.97, 0.93, 0.75):
        folder = tmp_path / str(share)
        folder.mkdir()
        damaged = copied(harvest.file, folder)
        cut(damaged, share)
        assert await found_in(damaged)
        done, target = await rescued(damaged)
        kept = texts_in(target)
        assert kept.items() <= harvest.texts.items()
        assert done.sources[0].lost == len(harvest.texts) - len(kept)
        found.append(len(kept))
    assert found == sorted(found, reverse=True)
    assert any(found)


@pytest.mark.parametrize("table", ["documents", "sections", "contents", "handoffs"])
async def test_a_page_that_ends_in_zeros_is_told_and_the_rest_is_saved(
    harvest: Harvest, tmp_path: Path, table: str
) -> None:
    damaged = copied(harvest.file, tmp_path)
    erase(damaged, pages_of(damaged, table)[-1], at=200)
    assert await found_in(damaged)
    _, target = await rescued(damaged)
    assert texts_in(target).items() <= harvest.texts.items()


# nothing to rescue, nothing to overwrite


@pytest.mark.parametrize("content", [b"", b"Dear reader, " * 2000, b"SQLite format 3\0" + bytes(8000)])
async def test_a_file_with_nothing_in_it_makes_no_store(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "damaged.db").write_bytes(content)
    with pytest.raises(StoreDamaged, match="nothing"):
        await rescued(tmp_path / "damaged.db")
    assert list((tmp_path / "new").iterdir()) == []


async def test_nothing_is_overwritten(harvest: Harvest, tmp_path: Path) -> None:
    damaged = copied(harvest.file, tmp_path)
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "rowen.db").write_text("mine")
    with pytest.raises(Conflict, match="there is a file already"):
        await rescued(damaged)
    assert (tmp_path / "new" / "rowen.db").read_text() == "mine"
    # The log of a store that was deleted would be taken for one of the new store.
    (tmp_path / "new" / "rowen.db").rename(tmp_path / "new" / "rowen.db-wal")
    with pytest.raises(Conflict, match=r"rowen\.db-wal`: there is a file already"):
        await rescued(damaged)


# anywhere


async def whatever_happens(harvest: Harvest, folder: Path, seed: int) -> None:
    damaged = folder / "damaged.db"
    said = at_random(harvest.file, damaged, seed)
    found = await found_in(damaged)
    try:
        done, target = await rescued(damaged)
    except StoreDamaged:
        assert found, said
        return
    kept = texts_in(target)
    assert kept.items() <= harvest.texts.items(), f"{said}: a text is not what it was"
    assert await found_in(target) == [], said
    missing = len(harvest.texts) - len(kept)
    assert sum(one.lost for one in done.sources) == missing or done.lost_sources or not done.sources, said
    assert found or done.whole, f"{said}: lost without being found"
    shutil.rmtree(target.parent)


@pytest.mark.parametrize("seed", [2, 3])
async def test_damage_anywhere_loses_no_more_than_it_says(
    harvest: Harvest, tmp_path: Path, seed: int
) -> None:
    await whatever_happens(harvest, tmp_path, seed)
