"""The form of rows that all databases agree on, and the sums that are compared."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rowen.core.exchange.store_copy import (
    PARTS,
    TABLES,
    Column,
    Kind,
    Part,
    Progress,
    Sum,
    canonical,
    differences,
    page_of,
    progress_from,
    sum_of,
)

BY_NAME = {part.name: part for part in PARTS}


def one(kind: Kind, value: Any) -> str | None:
    part = Part(name="x", table="x", columns=(Column("x", kind),), key=("x",))
    return canonical(part, (value,))[0]


def test_the_same_moment_is_the_same_text() -> None:
    times = ["2026-05-01T12:00:00+00:00", "2026-05-01T14:00:00.000000+02:00", "2026-05-01T12:00:00Z"]
    assert {one(Kind.TIME, time) for time in times} == {"2026-05-01T12:00:00.000000+00:00"}


def test_json_is_the_same_in_any_order_and_with_decimals() -> None:
    texts = ['{"b":[1e+16,1.5,-0.0],"a":"x"}', '{"a": "x", "b": [10000000000000000, 1.50, 0.0]}']
    assert len({one(Kind.JSON, text) for text in texts}) == 1
    assert one(Kind.JSON, "[1]") != one(Kind.JSON, '["1"]')
    assert one(Kind.JSON, "null") == "null"
    assert one(Kind.JSON, None) is None


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_kept_as_a_decimal_is_the_same_number(number: float) -> None:
    # As a database does that has decimals: written out in full, without a sign for nothing.
    exact = Decimal(repr(number))
    decimal = f"{exact if exact else abs(exact):f}"
    assert one(Kind.JSON, json.dumps(number)) == one(Kind.JSON, decimal)


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_other_numbers_are_other_numbers(first: float, second: float) -> None:
    alike = one(Kind.JSON, json.dumps(first)) == one(Kind.JSON, json.dumps(second))
    assert alike == (first == second)


def test_a_text_without_nul_is_the_same_text() -> None:
    assert one(Kind.TEXT, "a\0b") == one(Kind.TEXT, "a\ufffdb")
    assert one(Kind.JSON, '{"a\\u0000":"\\u0000"}') == one(Kind.JSON, '{"a\ufffd":"\ufffd"}')
    assert one(Kind.TEXT, "a\0b") != one(Kind.TEXT, "ab")


def test_truth_is_a_number_and_nothing_is_not_a_text() -> None:
    assert one(Kind.FLAG, True) == one(Kind.FLAG, 1) == "1"
    assert one(Kind.TEXT, None) != one(Kind.TEXT, "None")
    assert one(Kind.BYTES, b"\x00\xff") == "00ff"
    assert one(Kind.REAL, 3) == one(Kind.REAL, 3.0)


def test_a_sum_does_not_depend_on_the_order_but_on_every_row() -> None:
    part = BY_NAME["refs.alias_of"]
    rows = [(1, 2), (2, 3), (5, 2)]
    assert sum_of(part, rows) == sum_of(part, reversed(rows))
    assert sum_of(part, rows) == sum_of(part, rows[:1]) + sum_of(part, rows[1:])
    assert sum_of(part, rows) != sum_of(part, [(2, 1), (2, 3), (5, 2)])
    twice = sum_of(part, [*rows, rows[0], rows[0]])
    assert twice.digest != sum_of(part, rows).digest, "two of the same do not cancel out"


def test_a_digest_that_goes_along_is_not_compared() -> None:
    part = BY_NAME["refs"]
    assert sum_of(part, [(1, 1, "a", b"one")]) == sum_of(part, [(1, 1, "a", b"another")])


def test_a_page_ends_by_rows_or_by_size() -> None:
    part = BY_NAME["notes"]
    rows = [(f"{number}", '"' + "x" * 98 + '"') for number in range(10)]
    assert len(page_of(part, rows, max_rows=3, max_bytes=10_000).rows) == 3
    by_size = page_of(part, rows, max_rows=100, max_bytes=150)
    assert (len(by_size.rows), by_size.last) == (2, ("1",))
    assert len(page_of(part, rows, max_rows=100, max_bytes=1).rows) == 1, "there is always one"
    assert page_of(part, [], max_rows=1, max_bytes=1).last is None


def test_rows_of_one_key_stay_together() -> None:
    part = BY_NAME["run_shares"]
    rows = [(1, "{}"), (1, "{}"), (1, "[]"), (2, "{}")]
    page = page_of(part, rows, max_rows=2, max_bytes=10_000)
    assert (page.rows, page.last) == (rows[:3], (1,))


def test_progress_comes_back_as_it_was() -> None:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    progress = Progress(
        identity="abc",
        name="a.db",
        started_at=now,
        part="company_keys",
        after=(3, "a\0b"),
        sums={"refs": Sum(3, 2**255 + 1)},
        wrong=True,
        completed_at=now,
    )
    stored = json.loads(json.dumps(progress.note()))
    assert progress_from(stored) == progress
    assert "\0" not in str(stored), "not every database has it"


def test_differences_are_named() -> None:
    expected = {"refs": Sum(3, 7), "runs": Sum(2, 5), "notes": Sum(1, 1)}
    found = {"refs": Sum(2, 7), "runs": Sum(2, 6), "notes": Sum(1, 1), "tokens": Sum(1, 1)}
    assert differences(expected, found) == [
        "`runs` has 2 rows, not all of them the same",
        "`refs` has 2 of 3 rows",
        "`tokens` has 1 of 0 rows",
    ]
    assert differences(expected, expected) == []


def test_whatever_a_row_points_at_comes_first() -> None:
    assert len(set(BY_NAME)) == len(PARTS)
    order = [part.name for part in PARTS]
    for table, needed in {
        "runs": ["sources"],
        "run_items": ["runs"],
        "refs": ["sources"],
        "sections": ["contents", "passages"],
        "vectors": ["passages", "models"],
        "documents": ["sources", "refs", "contents"],
        "handoffs": ["sources", "refs", "contents"],
        "offer_sightings": ["offers", "sources"],
        "offers": ["companies"],
    }.items():
        assert all(order.index(one) < order.index(table) for one in needed), table
    assert TABLES[0] == "sources"
