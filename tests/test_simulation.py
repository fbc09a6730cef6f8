"""The sharded frontier of docs/scale.md: every page once, every host left in peace, whoever dies."""

from __future__ import annotations

import pytest
from benchmarks.sharded_frontier import Plan, simulate, sizes


@pytest.mark.parametrize("deaths", [0, 1, 5])
@pytest.mark.parametrize("skew", [0.0, 1.0])
def test_no_host_is_visited_faster_than_allowed_and_no_page_is_lost(deaths: int, skew: float) -> None:
    plan = Plan(workers=6, hosts=60, pages=2_000, delay_s=2.0, skew=skew, deaths=deaths)
    found = simulate(plan)
    assert found.nearest_s >= plan.delay_s - 1e-9  # sums of fractions
    assert found.fetched == sum(sizes(plan))
    assert (found.hand_overs > 0) == (deaths > 0)


def test_more_workers_help_until_the_hosts_are_the_limit() -> None:
    alone, some, many = (
        simulate(Plan(workers=workers, hosts=400, pages=8_000, skew=0.0)).pages_per_s
        for workers in (1, 2, 16)
    )
    assert some > 1.6 * alone
    assert many <= 400 / 1.0
