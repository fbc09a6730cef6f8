"""`POST /webhooks/...`: others say that something has changed.

Senders have no token; they sign what they send. A delivery is answered as soon as its sync request is stored:
202 with what was queued, also when nothing was, for a sender can do nothing about that.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.requests import ClientDisconnect

from rowen.doors.rest.models import model
from rowen.doors.rest.operation import operations
from rowen.doors.rest.problems import Refusal, declared, refused
from rowen.doors.shapes.shape import Shape, at
from rowen.engine.ports import Ports
from rowen.service.hooks import incoming as hooks
from rowen.service.hooks.incoming import BadSignature, Verdict
from rowen.service.hooks.rules import Delivery
from rowen.service.sync_queue import SyncQueue

MAX_GITHUB_BYTES = 25_000_000
"""GitHub sends no larger ones."""
MAX_BYTES = 1_000_000

Name = Annotated[str, Path(description="A source, `name` or `name@version`", max_length=200)]


class Queued(Shape, schema_name="QueuedModel"):
    """A sync request that waits to be run."""

    source: str
    only: int | None = at(lambda queued: None if queued.request.only is None else len(queued.request.only))
    """How many references it names by now; null for everything"""
    paused: bool
    """The source is paused: the request waits until it is resumed"""


class Heard(Shape, schema_name="HeardModel"):
    """What became of a delivery."""

    status: Verdict = at("verdict")
    reason: str | None = None
    """Why it was ignored"""
    queued: list[Queued]


def webhook_router(ports: Ports, queue: SyncQueue) -> APIRouter:
    """The hooks; a stored sync request wakes the queue's loop."""
    api = operations("/webhooks", "webhooks", root="")
    wake = queue.wake.set
    described: dict[str, Any] = {
        "status_code": 202,
        "response_model": model(Heard),
        "responses": declared(400, 401, 413),
    }

    @api.post("/github", summary="A delivery of GitHub: a push to a mirrored repository", **described)
    async def hear_github(request: Request) -> Any:
        """Signed with the service's secret in `X-Hub-Signature-256`; a delivery that came before is known by
        its `X-GitHub-Delivery`.
        """
        delivery = await _delivery(request, MAX_GITHUB_BYTES)
        return await _heard(hooks.hear_github(ports, delivery, wake=wake))

    # The second path is for sources whose name is taken by another hook.
    @api.post(
        "/source/{source}",
        name="hear_source",
        summary="The same, also for a source named `github`",
        **described,
    )
    @api.post("/{source}", summary="Report that a source has changed", **described)
    async def hear(request: Request, source: Name) -> Any:
        """The body is empty, or names what has changed: `{"urls": ["https://..."]}`. Signed in
        `X-Rowen-Signature` with `X-Rowen-Timestamp`, or as GitHub does.
        """
        limit = MAX_GITHUB_BYTES if "x-github-event" in request.headers else MAX_BYTES
        delivery = await _delivery(request, limit)
        return await _heard(hooks.hear(ports, source, delivery, wake=wake))

    return api


async def _delivery(request: Request, limit: int) -> Delivery:
    """The whole body, counted while it comes in: a sender that says it is short is not believed."""
    said = request.headers.get("content-length", "")
    if said.isascii() and said.isdigit() and int(said[:20]) > limit:
        raise Refusal(refused(413, f"the body is longer than {limit} bytes"))
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                raise Refusal(refused(413, f"the body is longer than {limit} bytes"))
            chunks.append(chunk)
    except ClientDisconnect:
        raise Refusal(refused(400, "the body broke off")) from None
    return Delivery({name.lower(): value for name, value in request.headers.items()}, b"".join(chunks))


async def _heard(hearing: Awaitable[hooks.Heard]) -> dict[str, Any]:
    try:
        return Heard.show(await hearing)
    except BadSignature as exc:
        raise Refusal(refused(401, exc.message, hint=exc.hint)) from None
