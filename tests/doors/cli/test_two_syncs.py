"""Two syncs at a time: one waits for its turn in words, or both run beside each other."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from rowen.core.run import Event, RunStatus
from rowen.doors.cli.commands.sync import perform, perform_all
from rowen.doors.cli.output import Output
from rowen.doors.cli.progress import JsonProgress
from rowen.engine.leases import DROP, WAITING, process_words
from rowen.engine.run import sync
from rowen.errors import Conflict
from rowen.service.attempts import sync_now
from tests.doors.conftest import Rowen
from tests.support.site import Site, html
from tests.support.world import World, a_world

PATIENCE_S = 120.0


@pytest.fixture
def other() -> Iterator[Site]:
    with Site({"/": html("Barn", "Hay and straw")}) as running:
        yield running


def until(condition: object, what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


@pytest.mark.anyio
async def test_the_second_of_two_syncs_waits_for_its_turn_and_says_for_whom(tmp_path: Path) -> None:
    with Site({"/": html("Home", "barley")}) as site:
        async with a_world(tmp_path, site) as world:
            gate, begun = threading.Event(), asyncio.Event()
            first, second = await world.add("first"), await world.add("second", path="/#x")
            site.set("/", html("Home", "slow"), delay=gate)
            running = asyncio.create_task(sync(world.ports, first, on_event=lambda event: begun.set()))
            await asyncio.wait_for(begun.wait(), PATIENCE_S)
            with pytest.raises(Conflict, match="source `first`: being synced by `test`"):
                await sync_now(world.ports, first)
            said: list[str] = []

            def on_wait(words: str) -> None:
                said.append(words)
                gate.set()

            receipt = await sync_now(world.ports, second, on_wait=on_wait)
            assert (await running).status is receipt.status is RunStatus.COMPLETED
            assert said == ["waiting for the sync of first, started 0 seconds ago by `test`"]


@pytest.mark.anyio
async def test_a_sync_that_is_interrupted_while_it_waits_leaves_nothing_behind(tmp_path: Path) -> None:
    with Site({"/": html("Home", "barley")}) as site:
        async with a_world(tmp_path, site) as world:
            source = await world.add()
            await world.store.acquire_lease("run:0", "elsewhere", now=world.clock.now(), ttl_s=1e9)
            waits = asyncio.Event()
            waiting = asyncio.create_task(sync_now(world.ports, source, on_wait=lambda words: waits.set()))
            await asyncio.wait_for(waits.wait(), PATIENCE_S)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert await _runs_and_lease(world) == ([], None)


@pytest.mark.anyio
async def test_a_sync_that_waits_says_so_in_json_as_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site({"/": html("Home", "barley")}) as site:
        async with a_world(tmp_path, site) as world:
            source, out = await world.add(), Output()
            out.json = True
            lease = await world.store.acquire_lease("run:0", "elsewhere", now=world.clock.now(), ttl_s=1e9)
            assert lease is not None

            class Watched(JsonProgress):
                def __call__(self, event: Event) -> None:
                    super().__call__(event)
                    if event.kind == "waiting":
                        freed.append(asyncio.create_task(world.store.release_lease(lease)))

            freed: list[asyncio.Task[None]] = []
            await perform(world.ports, out, source, progress=Watched())
    said = [orjson.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [one["event"] for one in said] == ["waiting", "started", "item", "finished"]
    assert (said[0]["source"], said[0]["detail"]) == ("docs", "waiting for a sync that has just begun")


@pytest.mark.anyio
async def test_a_sync_that_was_cancelled_while_it_waited_says_so_in_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site({"/": html("Home", "barley")}) as site:
        async with a_world(tmp_path, site) as world:
            source, out = await world.add(), Output()
            out.json = True
            await world.store.acquire_lease("run:0", "elsewhere", now=world.clock.now(), ttl_s=1e9)
            await world.store.save_note(f"{DROP}{WAITING}{source.id}:{world.ports.owner}", True)
            code = await perform_all(
                world.ports, out, [source], full=False, progress=JsonProgress, verbose=False
            )
    receipt = orjson.loads(capsys.readouterr().out)
    assert (code, receipt["status"], receipt["outcome"], receipt["run_id"]) == (
        1,
        "cancelled",
        "cancelled",
        None,
    )
    assert receipt["error"] == "source `docs`: the sync was cancelled before it began"


async def _runs_and_lease(world: World) -> tuple[list[object], object]:
    source = await world.source()
    runs: list[object] = list(await world.store.runs(source.id, limit=9))
    return runs, await world.store.lease(f"source:{source.id}")


def test_sources_run_beside_each_other_where_the_settings_allow_it(
    rowen: Rowen, site: Site, other: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    rowen("add", site.url + "/", "--name", "a-orchard")
    rowen("add", other.url + "/", "--name", "b-barn")
    monkeypatch.setenv("ROWEN_RUNS_MAX_PARALLEL", "4")
    gate = threading.Event()
    site.set("/", html("Orchard", "Slow"), delay=gate)
    other.clear_log()
    opener = threading.Thread(target=lambda: (until(lambda: other.requests, "b-barn waits"), gate.set()))
    opener.start()
    ended = rowen("sync", "--json")
    opener.join()
    assert [one["status"] for one in ended.lines] == ["completed", "completed"]


def test_the_owner_of_a_lease_in_words() -> None:
    assert process_words("farm:4711:123") == "process 4711 on farm"
    assert process_words("farm.org.a0950f90.4026531836:4711:123") == "process 4711 on farm.org"
    assert process_words("elsewhere") == "`elsewhere`"


@pytest.mark.torture
def test_two_terminals(rowen: Rowen, site: Site, other: Site) -> None:
    rowen("add", site.url + "/", "--name", "orchard")
    rowen("add", other.url + "/", "--name", "barn")
    gate = threading.Event()
    site.set("/", html("Orchard", "Slow"), delay=gate)
    site.clear_log()

    def start(*names: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "rowen", "sync", *names]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    first = start("orchard")
    try:
        until(lambda: site.requests, "the first sync asks")
        same = start("orchard")
        err = same.communicate(timeout=PATIENCE_S)[1]
        assert same.returncode == 2
        assert f"source `orchard`: being synced by process {first.pid} on " in err
        assert "`rowen cancel orchard`" in err
        second, third = start("barn"), start("barn")
        assert second.stderr is not None
        assert third.stderr is not None
        said = second.stderr.readline()
        assert said.startswith("barn: waiting for the sync of orchard, started ")
        assert f" ago by process {first.pid} on " in said
        third.stderr.readline()
        third.send_signal(signal.SIGINT)
        assert third.wait(PATIENCE_S) == 130
        assert rowen("runs", "barn", "--json").json["runs"] == []
    finally:
        gate.set()
    assert first.wait(PATIENCE_S) == 0
    assert second.wait(PATIENCE_S) == 0
    for process in (first, second, third):
        process.communicate()
