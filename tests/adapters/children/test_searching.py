"""Searches in processes of their own find what this one finds, and this one answers when they do not."""

from __future__ import annotations

import io
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from rowen.adapters.children import searching
from rowen.adapters.children.searching import SearchChildren
from rowen.config import Config, ServiceConfig, StoreConfig, restored
from rowen.core.search.hit import AlsoAt, Answer, CopyAt, Filters, Hit, SearchCall, SearchMode, SectionHit
from rowen.doors import answering, asking
from rowen.engine.ports import Ports
from rowen.errors import NotFound, UserError
from rowen.wiring import open_ports, searching_elsewhere
from tests.contract.helpers import a_generation, a_source
from tests.support.stores import a_sqlite_file

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
PAGES = {"https://docs.example/a": "# Barley\n\nBarley grows.", "https://docs.example/b": "# Rye\n\nRye."}
CALL = SearchCall(
    query="bärley \ud800",
    filters=Filters(source_ids=frozenset({3, 1}), kinds=frozenset({"web"}), metadata={"a": "b"}, since=NOW),
    mode=SearchMode.VECTOR,
    limit=7,
    prefix=True,
)


@asynccontextmanager
async def a_service(folder: Path, processes: int = 1) -> AsyncIterator[tuple[Config, Ports]]:
    config = Config(
        store=StoreConfig(url=f"sqlite:///{a_sqlite_file(folder / 'rowen.db')}"),
        service=ServiceConfig(search_processes=processes),
    )
    async with open_ports(config) as ports:
        yield config, ports


async def test_a_call_and_its_answer_pass_through_frames() -> None:
    config = orjson.dumps(asdict(Config(service=ServiceConfig(search_processes=3))))
    for page in (None, searching.Page(limit=5, offset=2)):
        read = searching.read_request(io.BytesIO(searching.request(config, CALL, page)))
        assert read == (config, replace(CALL, query="bärley ?"), page)
    assert restored(orjson.loads(config)).service.search_processes == 3
    assert searching.read_request(io.BytesIO(b"")) is None
    section = SectionHit(heading_path="A", url="u", snippet="s", score=0.5, matches=((0, 1),))
    hit = Hit(
        source="docs",
        version="",
        url="u",
        title="t",
        heading_path="A › B",
        snippet="x y",
        matches=((0, 1), (2, 3)),
        score=0.75,
        generation=2,
        fetched_at=NOW,
        sections=(section,),
        also_at=(AlsoAt(document_id=4, source="s", version="", url="w"),),
        copies=(CopyAt(document_id=5, source="c", version="1", url="v", title="t", by="text"),),
    )
    times = [one.name for one in fields(Hit) if "datetime" in str(one.type)]
    hit = replace(hit, **dict.fromkeys(times, NOW))
    answer = Answer(query="q", mode=SearchMode.HYBRID, degraded=None, hits=(hit,), on_topic=0.5)
    assert searching.read_answer(searching.write_answer(answer)) == answer
    assert searching.read_answer(searching.write_answer(None)) is None
    for nonsense in (b"{", b"{}", b"[1]", b'{"mode": "hybrid", "hits": [{}]}'):
        with pytest.raises(ValueError, match=r".*"):
            searching.read_answer(nonsense)


async def test_a_child_finds_what_this_process_finds(tmp_path: Path) -> None:
    async with a_service(tmp_path) as (config, ports):
        source = await a_source(ports.store)
        await a_generation(ports.store, source, PAGES)
        async with searching_elsewhere(config, ports, answering.CODE) as beside:
            children = beside.search_elsewhere
            assert isinstance(children, SearchChildren)
            here = await asking.search(beside, "barley", mode=SearchMode.KEYWORD)
            assert await children.started()
            call = replace(CALL, query="barley", filters=Filters(), mode=SearchMode.KEYWORD, limit=10)
            assert await children(replace(call, prefix=False)) == here
            assert len(here.hits) == 1
            page = await children.page(replace(call, prefix=False), limit=10, offset=0)
            assert page == answering.page(here, 10, 0)
            nothing = await children.page(replace(call, prefix=False), limit=1, offset=1)
            assert nothing is not None
            assert orjson.loads(nothing)["hits"] == []
            await a_generation(ports.store, source, {"https://docs.example/c": "# Oats\n\nBarley again."})
            assert len((await asking.search(beside, "barley", mode=SearchMode.KEYWORD)).hits) == 2
            with pytest.raises(NotFound):
                await asking.search(beside, "barley", sources=["nobody"])
            with pytest.raises(UserError, match="limit"):
                await asking.search(beside, "barley", limit=1000)


async def test_a_child_that_is_killed_is_replaced_and_its_search_answered(tmp_path: Path) -> None:
    async with a_service(tmp_path) as (config, ports):
        await a_generation(ports.store, await a_source(ports.store), PAGES)
        async with searching_elsewhere(config, ports, answering.CODE) as beside:
            children = beside.search_elsewhere
            assert isinstance(children, SearchChildren)
            await asking.search(beside, "barley", mode=SearchMode.KEYWORD)
            assert await children.started()
            (child,) = children._pool._idle
            child.kill()
            await child.wait()
            for _ in range(2):
                assert (await asking.search(beside, "barley", mode=SearchMode.KEYWORD)).hits
            assert children._pool.started == 2


@pytest.mark.parametrize("code", ["raise SystemExit(1)", "print('something else')"])
async def test_without_a_child_this_process_answers(tmp_path: Path, code: str) -> None:
    async with a_service(tmp_path) as (config, ports):
        await a_generation(ports.store, await a_source(ports.store), PAGES)
        children = SearchChildren((sys.executable, "-c", code), 1, asdict(config))
        beside = replace(ports, search_elsewhere=children)
        for _ in range(3):
            assert (await asking.search(beside, "barley", mode=SearchMode.KEYWORD)).hits
        assert not await children.started()
        await children.close()


async def test_by_default_there_are_as_many_processes_as_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_service(tmp_path, processes=-1) as (config, ports):
        for cores, expected in ((1, 1), (6, 6), (64, 8)):
            monkeypatch.setattr("rowen.adapters.children.cores.cores", lambda cores=cores: cores)
            async with searching_elsewhere(config, ports, answering.CODE) as beside:
                assert isinstance(beside.search_elsewhere, SearchChildren)
                assert beside.search_elsewhere._workers == expected


async def test_no_process_is_started_before_the_first_search_or_where_none_is_wanted(tmp_path: Path) -> None:
    async with a_service(tmp_path, processes=0) as (config, ports):
        assert ports.search_elsewhere is None
        async with searching_elsewhere(config, ports, answering.CODE) as beside:
            assert beside is ports
        async with searching_elsewhere(
            replace(config, service=ServiceConfig()), ports, answering.CODE
        ) as beside:
            assert isinstance(beside.search_elsewhere, SearchChildren)
            assert beside.search_elsewhere._pool.started == 0
