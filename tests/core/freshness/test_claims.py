"""How far a signal is believed, and which of its claims are checked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.freshness import claims
from rowen.core.freshness.claims import NOTHING, Record, Seen, Signal, Standing, after_run, whose_turn

AT = datetime(2026, 11, 17, tzinfo=UTC)
HELD = Seen(claims=100, checked=30)
LIED = Seen(claims=100, checked=30, lies=1, lied_about="/a")


def after(*runs: Seen, record: Record = NOTHING) -> Record:
    for number, seen in enumerate(runs):
        record = after_run(record, seen, AT + timedelta(days=number))
    return record


def test_a_signal_is_trusted_after_enough_checks_in_two_runs() -> None:
    assert after(HELD).standing is Standing.UNPROVEN
    assert after(HELD).why == "not checked enough yet: 30 of 52 checks, 1 of 2 runs"
    assert after(Seen(claims=900, checked=900)).standing is Standing.UNPROVEN, "one run is one moment"
    assert after(HELD, HELD).standing is Standing.TRUSTED
    assert after(HELD, HELD).why == "60 checks in 2 runs held: at most 4.3 % lies"


def test_one_lie_ends_the_trust_and_the_way_back_gets_longer_with_each_fall() -> None:
    lied = after(HELD, HELD, LIED)
    assert (lied.standing, lied.falls, lied.runs_needed) == (Standing.DISTRUSTED, 1, 4)
    assert lied.why == "lied on 2026-11-19 about `/a`; since then 0 of 52 checks, 0 of 4 runs"
    assert after(LIED, record=lied).falls == 1, "it had not got up yet"
    assert after(*[HELD] * 3, record=lied).standing is Standing.DISTRUSTED
    proven = after(*[HELD] * 4, record=lied)
    assert proven.standing is Standing.TRUSTED
    assert after(LIED, record=proven).runs_needed == 8
    fallen = Record(falls=40)
    assert fallen.runs_needed == 64


def test_a_record_counts_what_was_claimed_told_and_alarmed() -> None:
    record = after(Seen(claims=5, told=2, alarms=3), HELD)
    assert (record.claims, record.checked, record.lies, record.told, record.alarms) == (105, 30, 0, 2, 3)
    assert record.checked_at == AT + timedelta(days=1)
    assert after(Seen(told=1)).turns == 0, "no claim, nobody's turn"


@given(st.integers(0, 10_000))
def test_the_bound_falls_with_every_check_that_held(held: int) -> None:
    assert 0 < claims.most_lies(held + 1) < claims.most_lies(held) <= 1
    enough = held >= NOTHING.checks_needed
    assert (claims.most_lies(held) <= claims.MOST_LIES) is enough


@given(st.integers(0, 300), st.integers(1, 50), st.integers(0, 1000))
def test_every_page_has_its_turn_once_in_a_round(pages: int, number: int, turn: int) -> None:
    references = [f"https://e.org/{page}" for page in range(pages)]
    rounds = max(1, -(-pages // number))
    asked = [one for run in range(rounds) for one in whose_turn(references, number, turn + run)]
    assert sorted(asked) == sorted(references)


SIZES = (0, 1, 2, 10, 30, 240, 500, 10_000, 200_000)


@pytest.mark.parametrize("pages", SIZES)
def test_what_a_run_checks_is_a_small_share_with_a_floor_of_a_few(pages: int) -> None:
    few, some = claims.bodies(pages, proven=True), claims.bodies(pages, proven=False)
    assert few <= some <= pages
    assert few <= max(2, pages / 100 + 1)
    assert some <= max(3, pages / 20 + 1)
    assert (few, some) <= (max(10, int(pages**0.5) // 4), max(30, int(pages**0.5)))
    assert 2 * few + claims.asked(pages) <= max(140, 2 * int(pages**0.5))


@pytest.mark.parametrize("pages", SIZES)
def test_more_is_checked_where_a_verdict_saves_requests_or_validators_are_shared(pages: int) -> None:
    for asked in ({"pays": True}, {"shared": True}):
        first = claims.bodies(pages, proven=False, **asked)
        assert first == min(pages, max(30, int(pages**0.5)))
    assert claims.bodies(pages, proven=True, pays=True) == claims.bodies(pages, proven=True)
    assert claims.asked(240) * 3 == 240
    assert claims.bodies(30, proven=True, shared=True) * 3 == 30
    if pages >= NOTHING.checks_needed:
        assert 2 * claims.bodies(pages, proven=False, pays=True) >= NOTHING.checks_needed, "in two runs"


def test_validators_that_many_pages_share_are_not_made_from_their_texts() -> None:
    assert claims.are_shared(['"always"'] * 30)
    assert claims.are_shared(['"a"', '"b"'] * 2)
    assert not claims.are_shared([f'"{page}"' for page in range(30)])
    assert not claims.are_shared(['"a"'] * 2), "too few to tell"
    assert not claims.are_shared([])


def test_the_hint_tells_of_a_lie_that_costs_something() -> None:
    def said(signal: Signal, before: Record, seen: Seen) -> str | None:
        at = AT + timedelta(days=9)
        return claims.hint({signal: before}, {signal: after_run(before, seen, at)}, at)

    proven, fallen = after(HELD, HELD), after(LIED)
    whole = "pages are fetched whole until it has proven itself again"
    lie = "said that `/a` was unchanged, and it was not"
    assert said(Signal.ETAG, NOTHING, LIED) == f"ETag {lie}: {whole}"
    assert said(Signal.LAST_MODIFIED, fallen, HELD) == f"Last-Modified lied on 2026-11-17: {whole}"
    every = "every page is asked for until it has proven itself again"
    assert said(Signal.LASTMOD, proven, LIED) == f"lastmod of the sitemap {lie}: {every}"
    assert said(Signal.LASTMOD, NOTHING, LIED) is None, "it was not used"
    assert said(Signal.ETAG, proven, HELD) is None
