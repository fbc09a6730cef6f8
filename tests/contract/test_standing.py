"""What the store keeps of decisions: since when and by whom a source is held, paused or pinned."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from rowen.core.generation import Cause
from rowen.core.run import Run, RunStatus
from rowen.core.source import Source, Status
from rowen.ports.store.store import Store
from tests.contract.helpers import LATER, NOW, a_generation, a_lease, a_run, a_source, an_end, reload, visible

pytestmark = pytest.mark.anyio

A, B = "https://docs.example/a", "https://docs.example/b"
MUCH_LATER = LATER + timedelta(days=2)


async def a_held_run(
    store: Store, source: Source, status: RunStatus = RunStatus.HELD, **moment: object
) -> Run:
    lease, run = await a_run(store, source)
    hold = run.generation if status is RunStatus.HELD else None
    end = replace(
        an_end(run, activate=False),
        status=status,
        error="held",
        hold=hold,
        hold_reason="too many" if hold else None,
        source_status=Status.ERROR,
    )
    await store.finish_run(lease, run, end, now=moment.get("now", LATER))  # type: ignore[arg-type]
    await store.release_lease(lease)
    return run


async def test_a_hold_is_as_old_as_the_first_of_the_runs_that_ended_so(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "one", B: "b"})
    await a_held_run(store, source)
    assert (await reload(store, source)).held_at == LATER
    await a_held_run(store, source, RunStatus.FAILED, now=MUCH_LATER)
    await a_held_run(store, source, now=MUCH_LATER)
    again = await reload(store, source)
    assert (again.held_generation is not None, again.held_at) == (True, LATER)
    await a_generation(store, source, {A: "two"})
    assert (await reload(store, source)).held_at is None


async def test_an_approval_ends_the_hold_and_says_who_decided(store: Store) -> None:
    source = await a_source(store)
    first = await a_generation(store, source, {A: "one"})
    run = await a_held_run(store, source)
    await store.activate(source.id, run.generation, now=MUCH_LATER, by="token ops")
    assert (await reload(store, source)).held_at is None
    newest, oldest = await store.activations(source.id)
    assert (newest.cause, newest.by, newest.at) == (Cause.APPROVAL, "token ops", MUCH_LATER)
    assert (newest.generation, newest.previous, newest.run_id) == (run.generation, first.generation, run.id)
    assert (oldest.cause, oldest.by, oldest.run_id) == (Cause.RUN, None, first.id)


async def test_a_rollback_with_a_pin_is_one_step(store: Store) -> None:
    source = await a_source(store)
    first = await a_generation(store, source, {A: "one"})
    await a_generation(store, source, {A: "two"})
    assert (await reload(store, source)).is_pinned is False
    await store.activate(source.id, first.generation, now=MUCH_LATER, by="cli", pin=True)
    pinned = await reload(store, source)
    assert (pinned.pinned_at, pinned.pinned_by, pinned.rests) == (MUCH_LATER, "cli", True)
    back = (await store.activations(source.id))[0]
    assert (back.cause, back.generation, back.run_id) == (Cause.ROLLBACK, first.generation, None)
    assert len(await visible(store, source)) == 1
    await store.set_pinned(source.id, True, by="api", now=MUCH_LATER + timedelta(days=1))
    assert (await reload(store, source)).pinned_by == "cli", "the first decision counts"
    await store.set_pinned(source.id, False)
    free = await reload(store, source)
    assert (free.pinned_at, free.pinned_by, free.rests) == (None, None, False)


async def test_no_run_of_a_pinned_source_begins_and_what_lies_beyond_the_pin_stays(store: Store) -> None:
    source = await a_source(store)
    first = await a_generation(store, source, {A: "one"})
    second = await a_generation(store, source, {A: "two"})
    await store.activate(source.id, first.generation, now=MUCH_LATER, by="cli", pin=True)
    runs = await store.runs(source.id, limit=9)
    lease = await a_lease(store, source)
    begun = await store.begin_run(lease, source.id, full=False, now=MUCH_LATER)
    assert begun is not None
    assert (begun.source.is_pinned, begun.run) == (True, None)
    assert await store.runs(source.id, limit=9) == runs
    assert {one.number for one in await store.generations(source.id)} >= {second.generation}
    assert (await reload(store, source)).status is not Status.RUNNING


async def test_a_pause_keeps_its_first_moment_and_a_resumed_source_has_none(store: Store) -> None:
    source = await a_source(store)
    await store.set_paused(source.id, True, by="token ops", now=NOW)
    await store.set_paused(source.id, True, by="cli", now=LATER)
    paused = await reload(store, source)
    assert (paused.paused, paused.paused_at, paused.paused_by) == (True, NOW, "token ops")
    await store.set_paused(source.id, False)
    resumed = await reload(store, source)
    assert (resumed.paused, resumed.paused_at, resumed.paused_by) == (False, None, None)


async def test_activations_are_of_kept_generations_only(store: Store) -> None:
    source = await a_source(store)
    for text in ("one", "two", "three"):
        last = await a_generation(store, source, {A: text})
    await store.vacuum({source.id: last.generation}, everything=False)
    assert [one.generation for one in await store.activations(source.id)] == [last.generation]
    assert len(await store.activations(source.id, limit=1)) == 1
