"""How fast the pages of one source change, by folder and kind."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from rowen.core.freshness.evidence import NOTHING, Evidence
from rowen.core.freshness.source_rates import SourceRates, group_of, learnt, seen_changed, seen_quiet

NOW = datetime(2026, 5, 1, tzinfo=UTC)
DAY = timedelta(days=1)
DAY_S = 86_400.0


@pytest.mark.parametrize(
    ("reference", "group"),
    [
        ("https://docs.example/guide/install.html", ("docs.example/guide", "html")),
        ("https://docs.example/a/b/c/d/e.md?x=1", ("docs.example/a/b", "md")),
        ("https://docs.example/", ("docs.example", "")),
        ("https://docs.example", ("", "")),
        ("docs/readme.rst", ("docs", "rst")),
        ("https://docs.example/api/v1.something-else", ("docs.example/api", "")),
        ("a-dataset", ("", "")),
    ],
)
def test_a_page_belongs_to_its_folder_and_its_kind(reference: str, group: tuple[str, str]) -> None:
    assert group_of(reference) == group


def a_site() -> SourceRates:
    busy = [(f"https://d.example/news/{n}.html", Evidence(changes=5, changed_s=5 * DAY_S)) for n in range(30)]
    quiet = [(f"https://d.example/api/{n}.html", Evidence(unchanged_s=90 * DAY_S)) for n in range(30)]
    return learnt([*busy, *quiet, ("https://d.example/odd/1.pdf", Evidence(unchanged_s=DAY_S))])


def test_a_folder_with_enough_pages_has_a_prior_of_its_own() -> None:
    rates = a_site()
    assert ("d.example/news",) in rates.priors
    assert ("d.example/odd",) not in rates.priors
    news, api = (rates.rate(f"https://d.example/{one}/new.html", NOTHING) for one in ("news", "api"))
    assert news > 20 * api
    assert api < rates.rate("https://d.example/odd/2.pdf", NOTHING) < news


def test_what_was_learnt_is_the_same_after_json() -> None:
    rates = a_site()
    assert SourceRates.of_rows(json.loads(json.dumps(rates.as_rows()))) == rates


def test_a_version_counts_from_its_fetch_to_its_last_check_and_a_change_from_there() -> None:
    quiet = seen_quiet(None, NOW, NOW + DAY)
    assert quiet.unchanged_s == pytest.approx(DAY_S, rel=0.01)
    changed = seen_changed(None, NOW, NOW + DAY, NOW + 3 * DAY)
    assert changed.changes == 1.0
    assert changed.changed_s == pytest.approx(2 * DAY_S)
    assert seen_quiet(None, NOW + DAY, NOW) == NOTHING, "a clock that went back says nothing"
