"""What the store promises about tokens, wishes for a sync, and web hook deliveries."""

from __future__ import annotations

from datetime import timedelta

import pytest

from rowen.core.access import Scope, digest
from rowen.core.request import MAX_ONLY
from rowen.errors import Conflict
from rowen.ports.store import Store
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


async def test_wishes_for_one_source_become_one(store: Store) -> None:
    source = await a_source(store)
    await store.request_sync(source.id, only=["a", "b"], reason="push", now=NOW)
    await store.request_sync(source.id, only=["b", "c"], reason="push", now=LATER)
    (wish,) = await store.sync_requests()
    assert (wish.only, wish.requested_at) == (("a", "b", "c"), NOW)
    await store.request_sync(source.id, only=None, reason="api", now=LATER)
    assert (await store.sync_requests())[0].only is None


async def test_more_references_than_can_be_named_become_everything(store: Store) -> None:
    source = await a_source(store)
    await store.request_sync(source.id, only=["x"], reason="push", now=NOW)
    many = [str(number) for number in range(MAX_ONLY)]
    assert (await store.request_sync(source.id, only=many, reason="push", now=NOW)).only is None


async def test_a_wish_that_joined_while_a_run_was_under_way_is_not_lost(store: Store) -> None:
    source = await a_source(store)
    taken = await store.request_sync(source.id, only=["a"], reason="push", now=NOW)
    joined = await store.request_sync(source.id, only=["b"], reason="push", now=NOW)
    await store.finish_request(taken)
    assert await store.sync_requests() == [joined]
    await store.finish_request(joined)
    assert await store.sync_requests() == []


async def test_a_delivery_is_new_once(store: Store) -> None:
    assert await store.first_delivery("docs", "1", now=NOW)
    assert not await store.first_delivery("docs", "1", now=LATER)
    assert await store.first_delivery("other", "1", now=LATER)
    assert await store.first_delivery("docs", "1", now=NOW + timedelta(days=8))
