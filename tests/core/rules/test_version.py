"""Which version a reader means."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.rules.version import best, sort_key


def test_versions_are_ordered_by_their_numbers_and_pre_releases_come_first() -> None:
    ordered = ["2.7", "3.0-rc1", "3.0", "3.0.1", "3.9", "3.10", "3.12a1", "3.12", "v4", "2024-05", "latest"]
    shuffled = random.Random(1).sample(ordered, len(ordered))
    assert sorted(shuffled, key=sort_key) == ordered


VERSIONS = ["2.7", "3.9", "3.12", "3.13rc1", "4.0"]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("", "4.0"),
        ("3.12", "3.12"),
        ("3", "3.12"),
        ("3.13", "3.13rc1"),
        ("lat", None),
        ("3.12.4", "3.12"),
        ("3.10", "3.9"),
        ("5", "4.0"),
        ("1", None),
        ("v3.9", "3.9"),
    ],
)
def test_the_best_version_for_a_wish(wanted: str, expected: str | None) -> None:
    assert best(wanted, VERSIONS) == expected


def test_a_source_without_a_version_is_the_newest() -> None:
    assert best("", ["3.12", ""]) == ""
    assert best("3", ["3.12", "", "latest"]) == "3.12"


@given(st.text(max_size=12), st.lists(st.text(max_size=12), max_size=6))
def test_any_text_can_be_a_version(wanted: str, versions: list[str]) -> None:
    answer = best(wanted, versions)
    assert answer is None or answer in versions
    assert best(wanted, [*versions, wanted]) is not None
