"""A store in another database is the same store: what readers see, what programs rely on, what comes next."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from array import array
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from rowen.adapters.store.postgres.copying import PostgresCopying
from rowen.adapters.store.postgres.store import PostgresStore
from rowen.adapters.store.sqlite.copying import SqliteCopying
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.core.exchange.store_copy import PARTS, TABLES, Part, Progress, Row, canonical
from rowen.core.feed import Cursor
from rowen.core.lease import Lease
from rowen.core.rules.complete import COPY, check_complete
from rowen.core.search.hit import SearchMode
from rowen.engine.leases import ORCHESTRATOR
from rowen.engine.run import sync
from rowen.errors import Conflict, LeaseLost, NotFound, PermanentError, StoreBusy, StoreUnusable, UserError
from rowen.managing import find as finding
from rowen.managing.copy_store import Copied, CopyEvent, CopyPorts, Side, copy
from rowen.ports.database.copying import Copying, View
from rowen.ports.store.store import Store
from rowen.reading import history
from rowen.reading import search as searching
from tests.contract.helpers import NOW, a_generation, a_source
from tests.support.fakes import FakeClock, FakeEmbedder
from tests.support.full_store import PAGES, a_site, fill
from tests.support.postgres import Server
from tests.support.site import Site
from tests.support.stores import a_postgres_schema, a_sqlite_file
from tests.support.world import a_world

pytestmark = pytest.mark.anyio

KINDS = ("sqlite", "postgres")


@dataclass(frozen=True)
class Full:
    file: Path
    site: Site


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Full]:
    """Made once; each test works on a copy of the file."""
    folder = tmp_path_factory.mktemp("full")
    with a_site() as site:
        asyncio.run(fill(folder, site))
        yield Full(folder / "rowen.db", site)


class Clock(FakeClock):
    def skip(self, seconds: float) -> None:
        """The clock on the wall goes on, and nobody who waits is woken: the machine slept."""
        self._now += timedelta(seconds=seconds)


class Stores:
    """Opens stores and closes them at the end."""

    def __init__(self, stack: AsyncExitStack, folder: Path, server: Callable[[], Server]) -> None:
        self._stack = stack
        self._folder = folder
        self._server = server
        self._made = 0
        self.clock = Clock()

    def new(self, kind: str) -> Side:
        self._made += 1
        if kind == "sqlite":
            return self.opened(a_sqlite_file(self._folder / f"store{self._made}.db"))
        server = self._server()
        schema = self._stack.enter_context(a_postgres_schema(server))
        store = PostgresStore(server.url, schema=schema)
        self._stack.push_async_callback(store.close)
        return Side(name=schema, store=store, copying=PostgresCopying(store.database))

    def opened(self, file: Path) -> Side:
        store = SqliteStore(file)
        self._stack.push_async_callback(store.close)
        return Side(name=file.name, store=store, copying=SqliteCopying(store.database))

    def original(self, full: Full) -> Side:
        return self.opened(Path(shutil.copy(full.file, self._folder / "original.db")))

    def ports(self, source: Side, target: Side, *, owner: str = "me") -> CopyPorts:
        return CopyPorts(
            source=source, target=target, clock=self.clock, owner=owner, is_dead=lambda one: one == "dead"
        )

    async def copy(self, source: Side, target: Side, **options: Any) -> Copied:
        return await copy(self.ports(source, target), **options)


@pytest.fixture
async def stores(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Stores]:
    async with AsyncExitStack() as stack:
        yield Stores(stack, tmp_path, lambda: request.getfixturevalue("postgres"))


async def rows_of(side: Side) -> dict[str, list[tuple[str | None, ...]]]:
    """Everything that is in a store, in the form that all databases agree on."""
    found: dict[str, list[tuple[str | None, ...]]] = {}
    async with side.copying.view() as view:
        for part in PARTS:
            page = await view.page(part, after=None, max_rows=1_000_000, max_bytes=1 << 40)
            found[part.name] = sorted((canonical(part, row) for row in page.rows), key=str)
    return found


# the same store


@pytest.mark.parametrize("route", [("sqlite",), ("postgres", "sqlite"), ("postgres", "postgres", "sqlite")])
async def test_whichever_way_it_goes_every_row_arrives(
    full: Full, stores: Stores, route: Sequence[str]
) -> None:
    side = stores.original(full)
    expected = await rows_of(side)
    assert not [name for name, rows in expected.items() if not rows], "there is something of everything"
    for kind in route:
        target = stores.new(kind)
        copied = await stores.copy(side, target)
        assert (copied.already, copied.resumed) == (False, False)
        assert {name: one.rows for name, one in copied.sums.items()} == {
            name: len(rows) for name, rows in expected.items()
        }
        assert await rows_of(target) == expected
        side = target


async def test_between_two_files_even_the_raw_values_are_the_same(full: Full, stores: Stores) -> None:
    side, target = stores.original(full), stores.new("sqlite")
    await stores.copy(side, target)
    both = []
    for one in (side, target):
        assert isinstance(one.store, SqliteStore)
        connection = sqlite3.connect(one.store.database.path)
        both.append(
            {
                table: sorted(
                    connection.execute(f"SELECT {columns(table)} FROM {table}").fetchall(), key=repr
                )
                for table in TABLES
                if table != "notes"
            }
        )
        connection.close()
    assert both[0] == both[1]
    assert "\0" in repr(both[0]["contents"]) or "\\x00" in repr(both[0]["contents"])


def columns(table: str) -> str:
    return ", ".join(f'"{one.name}"' for part in PARTS if part.table == table for one in part.columns)


async def seen(side: Side) -> dict[str, Any]:
    """What readers and programs see of a store, whatever database it is in."""
    store = side.store
    told: dict[str, Any] = {
        "sources": await store.sources(),
        "sinks": await store.sinks(),
        "tokens": await store.tokens(),
        "requests": await store.sync_requests(),
        "handoffs": await store.handoffs(limit=1000),
        "companies": await store.companies(),
        "feed": await store.feed(Cursor(0, 0), limit=1000),
        "feed from a sink's cursor": await store.feed(Cursor(1, 3), limit=1000),
        "end": await store.feed_end(),
    }
    for company in await store.companies():
        told[f"offers {company.id}"] = await store.offers_of(company.id)
    for source in await store.sources():
        runs = await store.runs(source.id, limit=100)
        told[source.label] = [
            runs,
            [await store.run_items(run.id) for run in runs],
            [sorted(share["created"] for share in await store.shares(run.id)) for run in runs],
            await store.generations(source.id),
            await store.known(source.id),
            await store.references(source.id),
            await store.listings(source.id),
            (await store.stats(source.id)).sections,
            await store.documents(source.id, text=True),
            await store.changes(source.id, 1, source.active_generation),
        ]
    return told


def plain(value: Any) -> Any:
    """Without the one thing that PostgreSQL cannot keep."""
    match value:
        case str():
            return value.replace("\0", "\ufffd")
        case dict():
            return {plain(key): plain(one) for key, one in value.items()}
        case list() | tuple() | array():
            return [plain(one) for one in value]
        case _ if is_dataclass(value):
            return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    return value


@pytest.mark.parametrize("kind", KINDS)
async def test_readers_and_programs_see_the_same(full: Full, stores: Stores, kind: str) -> None:
    side, target = stores.original(full), stores.new(kind)
    await stores.copy(side, target)
    before, after = await seen(side), await seen(target)
    for name, value in before.items():
        assert plain(after[name]) == plain(value), name


async def hits(store: Store, query: str, mode: SearchMode) -> list[tuple[str, str, float]]:
    answer = await searching.search(store, FakeEmbedder(), query, mode=mode, limit=50)
    return [(hit.url, hit.snippet, hit.score) for hit in answer.hits]


QUERIES = ("harvest second", "page p7", "漢字", "cook")


async def test_search_answers_as_before(full: Full, stores: Stores) -> None:
    side, middle, target = stores.original(full), stores.new("postgres"), stores.new("sqlite")
    await stores.copy(side, middle)
    await stores.copy(middle, target)
    for query in QUERIES:
        keyword, vector = await hits(side.store, query, SearchMode.KEYWORD), None
        assert keyword, query
        vector = await hits(side.store, query, SearchMode.VECTOR)
        assert [one[0] for one in await hits(target.store, query, SearchMode.KEYWORD)] == [
            one[0] for one in keyword
        ]
        assert [one[2] for one in await hits(target.store, query, SearchMode.KEYWORD)] == [
            one[2] for one in keyword
        ]
        assert {one[0] for one in await hits(middle.store, query, SearchMode.KEYWORD)} == {
            one[0] for one in keyword
        }
        assert [one[0] for one in await hits(target.store, query, SearchMode.VECTOR)] == [
            one[0] for one in vector
        ]
        assert {one[0] for one in await hits(middle.store, query, SearchMode.VECTOR)} == {
            one[0] for one in vector
        }


async def test_postgresql_makes_the_words_that_a_run_would_have_made(stores: Stores) -> None:
    pages = {
        "https://a.example/": "# The Title of Ünïcode\n\nos.path.join and 漢字\n\n## Below\n\nmore words"
    }
    grown, file = stores.new("postgres"), stores.new("sqlite")
    for side in (grown, file):
        await a_generation(side.store, await a_source(side.store), pages)
    made, made_again = stores.new("postgres"), stores.new("postgres")
    await stores.copy(file, made)
    await stores.copy(grown, made_again)
    indexed = [await _indexed(side) for side in (grown, made, made_again)]
    assert indexed[0]
    assert indexed[0] == indexed[1] == indexed[2]


async def _indexed(side: Side) -> list[Any]:
    assert isinstance(side.store, PostgresStore)
    query = (
        "SELECT p.hash, p.words::text, v.vector, v.embedding::text FROM passages p"
        " JOIN vectors v ON v.passage_id = p.id ORDER BY p.hash"
    )
    return await side.store.database.read(lambda db: db.query(query, {}))


async def test_a_model_with_many_vectors_has_its_index(full: Full, stores: Stores) -> None:
    side, target = stores.original(full), stores.new("postgres")
    assert isinstance(target.store, PostgresStore)
    copying = PostgresCopying(target.store.database, index_after=10)
    await stores.copy(side, replace(target, copying=copying))
    query = "SELECT count(*) FROM pg_index WHERE indexrelid = to_regclass('vectors_near_1') AND indisvalid"
    assert await target.store.database.read(lambda db: db.query(query, {})) == [(1,)]


# and what comes next


@pytest.mark.parametrize("kind", KINDS)
async def test_a_sync_after_the_copy_asks_conditionally_and_changes_nothing(
    full: Full, stores: Stores, tmp_path: Path, kind: str
) -> None:
    side, target = stores.original(full), stores.new(kind)
    await stores.copy(side, target)
    async with a_world(tmp_path / "w", full.site) as world:
        world.clock.advance(100 * 86_400)
        ports = replace(world.ports, store=target.store)
        full.site.clear_log()
        # The held generation is dropped, as it would be anywhere; the rollback is what counts.
        first = await sync(ports, await finding.find(ports.store, "docs"))
        assert first.good
        full.site.clear_log()
        embedded = len(world.embedder.embedded)
        receipt = await sync(ports, await finding.find(ports.store, "docs"))
        assert (receipt.counters.created, receipt.counters.updated, receipt.counters.deleted) == (0, 0, 0)
        assert receipt.counters.not_modified == PAGES
        assert {one.status for one in full.site.requests if one.path.endswith(".html")} == {304}
        assert len(world.embedder.embedded) == embedded == 0, "no text is embedded twice"


@pytest.mark.parametrize("kind", KINDS)
async def test_numbers_that_were_ever_given_are_not_given_again(
    full: Full, stores: Stores, kind: str
) -> None:
    side, target = stores.original(full), stores.new(kind)
    await stores.copy(side, target)
    runs, ends = [], []
    for one in (side, target):
        source = await a_source(one.store, "later")
        runs.append(await a_generation(one.store, source, {"https://later.example/": "text"}))
        ends.append(await one.store.feed_end())
    assert runs[0].id == runs[1].id, "the run that was removed keeps its number"
    assert ends[0] == ends[1]
    highest = max(run.id for run in await _all_runs(side.store) if run.id != runs[0].id)
    assert runs[0].id > highest + 1


async def _all_runs(store: Store) -> list[Any]:
    return [run for source in await store.sources() for run in await store.runs(source.id, limit=100)]


async def test_a_rollback_and_a_diff_work_in_the_copy(full: Full, stores: Stores, tmp_path: Path) -> None:
    side, target = stores.original(full), stores.new("postgres")
    await stores.copy(side, target)
    async with a_world(tmp_path / "w", full.site) as world:
        ports = replace(world.ports, store=target.store)
        docs = await finding.find(ports.store, "docs")
        assert docs.held_generation is not None
        assert await history.approve(ports, docs) == docs.held_generation
        docs = await finding.find(ports.store, "docs")
        found = await history.diff(ports.store, docs, from_generation=1)
        assert {change.kind for change in found.changes} >= {"changed", "removed"}
        assert await history.rollback(ports, docs) == 2


# interrupted


class Faulty:
    """A store that stops taking in rows at chosen moments: before they are stored, or right after."""

    def __init__(self, inner: Copying, *, loads: int = 1_000_000, late: bool = False) -> None:
        self._inner = inner
        self.loads = loads
        self.late = late
        self.on_load: Callable[[], Awaitable[None]] | None = None
        self.on_prepare: Callable[[], Awaitable[None]] | None = None
        self.stops_at = ""

    async def identity(self) -> str:
        return await self._inner.identity()

    async def is_empty(self) -> bool:
        return await self._inner.is_empty()

    @asynccontextmanager
    async def view(self) -> AsyncIterator[View]:
        self._stop("view")
        async with self._inner.view() as view:
            yield view

    async def load(self, lease: Lease, part: Part, rows: Sequence[Row], progress: Progress) -> None:
        if self.on_load is not None:
            await self.on_load()
        if not self.loads and not self.late:
            raise StoreBusy("the store went away")
        await self._inner.load(lease, part, rows, progress)
        if not self.loads:
            raise StoreBusy("the store went away")
        self.loads -= 1

    async def clear(self, lease: Lease, progress: Progress) -> None:
        await self._inner.clear(lease, progress)

    async def prepare(self) -> None:
        if self.on_prepare is not None:
            await self.on_prepare()
        self._stop("prepare")
        await self._inner.prepare()

    async def finish(self, lease: Lease, issued: Mapping[str, int], progress: Progress) -> None:
        self._stop("finish")
        await self._inner.finish(lease, issued, progress)
        self._stop("finished")

    def _stop(self, moment: str) -> None:
        if self.stops_at == moment:
            raise StoreBusy("the store went away")


@pytest.mark.parametrize("kind", KINDS)
async def test_interrupted_at_every_page_and_run_again_it_is_the_same(
    full: Full, stores: Stores, kind: str
) -> None:
    side, target = stores.original(full), stores.new(kind)
    attempts = 0
    while True:
        # One page an attempt, and the next is cut off: by turns before it is stored and after.
        faulty = Faulty(target.copying, loads=1, late=attempts % 2 == 1)
        try:
            copied = await stores.copy(side, replace(target, copying=faulty), max_rows=60)
        except StoreBusy:
            attempts += 1
            note = await target.store.note(COPY)
            with pytest.raises(StoreUnusable, match="not complete"):
                check_complete(note, "target")
            continue
        break
    assert attempts > len(PARTS) / 2
    assert copied.resumed
    assert await rows_of(target) == await rows_of(side)
    check_complete(await target.store.note(COPY), "target")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("moment", ["prepare", "view", "finish", "finished"])
async def test_interrupted_at_its_end_it_is_run_to_its_end(
    full: Full, stores: Stores, kind: str, moment: str
) -> None:
    side, target = stores.original(full), stores.new(kind)
    faulty = Faulty(target.copying)
    faulty.stops_at = moment
    with pytest.raises(StoreBusy):
        await stores.copy(side, replace(target, copying=faulty))
    copied = await stores.copy(side, target)
    assert copied.already == (moment == "finished")
    assert await rows_of(target) == await rows_of(side)
    source = await a_source(target.store, "later")
    await a_generation(target.store, source, {"https://later.example/": "text"})


async def test_cancelled_it_lets_go_of_both_stores(full: Full, stores: Stores) -> None:
    side, target = stores.original(full), stores.new("sqlite")
    begun = asyncio.Event()

    def on_event(event: CopyEvent) -> None:
        if event.part == "contents":
            begun.set()

    task = asyncio.create_task(stores.copy(side, target, max_rows=5, on_event=on_event))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for one in (side, target):
        assert await one.store.lease(ORCHESTRATOR) is None
        assert await one.store.leases_like("source:") == []
    copied = await stores.copy(side, target)
    assert copied.resumed
    assert await rows_of(target) == await rows_of(side)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_store_that_changed_after_an_interruption_is_copied_from_the_start(
    full: Full, stores: Stores, kind: str
) -> None:
    side, target = stores.original(full), stores.new(kind)
    for loads in (3, 20):
        with pytest.raises(StoreBusy):
            await stores.copy(
                side, replace(target, copying=Faulty(target.copying, loads=loads)), max_rows=100
            )
        await side.store.remove_source((await side.store.sources())[0].id, now=NOW)
        source = await a_source(side.store, f"new{loads}")
        await a_generation(side.store, source, {"https://new.example/": f"fresh {loads}"})
    events: list[CopyEvent] = []
    await stores.copy(side, target, on_event=events.append)
    assert "restarted" in {event.kind for event in events}
    assert await rows_of(target) == await rows_of(side)
    assert await hits(target.store, "fresh", SearchMode.KEYWORD)


async def test_what_another_version_has_begun_is_copied_from_the_start(full: Full, stores: Stores) -> None:
    side, target = stores.original(full), stores.new("sqlite")
    faulty = Faulty(target.copying)
    faulty.stops_at = "prepare"
    with pytest.raises(StoreBusy):
        await stores.copy(side, replace(target, copying=faulty))
    note = await target.store.note(COPY)
    await target.store.save_note(COPY, {**note, "part": "a table of the future"})
    await stores.copy(side, target)
    assert await rows_of(target) == await rows_of(side)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_error_while_reading_is_raised_and_not_waited_for(stores: Stores, kind: str) -> None:
    side = stores.new(kind)
    nonsense = replace(PARTS[0], table="no_such_table")
    async with side.copying.view() as view:
        await view.counts()
        with pytest.raises(Exception, match="no_such_table"):
            await view.page(nonsense, after=None, max_rows=1, max_bytes=1)
    assert await side.copying.is_empty(), "the store goes on"


async def test_what_others_write_meanwhile_is_not_seen(full: Full, stores: Stores) -> None:
    """Settings take no lease: they are as they were when the copy began, and so is everything else."""
    side, target = stores.original(full), stores.new("postgres")
    expected = await rows_of(side)
    faulty = Faulty(target.copying)
    written = 0

    async def write() -> None:
        nonlocal written
        written += 1
        await side.store.save_note(f"a{written}", written)
        await side.store.save_note(f"z{written}", written)

    faulty.on_load = write
    await stores.copy(side, replace(target, copying=faulty), max_rows=100)
    assert written > 10
    assert await rows_of(target) == expected


@pytest.mark.parametrize("kind", KINDS)
async def test_a_difference_is_told_and_the_next_copy_starts_anew(
    full: Full, stores: Stores, kind: str
) -> None:
    side, target = stores.original(full), stores.new(kind)
    faulty = Faulty(target.copying)

    async def spoil() -> None:
        await target.store.remove_token("reader")
        await target.store.save_note("some.note", "other")

    faulty.on_prepare = spoil
    with pytest.raises(PermanentError) as told:
        await stores.copy(side, replace(target, copying=faulty))
    assert "`tokens` has 0 of 1 rows" in told.value.message
    assert "`notes` has" in told.value.message
    assert "not all of them the same" in told.value.message
    with pytest.raises(StoreUnusable):
        check_complete(await target.store.note(COPY), "target")
    await stores.copy(side, target)
    assert await rows_of(target) == await rows_of(side)


# refused


async def test_a_store_that_has_something_is_not_written_to(full: Full, stores: Stores) -> None:
    side = stores.original(full)
    for kind in KINDS:
        target = stores.new(kind)
        await target.store.save_note("something", 1)
        before = await rows_of(target)
        with pytest.raises(Conflict, match="not empty"):
            await stores.copy(side, target)
        assert await rows_of(target) == before


async def test_a_half_made_copy_of_another_store_is_left_alone(full: Full, stores: Stores) -> None:
    side, other, target = stores.original(full), stores.new("sqlite"), stores.new("postgres")
    await a_source(other.store)
    with pytest.raises(StoreBusy):
        await stores.copy(side, replace(target, copying=Faulty(target.copying, loads=5)))
    before = await rows_of(target)
    with pytest.raises(Conflict, match=r"a copy of another store, `original.db`"):
        await stores.copy(other, target)
    assert await rows_of(target) == before
    with pytest.raises(StoreUnusable, match="not complete"):
        await stores.copy(target, stores.new("sqlite"))


async def test_a_complete_copy_is_not_made_twice(full: Full, stores: Stores) -> None:
    side, target = stores.original(full), stores.new("sqlite")
    first = await stores.copy(side, target)
    await a_source(target.store, "in use since")
    before = await rows_of(target)
    again = await stores.copy(side, target)
    assert (again.already, again.progress, again.sums) == (True, first.progress, first.sums)
    assert await rows_of(target) == before


async def test_a_copy_that_somebody_else_has_just_completed_is_left_alone(full: Full, stores: Stores) -> None:
    side, target = stores.original(full), stores.new("sqlite")
    late = Late(target.store)

    async def overtake() -> None:
        await stores.copy(side, target)
        await a_source(target.store, "in use since")

    late.before_lease = overtake
    copied = await stores.copy(side, replace(target, store=cast(Store, late)))
    assert copied.already
    check_complete(await target.store.note(COPY), "target")
    assert "in use since" in {one.name for one in await target.store.sources()}


class Late:
    """A store whose leases somebody else takes first."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.before_lease: Callable[[], Awaitable[None]] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def acquire_lease(self, *arguments: Any, **options: Any) -> Lease | None:
        if self.before_lease is not None:
            first, self.before_lease = self.before_lease, None
            await first()
        return await self._store.acquire_lease(*arguments, **options)


async def test_a_store_is_not_copied_into_itself(full: Full, stores: Stores) -> None:
    side = stores.original(full)
    with pytest.raises(UserError, match="the same as"):
        await stores.copy(side, side)


async def test_an_empty_store_is_more_likely_a_mistake(stores: Stores) -> None:
    target = stores.new("sqlite")
    with pytest.raises(NotFound, match="empty, there is nothing to copy"):
        await stores.copy(stores.new("sqlite"), target)
    assert await target.store.note(COPY) is None


@pytest.mark.parametrize("name", [ORCHESTRATOR, "source:1", "sink:hook", "projection:companies"])
async def test_a_store_that_is_in_use_is_not_copied(full: Full, stores: Stores, name: str) -> None:
    side, target = stores.original(full), stores.new("sqlite")
    now = stores.clock.now()
    held = await side.store.acquire_lease(name, "somebody", now=now, ttl_s=60)
    assert held is not None
    with pytest.raises(Conflict, match=f"`original.db`: in use by `somebody` \\(lease `{name}`\\)"):
        await stores.copy(side, target)
    await side.store.release_lease(held)
    assert await side.store.acquire_lease(name, "dead", now=now, ttl_s=60) is not None
    await stores.copy(side, target)


async def test_one_copy_at_a_time_goes_into_a_store(full: Full, stores: Stores) -> None:
    side, target = stores.original(full), stores.new("sqlite")
    faulty = Faulty(target.copying)

    async def another() -> None:
        with pytest.raises(Conflict, match="in use by `me`"):
            await copy(stores.ports(side, target, owner="you"))

    faulty.on_load = another
    await stores.copy(side, replace(target, copying=faulty))


@pytest.mark.parametrize("loser", ["source", "target"])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_copy_that_slept_through_its_lease_writes_nothing_more(
    full: Full, stores: Stores, loser: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    side, target = stores.original(full), stores.new(kind)
    lost = side if loser == "source" else target
    faulty = Faulty(target.copying)
    pages = 0
    written: list[Any] = []
    renew, tried = lost.store.renew_lease, asyncio.Event()

    async def renewing(lease: Lease, *, now: datetime, ttl_s: float) -> Lease:
        try:
            return await renew(lease, now=now, ttl_s=ttl_s)
        finally:
            tried.set()

    monkeypatch.setattr(lost.store, "renew_lease", renewing)

    async def sleep() -> None:
        nonlocal pages
        pages += 1
        if pages == 5:
            stores.clock.skip(120)
            taken = await lost.store.acquire_lease(ORCHESTRATOR, "other", now=stores.clock.now(), ttl_s=600)
            assert taken is not None
            written.append(await target.store.note(COPY) if loser == "target" else None)
            stores.clock.advance(15)
            # The heartbeat finds out; how many pages fit in before that depends on the machine.
            await tried.wait()

    faulty.on_load = sleep
    with pytest.raises(LeaseLost):
        await stores.copy(side, replace(target, copying=faulty), max_rows=20)
    assert pages <= 6
    if loser == "target":
        assert await target.store.note(COPY) == written[0]


# nothing is forgotten

LEFT_OUT = {
    "leases",
    "jobs",
    "shard_turns",
    "questions",
    "deliveries",
    "planned_answers",
    "schema_version",
    "dictionaries",
}
MADE = {"digest", "words", "embedding", "goes_on_from"}
"""What PostgreSQL makes from the rest, or finds texts by; and how SQLite packs a record."""


async def test_every_column_of_both_databases_is_copied_or_left_out_on_purpose(stores: Stores) -> None:
    copied = {(part.table, column.name) for part in PARTS for column in part.columns}
    for side in (stores.new("sqlite"), stores.new("postgres")):
        there = await _columns(side)
        wanted = {(table, name) for table, name in there if not _is_left_out(table)}
        assert copied <= wanted
        extra = wanted - copied - {("vectors", "id")}
        assert {name for _, name in extra} <= MADE
        assert {table for table, name in extra if name == "digest"} <= {
            part.table for part in PARTS if part.digest_of
        }


def _is_left_out(table: str) -> bool:
    return table in LEFT_OUT or table.startswith(("passages_fts", "sqlite_", "pgqueuer"))


async def _columns(side: Side) -> set[tuple[str, str]]:
    if isinstance(side.store, SqliteStore):
        query = (
            "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c"
            " WHERE t.type = 'table'"
        )
        rows = await side.store.database.read(lambda db: db.query(query, {}))
    else:
        assert isinstance(side.store, PostgresStore)
        query = (
            "SELECT c.table_name, c.column_name FROM information_schema.columns c"
            " JOIN information_schema.tables t USING (table_schema, table_name)"
            " WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE'"
        )
        rows = await side.store.database.read(lambda db: db.query(query, {}))
    return {(str(row[0]), str(row[1])) for row in rows}
