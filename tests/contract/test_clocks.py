"""What the store does with times that a clock wrote which was ahead."""

from __future__ import annotations

from datetime import timedelta

import pytest

from rowen.ports.store.notes import Pause
from rowen.ports.store.store import Store
from tests.contract.helpers import NOW, a_lease, a_run, a_source, an_end

pytestmark = pytest.mark.anyio

YEAR = timedelta(days=365)


async def test_a_lease_that_ends_in_a_year_is_shortened_and_not_taken_from_its_owner(store: Store) -> None:
    ahead = await store.acquire_lease("source:1", "me", now=NOW + YEAR, ttl_s=60)
    assert ahead is not None
    assert await store.acquire_lease("source:1", "you", now=NOW, ttl_s=60) is None
    shortened = await store.lease("source:1")
    assert shortened is not None
    assert (shortened.owner, shortened.token) == ("me", ahead.token)
    assert shortened.expires_at == NOW + timedelta(seconds=60)
    # Its owner is alive: the heartbeat goes on with the same token, by the clock as it is now.
    await store.renew_lease(ahead, now=NOW + timedelta(seconds=15), ttl_s=60)
    assert await store.acquire_lease("source:1", "you", now=NOW + timedelta(seconds=61), ttl_s=60) is None
    # Its owner is gone: the lease ends as every other one.
    assert await store.acquire_lease("source:1", "you", now=NOW + timedelta(seconds=76), ttl_s=60)


async def test_a_pause_that_is_longer_than_any_is_not_believed(store: Store) -> None:
    await store.pause_upstream(Pause(upstream="a.example", until=NOW + timedelta(hours=24), reason="429"))
    await store.pause_upstream(Pause(upstream="b.example", until=NOW + YEAR, reason="429"))
    assert list(await store.pauses(now=NOW)) == ["a.example"]


async def test_times_in_the_future_are_named_with_what_they_belong_to(store: Store) -> None:
    assert await store.times_ahead(now=NOW) == []
    source = await a_source(store, "docs", "2")
    lease, run = await a_run(store, source)
    await store.finish_run(lease, run, an_end(run, activate=False), now=NOW)
    await store.pause_upstream(Pause(upstream="a.example", until=NOW, reason="429"))
    assert await store.times_ahead(now=NOW) == [], "the lease ends soon, and the pause is over"
    found = await store.times_ahead(now=NOW - YEAR)
    assert [one[:3] for one in found] == [
        ("lease", f"source:{source.id}", "expires_at"),
        ("source", "docs@2", "last_run_at"),
        ("source", "docs@2", "last_success_at"),
        ("source", "docs@2", "watermark"),
        ("upstream", "a.example", "paused until"),
    ]
    assert {one.at for one in found if one.of == "source"} == {NOW}


async def test_a_clock_that_jumps_back_takes_no_lease_from_its_owner(store: Store) -> None:
    lease = await a_lease(store, await a_source(store))
    back = NOW - timedelta(hours=3)
    assert await store.acquire_lease(lease.name, "you", now=back, ttl_s=60) is None
    assert (await store.renew_lease(lease, now=back, ttl_s=60)).expires_at == back + timedelta(seconds=60)
