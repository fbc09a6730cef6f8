"""What operations have in common: how their answers are described, whom they let in, and their parameters."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi import params as declarations
from fastapi.dependencies.utils import get_flat_params

from rowen.core.safety.access import Scope
from rowen.doors.rest.guard import needs
from rowen.doors.rest.models import model
from rowen.doors.rest.problems import Refusal, declared, refused
from rowen.doors.shapes.shape import Shape
from rowen.errors import did_you_mean

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
    shape: type[Shape] | None,
    *refusals: int,
    scope: Scope = Scope.READ,
    also: Responses | None = None,
    family: str | None = None,
) -> dict[str, Any]:
    """For the decorator of an operation: its answer, its refusals, other responses, the scope it needs.

    `family` is what parameters begin with that the operation reads itself.
    """
    described: dict[str, Any] = {
        "responses": declared(*refusals) | (also or {}),
        "dependencies": [needs(scope), _only_known(family)],
        "openapi_extra": {"x-rowen-scope": scope.value},
    }
    return described | {"response_model": model(shape)} if shape else described


def _only_known(family: str | None) -> Any:
    """A dependency of operations. Without it a mistyped filter would let through what it should keep out."""

    async def check(request: Request) -> None:
        if not request.query_params:
            return
        every = get_flat_params(request.scope["route"].dependant)
        known = [one.alias for one in every if isinstance(one.field_info, declarations.Query)]
        for name in request.query_params:
            if name not in known and not (family and name.startswith(family)):
                hint = did_you_mean(name, known) if known else "this operation takes none"
                raise Refusal(refused(422, f"`query.{name}`: no such parameter", hint=hint))

    return Depends(check)
