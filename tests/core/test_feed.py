"""Cursors are places in an order, and only what was given out is taken back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.feed import Cursor
from rowen.errors import UserError


@given(st.integers(0, 10**17), st.integers(0, 10**17))
def test_a_cursor_survives_being_written_down(activation: int, item: int) -> None:
    cursor = Cursor(activation, item)
    assert Cursor.parse(str(cursor)) == cursor


@pytest.mark.parametrize(
    "text", ["", "1", "1.", ".1", "a.b", "-1.2", "1.2.3", "٣.٤", "1.999999999999999999999"]
)
def test_what_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        Cursor.parse(text)
