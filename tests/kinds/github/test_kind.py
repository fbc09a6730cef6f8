"""Repositories by the API of GitHub: what each kind of refresh asks, and what nothing makes it lose."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from rowen.core.document import Outcome
from rowen.core.exchange.git import blob_id
from rowen.core.run import RunStatus, StopReason
from rowen.doors.shapes import runs as shapes
from rowen.engine.receipt import Receipt
from rowen.errors import BadLocation, ConfigError, RowenError
from rowen.managing import sources
from rowen.managing.estimate import cost_of
from tests.support.github_api import FakeRepository, GitHubApi
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

LOCATION = "https://github.com/acre/docs"
TOKEN = "ghp_onlyForTheApi0123456789"


@pytest.fixture
def api() -> GitHubApi:
    api = GitHubApi()
    api.repository(
        "acre/docs",
        {
            "README.md": "# Farm\n\nWelcome to barley.\n",
            "docs/oats.md": "# Oats\n\nAbout oats.\n",
            "docs/rye.md": "# Rye\n\nAbout rye.\n",
            "logo.png": b"\x89PNG",
        },
    )
    return api


@pytest.fixture
def repository(api: GitHubApi) -> FakeRepository:
    return api.repositories["acre/docs"]


@pytest.fixture
async def world(tmp_path: Path, api: GitHubApi) -> AsyncIterator[World]:
    with api:
        async with a_world(tmp_path, api) as made:
            yield made


async def add(world: World, location: str = LOCATION, **settings: object) -> sources.Added:
    given = {"api_url": world.site.url, **{key: str(value) for key, value in settings.items()}}
    added = await sources.add(world.ports, location, name="docs", kind="github", settings=given)
    world.site.clear_log()
    return added


async def outcomes(world: World, receipt: Receipt) -> dict[str, tuple[Outcome, str]]:
    return {one.reference: (one.outcome, one.reason) for one in await world.store.run_items(receipt.run_id)}


# Adding


async def test_adding_asks_the_api_and_says_what_it_found(world: World, repository: FakeRepository) -> None:
    repository.description, repository.has_wiki, repository.archived = "All about grain", True, True
    added = await add(world)
    assert (added.source.kind, added.source.location) == ("github", LOCATION)
    said = "\n".join(added.findings)
    assert "`acre/docs`, default branch `main`" in said
    assert "All about grain" in said
    assert "archived" in said


async def test_an_address_at_github_is_a_repository_and_its_wiki_a_web_site(world: World) -> None:
    for location, kind in [
        ("https://github.com/acre/docs", "github"),
        ("git@github.com:acre/handbook.git", "github"),
        ("https://github.com/acre/docs/tree/main/guide", "github"),
        ("https://github.com/acre/docs/wiki", "web"),
    ]:
        added = await sources.add(
            world.ports, location, name=location.rpartition("/")[2].rpartition(":")[2], check=False
        )
        assert added.source.kind == kind, location


async def test_a_repository_nobody_may_see_is_refused_with_a_word_about_tokens(
    world: World, repository: FakeRepository
) -> None:
    repository.private_token = TOKEN
    with pytest.raises(BadLocation, match="404") as caught:
        await add(world)
    assert "GITHUB_TOKEN" in str(caught.value.hint)


async def test_a_renamed_repository_is_added_under_its_new_name(world: World, api: GitHubApi) -> None:
    api.rename("acre/docs", "acre/handbook")
    added = await add(world)
    assert added.source.location == "https://github.com/acre/handbook"
    assert "`acre/docs` is called `acre/handbook` now" in added.findings


async def test_the_api_tells_where_a_branch_ends_and_a_path_begins(
    world: World, repository: FakeRepository
) -> None:
    repository.write("docs/spelt.md", "# Spelt", branch="feature/ancient")
    added = await add(world, f"{LOCATION}/tree/feature/ancient/docs")
    assert added.source.location == f"{LOCATION}/tree/feature%2Fancient/docs"
    await world.sync()
    assert await world.pages() == {"docs/spelt.md"}
    with pytest.raises(BadLocation, match="no branch, tag or commit `nowhere`"):
        await add(world, f"{LOCATION}/tree/nowhere/docs")


async def test_an_enterprise_server_has_its_api_beside_it(world: World) -> None:
    with pytest.raises(BadLocation, match=f"404 from `{world.site.url}/api/v3/repos/acre/docs`"):
        await sources.add(world.ports, f"{world.site.url}/acre/docs", name="x", kind="github")


async def test_an_api_that_is_no_address_is_refused(world: World) -> None:
    for address in ("ghe.example.com", "https://me:secret@ghe.example.com/api/v3"):
        with pytest.raises(ConfigError, match="expected an http or https address"):
            await add(world, api_url=address)


async def test_what_is_no_repository_is_refused_before_anybody_is_asked(world: World) -> None:
    for location in ("https://github.com/acre", "https://github.com/acre/docs/issues/7", "nonsense"):
        with pytest.raises(BadLocation, match="not the address of a repository"):
            await add(world, location)
    assert not world.site.requests


# The table: first, unchanged, changed, new, gone, error


async def test_the_first_harvest_asks_for_the_tree_and_each_text(world: World, api: GitHubApi) -> None:
    await add(world)
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 3)
    assert receipt.counters.requests == len(api.requests) == 4
    assert receipt.counters.ignored["binary"] == 1
    assert await world.pages() == {"README.md", "docs/oats.md", "docs/rye.md"}
    hit = (await world.search("oats")).hits[0]
    assert hit.url.partition("#")[0] == f"{LOCATION}/blob/HEAD/docs/oats.md"


async def test_an_unchanged_repository_costs_one_304_that_does_not_count(
    world: World, api: GitHubApi
) -> None:
    await add(world)
    await world.sync()
    used = api.used
    await world.sync()
    before = world.store.rows_written()
    receipt = await world.sync()
    written = world.store.rows_written() - before
    assert [(asked.status, asked.conditional) for asked in api.requests] == [(304, True)]
    assert api.used == used
    assert (receipt.counters.requests, receipt.counters.unchanged, receipt.counters.created) == (1, 3, 0)
    assert (receipt.counters.parses, receipt.counters.embeddings_computed) == (0, 0)
    assert written < 10


@pytest.mark.torture
async def test_one_changed_file_of_five_thousand_costs_two_requests(
    world: World, api: GitHubApi, repository: FakeRepository
) -> None:
    for number in range(4_997):
        repository.write(f"docs/part{number % 40}/page{number}.md", f"# Page {number}\n\nText {number}.\n")
    api.limit = 10_000
    await add(world)
    first = await world.sync()
    assert (first.counters.created, first.counters.requests) == (5_000, 5_001)
    repository.write("docs/part7/page7.md", "# Page 7\n\nNow about millet.\n")
    receipt = await world.sync()
    assert receipt.counters.requests == len(api.requests) == 2
    assert (receipt.counters.updated, receipt.counters.unchanged) == (1, 4_999)
    assert await world.found("millet") == [f"{LOCATION}/blob/HEAD/docs/part7/page7.md"]
    assert (await world.sync()).counters.requests == 1


async def test_new_and_deleted_files_are_seen_in_the_tree(world: World, repository: FakeRepository) -> None:
    await add(world)
    await world.sync()
    repository.write("docs/wheat.md", "# Wheat\n\nAbout wheat.\n")
    repository.delete("docs/rye.md")
    receipt = await world.sync()
    assert (receipt.counters.created, receipt.counters.deleted, receipt.counters.requests) == (1, 1, 2)
    assert await world.pages() == {"README.md", "docs/oats.md", "docs/wheat.md"}
    assert not await world.found("rye")


async def test_a_moved_file_is_fetched_under_its_new_path(world: World, repository: FakeRepository) -> None:
    await add(world)
    await world.sync()
    embedded = len(world.embedder.embedded)
    repository.files["guide/rye.md"] = repository.files.pop("docs/rye.md")
    receipt = await world.sync()
    assert (receipt.counters.created, receipt.counters.deleted) == (1, 1)
    assert len(world.embedder.embedded) == embedded


async def test_a_blob_that_cannot_be_had_leaves_its_old_version_and_comes_next_time(
    world: World, api: GitHubApi, repository: FakeRepository
) -> None:
    await add(world)
    await world.sync()
    repository.write("docs/rye.md", "# Rye\n\nAbout triticale.\n")
    api.failing["/git/blobs/" + blob_of(repository, "docs/rye.md")] = 500
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.failed) == (RunStatus.PARTIAL, 1)
    assert (await outcomes(world, receipt))["docs/rye.md"] == (Outcome.FAILED, "server_failed")
    assert await world.found("rye")
    api.failing.clear()
    receipt = await world.sync()
    assert [asked.status for asked in api.requests] == [304, 200]
    assert receipt.counters.updated == 1
    assert await world.found("triticale")


async def test_a_full_sync_fetches_everything_again(world: World, api: GitHubApi) -> None:
    await add(world)
    await world.sync()
    receipt = await world.sync(full=True)
    assert receipt.counters.requests == 4
    assert not any(asked.conditional for asked in api.requests)
    assert (receipt.counters.unchanged, receipt.counters.updated) == (3, 0)


async def test_an_interrupted_first_harvest_does_not_fetch_its_files_again(
    world: World, api: GitHubApi, repository: FakeRepository
) -> None:
    await add(world, concurrency=1)
    api.failing["/git/blobs/" + blob_of(repository, "docs/rye.md")] = 403
    api.extra_headers = {"retry-after": "3000"}
    await world.sync()
    api.failing.clear()
    await world.sync()
    asked = [path for path in api.paths if path.startswith("blobs")]
    assert asked == ["blobs/" + blob_of(repository, "docs/rye.md")]
    assert len(await world.pages()) == 3


# Limits


async def test_the_hourly_limit_ends_the_run_with_its_reset_time_and_loses_nothing(
    world: World, api: GitHubApi, repository: FakeRepository
) -> None:
    await add(world)
    await world.sync()
    repository.delete("README.md")
    for name in ("docs/oats.md", "docs/rye.md"):
        repository.write(name, f"# Changed\n\n{name} is new.\n")
    api.limit = api.used + 1
    receipt = await world.sync()
    assert receipt.stop_reason == StopReason.RATE_LIMITED
    assert receipt.error is not None
    assert "403, asked too often; it may be asked again at 2024-01-01 01:00 UTC" in receipt.error
    assert receipt.counters.deleted == 0
    assert world.clock.waits == []
    assert len(await world.pages()) == 3
    api.limit += 100
    receipt = await world.sync()
    assert [asked.status for asked in api.requests] == [304, 200, 200]
    assert (receipt.status, receipt.counters.updated, receipt.counters.deleted) == (RunStatus.COMPLETED, 2, 1)


async def test_a_limit_met_at_the_tree_fails_the_run_and_shows_the_old_state(
    world: World, api: GitHubApi, repository: FakeRepository
) -> None:
    await add(world)
    await world.sync()
    repository.write("README.md", "# Other\n")
    api.limit = api.used
    receipt = await world.sync()
    assert (receipt.status, receipt.stop_reason) == (RunStatus.FAILED, StopReason.RATE_LIMITED)
    assert await world.found("barley")


async def test_a_short_retry_after_is_waited_for(world: World, api: GitHubApi) -> None:
    await add(world)
    api.failing_once["/git/trees/HEAD"] = 403
    api.extra_headers = {"retry-after": "7"}
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.retries) == (RunStatus.COMPLETED, 1)
    assert world.clock.waits[0] == 7.0


async def test_a_403_without_a_limit_is_an_error_and_not_a_pause(world: World, api: GitHubApi) -> None:
    await add(world)
    await world.sync()
    api.failing["/git/trees/HEAD"] = 403
    receipt = await world.sync()
    assert (receipt.status, receipt.stop_reason) == (RunStatus.FAILED, StopReason.ERROR)
    assert len(api.requests) == 1
    assert len(await world.pages()) == 3


# Large repositories


async def test_a_truncated_tree_is_listed_folder_by_folder_and_unchanged_folders_cost_nothing(
    world: World, api: GitHubApi, repository: FakeRepository
) -> None:
    for folder in ("a", "b", "c/x", "c/y"):
        for number in range(5):
            repository.write(f"{folder}/{number}.md", f"# {folder} {number}\n")
    api.max_entries = 8
    await add(world)
    receipt = await world.sync()
    # The root whole and alone, a, b, docs, c whole and alone, x, y, and 23 texts.
    assert receipt.counters.requests == 2 + 3 + 2 + 2 + 23
    assert (receipt.counters.created, receipt.status) == (23, RunStatus.COMPLETED)
    assert (await world.sync()).counters.requests == 1
    repository.write("c/x/3.md", "# Changed\n")
    repository.delete("b/2.md")
    receipt = await world.sync()
    # The root, b, c, x, and one text.
    assert receipt.counters.requests == 5
    assert (receipt.counters.updated, receipt.counters.deleted, receipt.counters.unchanged) == (1, 1, 21)


async def test_a_folder_that_cannot_be_listed_deletes_nothing(
    world: World, api: GitHubApi, repository: FakeRepository
) -> None:
    for number in range(5):
        repository.write(f"a/{number}.md", f"# a {number}\n")
    api.max_entries = 6
    await add(world)
    await world.sync()
    repository.delete("README.md")
    repository.delete("a/1.md")
    api.max_entries = api.max_direct_entries = 3
    receipt = await world.sync()
    assert (receipt.counters.deleted, receipt.counters.failed) == (0, 1)
    assert (await outcomes(world, receipt))["a"][0] is Outcome.FAILED
    assert len(await world.pages()) == 8


async def test_a_limit_met_while_listing_folders_keeps_what_was_listed(
    world: World, api: GitHubApi, repository: FakeRepository
) -> None:
    for folder in ("a", "b", "c"):
        for number in range(4):
            repository.write(f"{folder}/{number}.md", f"# {folder} {number}\n")
    api.max_entries = 6
    await add(world)
    api.limit = api.used + 4
    receipt = await world.sync()
    assert (receipt.status, receipt.stop_reason) == (RunStatus.FAILED, StopReason.RATE_LIMITED)
    api.limit += 100
    receipt = await world.sync()
    # The root is a 304, two folders were listed before the limit, two are left, then 15 texts.
    assert (receipt.counters.requests, receipt.counters.created) == (1 + 2 + 15, 15)


async def test_a_tree_that_is_too_large_to_be_taken_is_listed_folder_by_folder(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rowen.kinds.github.kind.MAX_ANSWER_BYTES", 0)
    world.ports = replace(world.ports, fetch=replace(world.ports.fetch, max_body_bytes=550))
    await add(world)
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 3)


async def test_in_a_truncated_tree_only_folders_on_the_way_to_the_path_are_asked(
    world: World, api: GitHubApi, repository: FakeRepository
) -> None:
    for folder in ("a", "b", "docs/deep", "docs/other"):
        repository.write(f"{folder}/1.md", f"# {folder}\n")
    api.max_entries = 4
    await add(world, f"{LOCATION}/tree/main/docs/deep")
    receipt = await world.sync()
    assert await world.pages() == {"docs/deep/1.md"}
    assert receipt.counters.requests == 2 + 2 + 1 + 1


# What is not taken


async def test_submodules_links_large_and_hidden_files_are_passed_over_without_a_request(
    world: World, repository: FakeRepository
) -> None:
    world.ports = replace(world.ports, fetch=replace(world.ports.fetch, max_body_bytes=1_000))
    repository.write("vendor", b"commit", mode="160000")
    repository.write("link.md", "README.md", mode="120000")
    repository.write("large.md", "x" * 2_000)
    repository.write(".github/notes.md", "hidden")
    await add(world)
    receipt = await world.sync()
    assert receipt.counters.requests == 4
    for reason in ("submodule", "symlink", "too_large", "hidden", "binary"):
        assert receipt.counters.ignored[reason] == 1, reason


async def test_a_file_that_turns_out_to_be_no_text_is_fetched_once(
    world: World, api: GitHubApi, repository: FakeRepository
) -> None:
    repository.write("data.blobby", b"\x00\x01\x02")
    await add(world)
    assert (await world.sync()).counters.requests == 5
    assert (await world.sync()).counters.requests == 1
    repository.write("README.md", "# Changed\n")
    assert (await world.sync()).counters.requests == 2
    assert "data.blobby" not in await world.pages()


async def test_globs_and_the_path_of_the_address_choose_files(
    world: World, repository: FakeRepository
) -> None:
    repository.write("docs/draft/new.md", "# New\n")
    repository.write("docs2/other.md", "# Other\n")
    await add(world, f"{LOCATION}/tree/main/docs", exclude="docs/draft/**")
    await world.sync()
    assert await world.pages() == {"docs/oats.md", "docs/rye.md"}


async def test_one_file_can_be_a_source(world: World) -> None:
    await add(world, f"{LOCATION}/blob/main/docs/rye.md")
    await world.sync()
    assert await world.pages() == {"docs/rye.md"}
    hit = (await world.search("rye")).hits[0]
    assert hit.url.startswith(f"{LOCATION}/blob/main/docs/rye.md")


# Names that change


async def test_a_renamed_default_branch_changes_nothing(
    world: World, api: GitHubApi, repository: FakeRepository
) -> None:
    await add(world)
    await world.sync()
    repository.rename_branch("trunk")
    receipt = await world.sync()
    assert (receipt.counters.requests, receipt.counters.unchanged) == (1, 3)


async def test_another_default_branch_is_followed(world: World, repository: FakeRepository) -> None:
    await add(world)
    await world.sync()
    repository.write("README.md", "# Next\n\nAbout sorghum.\n", branch="next")
    repository.default_branch = "next"
    receipt = await world.sync()
    assert (receipt.counters.updated, receipt.counters.deleted) == (1, 2)


async def test_a_server_that_does_not_know_head_is_asked_by_the_name_of_the_branch(
    world: World, api: GitHubApi, repository: FakeRepository
) -> None:
    api.knows_head = False
    await add(world)
    assert (await world.sync()).counters.created == 3
    assert (await world.sync()).counters.requests == 1
    repository.rename_branch("trunk")
    receipt = await world.sync()
    assert [asked.status for asked in api.requests] == [404, 200, 200]
    assert (receipt.counters.unchanged, receipt.status) == (3, RunStatus.COMPLETED)
    assert (await world.sync()).counters.requests == 1


async def test_a_branch_that_was_typed_and_is_gone_is_an_error_that_deletes_nothing(
    world: World, repository: FakeRepository
) -> None:
    await add(world, f"{LOCATION}/tree/main")
    await world.sync()
    repository.rename_branch("trunk")
    receipt = await world.sync()
    assert (receipt.status, receipt.stop_reason) == (RunStatus.FAILED, StopReason.ERROR)
    assert "branch `main` of `acre/docs`" in str(receipt.error)
    assert len(await world.pages()) == 3


async def test_a_path_that_is_gone_is_an_error_that_deletes_nothing(
    world: World, repository: FakeRepository
) -> None:
    await add(world, f"{LOCATION}/tree/main/docs")
    await world.sync()
    repository.delete("docs/oats.md")
    repository.delete("docs/rye.md")
    receipt = await world.sync()
    assert receipt.status is RunStatus.FAILED
    assert "path `docs` of `acre/docs`" in str(receipt.error)
    assert len(await world.pages()) == 2


async def test_a_repository_renamed_later_is_followed_with_one_redirect(
    world: World, api: GitHubApi, repository: FakeRepository
) -> None:
    await add(world)
    await world.sync()
    api.rename("acre/docs", "acre/handbook")
    repository.write("README.md", "# Handbook\n")
    repository.write("docs/rye.md", "# Rye again\n")
    receipt = await world.sync()
    assert [asked.status for asked in api.requests] == [301, 200, 200, 200]
    assert receipt.counters.updated == 2


async def test_a_repository_that_is_gone_or_emptied_loses_nothing(world: World, api: GitHubApi) -> None:
    await add(world)
    await world.sync()
    kept = api.repositories.pop("acre/docs")
    receipt = await world.sync()
    assert (receipt.status, receipt.stop_reason) == (RunStatus.FAILED, StopReason.ERROR)
    kept.files.clear()
    api.repositories["acre/docs"] = kept
    receipt = await world.sync()
    assert "409, it is empty" in str(receipt.error)
    assert len(await world.pages()) == 3


async def test_redirects_without_end_are_an_error(world: World, api: GitHubApi) -> None:
    await add(world)
    api.redirect_away = f"{world.site.url}/repos/acre/docs/git/trees/HEAD?recursive=1"
    receipt = await world.sync()
    assert "more than 3 redirects" in str(receipt.error)


async def test_a_branch_the_api_names_and_does_not_have_is_an_error(world: World, api: GitHubApi) -> None:
    await add(world)
    api.failing = {"/git/trees/HEAD": 404, "/git/trees/main": 404}
    receipt = await world.sync()
    assert (receipt.status, receipt.stop_reason) == (RunStatus.FAILED, StopReason.ERROR)
    api.knows_head, api.failing = False, {}
    await world.sync()
    api.failing = {"/git/trees/main": 404}
    assert (await world.sync()).status is RunStatus.FAILED
    assert len(await world.pages()) == 3


@pytest.mark.parametrize(("status", "said"), [(451, "legal reasons"), (403, "403 from"), (418, "418 from")])
async def test_other_refusals_are_said_as_they_are(
    world: World, api: GitHubApi, status: int, said: str
) -> None:
    await add(world)
    api.failing["/git/trees/HEAD"] = status
    assert said in str((await world.sync()).error)


async def test_bytes_that_do_not_fit_their_id_are_not_taken(world: World, repository: FakeRepository) -> None:
    await add(world)
    repository.blobs[blob_of(repository, "docs/rye.md")] = b"# Something else"
    receipt = await world.sync()
    assert (await outcomes(world, receipt))["docs/rye.md"] == (Outcome.FAILED, "unfetchable")
    assert "docs/rye.md" not in await world.pages()


# Without a token: the host for raw files


async def test_without_a_token_files_come_from_the_raw_host_and_the_api_tells_the_tree(
    world: World, api: GitHubApi
) -> None:
    await add(world, raw_url=f"{world.site.url}/raw")
    receipt = await world.sync()
    assert receipt.counters.created == 3
    assert [asked.path for asked in api.requests if "/raw/" not in asked.path] == [
        "/repos/acre/docs/git/trees/HEAD?recursive=1"
    ]


async def test_a_raw_copy_that_is_behind_is_not_taken_for_the_new_version(
    world: World, api: GitHubApi, repository: FakeRepository
) -> None:
    await add(world, raw_url=f"{world.site.url}/raw")
    await world.sync()
    repository.stale_raw["docs/rye.md"] = repository.files["docs/rye.md"][1]
    repository.write("docs/rye.md", "# Rye\n\nAbout triticale.\n")
    receipt = await world.sync()
    assert (receipt.counters.requests, receipt.counters.updated) == (3, 1)
    assert await world.found("triticale")


async def test_every_request_names_the_version_of_the_api_it_was_written_for(
    world: World, api: GitHubApi, repository: FakeRepository
) -> None:
    await add(world)
    await world.sync()
    assert {asked.headers.get("X-GitHub-Api-Version") for asked in api.requests} == {"2022-11-28"}


# The token


async def test_a_private_repository_is_read_with_the_token_and_the_token_is_kept_nowhere(
    world: World, api: GitHubApi, repository: FakeRepository, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    repository.private_token = TOKEN
    world.ports = replace(world.ports, secrets={"GITHUB_TOKEN": TOKEN}.get)
    added = await add(world, raw_url=f"{world.site.url}/raw")
    receipts = [await world.sync()]
    assert not [asked for asked in api.requests if "/raw/" in asked.path]
    assert all(asked.headers["Authorization"] == f"Bearer {TOKEN}" for asked in api.requests)
    repository.write("README.md", "# Changed\n")
    api.failing["/git/blobs/" + blob_of(repository, "README.md")] = 500
    receipts.append(await world.sync())
    api.failing.clear()
    repository.private_token = "another"
    receipts.append(await world.sync())
    assert "token may not be allowed" in str(receipts[-1].hint)
    with pytest.raises(RowenError) as caught:
        await add(world)
    items = [item for receipt in receipts for item in await world.store.run_items(receipt.run_id)]
    assert any(item.outcome is Outcome.FAILED for item in items)
    seen = [
        repr(world.ports),
        repr(added),
        *(json.dumps(shapes.Receipt.show(receipt)) for receipt in receipts),
        repr(items),
        repr(world.events),
        repr(caught.value) + str(caught.value.facts) + str(caught.value.hint),
        caplog.text,
        *(path.read_bytes().decode("latin-1") for path in tmp_path.glob("rowen.db*")),
    ]
    assert not [text[:80] for text in seen if TOKEN in text]


async def test_the_token_follows_no_redirect_to_another_host(world: World, api: GitHubApi) -> None:
    await add(world)
    world.ports = replace(world.ports, secrets={"GITHUB_TOKEN": TOKEN}.get)
    with GitHubApi() as stranger:
        stranger.repository("acre/docs", {"README.md": "# Trap\n"})
        api.redirect_away = f"{stranger.url}/repos/acre/docs/git/trees/HEAD?recursive=1"
        receipt = await world.sync()
        assert receipt.status is RunStatus.FAILED
        assert "redirects away from the API" in str(receipt.error)
        assert not stranger.requests


async def test_a_source_can_have_a_token_of_its_own(world: World, api: GitHubApi) -> None:
    api.repositories["acre/docs"].private_token = "mine"
    world.ports = replace(world.ports, secrets={"GITHUB_TOKEN": TOKEN, "FARM": "mine"}.get)
    added = await add(world, token="${FARM}")
    assert added.source.params["token"] == "${FARM}"
    assert (await world.sync()).counters.created == 3
    with pytest.raises(ConfigError, match="expected a reference") as caught:
        await add(world, token="ghp_literal")
    assert "ghp_literal" not in str(caught.value)


async def test_a_token_that_is_not_accepted_is_said_so(world: World) -> None:
    await add(world)
    world.ports = replace(world.ports, secrets={"GITHUB_TOKEN": "expired"}.get)
    receipt = await world.sync()
    assert "401, the token is not accepted" in str(receipt.error)
    assert "GITHUB_TOKEN" in str(receipt.hint)


def blob_of(repository: FakeRepository, path: str) -> str:
    return blob_id(repository.files[path][1], like="")


async def test_a_plan_before_the_first_harvest_counts_the_tree_and_reads_a_few_files(world: World) -> None:
    added = await add(world, exclude="docs/rye.md")
    made = await cost_of(world.ports, added.source, price_per_million_tokens=0.0)
    assert made.estimate is not None
    assert (made.items, made.new_items, made.texts) == (2, 2, 2)
    assert (made.estimate.exact, made.estimate.sampled) == (True, 2)
    assert made.estimate.bytes == len("# Farm\n\nWelcome to barley.\n# Oats\n\nAbout oats.\n")
    assert made.estimate.requests == len(world.site.requests) == 4
    assert "the files of its tree were counted; lengths from 2 of them, 4 requests" in made.estimate.says
    assert await world.store.listings(added.source.id) == {}
