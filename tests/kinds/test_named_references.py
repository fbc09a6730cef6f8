"""Runs that ask only for what is said to have changed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from rowen.core.rules.schedule import due_at
from rowen.core.run import Mode, RunStatus
from rowen.engine.ports import FetchSettings
from rowen.engine.receipt import Receipt
from rowen.engine.run import sync
from rowen.kinds.github.push_event import read_push
from rowen.managing import sources
from rowen.reading import history
from tests.support.ckan_server import CkanServer, datasets
from tests.support.git_repository import WorkingCopy
from tests.support.github_pushes import PushingApi
from tests.support.site import Site, html
from tests.support.world import World, a_page, a_site_of, a_world

pytestmark = pytest.mark.anyio


async def told(world: World, *only: str, full: bool = False) -> Receipt:
    """A run that is told what has changed."""
    world.site.clear_log()
    source = await world.source()
    return await sync(world.ports, source, only=only, full=full, on_event=world.events.append)


def paths(site: Site) -> list[str]:
    return sorted(asked.path for asked in site.requests)


# Web sites


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with a_site_of(6) as site:
        async with a_world(tmp_path, site) as made:
            yield made


async def harvested(world: World, **settings: object) -> None:
    world.site.set("/robots.txt", "User-agent: *\nDisallow: /closed/\n")
    await world.add(**settings)
    assert (await world.sync()).counters.created == 6


async def test_only_the_named_page_is_asked_and_conditionally(world: World) -> None:
    await harvested(world)
    world.site.set("/p1.html", a_page("/p1.html", "barley"))
    receipt = await told(world, world.site.url + "/p1.html", world.site.url + "/p2.html#top")
    assert paths(world.site) == ["/p1.html", "/p2.html"]
    assert all(asked.conditional for asked in world.site.requests)
    assert (receipt.counters.updated, receipt.counters.not_modified, receipt.counters.deleted) == (1, 1, 0)
    assert (receipt.status, receipt.mode, receipt.generation) == (RunStatus.COMPLETED, Mode.INCREMENTAL, 2)
    assert await world.found("barley") == ["/p1.html"]
    assert len(await world.pages()) == 6


async def test_new_pages_that_a_named_page_links_to_come_along_and_no_further(world: World) -> None:
    await harvested(world)
    links = ["/p1.html", "/p2.html", "/new.html"]
    world.site.set("/", html("Home", "The harvest begins.", links=links))
    world.site.set("/new.html", a_page("/new.html", "spelt", links=["/newer.html"]))
    world.site.set("/newer.html", a_page("/newer.html", "emmer"))
    receipt = await told(world, "/")
    assert paths(world.site) == ["/", "/new.html"]
    assert (receipt.counters.created, receipt.counters.updated) == (1, 1)
    assert len(await world.pages()) == 7, "pages that lost their link are not orphans of such a run"
    await world.sync()
    assert "/newer.html" in await world.pages(), "the next whole run goes on from there"


async def test_addresses_that_are_not_the_sites_are_counted_and_not_asked(world: World) -> None:
    await harvested(world)
    receipt = await told(
        world,
        "https://elsewhere.example/a",
        world.site.url + "/closed/a.html",
        world.site.url + "/logo.png",
        "mailto:somebody@example.org",
    )
    assert world.site.requests == []
    ignored = receipt.counters.ignored
    assert (ignored["out_of_scope"], ignored["robots"], ignored["asset"]) == (1, 1, 1)
    assert ignored["not_an_address"] == 1
    assert (receipt.status, receipt.generation) == (RunStatus.COMPLETED, 1)


async def test_a_named_page_that_is_not_there_any_more_dies_and_no_other(world: World) -> None:
    await harvested(world)
    for path in ("/p1.html", "/p2.html"):
        world.site.remove(path)
    receipt = await told(world, "/p1.html", "/never-was.html")
    assert (receipt.counters.deleted, receipt.counters.ignored["not_found"]) == (1, 1)
    assert "/p1.html" not in await world.pages()
    assert "/p2.html" in await world.pages()


async def test_a_new_page_that_nobody_links_to_is_taken_in(world: World) -> None:
    await harvested(world)
    world.site.set("/fresh.html", a_page("/fresh.html", "spelt"))
    receipt = await told(world, "/fresh.html")
    assert receipt.counters.created == 1
    assert await world.found("spelt") == ["/fresh.html"]


async def test_a_named_page_that_moved_is_found_where_it_is_now(world: World) -> None:
    await harvested(world)
    world.site.set("/moved.html", a_page("/moved.html", "spelt"))
    world.site.set("/p1.html", redirect="/moved.html")
    world.site.set("/p2.html", redirect="/p3.html")
    world.site.set("/p4.html", redirect="/broken.html")
    world.site.set("/broken.html", "no", status=500)
    receipt = await told(world, "/p1.html", "/p2.html", "/p4.html")
    assert await world.pages() == {"/", "/moved.html", "/p3.html", "/p4.html", "/p5.html"}
    assert (receipt.counters.created, receipt.counters.deleted) == (1, 2)
    assert world.site.asked_for("/p3.html") == []


async def test_named_pages_that_fail_stay_and_the_run_says_so(world: World) -> None:
    await harvested(world)
    world.site.set("/p1.html", "no", status=500)
    receipt = await told(world, "/p1.html")
    assert receipt.status is RunStatus.FAILED, "so that it is tried again"
    world.site.set("/p2.html", a_page("/p2.html", "spelt"))
    receipt = await told(world, "/p1.html", "/p2.html")
    assert (receipt.status, receipt.counters.failed) == (RunStatus.PARTIAL, 1)
    assert "/p1.html" in await world.pages()


async def test_a_root_that_is_named_and_gone_waits_for_a_person(world: World) -> None:
    await harvested(world)
    world.site.remove("/")
    receipt = await told(world, "/")
    assert receipt.status is RunStatus.HELD
    assert "/" in await world.pages()


async def test_before_the_first_harvest_everything_is_asked(world: World) -> None:
    await world.add()
    receipt = await told(world, "/p1.html")
    assert (receipt.counters.created, receipt.mode) == (6, Mode.FULL)
    assert (await world.source()).watermark is not None


async def test_another_name_of_a_page_stands_for_the_page(world: World) -> None:
    canonical = '<link rel="canonical" href="/p1.html">'
    world.site.set("/p1", a_page("/p1.html", "harvest").replace("</head>", f"{canonical}</head>"))
    world.site.set("/", html("Home", "Hello.", links=["/p1", "/p1.html"]))
    await world.add()
    await world.sync()
    assert await world.pages() == {"/", "/p1.html"}
    world.site.set("/p1.html", a_page("/p1.html", "barley"))
    await told(world, "/p1")
    assert paths(world.site) == ["/p1.html"]
    assert await world.found("barley") == ["/p1.html"]


async def test_a_site_that_is_full_takes_no_more(world: World) -> None:
    await harvested(world, max_pages=6)
    world.site.set("/fresh.html", a_page("/fresh.html", "spelt"))
    receipt = await told(world, "/fresh.html")
    assert world.site.requests == []
    assert receipt.counters.ignored["over_max_pages"] == 1
    assert receipt.status is RunStatus.COMPLETED


async def test_the_watermark_stays_and_the_next_whole_run_is_not_put_off(world: World) -> None:
    await harvested(world)
    first = await world.source()
    due = due_at(first, world.clock.now(), default_every_s=3600.0)
    for hour in range(3):
        world.clock.advance(3600)
        world.site.set("/p1.html", a_page("/p1.html", f"edition {hour}"))
        assert (await told(world, "/p1.html")).counters.updated == 1
    now = await world.source()
    assert now.watermark == first.watermark
    assert due_at(now, world.clock.now(), default_every_s=3600.0) == due
    await world.sync()
    after = await world.source()
    assert after.watermark is not None
    assert due_at(after, world.clock.now(), default_every_s=3600.0) - due > timedelta(hours=2)
    assert "whole_run_at" not in after.metadata


async def test_a_full_sync_of_named_pages_wants_their_bodies(world: World) -> None:
    await harvested(world)
    await told(world, "/p1.html", full=True)
    assert [asked.conditional for asked in world.site.requests] == [False]


async def test_a_listed_page_of_an_llms_site_is_asked_alone(world: World) -> None:
    entries = "".join(f"- [Page {n}](/n{n}.md): about {n}\n" for n in range(5))
    world.site.set("/llms.txt", f"# Farm\n\n## Docs\n\n{entries}", content_type="text/markdown")
    for n in range(5):
        world.site.set(f"/n{n}.md", f"# Page {n}\n\nAbout {n}.\n", content_type="text/markdown")
    await world.add(path="/llms.txt")
    assert (await world.sync()).counters.created == 6
    world.site.set("/n3.md", "# Page 3\n\nAll of spelt.\n", content_type="text/markdown")
    receipt = await told(world, "/n3.md", "/p1.html")
    assert paths(world.site) == ["/n3.md"]
    assert receipt.counters.ignored["not_markdown"] == 1
    assert await world.found("spelt") == ["/n3.md"]


# Repositories at GitHub


@pytest.fixture
async def farm(tmp_path: Path) -> AsyncIterator[World]:
    api = PushingApi()
    files = {f"docs/{n}.md": f"# Page {n}\n\nAbout {n}.\n" for n in range(40)}
    others = {f"src/{n}.py": f"x = {n}\n" for n in range(300)}
    api.repository(
        "acre/docs", {"README.md": "# Farm\n\nBarley.\n", "logo.png": b"\x89PNG", **files, **others}
    )
    with api:
        async with a_world(tmp_path, api) as made:
            yield made


async def followed(farm: World, **settings: str) -> PushingApi:
    """A source that has seen a push: from here on it knows where it stands."""
    api = farm.site
    assert isinstance(api, PushingApi)
    given = {"api_url": api.url, "exclude": "src/**", **settings}
    await sources.add(farm.ports, "https://github.com/acre/docs", name="docs", kind="github", settings=given)
    assert (await farm.sync()).status is RunStatus.COMPLETED
    await pushed(farm, {"README.md": "# Farm\n\nBarley and rye.\n"})
    return api


async def pushed(
    farm: World, files: dict[str, str | bytes] | None = None, *, remove: Sequence[str] = ()
) -> Receipt:
    api = farm.site
    assert isinstance(api, PushingApi)
    only = read_push(api.push("acre/docs", files, remove=remove)).references()
    assert only
    return await told(farm, *only)


async def test_a_push_costs_one_question_and_one_for_each_file(farm: World) -> None:
    api = await followed(farm)
    receipt = await pushed(farm, {"docs/1.md": "# One\n\nSpelt.\n", "docs/new.md": "# New\n\nEmmer.\n"})
    assert receipt.counters.requests == len(api.requests) == 3
    assert (receipt.counters.updated, receipt.counters.created, receipt.counters.deleted) == (1, 1, 0)
    assert (receipt.status, receipt.mode) == (RunStatus.COMPLETED, Mode.INCREMENTAL)
    (hit,) = (await farm.search("emmer")).hits
    assert hit.url.startswith("https://github.com/acre/docs/blob/HEAD/docs/new.md")
    farm.site.clear_log()
    whole = await farm.sync()
    assert (whole.counters.unchanged, whole.counters.requests) == (42, 1), "the tree agrees with what came"


async def test_what_a_push_removed_dies_and_what_is_not_ours_is_not_asked(farm: World) -> None:
    api = await followed(farm, exclude="src/**,docs/9.md")
    receipt = await pushed(
        farm,
        {"docs/9.md": "# Nine", ".github/x.md": "# Hidden", "logo.png": b"\x89PNG2"},
        remove=["docs/1.md"],
    )
    assert len(api.requests) == 2
    assert receipt.counters.deleted == 1
    assert "docs/1.md" not in await farm.pages()
    ignored = receipt.counters.ignored
    assert (ignored["excluded"], ignored["hidden"], ignored["binary"]) == (1, 1, 1)


async def test_files_are_read_at_the_commit_of_the_push(farm: World) -> None:
    api = await followed(farm)
    only = read_push(api.push("acre/docs", {"docs/1.md": "# One\n\nSpelt.\n"})).references()
    api.push("acre/docs", {"docs/1.md": "# One\n\nEmmer.\n", "docs/2.md": "# Two\n\nEmmer.\n"})
    assert only
    await told(farm, *only)
    assert await farm.found("spelt")
    assert not await farm.found("emmer")


async def test_pushes_that_joined_are_one_run_in_whatever_order_they_came(farm: World) -> None:
    api = await followed(farm)
    wishes: list[str] = []
    for word in ("spelt", "emmer"):
        only = read_push(api.push("acre/docs", {f"docs/{word}.md": f"# {word}\n"})).references()
        wishes = [*(only or ()), *wishes]
    receipt = await told(farm, *wishes)
    assert (receipt.counters.created, len(api.requests)) == (2, 3)


async def test_after_a_push_that_never_arrived_everything_is_compared(farm: World) -> None:
    api = await followed(farm)
    api.push("acre/docs", {"docs/lost.md": "# Lost\n\nSpelt.\n"})
    receipt = await pushed(farm, {"docs/1.md": "# One\n\nEmmer.\n"})
    assert (receipt.counters.created, receipt.counters.updated) == (1, 1)
    # Where the branch stands, its tree, two files.
    assert len(api.requests) == 4
    assert await farm.found("spelt")
    assert (await farm.source()).watermark is not None
    receipt = await pushed(farm, {"docs/2.md": "# Two\n\nEmmer.\n"})
    assert len(api.requests) == 2, "from there on pushes are followed again"


async def test_a_push_that_failed_half_way_makes_the_next_one_compare(farm: World) -> None:
    api = await followed(farm)
    api.failing["contents/docs/1.md"] = 500
    receipt = await pushed(farm, {"docs/1.md": "# One\n\nSpelt.\n", "docs/2.md": "# Two\n\nSpelt.\n"})
    assert (receipt.status, receipt.counters.failed) == (RunStatus.PARTIAL, 1)
    api.failing.clear()
    await pushed(farm, {"docs/3.md": "# Three\n\nSpelt.\n"})
    assert len(await farm.found("spelt")) == 3


async def test_a_repository_that_hides_itself_loses_nothing(farm: World) -> None:
    api = await followed(farm)
    push = read_push(api.push("acre/docs", remove=["docs/1.md"])).references()
    api.repositories["acre/docs"].private_token = "somebody else's"
    assert push
    receipt = await told(farm, *push)
    assert receipt.status is RunStatus.FAILED
    assert "docs/1.md" in await farm.pages()


async def test_a_commit_that_the_api_does_not_know_is_not_waited_for(farm: World) -> None:
    api = await followed(farm)
    payload = api.push("acre/docs", {"docs/1.md": "# One\n\nSpelt.\n"})
    del api.commits[payload["after"]]
    only = read_push(payload).references()
    assert only
    receipt = await told(farm, *only)
    assert receipt.counters.updated == 1


async def test_after_a_rollback_a_push_compares_everything(farm: World) -> None:
    await followed(farm)
    await pushed(farm, {"docs/1.md": "# One\n\nSpelt.\n"})
    await history.rollback(farm.ports, await farm.source())
    await pushed(farm, {"docs/2.md": "# Two\n\nEmmer.\n"})
    assert await farm.found("spelt")
    assert await farm.found("emmer")


async def test_paths_that_somebody_names_are_read_where_the_branch_stands(farm: World) -> None:
    api = await followed(farm)
    api.push("acre/docs", {"docs/1.md": "# One\n\nSpelt.\n", "docs/2.md": "# Two\n\nSpelt.\n"})
    receipt = await told(farm, "docs/1.md")
    assert (receipt.counters.updated, len(api.requests)) == (1, 2)


async def test_links_submodules_and_folders_are_no_files(farm: World) -> None:
    api = await followed(farm)
    repository = api.repositories["acre/docs"]
    repository.write("link.md", "README.md", mode="120000")
    repository.write("broken.md", "nowhere.md", mode="120000")
    repository.write("module", "x", mode="160000")
    api.commit(repository)
    receipt = await told(farm, "link.md", "broken.md", "module", "docs")
    assert receipt.counters.ignored["symlink"] == 2
    assert (receipt.counters.ignored["submodule"], receipt.counters.ignored["folder"]) == (1, 1)
    assert receipt.counters.created == 0


async def test_an_answer_that_makes_no_sense_is_a_failure_and_no_deletion(farm: World) -> None:
    api = await followed(farm)
    api.odd["/contents/docs/1.md"] = "what?"
    receipt = await pushed(farm, {"docs/1.md": "# One\n\nSpelt.\n"})
    assert receipt.status is RunStatus.FAILED
    assert "docs/1.md" in await farm.pages()
    api.odd = {"/commits/HEAD": "main"}
    receipt = await told(farm, "docs/1.md")
    assert receipt.status is RunStatus.FAILED
    assert "not the id of a commit" in str(receipt.error)


async def test_a_source_of_one_folder_takes_nothing_from_elsewhere(farm: World) -> None:
    api = farm.site
    await sources.add(
        farm.ports,
        "https://github.com/acre/docs/tree/main/docs",
        name="docs",
        kind="github",
        settings={"api_url": api.url},
    )
    await farm.sync()
    receipt = await told(farm, "README.md", "docs/1.md")
    assert (receipt.counters.ignored["out_of_scope"], len(api.requests)) == (1, 2)


async def test_large_files_are_asked_for_as_blobs_and_larger_ones_left_out(farm: World) -> None:
    api = await followed(farm)
    farm.ports = replace(farm.ports, fetch=FetchSettings(max_body_bytes=3_000_000))
    large, larger = "# Large\n\n" + "spelt " * 200_000, "x" * 4_000_000
    receipt = await pushed(farm, {"docs/large.md": large, "docs/larger.md": larger, "docs/bin": b"a\0b"})
    assert (receipt.counters.created, receipt.counters.ignored["too_large"]) == (1, 1)
    assert receipt.counters.ignored["binary"] == 1
    assert len(api.requests) == 5


async def test_without_a_token_files_come_from_the_host_for_raw_files_by_their_commit(farm: World) -> None:
    api = await followed(farm, raw_url=farm.site.url + "/raw")
    used = api.used
    receipt = await pushed(farm, {"docs/1.md": "# One\n\nSpelt.\n"}, remove=["docs/2.md"])
    assert api.used - used == 2, "where the commit stands, and whether the other file is gone"
    assert (receipt.counters.updated, receipt.counters.deleted) == (1, 1)
    assert any("/raw/acre/docs/" in path and "HEAD" not in path for path in api.paths)


# Repositories by git, folders, and kinds that cannot


async def test_a_push_to_a_git_repository_is_compared_whole_and_brings_only_what_changed(
    world: World, tmp_path: Path
) -> None:
    copy = WorkingCopy(tmp_path / "acre")
    copy.commit({f"{n}.md": f"# Page {n}\n" for n in range(30)})
    await sources.add(world.ports, copy.address, name="docs", kind="git")
    await world.sync()
    copy.commit({"1.md": "# One\n\nSpelt.\n"}, remove=("2.md",))
    receipt = await told(world, "1.md")
    assert (receipt.counters.updated, receipt.counters.deleted) == (1, 1)
    # Where it stands, its tree, its new files.
    assert (receipt.counters.requests, receipt.counters.reads) == (3, 1)


async def test_only_the_named_files_of_a_folder_are_opened(world: World, tmp_path: Path) -> None:
    folder = tmp_path / "farm"
    folder.mkdir()
    for n in range(5):
        (folder / f"{n}.md").write_text(f"# Page {n}\n")
    await sources.add(world.ports, str(folder), name="docs")
    await world.sync()
    for n in range(4):
        (folder / f"{n}.md").write_text(f"# Page {n}\n\nSpelt.\n")
    (folder / "4.md").unlink()
    receipt = await told(world, "./0.md", "4.md", "never.md")
    assert (receipt.counters.updated, receipt.counters.deleted, receipt.counters.reads) == (1, 1, 1)
    assert (await world.source()).metadata["whole_run_at"]
    receipt = await world.sync()
    assert receipt.counters.updated == 3


async def test_a_portal_asks_for_everything_that_changed_whatever_is_named(tmp_path: Path) -> None:
    with CkanServer(datasets(30)) as portal:
        async with a_world(tmp_path, portal) as world:
            await sources.add(world.ports, portal.portal, name="docs", kind="ckan", check=False)
            await world.sync()
            world.clock.advance(3600)
            receipt = await told(world, "dataset-1")
            assert receipt.status is RunStatus.COMPLETED
            source = await world.source()
            assert source.watermark == world.clock.now()
            assert "whole_run_at" not in source.metadata
