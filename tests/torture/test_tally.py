"""The suite counts what it does, and docs/trust.md shows the counts of a whole run."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from scripts.trust import PAGE, page_with_figures, tables
from tests.torture.tally import PROPERTY, Tally, added_up, figures

pytestmark = pytest.mark.sliced


def test_counts_of_all_workers_are_added_up_and_shown() -> None:
    first, second = Tally(), Tally()
    for tally in (first, second):
        tally.add("kills", "sync on sqlite", 2)
        tally.moment("sync on sqlite", 0.35)
        tally.step("ingest")
        tally.compare({"a": 1}, {"a": 1}, when="now")
        tally.honest(True, when="now")
    reports = [SimpleNamespace(user_properties=[(PROPERTY, one.counts)]) for one in (first, second)]
    run = {"seed": 1, "duration_s": 9, "passed": 2, "failed": 0}
    shown = tables({**run, **figures(added_up(reports))})
    assert "| kills | 4 | sync on sqlite 4 |" in shown
    assert "| sync on sqlite | 0 | 0 | 0 | 2 |" in shown
    assert "**0 lost, 0 mixed, 0 wrongly deleted, 0 falsely reported**" in shown
    page = page_with_figures(PAGE.read_text("utf-8"), {**run, **figures(added_up(reports))})
    assert page_with_figures(page, {**run, **figures(added_up(reports))}) == page


def test_what_is_missing_other_or_untrue_is_a_problem_of_its_own_kind() -> None:
    tally = Tally()
    tally.compare({"a": 1, "b": 1}, {"a": 2, "c": 1}, when="now")
    tally.keeps(["a"], [], when="now")
    tally.honest(False, when="now")
    found = figures(tally.counts)
    assert found["verdicts"] == {"lost": 1, "mixed": 2, "wrongly deleted": 1, "falsely reported": 1}
    with pytest.raises(AssertionError, match="lost: b now"):
        tally.verify()


def test_the_page_shows_a_whole_run_in_which_nothing_was_wrong() -> None:
    page = PAGE.read_text("utf-8")
    assert "**0 lost, 0 mixed, 0 wrongly deleted, 0 falsely reported**" in page
    kills = re.search(r"\| kills \| ([\d,]+) \|", page)
    assert kills is not None
    assert int(kills[1].replace(",", "")) >= 300
