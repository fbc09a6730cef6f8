"""Numbers of a stranger: what becomes a vector, and what does not."""

from __future__ import annotations

import base64
import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.adapters.embedders.vectors import BadVectors, WrongLength, pack

NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=4, max_size=4).filter(
    any
)


def packed(*numbers: float) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


@given(NUMBERS)
def test_any_numbers_become_a_unit_vector_in_their_direction(numbers: list[float]) -> None:
    (vector,) = pack([numbers], 4)
    found = np.frombuffer(vector, np.int8).astype(float) / 127
    largest = max(map(abs, numbers))
    scaled = np.array(numbers) / largest
    assert found == pytest.approx(scaled / np.linalg.norm(scaled), abs=0.005)


@given(NUMBERS)
def test_base64_and_lists_give_the_same_vector(numbers: list[float]) -> None:
    assert pack([packed(*numbers)], 4) == pack([numbers], 4)


@pytest.mark.parametrize(
    ("row", "fact"),
    [
        ([1.0, math.nan], "not finite"),
        ([1.0, math.inf], "not finite"),
        ([1.0, None], "not finite"),
        (packed(1.0, math.nan), "not finite"),
        (packed(1.0, -math.inf), "not finite"),
        ([0.0, 0.0], "nothing but zeros"),
        (["a", "b"], "does not consist of numbers"),
        ([[1.0], [2.0]], "does not consist of numbers"),
        ([[1.0], 2.0], "does not consist of numbers"),
        ([1.0, {}], "does not consist of numbers"),
        ([1.0, 10**400], "does not consist of numbers"),
        ("not base64!", "does not consist of numbers"),
        ("AAAA", "does not consist of numbers"),
        ({"values": []}, "a dict where a vector should be"),
        (None, "a NoneType where a vector should be"),
    ],
)
def test_what_cannot_be_trusted_is_refused(row: Any, fact: str) -> None:
    with pytest.raises(BadVectors, match=fact):
        pack([[1.0, 2.0], row], 2)


@pytest.mark.parametrize("row", [[], [1.0], [1.0, 2.0, 3.0], packed(1.0), ""])
def test_a_vector_of_another_length_is_refused(row: Any) -> None:
    with pytest.raises(WrongLength, match="expected 2") as caught:
        pack([row], 2)
    assert caught.value.found == len(row) if isinstance(row, list) else caught.value.found in (0, 1)
