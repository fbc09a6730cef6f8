"""When a document was last known to be right, from one record a source."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rowen.core.web.verified import Freshness, Looked, Verification, after_run, freshness, way_of

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
