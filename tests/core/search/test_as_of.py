from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from rowen.core.generation import Shown
from rowen.core.search.as_of import AsOf, SourceThen, moment, removed, then
from rowen.errors import UserError

NOW = datetime(2026, 11, 5, 12, 0, tzinfo=UTC)
SHOWN, LATER = datetime(2026, 10, 20, 8, 0, 30, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)


def shown(generation: int = 3, **about: object) -> Shown:
    values = {"at": SHOWN, "until": None, "kept": True, "first_at": SHOWN, "kept_since": SHOWN, **about}
    return Shown(source_id=1, generation=generation, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-11-01", datetime(2026, 11, 1, tzinfo=UTC)),
        (" 2026-11-01T08:30 ", datetime(2026, 11, 1, 8, 30, tzinfo=UTC)),
        ("2026-11-01T08:30:01.5Z", datetime(2026, 11, 1, 8, 30, 1, 500_000, tzinfo=UTC)),
        ("2026-11-01T08:30+02:00", datetime(2026, 11, 1, 6, 30, tzinfo=UTC)),
        ("2d", NOW - timedelta(days=2)),
        ("1h30m", NOW - timedelta(minutes=90)),
        ("0s", NOW),
    ],
)
def test_a_moment_is_a_date_an_instant_or_how_long_ago(text: str, meant: datetime) -> None:
    assert moment(text, NOW) == meant


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026", "2026-13-01", "3", "99999999999d", "2026-11-01T99:00"]
)
def test_what_is_no_moment_is_refused_with_examples(text: str) -> None:
    with pytest.raises(UserError, match="neither a date, nor an instant, nor how long ago") as caught:
        moment(text, NOW)
    assert "2026-11-01" in (caught.value.hint or "")


@pytest.mark.parametrize("text", ["2026-11-06", "2026-11-05T12:00:01Z", "9999-12-31"])
def test_the_future_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="in the future"):
        moment(text, NOW)


def test_a_source_answers_from_what_was_shown_then_and_says_when() -> None:
    found = then("docs", shown(until=LATER), NOW)
    assert (found.generation, found.since, found.until, found.missing) == (3, SHOWN, LATER, None)
    assert found.says == "docs: generation 3, shown from 2026-10-20 08:00:30 UTC to 2026-10-25 00:00 UTC"
    assert then("docs", shown(), NOW).says == "docs: generation 3, shown since 2026-10-20 08:00:30 UTC"


def test_what_cannot_be_answered_is_said_and_nothing_else_takes_its_place() -> None:
    early = SHOWN - timedelta(days=1)
    assert then("docs", shown(0), early).says == "docs: first shown 2026-10-20 08:01 UTC"
    assert then("docs", shown(0, first_at=None), early).says == "docs: nothing was shown yet"
    old = then("docs", shown(1, kept=False), early)
    assert (old.generation, old.says) == (None, "docs: kept since 2026-10-20 08:01 UTC; nothing older")
    rolled_back = then("docs", shown(5, kept=False), NOW)
    assert rolled_back.says == "docs: generation 5, shown then, was rolled back and is not kept"
    assert then("docs", shown(5, kept=False, kept_since=None), NOW).says == "docs: nothing is kept"
    assert removed("old", LATER).says == "old: removed 2026-10-25 00:00 UTC; nothing of it is kept"


def test_an_answer_says_of_when_it_is() -> None:
    assert AsOf(at=LATER, sources=()).says == "as of 2026-10-25 00:00 UTC"
    one = SourceThen(source="docs", generation=3)
    assert AsOf(at=None, sources=(one,)).says == "as of generation 3"
    assert one.says == "docs: generation 3"
