"""JSON that is not quite JSON: one bad character must not fail a whole source."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.web import json_body

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (rb'["\ud800"]', ["\ufffd"]),
        (rb'["a\uDC00b", "\ud83d\ude00"]', ["a\ufffdb", "\U0001f600"]),
        (rb'["\ud83d\ud83d\ude00"]', ["\ufffd\U0001f600"]),
        # A backslash, then the letters of an escape.
        (rb'["\\ud800", "\ud800\\"]', [r"\ud800", "\ufffd\\"]),
        (b'["\xed\xa0\x80"]', ["\ufffd"]),
        (rb'{"\ud800": 1}', {"\ufffd": 1}),
        (b'{"pay": NaN, "to": [Infinity, -Infinity, 1e999]}', {"pay": None, "to": [None, None, None]}),
        (b"\xef\xbb\xbf[1]", [1]),
    ],
)
def test_one_bad_value_failed_the_whole_answer(body: bytes, found: Any) -> None:
    assert json_body.read(body) == found
    json.dumps(json_body.read(body), ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "number",
    [2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**64 + 1, -(2**63), -(2**63) - 1, 10**30, 10**30 + 1, -(10**40)],
)
def test_ids_beyond_64_bits_became_the_same_float(number: int) -> None:
    found = json_body.read(f'{{"id": {number}, "text": "{number}"}}'.encode())
    assert found == {"id": number, "text": str(number)}
    assert isinstance(found["id"], int)


def test_a_number_without_end_is_kept_as_it_was_written() -> None:
    digits = "9" * 5000
    assert json_body.read(f"[{digits}]".encode()) == [digits]


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"{", b"[1,]", b'["caf\xe9"]', b"[nan]", b"[" * 100_000, b'["\\u12"]']
)
def test_what_is_no_json_stays_an_error(body: bytes) -> None:
    with pytest.raises(ValueError):
        json_body.read(body)


def test_how_deep_json_may_be_nested_does_not_depend_on_the_version_of_python() -> None:
    assert json_body.read(b"[" * 900 + b"]" * 900)
    with pytest.raises(ValueError, match="nested too deeply"):
        json_body.read(b"[" * 5000 + b"]" * 5000)


@given(VALUES)
def test_json_is_read_as_it_was_written(value: Any) -> None:
    for ascii_only in (True, False):
        written = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
        assert json_body.read(written) == value


def test_digits_inside_a_text_or_behind_a_point_are_no_reason_to_read_it_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json_body, "_tolerant", lambda body: "read twice")
    digits = "1" * 40
    for said in (f'{{"id": "{digits}"}}', f'["a{digits}"]', f"[0.{digits}]", f'{{"at": "-{digits}"}}', "[1]"):
        assert json_body.read(said.encode()) == json.loads(said)
    for said in (f"[{digits}]", f"-{digits[:19]}", f'{{"a":"{digits}","b": {digits[:20]}}}', digits):
        assert json_body.read(said.encode()) == "read twice"
