"""The examples in the description of the API are what it would answer."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from rowen.doors.rest import models, problems
from rowen.doors.shapes import documents, runs, sources
from rowen.doors.shapes.shape import Shape


def shown() -> list[tuple[type[BaseModel], Any]]:
    found: list[type[BaseModel]] = [models.NewSource, models.Rollback, problems.ProblemModel]
    found += [
        models.model(one)
        for module in (documents, runs, sources)
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Shape)
    ]
    return [
        (one, example)
        for one in found
        for example in dict(one.model_config.get("json_schema_extra") or {}).get("examples", [])  # type: ignore[arg-type]
    ]


@pytest.mark.parametrize(("model", "example"), shown())
def test_an_example_has_the_shape_it_is_an_example_of(model: type[BaseModel], example: Any) -> None:
    model.model_validate(example)


def test_the_answers_people_ask_for_first_have_examples() -> None:
    first = {models.model(runs.Run), models.model(runs.HandoffReceipt), models.NewSource}
    assert first <= {model for model, _ in shown()}
