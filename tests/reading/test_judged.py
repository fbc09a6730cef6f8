"""Search on the demo's site with the real model: questions whose answers are known (`benchmarks/judged/`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from benchmarks.judged import judging, manuals

from rowen import AsyncRowen
from rowen.adapters.convert import pool
from rowen.adapters.embedders import static
from rowen.doors.demo import DemoServer, DemoSite
from tests.contract.conftest import ENGINES
from tests.support.in_process import WEIGHTS
from tests.support.world import InThisProcess

STORES = sorted(ENGINES)
QUESTIONS = judging.questions_of(manuals.DEMO)


@pytest.fixture
def db(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(pool, "PoolConverter", lambda **_: InThisProcess())
    monkeypatch.setattr(static, "Weights", WEIGHTS)
    with contextmanager(ENGINES[request.param])(request) as url:
        yield url


@pytest.mark.anyio
@pytest.mark.parametrize("db", STORES, indirect=True)
async def test_judged_questions_about_the_demo_are_answered_as_well_as_the_baseline_says(
    db: str, request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.params["db"]
    baseline = json.loads(judging.BASELINE.read_text("utf-8"))[name][manuals.DEMO]["hybrid"]
    with DemoServer(DemoSite()) as server:
        async with manuals.harvested(db, manuals.DEMO, server.url) as rowen:
            real = await judging.ask(rowen, QUESTIONS, "hybrid")
            other = await judging.ask(rowen, judging.questions_of(judging.OFF_TOPIC)[::4], "hybrid")
    for kind, outcomes in judging.by_kind(real).items():
        assert judging.fallen(judging.figures(outcomes), baseline[kind], len(outcomes)) == [], kind
    assert judging.told_apart(real, other)["auc"] >= 0.95


@pytest.mark.anyio
@pytest.mark.parametrize("db", STORES, indirect=True)
async def test_the_same_site_at_another_address_costs_no_embedding_and_is_ranked_the_same(db: str) -> None:
    with DemoServer(DemoSite()) as here, DemoServer(DemoSite()) as there:
        async with AsyncRowen(db) as rowen:
            await rowen.add(here.url, name="here", check=False)
            await rowen.add(there.url, name="there", check=False)
            assert (await rowen.sync("here")).counters.embeddings_computed > 0
            moved = (await rowen.sync("there")).counters
            assert (moved.created, moved.embeddings_computed, moved.passages_new) == (len(DemoSite()), 0, 0)

            async def ranked(name: str, address: str, question: str) -> list[tuple[str, float, str]]:
                answer = await rowen.search(question, sources=[name])
                return [(hit.url.removeprefix(address), hit.score, hit.snippet) for hit in answer.hits]

            for question in QUESTIONS[::6]:
                first = await ranked("here", here.url, question.text)
                assert first
                assert first == await ranked("there", there.url, question.text)


def test_a_ranking_that_got_worse_falls_below_the_baseline() -> None:
    before = {"s@1": 0.9, "auc": 1.0}
    assert judging.fallen({"s@1": 0.9, "auc": 0.99}, before, 100) == []
    assert judging.fallen({"s@1": 0.8, "auc": 0.99}, before, 100) == ["s@1"]
    assert judging.fallen({"s@1": 0.8}, before, 10) == ["auc"]
