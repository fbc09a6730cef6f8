"""Repositories by git itself: one question when nothing changed, and only the files that did."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from rowen.core.run import RunStatus, StopReason
from rowen.errors import BadLocation, ConfigError, ConnectionFailed
from rowen.managing import sources
from rowen.managing.estimate import cost_of
from rowen.managing.sources import Added
from rowen.ports.repositories import Head
from tests.support.git_repository import WorkingCopy
from tests.support.site import Site
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio


@pytest.fixture
def copy(tmp_path: Path) -> WorkingCopy:
    made = WorkingCopy(tmp_path / "acre")
    made.commit(
        {
            "README.md": "# Farm\n\nWelcome to barley.\n",
            "docs/oats.md": "# Oats\n\nAbout oats.\n",
            "docs/rye.md": "# Rye\n\nAbout rye.\n",
            "logo.png": b"\x89PNG",
        }
    )
    return made


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with Site() as unused:
        async with a_world(tmp_path, unused) as made:
            yield made


async def add(world: World, location: str, **settings: str) -> Added:
    return await sources.add(world.ports, location, name="docs", kind="git", settings=settings)


async def test_a_folder_with_a_repository_is_found_and_described(world: World, copy: WorkingCopy) -> None:
    added = await add(world, str(copy.folder))
    assert (added.source.kind, added.source.location) == ("git", copy.address)
    assert copy.git("rev-parse", "HEAD")[:12] in added.findings[0]
    with pytest.raises(BadLocation, match="does not appear to be a git repository"):
        await add(world, str(copy.folder / "docs"))


async def test_a_repository_without_a_working_folder_is_not_taken_for_a_folder_of_files(
    world: World, copy: WorkingCopy, tmp_path: Path
) -> None:
    copy.git("clone", "--quiet", "--bare", ".", str(tmp_path / "mirror"))
    added = await sources.add(world.ports, str(tmp_path / "mirror"), name="bare")
    assert (added.source.kind, added.source.location) == ("git", f"git+file://{tmp_path}/mirror")
    added = await sources.add(world.ports, str(copy.folder), name="folder")
    assert added.source.kind == "files"


@pytest.mark.parametrize(
    ("location", "kind"),
    [
        ("git+https://git.example.org/acre/docs", "git"),
        ("https://git.example.org/acre/docs.git", "git"),
        ("git@git.example.org:acre/docs.git", "git"),
        ("git+https://github.com/acre/docs", "git"),
        ("https://git.example.org/acre/docs", "web"),
    ],
)
async def test_addresses_that_only_git_understands_are_recognised(
    world: World, location: str, kind: str
) -> None:
    added = await sources.add(world.ports, location, name="docs", check=False)
    assert added.source.kind == kind


async def test_a_branch_that_looks_like_an_option_is_refused(world: World, copy: WorkingCopy) -> None:
    for branch in ("--upload-pack=id", "a b", "x^{}"):
        with pytest.raises(ConfigError, match="expected the name of a branch"):
            await add(world, copy.address, branch=branch)


async def test_a_password_in_an_address_is_refused(world: World) -> None:
    with pytest.raises(BadLocation) as caught:
        await add(world, "git+https://me:hunter2@git.example.org/acre/docs.git")
    assert "hunter2" not in str(caught.value)


async def test_the_first_harvest_is_three_exchanges_and_an_unchanged_one_is_one(
    world: World, copy: WorkingCopy
) -> None:
    await add(world, copy.address)
    first = await world.sync()
    assert (first.status, first.counters.created) == (RunStatus.COMPLETED, 3)
    # Where it stands, its tree, its files.
    assert (first.counters.requests, first.counters.reads) == (3, 3)
    assert first.counters.ignored["binary"] == 1
    hit = (await world.search("oats")).hits[0]
    assert hit.url.startswith(f"file://{copy.folder}/docs/oats.md")
    before = world.store.rows_written()
    again = await world.sync()
    assert (again.counters.requests, again.counters.reads, again.counters.unchanged) == (1, 0, 3)
    assert world.store.rows_written() - before < 10


async def test_only_changed_files_are_read(world: World, copy: WorkingCopy) -> None:
    await add(world, copy.address)
    await world.sync()
    copy.commit(
        {"docs/rye.md": "# Rye\n\nAbout triticale.\n", "docs/wheat.md": "# Wheat\n"}, remove=("docs/oats.md",)
    )
    receipt = await world.sync()
    assert (receipt.counters.requests, receipt.counters.reads) == (3, 2)
    counters = receipt.counters
    assert (counters.updated, counters.created, counters.deleted, counters.unchanged) == (1, 1, 1, 1)
    assert await world.pages() == {"README.md", "docs/rye.md", "docs/wheat.md"}


async def test_a_commit_that_changes_no_file_reads_none(world: World, copy: WorkingCopy) -> None:
    await add(world, copy.address)
    await world.sync()
    copy.commit()
    receipt = await world.sync()
    assert (receipt.counters.requests, receipt.counters.reads, receipt.counters.unchanged) == (2, 0, 3)


async def test_a_branch_and_a_path_can_be_chosen(world: World, copy: WorkingCopy) -> None:
    copy.git("checkout", "--quiet", "-b", "next")
    copy.commit({"docs/spelt.md": "# Spelt\n"})
    copy.git("checkout", "--quiet", "main")
    await add(world, copy.address, branch="next", path="docs/", link="https://x.org/{branch}/{path}")
    await world.sync()
    assert await world.pages() == {"docs/oats.md", "docs/rye.md", "docs/spelt.md"}
    assert (await world.search("spelt")).hits[0].url.startswith("https://x.org/next/docs/spelt.md")


async def test_a_repository_or_branch_that_is_gone_loses_nothing(world: World, copy: WorkingCopy) -> None:
    await add(world, copy.address, branch="main")
    await world.sync()
    copy.git("branch", "--move", "trunk")
    receipt = await world.sync()
    assert (receipt.status, receipt.stop_reason) == (RunStatus.FAILED, StopReason.ERROR)
    assert "no branch or tag `main`" in str(receipt.error)
    copy.folder.rename(copy.folder.with_name("elsewhere"))
    assert (await world.sync()).status is RunStatus.FAILED
    assert len(await world.pages()) == 3


async def test_a_path_that_is_gone_is_an_error_and_no_deletion(world: World, copy: WorkingCopy) -> None:
    await add(world, copy.address, path="docs")
    await world.sync()
    copy.commit(remove=("docs/oats.md", "docs/rye.md"))
    receipt = await world.sync()
    assert receipt.status is RunStatus.FAILED
    assert len(await world.pages()) == 2


async def test_files_that_could_not_be_brought_come_with_the_next_run(
    world: World, copy: WorkingCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add(world, copy.address)
    await world.sync()
    copy.commit({"docs/rye.md": "# Rye\n\nAbout triticale.\n"}, remove=("docs/oats.md",))

    async def fail(self: object, ids: object) -> None:
        raise ConnectionFailed("the network is away")

    with monkeypatch.context() as patched:
        patched.setattr("rowen.adapters.git.repositories.GitRepository.bring", fail)
        receipt = await world.sync()
    assert (receipt.stop_reason, receipt.counters.deleted) == (StopReason.HOST_UNAVAILABLE, 0)
    assert await world.found("oats")
    receipt = await world.sync()
    # The commit is at hand already: where it stands, and the file.
    assert (receipt.counters.requests, receipt.counters.updated, receipt.counters.deleted) == (2, 1, 1)


async def test_a_deleted_clone_costs_nothing_but_fetching_it_again(
    world: World, copy: WorkingCopy, tmp_path: Path
) -> None:
    await add(world, copy.address)
    await world.sync()
    shutil.rmtree(tmp_path / "clones")
    assert (await world.sync()).counters.requests == 1
    copy.commit({"README.md": "# Farm\n\nNow with millet.\n"})
    receipt = await world.sync()
    assert (receipt.counters.updated, receipt.counters.unchanged) == (1, 2)


async def test_links_and_large_files_are_passed_over_and_large_ones_are_read_once(
    world: World, copy: WorkingCopy
) -> None:
    world.ports = replace(world.ports, fetch=replace(world.ports.fetch, max_body_bytes=1_000))
    (copy.folder / "link.md").symlink_to("README.md")
    copy.commit({"large.md": "x" * 2_000})
    await add(world, copy.address)
    receipt = await world.sync()
    assert (receipt.counters.ignored["symlink"], receipt.counters.ignored["too_large"]) == (1, 1)
    assert receipt.counters.failed == 0
    copy.commit({"README.md": "# Changed\n"})
    receipt = await world.sync()
    assert (receipt.counters.reads, receipt.counters.ignored["too_large"]) == (1, 1)


async def test_a_host_that_is_away_fails_the_run_and_nothing_else(
    world: World, copy: WorkingCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add(world, copy.address)
    await world.sync()

    async def fail(self: object, address: str, branch: str | None) -> Head:
        raise ConnectionFailed("the network is away")

    monkeypatch.setattr("rowen.adapters.git.repositories.GitRepositories.head", fail)
    receipt = await world.sync()
    assert (receipt.status, receipt.stop_reason) == (RunStatus.FAILED, StopReason.HOST_UNAVAILABLE)
    assert len(await world.pages()) == 3


async def test_a_full_sync_reads_everything_again(world: World, copy: WorkingCopy) -> None:
    await add(world, copy.address)
    await world.sync()
    receipt = await world.sync(full=True)
    assert (receipt.counters.reads, receipt.counters.updated, receipt.counters.unchanged) == (3, 0, 3)


async def test_a_commit_can_be_a_branch(world: World, copy: WorkingCopy) -> None:
    first = copy.git("rev-parse", "HEAD")
    copy.commit({"later.md": "# Later\n"})
    await add(world, copy.address, branch=first)
    assert (await world.sync()).counters.requests == 2
    assert (await world.sync()).counters.requests == 0
    assert await world.ports.repositories.head(copy.address, first) == Head(first, first)
    assert "later.md" not in await world.pages()


async def test_a_plan_before_the_first_harvest_counts_the_tree_and_reads_a_few_files(
    world: World, copy: WorkingCopy
) -> None:
    copy.commit({f"docs/many/{number}.md": f"# M{number}\n\nAbout {number}.\n" for number in range(40)})
    added = await add(world, copy.address, path="docs")
    made = await cost_of(world.ports, added.source, price_per_million_tokens=0.0)
    assert made.estimate is not None
    assert (made.items, made.new_items) == (42, 42)
    assert (made.estimate.exact, made.estimate.sampled, made.texts) == (True, 12, 42)
    receipt = await world.sync()
    assert receipt.counters.created == 42
