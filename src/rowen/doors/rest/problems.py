"""Refusals as problem details (RFC 9457): every error of this door has this one shape.

Which status an error of ours becomes is decided in `doors/refusals.py`. What a caller must not know (where
the store lies, how a bug looks) is logged and not sent.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import field
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from rowen import errors
from rowen.doors import refusals
from rowen.errors import RowenError, TransientError
from rowen.records import dataclass
from rowen.service.attempts import UpstreamPaused
from rowen.service.sync_job import Stopping

MEDIA_TYPE = "application/problem+json"
BUSY_S = 1.0
"""When to ask again, of those that did not say."""

PAUSES = (errors.StoreBusy, errors.RateLimited, UpstreamPaused, Stopping)

_OWN_MEMBERS = frozenset(("type", "title", "status", "detail", "instance", "hint", "request_id", "errors"))
_REASONS = {
    400: "bad_request",
    401: "unauthorised",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    413: "too_large",
    422: "invalid",
    429: "too_many_requests",
    500: "bug",
    503: "too_many_connections",
}


class ProblemModel(BaseModel):
    """What went wrong, as RFC 9457 has it. Facts of the error are further members."""

    model_config = ConfigDict(
        extra="allow",
        title="Problem",
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:rowen:problem:not_found",
                    "title": "Not found",
                    "status": 404,
                    "detail": "source `dosc`: no such source",
                    "hint": "did you mean `docs`?",
                    "name": "dosc",
                    "request_id": "0c9a4f1e",
                }
            ]
        },
    )

    type: str = Field(description="Names the kind of problem; programs look at this")
    title: str = Field(description="The kind of problem, for people")
    status: int = Field(description="The status of the answer")
    detail: str = Field(description="What happened this time")
    hint: str | None = Field(default=None, description="What to do about it")
    request_id: str | None = Field(default=None, description="The answer's `X-Request-ID`; it is in the log")


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    status: int
    reason: str
    detail: str
    hint: str | None = None
    members: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self, request_id: str | None) -> Response:
        body = {
            "type": f"urn:rowen:problem:{self.reason}",
            "title": self.reason.replace("_", " ").capitalize(),
            "status": self.status,
            "detail": self.detail,
            **({"hint": self.hint} if self.hint else {}),
            **self.members,
            "request_id": request_id,
        }
        # Text from outside may hold half a character, which no encoding takes.
        raw = json.dumps(body, ensure_ascii=False).encode("utf-8", "backslashreplace")
        return Response(raw, self.status, headers=dict(self.headers), media_type=MEDIA_TYPE)


def of_error(exc: RowenError) -> Problem:
    withheld = refusals.withheld(exc)
    return Problem(
        status=refusals.status_of(exc),
        reason=exc.reason,
        detail=withheld or exc.message,
        hint=None if withheld else exc.hint,
        members={} if withheld else _members(exc.facts),
        headers=_retry_after(exc),
    )


def of_http(exc: HTTPException, method: str, path: str) -> Problem:
    """What the framework refuses: no such path, another method, a body that is none."""
    status = exc.status_code
    reason = _REASONS.get(status, "http_error")
    if status == 404:
        detail = f"`{path}`: no such path"
    elif status == 405:
        detail = f"`{path}`: cannot be asked with `{method}`"
    else:
        detail = str(exc.detail)
    hint = "see /openapi.json" if status in (404, 405) else None
    return Problem(status=status, reason=reason, detail=detail, hint=hint, headers=dict(exc.headers or {}))


def of_validation(found: list[Mapping[str, Any]]) -> Problem:
    """A call that does not fit its description. What was sent is not repeated: it may be a secret."""
    listed = [{"where": [str(part) for part in one["loc"]], "message": one["msg"]} for one in found]
    first = listed[0] if listed else {"where": [], "message": "not what was expected"}
    return Problem(
        status=422,
        reason=_REASONS[422],
        detail=f"`{'.'.join(first['where'])}`: {first['message']}",
        hint="see /openapi.json",
        members={"errors": listed},
    )


def refused(status: int, detail: str, *, hint: str | None = None, **headers: str) -> Problem:
    """A refusal of the door itself; header names are given with underscores."""
    return Problem(
        status=status,
        reason=_REASONS[status],
        detail=detail,
        hint=hint,
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


BUG = refused(500, "a bug in Rowen; it is in the server's log", hint="report it with the request id")


class Refusal(Exception):
    """Raised where an answer has to be refused by the door; holds the problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def declared(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The refusals of an operation, for its description; those that any may have are added."""
    every = sorted({401, 403, 422, 429, 500, 503, *statuses})
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in every
    }


def _members(facts: Mapping[str, object]) -> dict[str, Any]:
    """The facts that JSON can hold; a name that the RFC has already used gets a prefix."""
    members: dict[str, Any] = {}
    for name, value in facts.items():
        if value is None or isinstance(value, str | int | bool):
            members[f"fact_{name}" if name in _OWN_MEMBERS else name] = value
    return members


def _retry_after(exc: RowenError) -> dict[str, str]:
    if not isinstance(exc, TransientError) or not isinstance(exc, PAUSES):
        return {}
    wait_s = BUSY_S if exc.retry_after_s is None else exc.retry_after_s
    return {"Retry-After": str(max(1, math.ceil(wait_s)))}
