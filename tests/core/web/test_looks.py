"""When single pages were verified, packed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from rowen.core.web.looks import NO_LOOKS, RECORD, Looks
from rowen.core.web.verified import (
    Freshness,
    Looked,
    LookedAtSome,
    Verification,
    after_run,
    after_some,
    freshness,
)

NOW = datetime(2026, 5, 1, 12, 30, 0, 123456, tzinfo=UTC)
DAY = timedelta(days=1)
NAMES = st.lists(st.text(max_size=40), unique=True, max_size=30)


@given(NAMES, NAMES)
def test_every_page_is_found_with_its_last_look_and_no_other(first: list[str], second: list[str]) -> None:
    looks = NO_LOOKS.after(NOW, {"not_modified": first}, changed=())
    looks = looks.after(NOW + DAY, {"same_body": second}, changed=())
    assert len(looks) == len({*first, *second})
    assert len(looks.packed) == len(looks) * RECORD
    for name in second:
        assert looks.of(name) == (NOW + DAY, "same_body")
    for name in set(first) - set(second):
        assert Looks(looks.packed).of(name) == (NOW, "not_modified")
    assert looks.of("never asked, and longer than the others are allowed to be") is None
    assert looks.since(NOW + DAY) == len(set(second))


def test_the_look_at_a_page_that_changed_is_forgotten() -> None:
    looks = NO_LOOKS.after(NOW, {"not_modified": ["a", "b"]}, changed=())
    assert looks.after(NOW + DAY, {}, changed=["a"]).of("a") is None


def test_a_way_that_this_version_does_not_know_is_no_way() -> None:
    assert NO_LOOKS.after(NOW, {"by telegram": ["a"]}, changed=()).of("a") == (NOW, None)


def test_a_run_that_asked_for_some_pages_verifies_those_and_no_other() -> None:
    whole = after_run(None, Looked(by="not_modified", failed=["c"]), NOW)
    some = after_some(whole, LookedAtSome(unchanged={"same_body": ["a", "c"]}), NOW + DAY)
    fetched = NOW - DAY
    assert some.of("a", fetched) == (NOW + DAY, "same_body")
    assert some.of("c", fetched) == (NOW + DAY, "same_body"), "it had failed before"
    assert some.of("b", fetched) == (NOW, "not_modified")
    assert some.of("a", NOW + 2 * DAY) == (NOW + 2 * DAY, "fetched")
    again = after_run(some, Looked(by="listing", failed=["a"]), NOW + 3 * DAY)
    assert again.of("a", fetched) == (NOW + DAY, "same_body"), "what failed keeps what was known"
    assert again.looks == NO_LOOKS


def test_before_everything_was_looked_at_only_what_was_asked_for_is_known() -> None:
    some = after_some(None, LookedAtSome(unchanged={"not_modified": ["a"]}), NOW)
    assert some.of("a", NOW - DAY) == (NOW, "not_modified")
    assert some.of("b", NOW - DAY) == (NOW - DAY, "fetched")


def test_freshness_counts_what_some_runs_looked_at() -> None:
    old = Verification(at=NOW - 30 * DAY, by="not_modified")
    some = after_some(old, LookedAtSome(unchanged={"not_modified": ["a", "b"]}), NOW)
    counted = freshness(some, NOW, documents=10, fetched_in_day=1, fetched_in_week=2)
    assert counted == Freshness(day=3, week=1, older=6)
