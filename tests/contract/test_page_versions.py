"""What the store promises about versions of one page in one source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from rowen.core.search.hit import Filters
from rowen.ports.store.store import Store
from rowen.reading.search import search
from tests.contract.helpers import LATER, NOW, a_draft, a_generation, a_run, a_source, an_end, ingest

pytestmark = pytest.mark.anyio

ROOT = "https://docs.example"
OTHERS = {f"{ROOT}/filler/{number}": f"sowing by number {number}" for number in range(30)}


async def found(store: Store, query: str, **filters: object) -> list[str]:
    answer = await search(store, None, query, filters=Filters(**filters))  # type: ignore[arg-type]
    return [hit.url.removeprefix(ROOT) for hit in answer.hits]


def pages(texts: Iterable[tuple[str, str]]) -> dict[str, str]:
    return OTHERS | {f"{ROOT}{path}": text for path, text in texts}


async def test_of_many_versions_of_a_page_the_current_one_is_shown_and_leaves_room_for_others(
    store: Store,
) -> None:
    old = [(f"/docs/1.{number}/grain", f"barley and barley, {number}") for number in range(30)]
    texts = [*old, ("/docs/grain", "barley after wheat, 0"), ("/more", "barley and some rye")]
    await a_generation(store, await a_source(store), pages(texts))
    assert await found(store, "barley") == ["/docs/grain", "/more"]


@pytest.mark.parametrize(
    ("current", "old"),
    [
        ("/en/stable/grain", ["/en/1.11/grain", "/en/latest/grain"]),
        ("/docs/current/grain", ["/docs/16/grain", "/docs/9.6/grain"]),
        ("/3/grain", ["/3.8/grain", "/2.7/grain", "/4.0a1/grain"]),
        ("/docs/v10/grain", ["/docs/v9/grain", "/docs/next/grain"]),
    ],
)
async def test_the_current_version_is_known_by_its_name_or_its_number(
    store: Store, current: str, old: list[str]
) -> None:
    texts = [(path, f"barley {path}") for path in old]
    await a_generation(store, await a_source(store), pages([*texts, (current, "of barley and wheat")]))
    assert await found(store, "barley") == [current]


async def test_a_question_that_names_a_version_is_answered_with_it(store: Store) -> None:
    texts = [(f"/{version}/grain", f"barley in {version}") for version in ("16", "15", "14", "current")]
    texts += [(f"/docs/{version}/corn", f"maize in {version}") for version in ("2.0", "2.1", "1.x")]
    await a_generation(store, await a_source(store, "barleycorn"), pages(texts))
    assert await found(store, "maize") == ["/docs/2.1/corn"]
    assert (await found(store, "maize 2.0"))[0] == "/docs/2.0/corn"
    assert (await found(store, "maize v1"))[0] == "/docs/1.x/corn"
    assert (await found(store, "barleycorn 14 barley"))[0] == "/14/grain"
    assert (await found(store, "take 14 barley"))[0] == "/current/grain"


async def test_the_same_text_in_several_versions_is_shown_at_the_current_one(store: Store) -> None:
    texts = [(f"/en/{version}/grain", "barley") for version in ("1.11", "2.0", "latest")]
    await a_generation(store, await a_source(store), pages(texts))
    assert await found(store, "barley") == ["/en/latest/grain"]


async def test_a_version_that_alone_passes_a_filter_is_not_old(store: Store) -> None:
    lease, run = await a_run(store, await a_source(store))
    drafts = [
        replace(a_draft(f"{ROOT}/{version}/grain", f"barley, {version}"), metadata={"edition": version})
        for version in ("1.0", "2.0", "latest")
    ]
    await ingest(store, lease, run, await store.stage(lease, run, drafts, now=NOW))
    await store.finish_run(lease, run, an_end(run), now=LATER)
    assert await found(store, "barley") == ["/latest/grain"]
    assert await found(store, "barley", metadata={"edition": "1.0"}) == ["/1.0/grain"]


async def test_what_only_an_old_version_says_is_found_there(store: Store) -> None:
    texts = [
        ("/docs/grain", "oats and rye"),
        ("/docs/1.0/grain", "barley"),
        ("/docs/0.9/grain", "oats, barley"),
    ]
    await a_generation(store, await a_source(store), pages(texts))
    answer = await search(store, None, "barley")
    assert [(hit.url, hit.old_version) for hit in answer.hits] == [(f"{ROOT}/docs/1.0/grain", True)]


async def test_an_old_version_that_fits_much_better_stands_below_the_current_one(store: Store) -> None:
    filler = "words of all kinds about everything that grows on fields and in gardens " * 8
    texts = [("/docs/grain", filler + "barley"), ("/docs/1.0/grain", "barley")]
    texts += [(f"/near/{number}", filler[number:] + "barley") for number in range(4)]
    await a_generation(store, await a_source(store), pages(texts))
    assert (await found(store, "barley"))[:2] == ["/docs/grain", "/docs/1.0/grain"]


@pytest.mark.parametrize(
    "paths",
    [
        ["/api/v1/users", "/api/v2/users"],
        ["/book/1/intro", "/book/2/intro", "/book/intro"],
        ["/blog/2023/05/intro", "/blog/2024/05/intro"],
        ["/release-notes/2.0/intro", "/release-notes/2.1/intro"],
        ["/main/intro", "/intro", "/dev/intro"],
    ],
)
async def test_pages_that_only_look_like_versions_are_all_shown(store: Store, paths: list[str]) -> None:
    await a_generation(store, await a_source(store), pages((path, f"barley {path}") for path in paths))
    assert sorted(await found(store, "barley")) == sorted(paths)


async def test_pages_of_two_sources_are_no_versions_of_each_other(store: Store) -> None:
    for name, path in (("one", "/1.0/grain"), ("two", "/2.0/grain")):
        await a_generation(store, await a_source(store, name), pages([(path, f"barley {path}")]))
    assert sorted(await found(store, "barley")) == ["/1.0/grain", "/2.0/grain"]


async def test_versions_that_are_gone_make_no_page_old(store: Store) -> None:
    source = await a_source(store)
    texts = [("/docs/grain", "barley"), ("/docs/1.0/grain", "barley and oats")]
    await a_generation(store, source, pages(texts))
    assert await found(store, "barley") == ["/docs/grain"]
    await a_generation(store, source, {}, gone=[f"{ROOT}/docs/grain"], at=LATER)
    assert await found(store, "barley") == ["/docs/1.0/grain"]
