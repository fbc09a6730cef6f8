"""What goes into a database comes out of it, on both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from enum import StrEnum
from typing import Any

import apsw
import pytest

from rowen.adapters.store.shared.values import (
    Json,
    json_in,
    links_in,
    links_out,
    time_in,
    value_in,
    value_out,
)
from rowen.adapters.store.sqlite.transaction import bound
from tests.support.postgres import Server

MOMENTS = [
    datetime(2026, 5, 1, 12, 0, tzinfo=UTC),
    datetime(2026, 5, 1, 12, 0, 0, 500_000, tzinfo=UTC),
    datetime(1999, 12, 31, 23, 59, 59, 999_999, tzinfo=timezone(timedelta(hours=-3))),
]


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, kw_only=True, slots=True)
class Thing:
    name: str
    colour: Colour
    there: bool
    at: datetime | None
    day: date | None
    parts: tuple[str, ...] | None
    facts: Mapping[str, Any]
    note: str = "none"


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_time_comes_back_in_utc_to_the_microsecond(moment: datetime, postgres: Server) -> None:
    stored = apsw.Connection(":memory:")
    stored.convert_binding = bound
    read = [time_in(stored.execute("SELECT ?", (moment,)).get)]
    with postgres.connect() as db:
        db.execute("SET TimeZone TO 'UTC'")
        found = db.execute("SELECT (%s::timestamptz)::text", (moment,)).fetchone()
        assert found
        read.append(time_in(found[0]))
    assert read == [moment, moment]
    assert {one.tzinfo for one in read} == {UTC}


def test_a_list_may_be_empty_and_then_holds_no_value() -> None:
    db = apsw.Connection(":memory:")
    db.convert_binding = bound
    for value in (0, -1, "", "a", b"a"):
        for values in ([], [value]):
            found = db.execute("SELECT :one IN carray(:many)", {"one": value, "many": values}).get
            assert found == len(values)


def test_dates_json_and_links_come_back() -> None:
    db = apsw.Connection(":memory:")
    db.convert_binding = bound
    values = (date(2026, 5, 1), Json({"b": [1, None], "a": "\0"}), links_out([3, 1, 2**40]))
    day, json, links = db.execute("SELECT ?, ?, ?", values).get
    assert date.fromisoformat(day) == date(2026, 5, 1)
    assert json_in(json) == {"a": "\0", "b": [1, None]}
    assert list(links_in(links)) == [3, 1, 2**40]


def test_a_value_sqlite_has_no_form_for_is_a_bug() -> None:
    db = apsw.Connection(":memory:")
    db.convert_binding = bound
    with pytest.raises(TypeError, match="cannot store dict"):
        db.execute("SELECT ?", ({},))


def test_a_row_becomes_a_dataclass_by_the_types_of_its_fields() -> None:
    row = ("a", "red", 1, "2026-01-02T03:04:05+00:00", "2026-01-02", '["x"]', '{"y": 1}')
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert value_in(Thing, row) == Thing(
        name="a", colour=Colour.RED, there=True, at=at, day=date(2026, 1, 2), parts=("x",), facts={"y": 1}
    )


def test_null_stays_none_whatever_the_type() -> None:
    thing = value_in(Thing, ("a", "red", 0, None, None, None, "{}", "b"))
    assert (thing.at, thing.day, thing.parts, thing.there, thing.note) == (None, None, None, False, "b")


def test_the_fields_of_a_dataclass_go_out_by_name_and_mappings_as_json() -> None:
    thing = value_in(Thing, ("a", "red", 0, None, None, None, '{"y": 1}'))
    assert value_out(thing)["facts"] == Json({"y": 1})
    assert value_out(thing)["name"] == "a"


def test_a_statement_with_more_columns_than_fields_is_a_bug_and_says_so() -> None:
    with pytest.raises(AssertionError, match="a row of 9 columns for the 8 fields of Thing"):
        value_in(Thing, ("a", "red", 0, None, None, None, "{}", "b", "left over"))
