"""What is hashed of a mapping: the same bytes for ever, since stores are full of these hashes."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core import hashing

_scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)


def by_the_standard_library(values: dict[str, Any]) -> bytes:
    written = json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).digest()


@given(st.dictionaries(st.text(), _values, max_size=5))
def test_a_mapping_has_the_hash_of_its_sorted_json(values: dict[str, Any]) -> None:
    assert hashing.of_mapping(values) == by_the_standard_library(values)


@pytest.mark.parametrize(
    "value",
    [
        [1, 1e16],
        ["a", 1e-7],
        {"a": -0.0},
        [float("nan")],
        {"b": float("inf")},
        [[1.5]],
        2**70,
        "\ud800",
        "T00:00:00.5",
        "a\x7f\x00\u2028é😀",
        {"é": 1, "z": 2, "😀": 3, "￿": 4},
    ],
    ids=repr,
)
def test_what_libraries_write_differently_has_the_hash_it_always_had(value: Any) -> None:
    values = {"k": value}

    assert hashing.of_mapping(values) == by_the_standard_library(values)


@given(st.text())
def test_a_short_hash_is_the_beginning_of_the_whole_one(text: str) -> None:
    whole = hashing.of_text(text)

    assert hashing.short_of_text(text) == int.from_bytes(whole[:8], "big", signed=True)
