"""What the store answers for charts and lists: each with one question, whatever the number of documents."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from rowen.core.document import Outcome
from rowen.core.run import Counters, RunItem, RunStatus
from rowen.ports.store.runs import Problem, RunDay
from rowen.ports.store.store import Store
from tests.contract.helpers import LATER, NOW, a_generation, a_run, a_source, an_end

pytestmark = pytest.mark.anyio

A, B, C = "https://docs.example/a", "https://docs.example/x/b", "https://docs.example/x/c"
FAILED = [
    RunItem(A, Outcome.FAILED, "timeout", "A took too long"),
    RunItem(B, Outcome.FAILED, "timeout", "B took too long"),
    RunItem(C, Outcome.FAILED, "server_error", "C: 500"),
    RunItem(C, Outcome.UPDATED, "content_changed"),
]


async def test_problems_of_a_run_are_counted_by_reason(store: Store) -> None:
    source = await a_source(store)
    lease, run = await a_run(store, source)
    await store.finish_run(lease, run, an_end(run, activate=False, items=FAILED), now=LATER)
    assert await store.problems(run.id) == [
        Problem(outcome="failed", reason="timeout", items=2, reference=A, detail="A took too long"),
        Problem(outcome="failed", reason="server_error", items=1, reference=C, detail="C: 500"),
    ]


async def test_runs_are_summed_by_source_and_day(store: Store) -> None:
    one, other = await a_source(store, "one"), await a_source(store, "other")
    for source, created in ((one, 2), (one, 3), (other, 5)):
        lease, run = await a_run(store, source)
        end = replace(an_end(run, activate=False), counters=Counters(created=created, failed=1))
        await store.finish_run(lease, run, end, now=LATER)
        await store.release_lease(lease)
    days = await store.run_days(NOW - timedelta(days=30))
    assert days == [
        RunDay(
            source_id=source.id, day=date(2026, 5, 1), runs=runs, created=5, updated=0, deleted=0, failed=runs
        )
        for source, runs in ((one, 2), (other, 1))
    ]
    assert await store.run_days(LATER) == []
    assert [run.status for run in await store.runs_since(one.id, NOW)] == [RunStatus.COMPLETED] * 2
    assert [run.id for run in await store.runs_since(one.id, NOW, limit=1)] == [2]
    assert await store.runs_since(one.id, LATER) == []


async def test_the_line_of_visible_documents_outlives_its_generations(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "one"})
    await a_generation(store, source, {B: "b", C: "c"})
    last = await a_generation(store, source, {}, gone=[A])
    await store.vacuum({source.id: last.generation}, everything=False)
    line = await store.activations_since(source.id, NOW - timedelta(days=1))
    assert [(one.generation, one.documents) for one in line] == [(1, 1), (2, 3), (3, 2)]
    later = await store.activations_since(source.id, LATER + timedelta(days=1))
    assert [(one.generation, one.documents) for one in later] == [(3, 2)], "what was visible then leads"
    assert await store.document_counts() == {source.id: 2}
    assert [(one.name, one.documents) for one in await store.folders(source.id)] == [("b", 1), ("c", 1)]


async def test_the_same_text_is_found_in_other_documents_and_sources(store: Store) -> None:
    one, other = await a_source(store, "one"), await a_source(store, "other")
    await a_generation(store, one, {A: "same", B: "own"})
    await a_generation(store, other, {C: "same"})
    (first,) = await store.documents(one.id, references=[A])
    assert [(same.source, same.reference) for same in await store.same_text(first.id)] == [("other", C)]
    await a_generation(store, other, {C: "changed"})
    assert await store.same_text(first.id) == []
