"""The export: whole generations in files that appear whole, and are written only when they change."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from rowen.adapters.exports import draft
from rowen.core.exchange.columns import Format
from rowen.errors import ConfigError, PermanentError, TransientError
from rowen.managing import sources
from rowen.managing.registry import apply as applying
from rowen.managing.registry import rules as registry
from rowen.reading import history
from rowen.sinks import declared as sinks
from rowen.sinks.announce import Outcome
from rowen.sinks.export import sink as export
from rowen.sinks.export.sink import Wanted
from tests.contract.helpers import LATER, NOW, a_draft, a_run, a_source, an_end, ingest
from tests.support.sinks import Died, SinkWorld, a_sink_world, url

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[SinkWorld]:
    async with a_sink_world(tmp_path) as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "out"
    made.mkdir()
    return made


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"), newline="")))


async def show_with_metadata(world: SinkWorld, source: Any, pages: dict[str, dict[str, Any]]) -> None:
    lease, run = await a_run(world.store, source)
    drafts = [a_draft(url(source, name), f"about {name}") for name in pages]
    for one, metadata in zip(drafts, pages.values(), strict=True):
        object.__setattr__(one, "metadata", metadata)
    await ingest(world.store, lease, run, await world.store.stage(lease, run, drafts, now=NOW))
    await world.store.finish_run(lease, run, an_end(run), now=LATER)
    await world.store.release_lease(lease)


async def test_json_lines_hold_every_document_with_its_text(world: SinkWorld, folder: Path) -> None:
    await world.show(await world.source(version="2"), a="# One\n\nÄpfel.", b="two")
    path = folder / "all.jsonl"
    assert await export.export(world.ports, Wanted(path=str(path), format=Format.JSONL)) == 2
    first, second = lines(path)
    assert (first["text"], second["text"]) == ("# One\n\nÄpfel.", "two")
    assert list(first) == [
        "source",
        "version",
        "kind",
        "reference",
        "url",
        "title",
        "content_type",
        "content_hash",
        "generation",
        "fetched_at",
        "metadata",
        "text",
    ]
    assert (first["source"], first["version"], first["generation"]) == ("docs", "2", 1)
    await export.export(world.ports, Wanted(path=str(path), format=Format.JSONL, text=False))
    assert "text" not in lines(path)[0]


async def test_pages_make_no_difference(
    world: SinkWorld, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "PAGE", 3)
    for name in ("api", "docs"):
        await world.show(await world.source(name), **{f"p{n}": f"{name} {n}" for n in range(6)})
    path = folder / "all.jsonl"
    await export.export(world.ports, Wanted(path=str(path), format=Format.JSONL))
    assert [one["text"] for one in lines(path)] == [
        f"{name} {n}" for name in ("api", "docs") for n in range(6)
    ]


@pytest.mark.parametrize("format_", list(Format))
async def test_nothing_to_export_is_a_valid_file(world: SinkWorld, folder: Path, format_: Format) -> None:
    path = folder / "all"
    assert await export.export(world.ports, Wanted(path=str(path), format=format_)) == 0
    if format_ is Format.JSONL:
        assert path.read_bytes() == b""
    elif format_ is Format.CSV:
        assert path.read_text().startswith("source,version,kind,reference,url,title,")
        assert table(path) == []
    else:
        read = pyarrow.parquet.read_table(path)
        assert (read.num_rows, read.column_names[:3]) == (0, ["source", "version", "kind"])


async def test_csv_has_a_column_for_each_key_of_the_metadata(world: SinkWorld, folder: Path) -> None:
    pages = {
        "a": {"tags": ["x", "y"], "size": 3, "open": True},
        "b": {"author": 'Ann "A", of\nhere', "size": None, "note": "=1+1"},
    }
    await show_with_metadata(world, await world.source(), pages)
    path = folder / "all.csv"
    await export.export(world.ports, Wanted(path=str(path), format=Format.CSV, text=False))
    first, second = table(path)
    assert list(first)[-5:] == [
        "metadata.author",
        "metadata.note",
        "metadata.open",
        "metadata.size",
        "metadata.tags",
    ]
    assert (first["metadata.tags"], first["metadata.size"], first["metadata.open"]) == (
        '["x","y"]',
        "3",
        "true",
    )
    assert (second["metadata.author"], second["metadata.size"]) == ('Ann "A", of\nhere', "")
    assert second["metadata.note"] == "'=1+1"
    await export.export(world.ports, Wanted(path=str(path), format=Format.CSV, safe=False))
    assert table(path)[1]["metadata.note"] == "=1+1"


async def test_parquet_has_types(world: SinkWorld, folder: Path) -> None:
    pages = {
        "a": {"size": 3, "rate": 1, "mixed": 1, "open": True, "huge": 2**62},
        "b": {"rate": 0.5, "mixed": "x", "parts": {"k": [1]}},
    }
    await show_with_metadata(world, await world.source(), pages)
    path = folder / "all.parquet"
    assert await export.export(world.ports, Wanted(path=str(path), format=Format.PARQUET)) == 2
    read = pyarrow.parquet.read_table(path)
    types = {field.name: str(field.type) for field in read.schema}
    assert types["generation"] == types["metadata.size"] == types["metadata.huge"] == "int64"
    assert (types["metadata.rate"], types["metadata.open"]) == ("double", "bool")
    assert types["fetched_at"] == "timestamp[us, tz=UTC]"
    rows = read.to_pylist()
    assert [row["metadata.mixed"] for row in rows] == ["1", "x"]
    assert [row["metadata.parts"] for row in rows] == [None, '{"k":[1]}']
    assert [row["text"] for row in rows] == ["about a", "about b"]


async def test_without_pyarrow_the_extra_is_named(
    world: SinkWorld, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ConfigError, match="needs the package `pyarrow`") as caught:
        await world.sink("table", "export", file=str(folder / "all.parquet"), format="parquet")
    assert caught.value.hint == "pip install 'rowen[parquet]'"
    with pytest.raises(ConfigError, match="needs the package `pyarrow`"):
        await export.export(world.ports, Wanted(path=str(folder / "x"), format=Format.PARQUET))
    assert list(folder.iterdir()) == []


async def test_a_new_sink_writes_what_is_there(world: SinkWorld, folder: Path) -> None:
    await world.show(await world.source(), a="one")
    await world.sink("file", "export", file=str(folder / "all.jsonl"))
    assert (await world.announce())["file"].sent == 1
    assert [one["text"] for one in lines(folder / "all.jsonl")] == ["one"]


async def test_two_sinks_wrote_the_same_file_in_turns(world: SinkWorld, folder: Path) -> None:
    path = str(folder / "all.jsonl")
    await world.sink("file", "export", file=path)
    with pytest.raises(ConfigError, match="sinks `file` and `feed`: both write"):
        await world.sink("feed", "atom", file=f"{folder}/../{folder.name}/all.jsonl")
    assert [sink.name for sink in await world.store.sinks()] == ["file"]


async def test_a_sink_under_another_name_waits_until_the_old_one_leaves_its_file(
    world: SinkWorld, folder: Path
) -> None:
    path = str(folder / "all.jsonl")
    await world.sink("old", "export", file=path)
    table_ = {"name": "new", "kind": "export", "file": path}
    listed = registry.Registry(sources=(), sinks=sinks.read([table_], where="the test"))
    steps = await applying.plan(world.ports, listed)
    with pytest.raises(ConfigError, match="sinks `old` and `new`: both write") as caught:
        await applying.apply(world.ports, listed, steps, prune=False)
    assert "`--prune`" in (caught.value.hint or "")
    await applying.apply(world.ports, listed, steps, prune=True)
    assert [sink.name for sink in await world.store.sinks()] == ["new"]


async def test_a_file_is_written_when_its_sources_changed_and_not_else(
    world: SinkWorld, folder: Path
) -> None:
    path = folder / "docs.jsonl"
    docs, other = await world.source(), await world.source("other")
    await world.sink("file", "export", file=str(path), sources=["docs"])
    await world.show(docs, a="one")
    await world.announce()
    written = path.stat().st_mtime_ns, path.stat().st_ino
    await world.show(other, z="z")
    assert (await world.announce())["file"].outcome is Outcome.NOTHING
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == written
    await world.show(docs, "a", b="two")
    assert (await world.announce())["file"].sent == 1
    assert [one["text"] for one in lines(path)] == ["two"]
    before = world.store.rows_written()
    assert (await world.announce())["file"].outcome is Outcome.NOTHING
    assert world.store.rows_written() == before


async def test_a_rollback_is_in_the_file(world: SinkWorld, folder: Path) -> None:
    path = folder / "all.jsonl"
    source = await world.source()
    await world.sink("file", "export", file=str(path))
    await world.show(source, a="one")
    await world.show(source, a="two")
    await world.announce()
    await history.rollback(world.ports, await world.reload(source))
    await world.announce()
    assert [one["text"] for one in lines(path)] == ["one"]


async def test_a_source_added_again_leaves_nothing_of_the_one_before_in_a_file(
    world: SinkWorld, folder: Path
) -> None:
    await world.sink("rows", "export", file=str(folder / "all.csv"), format="csv")
    await world.sink("columns", "export", file=str(folder / "all.parquet"), format="parquet")
    for text, now in (("one", NOW), ("two", LATER)):
        source = await a_source(world.store, now=now)
        await world.show(source, a=text)
        await world.announce()
        assert [row["text"] for row in table(folder / "all.csv")] == [text]
        assert pyarrow.parquet.read_table(folder / "all.parquet")["text"].to_pylist() == [text]
        await world.store.remove_source(source.id, now=LATER)


async def test_a_source_that_was_removed_leaves_the_file(world: SinkWorld, folder: Path) -> None:
    path = folder / "all.jsonl"
    source, other = await world.source(), await world.source("other")
    await world.sink("file", "export", file=str(path))
    await world.show(source, a="one")
    await world.show(other, b="two")
    await world.announce()
    await sources.remove(world.ports, other)
    await world.announce()
    assert [one["text"] for one in lines(path)] == ["one"]


async def test_other_settings_write_the_file_anew(world: SinkWorld, folder: Path) -> None:
    await world.show(await world.source(), a="one")
    await world.sink("file", "export", file=str(folder / "one.jsonl"))
    await world.announce()
    await world.sink("file", "export", file=str(folder / "two.csv"), format="csv")
    assert (await world.announce())["file"].sent == 1
    assert table(folder / "two.csv")[0]["text"] == "one"


async def test_a_file_that_somebody_deleted_comes_back_when_asked_for(world: SinkWorld, folder: Path) -> None:
    path = folder / "all.jsonl"
    await world.show(await world.source(), a="one")
    await world.sink("file", "export", file=str(path))
    await world.announce()
    path.unlink()
    await world.announce("file", force=True)
    assert len(lines(path)) == 1


async def test_a_crash_before_it_was_written_down_writes_the_same_file_again(
    world: SinkWorld, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "all.jsonl"
    await world.show(await world.source(), a="one")
    await world.sink("file", "export", file=str(path))

    async def crash(*arguments: Any, **named: Any) -> None:
        raise Died

    with monkeypatch.context() as patched:
        patched.setattr(world.store, "move_sink", crash)
        with pytest.raises(Died):
            await world.announce()
    first = path.read_bytes()
    await world.announce()
    assert path.read_bytes() == first
    assert [file.name for file in folder.iterdir()] == ["all.jsonl"]


@pytest.mark.parametrize("format_", list(Format))
async def test_a_full_disk_leaves_the_old_file(
    world: SinkWorld, folder: Path, monkeypatch: pytest.MonkeyPatch, format_: Format
) -> None:
    path = folder / "all"
    source = await world.source()
    await world.sink("file", "export", file=str(path), format=format_.value)
    await world.show(source, a="one")
    await world.announce()
    old = path.read_bytes()
    await world.show(source, b="two")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(draft.os, "fsync", full)
        done = await world.announce()
    assert isinstance(done["file"].error, PermanentError)
    assert "the disk is full; the file that was there is unchanged" in done["file"].error.message
    assert path.read_bytes() == old
    assert [file.name for file in folder.iterdir()] == ["all"]
    assert (await world.announce())["file"].sent == 2


@pytest.mark.parametrize("format_", list(Format))
def test_a_disk_that_fills_up_while_writing_leaves_the_old_file(tmp_path: Path, format_: Format) -> None:
    script = """
import asyncio, resource, signal, sys
from rowen.adapters.exports import LocalExports
from rowen.core.exchange.columns import Column, Format
from rowen.errors import PermanentError
from rowen.ports.exports import ExportFile

async def main():
    columns = () if sys.argv[2] == "jsonl" else (Column("a"), Column("b"))
    file = ExportFile(path=sys.argv[1], format=Format(sys.argv[2]), columns=columns)
    try:
        async with LocalExports().open(file) as rows:
            for number in range(400):
                text = "".join(chr(33 + (n * n * number) % 4000) for n in range(800))
                await rows.write([[text + str(n), text] if columns else {"a": text} for n in range(9)])
    except PermanentError as exc:
        print(exc.message)

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
asyncio.run(main())
"""
    path = tmp_path / "all"
    path.write_text("old")
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, str(path), format_.value],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "the disk is full" in ended.stdout
    assert [file.name for file in tmp_path.iterdir()] == ["all"]
    assert path.read_text() == "old"


async def test_a_folder_that_is_missing_is_said_when_the_sink_is_made(world: SinkWorld, folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"sink `file`: file .* its folder .* does not exist"):
        await world.sink("file", "export", file=str(folder / "none" / "all.jsonl"))


async def test_what_is_no_file_is_not_replaced(world: SinkWorld, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    for path in (folder / "pipe", Path("/dev/null"), folder):
        with pytest.raises(ConfigError, match="something else than a file"):
            await export.export(world.ports, Wanted(path=str(path), format=Format.JSONL))
    assert stat.S_ISFIFO((folder / "pipe").stat().st_mode)


async def test_a_link_stays_a_link_and_rights_stay_as_they_were(world: SinkWorld, folder: Path) -> None:
    real, link = folder / "real.jsonl", folder / "link.jsonl"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    await world.show(await world.source(), a="one")
    await export.export(world.ports, Wanted(path=str(link), format=Format.JSONL))
    assert link.is_symlink()
    assert [one["text"] for one in lines(real)] == ["one"]
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


async def test_drafts_that_others_left_behind_go_after_a_day(world: SinkWorld, folder: Path) -> None:
    path = folder / "all.jsonl"
    old, young = folder / f".all.jsonl.1{draft.ENDING}", folder / f".all.jsonl.2{draft.ENDING}"
    for one in (old, young):
        one.touch()
    os.utime(old, (0, 0))
    await export.export(world.ports, Wanted(path=str(path), format=Format.JSONL))
    assert sorted(file.name for file in folder.iterdir()) == [young.name, "all.jsonl"]


async def test_a_source_that_is_shown_anew_meanwhile_is_written_from_the_start(
    world: SinkWorld, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "PAGE", 2)
    source = await world.source()
    await world.show(source, a="old", b="old", c="old")
    real, calls = world.store.documents, 0

    async def shown_between_pages(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            await world.show(source, "c", a="new", b="new")
        return await real(*arguments, **named)

    monkeypatch.setattr(world.store, "documents", shown_between_pages)
    path = folder / "all.jsonl"
    await export.export(world.ports, Wanted(path=str(path), format=Format.JSONL))
    assert [one["text"] for one in lines(path)] == ["new", "new"]


async def test_sources_that_never_rest_are_not_written_as_a_mixture(
    world: SinkWorld, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = await world.source()
    await world.show(source, a="0")
    real, calls = world.store.documents, 0

    async def shown_each_time(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        await world.show(source, a=str(calls))
        return await real(*arguments, **named)

    monkeypatch.setattr(world.store, "documents", shown_each_time)
    with pytest.raises(TransientError, match="shown anew while it was written"):
        await export.export(world.ports, Wanted(path=str(folder / "all.jsonl"), format=Format.JSONL))
    assert list(folder.iterdir()) == []
