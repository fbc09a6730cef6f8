"""What a date of a sitemap claims, and when it does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from rowen.core.freshness import lastmod
from rowen.core.rules.clocks import SKEW


@pytest.mark.parametrize(
    ("value", "end"),
    [
        ("2026-11-17T09:30:15Z", datetime(2026, 11, 17, 9, 30, 16, tzinfo=UTC)),
        ("2026-11-17T09:30:15.250+01:00", datetime(2026, 11, 17, 8, 30, 16, tzinfo=UTC)),
        ("2026-11-17T09:30-0500", datetime(2026, 11, 17, 14, 31, 1, tzinfo=UTC)),
        (" 2026-11-17 09:30:15 ", datetime(2026, 11, 17, 21, 30, 16, tzinfo=UTC)),
        ("2026-11-17", datetime(2026, 11, 18, 12, tzinfo=UTC)),
        ("2026-12", datetime(2027, 1, 1, 12, tzinfo=UTC)),
        ("2026", datetime(2027, 1, 1, 12, tzinfo=UTC)),
    ],
)
def test_a_date_ends_when_the_last_zone_it_may_mean_is_over(value: str, end: datetime) -> None:
    assert lastmod.ends_at(value) == end


@pytest.mark.parametrize(
    "value", ["", "yesterday", "17.11.2026", "2026-13-01", "2026-02-30", "9999", "2026-11-17T25:00Z", "0000"]
)
def test_what_is_no_date_claims_nothing(value: str) -> None:
    assert lastmod.ends_at(value) is None
    assert not lastmod.is_settled(value, datetime(2026, 11, 17, tzinfo=UTC))


def test_a_date_is_settled_once_no_edit_can_fall_under_it() -> None:
    over = datetime(2026, 11, 18, 12, tzinfo=UTC) + SKEW
    assert lastmod.is_settled("2026-11-17", over)
    assert not lastmod.is_settled("2026-11-17", over - timedelta(seconds=1))
    assert not lastmod.is_settled("2099-01-01", over), "a date in the future"


def test_the_same_date_beside_another_text_or_another_page_is_another_claim() -> None:
    one = lastmod.digest("https://e.org/a", "2026-11-17", b"text")
    others = {
        lastmod.digest("https://e.org/b", "2026-11-17", b"text"),
        lastmod.digest("https://e.org/a", "2026-11-18", b"text"),
        lastmod.digest("https://e.org/a", "2026-11-17", b"words"),
    }
    assert len(others) == 3
    assert one not in others
    assert one == lastmod.digest("https://e.org/a", "2026-11-17", b"text")
