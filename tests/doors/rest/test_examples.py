"""The examples in the description of the API are what it would answer."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from rowen.doors.rest import models, problems, reading_models


def shown() -> list[tuple[type[BaseModel], Any]]:
    found = []
    for module in (models, reading_models, problems):
        for one in vars(module).values():
            if isinstance(one, type) and issubclass(one, BaseModel) and one.__module__ == module.__name__:
                extra = one.model_config.get("json_schema_extra") or {}
                found += [(one, example) for example in dict(extra).get("examples", [])]  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize(("model", "example"), shown())
def test_an_example_has_the_shape_it_is_an_example_of(model: type[BaseModel], example: Any) -> None:
    model.model_validate(example)


def test_the_answers_people_ask_for_first_have_examples() -> None:
    assert {models.Run, models.Receipt} <= {model for model, _ in shown()}
