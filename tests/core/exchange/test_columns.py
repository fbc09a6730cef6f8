"""Documents as rows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.exchange import columns as table
from rowen.core.exchange.columns import METADATA, Column, Survey, Type
from rowen.core.feed import Document

AT = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def a_document(metadata: dict[str, Any], *, text: str | None = None) -> Document:
    return Document(
        id=1,
        source_id=1,
        source="docs@2",
        kind="web",
        reference="r",
        url="https://docs.example/r",
        title="Title",
        metadata=metadata,
        content_type="text/html",
        content_hash=b"\x01\x02",
        generation=3,
        born=1,
        fetched_at=AT,
        text=text,
    )


def columns_of(*metadata: dict[str, Any], text: bool = False) -> tuple[Column, ...]:
    survey = Survey()
    for one in metadata:
        survey.add(a_document(one))
    return survey.columns(text=text)


def test_the_fixed_columns_stand_first_and_metadata_follows_by_name() -> None:
    names = [column.name for column in columns_of({"z": 1}, {"a": 1}, text=True)]
    assert names[:3] == ["source", "version", "kind"]
    assert names[-3:] == ["text", "metadata.a", "metadata.z"]


def test_a_row_has_the_cells_of_its_columns() -> None:
    columns = columns_of({"k": "v"}, text=True)
    cells = dict(
        zip((c.name for c in columns), table.row(a_document({}, text="words"), columns), strict=True)
    )
    assert (cells["source"], cells["version"], cells["generation"]) == ("docs", "2", 3)
    assert (cells["content_hash"], cells["fetched_at"], cells["text"]) == ("0102", AT, "words")
    assert cells["metadata.k"] is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2], Type.WHOLE),
        ([1, 0.5], Type.NUMBER),
        ([True, False], Type.TRUTH),
        ([True, 1], Type.TEXT),
        (["a", 1], Type.TEXT),
        ([None, 1], Type.WHOLE),
        ([None, None], Type.TEXT),
        ([2**63], Type.TEXT),
        ([-(2**63)], Type.WHOLE),
        ([[1]], Type.TEXT),
        ([{"a": 1}, "b"], Type.TEXT),
    ],
)
def test_a_column_has_the_narrowest_type_that_holds_all(values: list[Any], expected: Type) -> None:
    assert columns_of(*({"k": value} for value in values))[-1].type is expected


def test_what_is_no_text_in_a_text_column_is_json() -> None:
    columns = columns_of({"k": ["ä", 1]}, {"k": "plain"}, {"k": True})
    cells = [table.row(a_document({"k": value}), columns)[-1] for value in (["ä", 1], "plain", True, None)]
    assert cells == ['["ä",1]', "plain", "true", None]


def test_keys_without_end_stay_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MAX_METADATA_COLUMNS", 2)
    columns = columns_of({"a": 1, "b": 2, "c": 3})
    assert [column.name for column in columns[-3:]] == ["metadata.a", "metadata.b", METADATA]
    assert table.row(a_document({"a": 1, "c": 3, "d": "x"}), columns)[-3:] == [1, None, '{"c":3,"d":"x"}']
    assert table.row(a_document({"a": 1}), columns)[-1] is None


def test_a_record_has_the_metadata_as_it_is() -> None:
    record = table.record(a_document({"k": [1, None]}, text="words"), text=True)
    assert (record["metadata"], record["text"]) == ({"k": [1, None]}, "words")
    assert record["fetched_at"] == "2026-05-01T12:00:00+00:00"
    assert "text" not in table.record(a_document({}), text=False)


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_a_text_that_looks_like_a_formula_is_marked(cell: str) -> None:
    assert table.harmless(cell) == f"'{cell}"


@pytest.mark.parametrize(
    "cell",
    [
        "\ufeff=1+1",
        "\u200b=1",
        "\u2060\u00ad@SUM(A1)",
        "\uff1d1+1",
        "\uff0b1",
        "\uff0d1",
        "\uff20x",
        "\ufe661",
        " =1",
    ],
)
def test_a_formula_behind_what_nobody_sees_was_not_marked(cell: str) -> None:
    assert table.harmless(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["\ufeffx=1", "\u200b", " a", "\uff21", "1=1", "", None, -5, 0.5, True, AT])
def test_what_is_no_formula_is_left_alone(cell: Any) -> None:
    assert table.harmless(cell) == cell


@given(
    st.lists(
        st.dictionaries(
            st.text(max_size=3),
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
            max_size=4,
        ),
        max_size=6,
    )
)
def test_every_cell_is_of_the_type_of_its_column(metadata: list[dict[str, Any]]) -> None:
    columns = columns_of(*metadata)
    kinds = {Type.TEXT: str, Type.WHOLE: int, Type.NUMBER: float, Type.TRUTH: bool, Type.TIME: datetime}
    for one in metadata:
        for column, cell in zip(columns, table.row(a_document(one), columns), strict=True):
            assert cell is None or type(cell) is kinds[column.type]
