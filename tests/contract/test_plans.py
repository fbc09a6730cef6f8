"""Answers that were fetched for a plan: kept as they came, one a question, until they are forgotten."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from rowen.ports.store.learning.plans import KeptAnswer
from rowen.ports.store.store import Store
from tests.contract.helpers import a_source

pytestmark = pytest.mark.anyio

NOW = datetime(2024, 1, 1, tzinfo=UTC)


def an_answer(body: bytes = b"\0barley\xff", **headers: str) -> KeptAnswer:
    return KeptAnswer(status=200, url="https://example.org/a", headers={"etag": '"1"', **headers}, body=body)


async def test_an_answer_is_kept_as_it_came_and_replaced_by_a_newer_one(store: Store) -> None:
    source = await a_source(store)
    await store.keep_answers("p1", source.id, {b"a": an_answer(), b"b": an_answer(b"")}, now=NOW)
    assert await store.kept_answer("p1", b"a") == an_answer()
    assert await store.kept_answer("p1", b"b") == an_answer(b"")
    await store.keep_answers("p1", source.id, {b"a": an_answer(b"oats")}, now=NOW)
    assert await store.kept_answer("p1", b"a") == an_answer(b"oats")


async def test_another_plan_and_another_question_have_no_answer(store: Store) -> None:
    source = await a_source(store)
    await store.keep_answers("p1", source.id, {b"a": an_answer()}, now=NOW)
    assert await store.kept_answer("p2", b"a") is None
    assert await store.kept_answer("p1", b"b") is None


async def test_answers_go_with_their_plan_with_their_time_and_with_their_source(store: Store) -> None:
    source, other = await a_source(store), await a_source(store, "other")
    for number, plan in enumerate(("p1", "p2")):
        at = NOW + timedelta(hours=number)
        await store.keep_answers(plan, source.id, {b"a": an_answer(), b"b": an_answer()}, now=at)
    await store.keep_answers("p3", other.id, {b"a": an_answer()}, now=NOW)
    assert await store.forget_answers(source_id=source.id, but="p2") == 2
    assert await store.kept_answer("p2", b"a") is not None
    assert await store.forget_answers(before=NOW + timedelta(minutes=30)) == 1
    assert await store.kept_answer("p3", b"a") is None
    await store.remove_source(source.id, now=NOW)
    assert await store.kept_answer("p2", b"a") is None
