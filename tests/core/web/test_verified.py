"""When a document was last known to be right, from one record a source."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rowen.core.web.verified import (
    Freshness,
    Looked,
    LookedAtSome,
    Verification,
    after_run,
    after_some,
    freshness,
    way_of,
)

FIRST = datetime(2026, 5, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def test_a_run_verifies_everything_but_what_failed_which_keeps_what_was_known() -> None:
    one = after_run(None, Looked(by="not_modified", failed=["b"]), FIRST)
    two = after_run(
        one, Looked(by="not_modified", others={"same_body": ["c"]}, failed=["a", "b"]), FIRST + DAY
    )
    fetched = FIRST - DAY
    assert two.of("other", fetched) == (FIRST + DAY, "not_modified")
    assert two.of("c", fetched) == (FIRST + DAY, "same_body")
    assert two.of("a", fetched) == (FIRST, "not_modified"), "the run before had verified it"
    assert two.of("b", fetched) == (fetched, "fetched"), "it failed in both"


def test_a_version_that_is_newer_than_the_record_was_verified_by_fetching_it() -> None:
    found = Verification(at=FIRST, by="listing")
    assert found.of("a", FIRST + DAY) == (FIRST + DAY, "fetched")
    assert way_of(None, "a", FIRST) == (FIRST, "fetched")


def test_freshness_is_counted_from_the_record_and_the_times_of_fetching() -> None:
    now = FIRST + timedelta(hours=3)
    record = Verification(at=FIRST, by="not_modified", exceptions={"a": (FIRST - 3 * DAY, None), "b": None})

    def counted(found: Verification | None, at: datetime) -> Freshness:
        return freshness(found, at, documents=10, fetched_in_day=1, fetched_in_week=4)

    assert counted(record, now) == Freshness(day=8, week=1, older=1)
    assert counted(record, now + 2 * DAY) == Freshness(day=1, week=8, older=1)
    assert counted(None, now) == Freshness(day=1, week=3, older=6)
    assert counted(None, now).total == 10


def test_what_a_hook_named_says_so_of_the_version_it_led_to_and_of_no_other() -> None:
    before = Verification(at=FIRST, by="listing")
    looked = LookedAtSome(unchanged={"hook": ["same"]}, changed=["new", "old"], hooked=["new"])
    found = after_some(before, looked, FIRST + DAY)
    assert found.of("same", FIRST) == (FIRST + DAY, "hook")
    stored = FIRST + DAY + timedelta(seconds=1)
    assert found.of("new", stored) == (stored, "hook"), "the version that this run stored"
    assert found.of("new", FIRST) == (FIRST, "fetched"), "an older one, which a rollback shows again"
    assert found.of("old", stored) == (stored, "fetched"), "it changed, and no hook named it"
    counted = freshness(found, FIRST + 9 * DAY, documents=3, fetched_in_day=0, fetched_in_week=0)
    assert counted.total == 3
    again = after_run(found, Looked(by="not_modified"), FIRST + 2 * DAY)
    assert again.of("new", stored) == (FIRST + 2 * DAY, "not_modified")


def test_a_page_that_a_hook_led_to_is_counted_once() -> None:
    looked = LookedAtSome(unchanged={"hook": ["same"]}, changed=["new"], hooked=["new"])
    found = after_some(Verification(at=FIRST - 30 * DAY, by="listing"), looked, FIRST)
    now = FIRST + timedelta(hours=1)
    counted = freshness(found, now, documents=10, fetched_in_day=1, fetched_in_week=1)
    assert counted == Freshness(day=2, week=0, older=8)
