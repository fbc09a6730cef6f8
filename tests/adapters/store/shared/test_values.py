"""What goes into a database comes out of it, on both."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import apsw
import pytest

from rowen.adapters.store.shared.values import Json, json_in, links_in, links_out, maybe_date_in, time_in
from rowen.adapters.store.sqlite.transaction import bound
from tests.support.postgres import Server

MOMENTS = [
    datetime(2026, 5, 1, 12, 0, tzinfo=UTC),
    datetime(2026, 5, 1, 12, 0, 0, 500_000, tzinfo=UTC),
    datetime(1999, 12, 31, 23, 59, 59, 999_999, tzinfo=timezone(timedelta(hours=-3))),
]


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
    assert maybe_date_in(day) == date(2026, 5, 1)
    assert json_in(json) == {"a": "\0", "b": [1, None]}
    assert list(links_in(links)) == [3, 1, 2**40]


def test_a_value_sqlite_has_no_form_for_is_a_bug() -> None:
    db = apsw.Connection(":memory:")
    db.convert_binding = bound
    with pytest.raises(TypeError, match="cannot store dict"):
        db.execute("SELECT ?", ({},))
