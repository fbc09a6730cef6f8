"""How fast pages change, as estimated from their checks."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.freshness.evidence import NOTHING, Evidence
from rowen.core.freshness.rates import Prior, estimate, fit, priors_of

WIDE = Prior(0.0, 100.0)
seconds = st.floats(min_value=0.01, max_value=1000.0)


def evidences() -> st.SearchStrategy[Evidence]:
    return st.builds(
        lambda changes, interval, quiet: Evidence(
            changes=changes, changed_s=changes * interval, unchanged_s=quiet
        ),
        st.integers(0, 500).map(lambda tenths: tenths / 10),
        seconds,
        st.floats(min_value=0.0, max_value=10_000.0),
    )


def likelihood(evidence: Evidence, prior: Prior, log_rate: float) -> float:
    rate = math.exp(log_rate)
    said = -rate * evidence.unchanged_s - (log_rate - prior.mean) ** 2 / (2 * prior.width**2)
    if evidence.changes:
        said += evidence.changes * math.log(-math.expm1(-rate * evidence.changed_s / evidence.changes))
    return said


@given(evidences(), st.floats(min_value=-5.0, max_value=5.0), st.floats(min_value=0.05, max_value=2.5))
def test_no_rate_nearby_is_more_likely_than_the_estimate(
    evidence: Evidence, mean: float, width: float
) -> None:
    prior = Prior(mean, width)
    found = math.log(estimate(evidence, prior).rate)
    best = likelihood(evidence, prior, found)
    for other in (found - 0.05, found + 0.05):
        assert likelihood(evidence, prior, other) <= best + 1e-6 * (1 + abs(best))


def test_with_equal_intervals_it_is_the_known_closed_form() -> None:
    """Six of ten checks, two days apart, found a change: 1 − e^(−2λ) = 0.6."""
    found = estimate(Evidence(changes=6, changed_s=12, unchanged_s=8), WIDE).rate
    assert found == pytest.approx(-math.log(0.4) / 2, rel=1e-3)


@given(evidences(), seconds)
def test_a_quiet_stretch_lowers_the_rate_and_a_change_raises_it(evidence: Evidence, stretch: float) -> None:
    prior = Prior(0.0, 1.0)
    now = estimate(evidence, prior).rate
    assert estimate(evidence + Evidence(unchanged_s=stretch), prior).rate <= now * (1 + 1e-4)
    interval = evidence.changed_s / evidence.changes if evidence.changes else stretch
    assert estimate(evidence.after_change(interval), prior).rate >= now * (1 - 1e-4)


def test_a_page_without_evidence_has_the_rate_of_its_folder() -> None:
    busy = [(Evidence(changes=5, changed_s=5, unchanged_s=5), ("news",))] * 40
    quiet = [(Evidence(unchanged_s=50), ("reference",))] * 40
    rates = {group: estimate(NOTHING, prior).rate for group, prior in priors_of([*busy, *quiet]).items()}
    assert rates["news",] > 10 * rates["reference",]
    # A folder that nothing is known of is like the source as a whole.
    assert rates["reference",] < rates[()] < rates["news",]


def test_a_folder_of_one_page_leans_on_the_source() -> None:
    many = [(Evidence(changes=1, changed_s=1, unchanged_s=9), ("guide",))] * 50
    priors = priors_of([*many, (Evidence(changes=3, changed_s=3), ("odd",))])
    assert estimate(NOTHING, priors["odd",]).rate < 2 * estimate(NOTHING, priors["guide",]).rate


def test_the_width_of_a_prior_is_that_of_the_rates() -> None:
    random = Random(3)
    prior = fit([(_checked(math.exp(random.gauss(-1.0, 0.8)), 60, random), 1) for _ in range(400)])
    assert prior.mean == pytest.approx(-1.0, abs=0.15)
    assert prior.width == pytest.approx(0.8, abs=0.15)


def test_pages_that_are_all_alike_have_a_narrow_prior() -> None:
    random = Random(4)
    prior = fit([(_checked(0.5, 30, random), 1) for _ in range(300)])
    assert prior.width < 0.25


def test_a_source_in_which_nothing_ever_changed_has_a_small_rate() -> None:
    quiet = Evidence(unchanged_s=100.0)
    assert 0.0 < estimate(quiet, priors_of([(quiet, ())] * 100)[()]).rate < 1e-3


def test_a_source_without_pages_has_a_prior_all_the_same() -> None:
    assert estimate(NOTHING, priors_of([])[()]).rate > 0.0


def _checked(rate: float, checks: int, random: Random) -> Evidence:
    evidence = NOTHING
    for _ in range(checks):
        interval = random.choice((0.5, 1.0, 2.0))
        changed = random.random() < -math.expm1(-rate * interval)
        evidence = evidence.after_change(interval) if changed else evidence + Evidence(unchanged_s=interval)
    return evidence


@given(evidences(), seconds, seconds)
def test_fading_twice_is_fading_once_for_longer(evidence: Evidence, one: float, other: float) -> None:
    twice, once = evidence.faded(one, 10).faded(other, 10), evidence.faded(one + other, 10)
    assert twice.changes == pytest.approx(once.changes)
    assert twice.unchanged_s == pytest.approx(once.unchanged_s)


@given(evidences(), seconds, seconds)
def test_a_quiet_stretch_counts_the_same_in_one_piece_and_in_two(
    evidence: Evidence, one: float, other: float
) -> None:
    pieces = evidence.after_quiet(one, 100).after_quiet(other, 100)
    whole = evidence.after_quiet(one + other, 100)
    assert pieces.unchanged_s == pytest.approx(whole.unchanged_s)
    assert pieces.changes == pytest.approx(whole.changes)


def test_a_page_that_became_quiet_loses_its_rate() -> None:
    busy = Evidence(changes=20, changed_s=20)
    prior = Prior(0.0, 2.0)
    assert estimate(busy.after_quiet(30, 10), prior).rate < estimate(busy, prior).rate / 10
