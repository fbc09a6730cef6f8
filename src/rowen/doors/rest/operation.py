"""What operations have in common: how their answers are described, whom they let in, and their parameters."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from rowen.core.safety.access import Scope
from rowen.doors.rest.guard import needs
from rowen.doors.rest.models import model
from rowen.doors.rest.problems import declared
from rowen.doors.shapes.shape import Shape

PREFIX = "/api/v1"

Responses = dict[int | str, dict[str, Any]]

LARGEST = 2**63 - 1
"""The largest id of a database."""
MAX_OFFSET = 2**31 - 1

SourceName = Annotated[
    str,
    Path(
        description="`name`, or `name@version` where there are several",
        min_length=1,
        max_length=129,
        examples=["docs"],
    ),
]
RunId = Annotated[int, Path(description="The number of a run", ge=1, le=LARGEST, examples=[1])]
HandoffId = Annotated[int, Path(description="The number of a handoff", ge=1, le=LARGEST, examples=[1])]
DocumentId = Annotated[
    int, Path(description="The number of a document's version", ge=1, le=LARGEST, examples=[1])
]
Limit = Annotated[int, Query(description="At most this many", ge=1, le=1000)]
Offset = Annotated[int, Query(description="Skip this many", ge=0, le=MAX_OFFSET)]


def operations(path: str, tag: str, *, root: str = PREFIX, suffix: str = "") -> APIRouter:
    """A router whose routes are whole: an application takes them as they are."""
    return APIRouter(
        prefix=root + path, tags=[tag], generate_unique_id_function=lambda route: route.name + suffix
    )


def answers(
    shape: type[Shape] | None, *refusals: int, scope: Scope = Scope.READ, also: Responses | None = None
) -> dict[str, Any]:
    """For the decorator of an operation: its answer, its refusals, other responses, the scope it needs."""
    described: dict[str, Any] = {
        "responses": declared(*refusals) | (also or {}),
        "dependencies": [needs(scope)],
        "openapi_extra": {"x-rowen-scope": scope.value},
    }
    return described | {"response_model": model(shape)} if shape else described
