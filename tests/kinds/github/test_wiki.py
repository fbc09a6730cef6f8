"""The wiki of a repository at GitHub: a real git repository beside the server that stands for the API."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from rowen.adapters.git import GitRepositories
from rowen.core.document import Outcome
from rowen.core.run import RunStatus
from rowen.managing import sources
from rowen.managing.find import find
from tests.support.git_repository import WorkingCopy
from tests.support.github_api import GitHubApi
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

LOCATION = "https://github.com/acre/docs"
PAGES = {
    "Home.md": "# Home\n\nAll about fields.\n",
    "Crop-Rotation.md": "# Crop rotation\n\nBarley, then clover.\n",
    "tools/Plough & Harrow.md": "# Plough\n\nHow to plough.\n",
    "_Sidebar.md": "* [[Home]]\n",
    "images/field.png": b"\x89PNG\0",
}


@pytest.fixture
def wiki(tmp_path: Path) -> WorkingCopy:
    made = WorkingCopy(tmp_path / "docs.wiki")
    made.commit(PAGES)
    return made


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with GitHubApi() as api:
        api.repository("acre/docs", {"README.md": "# Farm\n\nWelcome.\n", "guide.md": "# Guide\n\nOats.\n"})
        async with a_world(tmp_path / "world", api) as made:
            yield made


async def add(world: World, wiki: WorkingCopy | None, **settings: str) -> sources.Added:
    given = {"api_url": world.site.url, **settings}
    if wiki is not None:
        given["wiki_url"] = wiki.address
    return await sources.add(world.ports, LOCATION, name="docs", kind="github", settings=given)


async def pages(world: World) -> dict[str, str]:
    """The pages of the wiki that readers see, and where a person reads them."""
    source = await find(world.store, "docs")
    found = await world.search("fields barley plough", limit=50)
    links = {hit.url.partition("#")[0] for hit in found.hits}
    known = [one for one in await world.store.known(source.id) if one.startswith("wiki:")]
    return {one: next((link for link in links if link.endswith(_name(one))), "") for one in sorted(known)}


def _name(reference: str) -> str:
    from urllib.parse import quote

    return "/wiki/" + quote(reference.rpartition("/")[2].removeprefix("wiki:").rpartition(".")[0], safe="")


async def test_the_pages_of_a_wiki_are_a_part_of_the_source_under_their_own_addresses(
    world: World, wiki: WorkingCopy
) -> None:
    added = await add(world, wiki)
    assert not any("wiki" in said for said in added.findings), "the API says that it has none"
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 5)
    assert await pages(world) == {
        "wiki:Crop-Rotation.md": f"{LOCATION}/wiki/Crop-Rotation",
        "wiki:Home.md": f"{LOCATION}/wiki/Home",
        "wiki:tools/Plough & Harrow.md": f"{LOCATION}/wiki/Plough%20%26%20Harrow",
    }


async def test_adding_says_that_the_wiki_comes_along(world: World, wiki: WorkingCopy) -> None:
    assert isinstance(world.site, GitHubApi)
    world.site.repositories["acre/docs"].has_wiki = True
    added = await add(world, wiki)
    assert "its wiki is a part of the source; `--set wiki=false` leaves it out" in added.findings


async def test_an_unchanged_wiki_costs_one_question_and_a_changed_page_that_page(
    world: World, wiki: WorkingCopy
) -> None:
    await add(world, wiki)
    await world.sync()
    receipt = await world.sync()
    assert (receipt.counters.requests, receipt.counters.not_modified) == (2, 5), "the tree, and the branch"
    assert receipt.counters.reads == 0
    wiki.commit({"Home.md": "# Home\n\nAll about meadows.\n"}, remove=("Crop-Rotation.md",))
    receipt = await world.sync()
    counters = receipt.counters
    assert (counters.updated, counters.deleted, counters.unchanged) == (1, 1, 3)
    assert await world.found("meadows") == [f"{LOCATION}/wiki/Home"]


async def test_what_is_deleted_in_one_part_leaves_the_other_alone(world: World, wiki: WorkingCopy) -> None:
    assert isinstance(world.site, GitHubApi)
    await add(world, wiki)
    await world.sync()
    world.site.repositories["acre/docs"].delete("guide.md")
    receipt = await world.sync()
    assert (receipt.counters.deleted, receipt.counters.unchanged) == (1, 4)
    assert len(await pages(world)) == 3


async def test_a_wiki_that_does_not_answer_keeps_its_pages_and_makes_the_run_partial(
    world: World, wiki: WorkingCopy
) -> None:
    assert isinstance(world.site, GitHubApi)
    await add(world, wiki)
    await world.sync()
    shutil.rmtree(wiki.folder)
    world.site.repositories["acre/docs"].write("guide.md", "# Guide\n\nSpelt.\n")
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.updated, receipt.counters.failed) == (RunStatus.PARTIAL, 1, 1)
    (failed,) = [one for one in await world.store.run_items(receipt.run_id) if one.outcome is Outcome.FAILED]
    assert failed.reference == "wiki:"
    assert "wiki=false" in (receipt.hint or "")
    assert len(await pages(world)) == 3
    assert await world.found("spelt")


async def test_a_wiki_that_is_not_there_is_asked_for_once_a_week(world: World, wiki: WorkingCopy) -> None:
    shutil.rmtree(wiki.folder)
    await add(world, wiki)
    for requests in (1, 0):
        receipt = await world.sync()
        assert (receipt.status, receipt.counters.failed) == (RunStatus.COMPLETED, 0)
        assert receipt.counters.requests - len(world.site.requests) == requests
    made = WorkingCopy(wiki.folder)
    made.commit(PAGES)
    world.clock.advance(8 * 86_400)
    assert (await world.sync()).counters.created == 3


async def test_without_the_wiki_its_pages_go(world: World, wiki: WorkingCopy) -> None:
    await add(world, wiki, max_deleted_share="1")
    await world.sync()
    source = await find(world.store, "docs")
    await world.store.set_params(source.id, {**source.params, "wiki": False})
    receipt = await world.sync()
    assert (receipt.counters.deleted, receipt.counters.unchanged) == (3, 2)
    assert await pages(world) == {}


async def test_without_git_the_wiki_is_left_out_and_its_pages_stay(world: World, wiki: WorkingCopy) -> None:
    await add(world, wiki)
    await world.sync()
    none = GitRepositories(wiki.folder.parent / "clones", {"PATH": ""}, program="no-such-git")
    world.ports = replace(world.ports, repositories=none)
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.unchanged) == (RunStatus.COMPLETED, 2)
    assert "its wiki is left out" in (receipt.hint or "")
    assert receipt.counters.ignored["wiki_without_git"] == 1
    assert len(await pages(world)) == 3


async def test_a_page_that_is_asked_for_by_name_is_not_taken_for_a_file(
    world: World, wiki: WorkingCopy
) -> None:
    from rowen.engine.run import sync

    await add(world, wiki)
    await world.sync()
    wiki.commit({"Home.md": "# Home\n\nAll about meadows.\n"})
    receipt = await sync(world.ports, await find(world.store, "docs"), only=["wiki:Home.md"])
    assert (receipt.counters.updated, receipt.counters.deleted) == (1, 0)
    assert len(await pages(world)) == 3
