"""Folders: what a refresh opens, what it finds, and what it never takes for an empty folder."""

from __future__ import annotations

import itertools
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rowen.core.document import Outcome
from rowen.core.rules.left_out import sentences
from rowen.core.run import RunStatus
from rowen.engine import run
from rowen.errors import BadLocation, BodyTooLarge, Unfetchable
from rowen.managing import edit, sources
from rowen.managing import find as finding
from rowen.ports.folders import Scan, ScanOptions
from tests.support.site import Site
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "guide").mkdir(parents=True)
    write(root / "index.md", "# Home\n\nWelcome to barley.\n")
    write(root / "guide" / "oats.md", "# Oats\n\nAbout oats.\n")
    write(root / "guide" / "rye.txt", "All about rye\n")
    return root


@pytest.fixture
async def world(tmp_path: Path, folder: Path) -> AsyncIterator[World]:
    with Site() as unused:
        async with a_world(tmp_path, unused) as made:
            await sources.add(made.ports, str(folder), name="docs")
            yield made


def write(path: Path, text: str | bytes) -> None:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    age(path)


TICKS = itertools.count(1_600_000_000 * 10**9, 10**9)


def age(path: Path) -> None:
    """Files of a test are as old as files of a user, and each change is a second after the one before."""
    moment = next(TICKS)
    os.utime(path, ns=(moment, moment))


async def test_a_folder_is_recognised_and_described(world: World, folder: Path) -> None:
    added = await sources.add(world.ports, f"{folder}/", name="again")
    assert (added.source.kind, added.source.location) == ("files", str(folder))
    assert added.findings[0] == "3 files, 61 B: kind `files`"


async def test_every_text_file_becomes_a_document(world: World) -> None:
    receipt = await world.sync()
    assert (receipt.counters.created, receipt.counters.reads) == (3, 3)
    assert await world.pages() == {"index.md", "guide/oats.md", "guide/rye.txt"}
    (hit,) = (await world.search("oats")).hits
    assert hit.url.startswith("file:///")


async def test_an_unchanged_folder_is_refreshed_without_opening_a_file(world: World) -> None:
    await world.sync()
    rows = world.store.rows_written()
    receipt = await world.sync()
    assert (receipt.counters.reads, receipt.counters.unchanged) == (0, 3)
    # Nine, and one that remembers the folder as it was found.
    assert world.store.rows_written() - rows <= 10


async def test_a_run_that_nobody_watches_counts_the_same(world: World) -> None:
    await world.sync()
    world.clock.advance(60)
    watched = await world.sync()
    (before,) = (await world.search("oats")).hits
    assert len([event for event in world.events if event.kind == "item"]) == 3
    world.clock.advance(60)
    alone = await run.sync(world.ports, await finding.find(world.store, "docs"))
    assert alone.counters.as_dict() == watched.counters.as_dict()
    (after,) = (await world.search("oats")).hits
    assert (after.verified_by, before.verified_by) == ("listing", "listing")
    assert after.verified_at != before.verified_at


async def test_a_file_that_a_new_setting_leaves_out_is_not_taken_for_unchanged(world: World) -> None:
    await world.sync()
    changed = await edit.plan(
        world.ports, await finding.find(world.store, "docs"), settings={"exclude": "*.txt"}
    )
    await edit.carry_out(world.ports, changed)
    receipt = await world.sync()
    assert await world.pages() == {"index.md", "guide/oats.md"}
    assert (receipt.counters.unchanged, receipt.counters.reads) == (2, 0)


async def test_a_touched_file_is_read_and_found_to_be_the_same(world: World, folder: Path) -> None:
    await world.sync()
    age(folder / "index.md")
    receipt = await world.sync()
    assert (receipt.counters.reads, receipt.counters.same_body, receipt.generation) == (1, 1, 1)
    assert (await world.sync()).counters.reads == 0


async def test_a_changed_file_is_read_and_updated(world: World, folder: Path) -> None:
    await world.sync()
    write(folder / "index.md", "# Home\n\nWelcome to spelt.\n")
    receipt = await world.sync()
    assert (receipt.counters.reads, receipt.counters.updated) == (1, 1)
    assert await world.found("spelt") == [(folder / "index.md").as_uri()]


async def test_a_change_that_keeps_time_and_size_is_still_found_when_the_file_was_fresh(
    world: World, folder: Path
) -> None:
    now_ns = int(world.clock.now().timestamp() * 10**9)
    write(folder / "index.md", "# Home\n\nWelcome to maize1.\n")
    os.utime(folder / "index.md", ns=(now_ns, now_ns))
    await world.sync()
    (folder / "index.md").write_text("# Home\n\nWelcome to maize2.\n")
    os.utime(folder / "index.md", ns=(now_ns, now_ns))
    await world.sync()
    assert len(await world.found("maize2")) == 1


async def test_new_and_deleted_files_are_noticed(world: World, folder: Path) -> None:
    await world.sync()
    write(folder / "new.md", "# New\n\nMillet.\n")
    (folder / "guide" / "rye.txt").unlink()
    receipt = await world.sync()
    assert (receipt.counters.created, receipt.counters.deleted) == (1, 1)
    assert await world.pages() == {"index.md", "guide/oats.md", "new.md"}


async def test_a_folder_that_vanished_is_an_error_and_loses_nothing(world: World, folder: Path) -> None:
    await world.sync()
    folder.rename(folder.with_name("elsewhere"))
    receipt = await world.sync()
    assert receipt.status is RunStatus.FAILED
    assert "cannot be read" in (receipt.error or "")
    assert len(await world.pages()) == 3


async def test_a_folder_that_was_emptied_is_held(world: World, folder: Path) -> None:
    await world.sync()
    for path in [*folder.rglob("*.md"), *folder.rglob("*.txt")]:
        path.unlink()
    receipt = await world.sync()
    assert receipt.status is RunStatus.HELD
    assert len(await world.pages()) == 3


async def test_below_a_folder_that_cannot_be_read_nothing_is_deleted(
    world: World, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.sync()
    real = type(world.ports.folders).scan

    async def half(self: object, root: str, options: ScanOptions) -> Scan:
        whole = await real(self, root, options)  # type: ignore[arg-type]
        rest = [entry for entry in whole.entries if not entry.path.startswith("guide/")]
        return Scan(entries=rest, unreadable=[("guide", "Permission denied")])

    monkeypatch.setattr(type(world.ports.folders), "scan", half)
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.deleted) == (RunStatus.PARTIAL, 0)
    assert len(await world.pages()) == 3
    items = await world.store.run_items(receipt.run_id)
    assert [(item.reference, item.outcome) for item in items] == [("guide", Outcome.FAILED)]


async def test_ignored_and_hidden_files_are_left_out(world: World, folder: Path) -> None:
    (folder / "build").mkdir()
    write(folder / "build" / "out.md", "# Built\n")
    write(folder / ".secret.md", "# Hidden\n")
    write(folder / "draft.md", "# Draft\n")
    write(folder / "guide" / "keep.draft.md", "# Kept\n")
    write(folder / ".gitignore", "build/\n*draft.md\n")
    write(folder / "guide" / ".gitignore", "!keep.draft.md\n")
    receipt = await world.sync()
    assert await world.pages() == {"index.md", "guide/oats.md", "guide/rye.txt", "guide/keep.draft.md"}
    assert receipt.counters.ignored["ignored"] == 2
    assert receipt.counters.ignored["hidden"] == 3


async def test_globs_choose_files(world: World, folder: Path) -> None:
    settings = {"include": "*.md", "exclude": "guide/**"}
    await sources.add(world.ports, str(folder), name="some", settings=settings)
    await world.sync("some")
    assert await world.pages("some") == {"index.md"}


async def test_links_that_leave_the_folder_are_not_followed_and_loops_end(
    world: World, folder: Path, tmp_path: Path
) -> None:
    write(tmp_path / "outside.md", "# Secret of the neighbours\n")
    (folder / "out.md").symlink_to(tmp_path / "outside.md")
    (folder / "loop").symlink_to(folder)
    (folder / "same.md").symlink_to(folder / "index.md")
    receipt = await world.sync()
    assert "out.md" not in await world.pages()
    assert "same.md" in await world.pages()
    assert receipt.counters.ignored["link_leaves_folder"] == 1
    assert receipt.counters.ignored["already_listed"] == 1
    with pytest.raises(Unfetchable, match="leaves the folder"):
        await world.ports.folders.read(str(folder), "out.md", max_bytes=1000)


async def test_binary_files_are_passed_over_with_a_reason_and_opened_at_most_once(
    world: World, folder: Path
) -> None:
    write(folder / "logo.png", b"\x89PNG\r\n")
    write(folder / "data.unknown", b"abc\0def")
    write(folder / "LICENSE", "Do as you like with this quinoa\n")
    receipt = await world.sync()
    assert (receipt.counters.reads, receipt.counters.ignored["binary"]) == (5, 2)
    assert len(await world.found("quinoa")) == 1
    again = await world.sync()
    assert (again.counters.reads, again.counters.ignored["binary"]) == (0, 2)
    write(folder / "data.unknown", "now it is text about teff\n")
    assert (await world.sync()).counters.created == 1


async def test_a_file_over_the_limit_is_not_opened_and_a_known_one_keeps_its_old_version(
    world: World, folder: Path
) -> None:
    write(folder / "big.md", b"x" * 10_000_001)
    receipt = await world.sync()
    assert (receipt.counters.created, receipt.counters.reads) == (3, 3)
    assert (receipt.status, receipt.counters.ignored["too_large"]) == (RunStatus.COMPLETED, 1)
    assert sentences(receipt.counters.left_out) == ["1 item too large: raise `fetch.max_body_bytes`"]
    write(folder / "index.md", b"x" * 10_000_001)
    receipt = await world.sync()
    assert (receipt.counters.failed, receipt.counters.deleted) == (1, 0)
    assert len(await world.found("barley")) == 1
    with pytest.raises(BodyTooLarge):
        await world.ports.folders.read(str(folder), "big.md", max_bytes=10_000_000)


async def test_a_single_file_is_a_source(world: World, folder: Path) -> None:
    await sources.add(world.ports, str(folder / "guide" / "oats.md"), name="one")
    await world.sync("one")
    assert await world.pages("one") == {"oats.md"}
    write(folder / "guide" / "oats.md", "# Oats\n\nNow with raisins.\n")
    assert (await world.sync("one")).counters.updated == 1


async def test_a_path_that_does_not_exist_is_refused(world: World) -> None:
    with pytest.raises(BadLocation, match="no such file or folder"):
        await sources.add(world.ports, "./no/such/folder", name="x")


async def test_a_file_that_cannot_be_read_keeps_its_old_version(
    world: World, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.sync()
    write(folder / "index.md", "# Home\n\nchanged\n")

    async def refuse(self: object, root: str, path: str, *, max_bytes: int) -> bytes:
        raise Unfetchable(f"file `{path}`: cannot be read: Permission denied")

    monkeypatch.setattr(type(world.ports.folders), "read", refuse)
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.failed) == (RunStatus.PARTIAL, 1)
    assert len(await world.found("barley")) == 1


async def test_an_interrupted_first_harvest_does_not_open_its_files_again(world: World) -> None:
    class Crash(BaseException):
        """Stands for the end of the process."""

    finish = type(world.store).finish_run

    async def die(*args: object, **kwargs: object) -> None:
        raise Crash

    type(world.store).finish_run = die  # type: ignore[method-assign, assignment]
    try:
        with pytest.raises(Crash):
            await world.sync()
    finally:
        type(world.store).finish_run = finish  # type: ignore[method-assign]
    receipt = await world.sync()
    assert (receipt.counters.created, receipt.counters.reads) == (3, 0)


async def test_pipes_and_links_to_pipes_are_passed_over(world: World, folder: Path) -> None:
    os.mkfifo(folder / "pipe.md")
    (folder / "link.md").symlink_to("pipe.md")
    os.mkfifo(folder / "guide" / ".gitignore")
    receipt = await world.sync()
    assert (receipt.counters.created, receipt.counters.ignored["special"]) == (3, 2)
    with pytest.raises(Unfetchable, match="not a regular file"):
        await world.ports.folders.read(str(folder), "pipe.md", max_bytes=1000)


async def test_a_name_that_is_no_utf_8_is_read_like_any_other(world: World, folder: Path) -> None:
    odd = os.fsdecode(os.fsencode(folder) + b"/caf\xe9.md")
    Path(odd).write_bytes(b"# Coffee\n\nAbout sorghum.\n")
    await world.sync()
    assert "caf\\xe9.md" in await world.pages()
    assert len(await world.found("sorghum")) == 1


async def test_a_link_to_itself_spoils_nothing(world: World, folder: Path) -> None:
    (folder / "self").symlink_to("self")
    receipt = await world.sync()
    assert receipt.counters.created == 3


async def test_a_bad_rule_in_an_ignore_file_matches_nothing(world: World, folder: Path) -> None:
    write(folder / ".gitignore", "[z-a].md\nguide/rye.txt\n")
    await world.sync()
    assert await world.pages() == {"index.md", "guide/oats.md"}


async def test_what_a_rule_takes_back_inside_a_folder_is_read(world: World, folder: Path) -> None:
    write(folder / ".gitignore", "guide/**\n!guide/oats.md\n")
    await world.sync()
    assert await world.pages() == {"index.md", "guide/oats.md"}


async def test_a_folder_is_listed_under_its_own_name_whatever_links_lead_to_it(
    world: World, folder: Path
) -> None:
    (folder / "a-link").symlink_to("guide")
    await world.sync()
    assert await world.pages() == {"index.md", "guide/oats.md", "guide/rye.txt"}


async def test_a_root_that_is_a_link_is_followed_where_it_leads_now(
    world: World, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "v2").mkdir()
    write(tmp_path / "v2" / "index.md", "# Home\n\nNow about teff.\n")
    current = tmp_path / "current"
    current.symlink_to(folder)
    await sources.add(world.ports, str(current), name="linked")
    await world.sync("linked")
    current.unlink()
    current.symlink_to(tmp_path / "v2")
    await world.sync("linked")
    source = await world.source("linked")
    assert source.location == str(current)
    assert len(await world.found("teff", source_ids=frozenset({source.id}))) == 1 or source.held_generation


async def test_names_may_hold_what_means_something_in_an_address(world: World, folder: Path) -> None:
    write(folder / "C# guide?.md", "# Sharp\n\nAbout fonio.\n")
    await world.sync()
    (hit,) = (await world.search("fonio")).hits
    assert hit.url.endswith("/C%23%20guide%3F.md#sharp") or hit.url.endswith("/C%23%20guide%3F.md")


async def test_a_file_that_goes_between_listing_and_reading_is_no_failure(
    world: World, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    write(folder / "brief.md", "# Brief\n")
    real = type(world.ports.folders).read

    async def read(self: object, root: str, path: str, *, max_bytes: int) -> bytes:
        (folder / "brief.md").unlink(missing_ok=True)
        return await real(self, root, path, max_bytes=max_bytes)  # type: ignore[arg-type]

    monkeypatch.setattr(type(world.ports.folders), "read", read)
    receipt = await world.sync()
    assert (receipt.counters.failed, receipt.counters.ignored["vanished"]) == (0, 1)
