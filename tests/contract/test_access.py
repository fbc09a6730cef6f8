"""What the store promises about tokens, requests for a sync, and the deliveries of incoming hooks."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from rowen.core.safety.access import Scope, digest
from rowen.core.sync_request import MAX_ONLY
from rowen.errors import Conflict
from rowen.ports.store.store import Store
from tests.contract.helpers import LATER, NOW, a_source

pytestmark = pytest.mark.anyio


async def test_a_token_is_found_by_its_hash_and_by_nothing_else(store: Store) -> None:
    made = await store.add_token("ci", digest=digest("secret"), scope=Scope.SYNC, now=NOW)
    assert await store.token(digest("secret"), now=NOW) == made
    assert await store.token(digest("Secret"), now=NOW) is None
    with pytest.raises(Conflict):
        await store.add_token("ci", digest=digest("other"), scope=Scope.READ, now=NOW)


async def test_that_a_token_was_used_is_written_down_once_an_hour(store: Store) -> None:
    await store.add_token("ci", digest=digest("secret"), scope=Scope.READ, now=NOW)
    await store.token(digest("secret"), now=LATER)
    before = store.rows_written()
    await store.token(digest("secret"), now=LATER + timedelta(minutes=59))
    assert store.rows_written() == before
    (token,) = await store.tokens()
    assert token.last_used_at == LATER
    await store.token(digest("secret"), now=LATER + timedelta(minutes=61))
    assert (await store.tokens())[0].last_used_at == LATER + timedelta(minutes=61)


async def test_a_removed_token_opens_nothing(store: Store) -> None:
    await store.add_token("ci", digest=digest("secret"), scope=Scope.ADMIN, now=NOW)
    assert await store.remove_token("ci")
    assert not await store.remove_token("ci")
    assert await store.token(digest("secret"), now=NOW) is None


async def test_requests_for_one_source_become_one(store: Store) -> None:
    source = await a_source(store)
    await store.request_sync(source.id, only=["a", "b"], reason="push", now=NOW)
    await store.request_sync(source.id, only=["b", "c"], reason="push", now=LATER)
    (request,) = await store.sync_requests()
    assert (request.only, request.requested_at) == (("a", "b", "c"), NOW)
    await store.request_sync(source.id, only=None, reason="api", now=LATER)
    assert (await store.sync_requests())[0].only is None


async def test_more_references_than_can_be_named_become_everything(store: Store) -> None:
    source = await a_source(store)
    await store.request_sync(source.id, only=["x"], reason="push", now=NOW)
    many = [str(number) for number in range(MAX_ONLY)]
    assert (await store.request_sync(source.id, only=many, reason="push", now=NOW)).only is None


async def test_the_request_of_one_source_is_read_by_itself(store: Store) -> None:
    source, other = await a_source(store), await a_source(store, "other")
    made = await store.request_sync(source.id, only=["a"], reason="push", now=NOW)
    assert await store.sync_request(source.id) == made
    assert await store.sync_request(other.id) is None


async def test_a_request_that_joined_while_a_run_was_under_way_is_not_lost(store: Store) -> None:
    source = await a_source(store)
    taken = await store.request_sync(source.id, only=["a"], reason="push", now=NOW)
    joined = await store.request_sync(source.id, only=["b"], reason="push", now=NOW)
    await store.finish_request(taken)
    assert await store.sync_requests() == [joined]
    await store.finish_request(joined)
    assert await store.sync_requests() == []


async def test_a_request_for_everything_anew_stays_one_when_others_join_it(store: Store) -> None:
    source = await a_source(store)
    assert not (await store.request_sync(source.id, only=["a"], reason="push", now=NOW)).full
    assert (await store.request_sync(source.id, only=None, full=True, reason="api", now=NOW)).full
    assert (await store.request_sync(source.id, only=["b"], reason="push", now=NOW)).full
    (request,) = await store.sync_requests()
    assert (request.full, request.only) == (True, None)


async def test_finishing_a_request_twice_does_not_remove_the_next_one(store: Store) -> None:
    source = await a_source(store)
    first = await store.request_sync(source.id, only=None, reason="api", now=NOW)
    await store.finish_request(first)
    later = await store.request_sync(source.id, only=None, reason="push", now=LATER)
    await store.finish_request(first)
    assert await store.sync_requests() == [later]


async def test_a_delivery_leaves_a_request_once(store: Store) -> None:
    source = await a_source(store)

    async def deliver(hook: str, now: datetime) -> bool:
        request = await store.request_by_delivery(hook, "1", source.id, only=["a"], reason="push", now=now)
        return request is not None

    assert await deliver("docs", NOW)
    (request,) = await store.sync_requests()
    assert (request.only, request.reason, request.number) == (("a",), "push", 1)
    assert not await deliver("docs", LATER)
    assert await store.sync_requests() == [request]
    assert await deliver("other", LATER)
    assert await deliver("docs", NOW + timedelta(days=8))


async def test_a_delivery_whose_request_could_not_be_stored_is_not_known(store: Store) -> None:
    source = await a_source(store)
    with pytest.raises(Exception):  # noqa: B017 - each database has its own words for it
        await store.request_by_delivery("docs", "1", source.id + 1, only=None, reason="push", now=NOW)
    assert await store.request_by_delivery("docs", "1", source.id, only=None, reason="push", now=NOW)


async def test_a_request_is_a_hooks_only_while_every_caller_that_joined_is_one(store: Store) -> None:
    source = await a_source(store)
    assert (await store.request_sync(source.id, only=["a"], reason="push", now=NOW)).hooked == ("a",)
    joined = await store.request_sync(source.id, only=["b"], reason="webhook", now=NOW)
    assert joined.hooked == ("a", "b")
    mixed = await store.request_sync(source.id, only=["c"], reason="handoff_retry", now=NOW)
    assert (mixed.only, mixed.hooked) == (("a", "b", "c"), ())
    later = await store.request_sync(source.id, only=["d"], reason="push", now=NOW)
    assert (later.only, later.hooked) == (("a", "b", "c", "d"), ())
