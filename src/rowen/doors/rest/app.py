"""The application: routers, guards and errors, put together around the ports of one process."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from rowen import __version__
from rowen.config import Config
from rowen.doors.rest import logs, problems, tracing
from rowen.doors.rest.frame import Frame
from rowen.doors.rest.guard import REQUEST_ID, Guard
from rowen.doors.rest.limits import Buckets
from rowen.doors.rest.metrics import Metrics
from rowen.doors.rest.routes import (
    changes,
    companies,
    comparing,
    handoffs,
    health,
    history,
    reading,
    reference,
    runs,
    sources,
    subscriptions,
    syncing,
)
from rowen.doors.rest.routes.webhooks import webhook_router
from rowen.doors.rest.waiting import Gone
from rowen.engine.ports import Ports
from rowen.engine.receipt import Receipt
from rowen.errors import RowenError
from rowen.service.sync_queue import SyncQueue

TAGS = [
    {"name": "sources", "description": "What is mirrored"},
    {"name": "runs", "description": "What syncs did, and what they avoided"},
    {"name": "generations", "description": "What readers see and saw"},
    {"name": "reading", "description": "Search, documents, changes, exports"},
    {"name": "subscriptions", "description": "Who is told when one answer changes"},
    {"name": "handoffs", "description": "Changed items on their way to ingestion"},
    {"name": "scraping", "description": "Sync and handoffs by the paths of the ingestion handoff"},
    {"name": "webhooks", "description": "Other services report a change; signed, without a token"},
    {"name": "service", "description": "For programs that watch this server"},
]

PATHS = ("/api", "/scraping", "/webhooks", "/health", "/metrics", "/openapi.json", "/docs")
"""What is answered here; with a page, all other paths are its own, but for those of mounted applications."""
WATCHED = ("/health", "/metrics")
"""What programs that watch the service ask for."""

_log = logging.getLogger("rowen.rest")


def create_app(
    ports: Ports,
    config: Config,
    *,
    queue: SyncQueue,
    mounts: Mapping[str, ASGIApp] | None = None,
    page: ASGIApp | None = None,
    may_be_open: Callable[[], bool] = lambda: True,
) -> FastAPI:
    """`mounts` are applications of other doors by their paths, and `page` is the one of all paths that are
    left; the guard stands before them, too.

    `may_be_open` says whether callers without a token are let in while the store has none: only true of a
    server that this machine alone can reach.
    """
    metrics = Metrics(ports.store, ports.clock)
    taken = (*PATHS, *(mounts or {}))

    def is_page(path: str) -> bool:
        return page is not None and not any(path == one or path.startswith(f"{one}/") for one in taken)

    def on_result(receipt: Receipt) -> None:
        metrics.ended(receipt)
        logs.event(
            _log,
            "run",
            source=receipt.source.label,
            run_id=receipt.run_id,
            status=receipt.status.value,
            generation=receipt.generation,
            s=round(receipt.duration_s, 3),
            error=receipt.error,
        )

    queue.on_result = on_result
    if config.service.otel:
        tracing.trace_runs(queue)
    clock = ports.clock

    def build() -> None:
        _build(app, ports, queue, watched, mounts or {})

    app = FastAPI(
        title="Rowen",
        version=__version__,
        summary="Keeps searchable copies of outside sources up to date",
        openapi_tags=TAGS,
        telemetry=cast(TelemetryConfig, tracing.telemetry(enabled=config.service.otel)),
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
        middleware=[
            Middleware(Frame, metrics=metrics, monotonic=clock.monotonic),
            Middleware(
                Guard,
                store=ports.store,
                clock=clock,
                max_body_bytes=config.service.max_body_bytes,
                buckets=Buckets(config.service.rate_limit_per_minute, now=clock.monotonic),
                may_be_open=may_be_open,
                is_page=is_page,
            ),
            *([Middleware(Fork, page=page, is_page=is_page, build=build)] if page else []),
        ],
    )
    _handle_errors(app)
    # A program that watches the service gives it a few seconds: these are there from the start.
    watched = health.health_router(ports, queue, metrics).routes
    app.router.routes.extend(watched)
    if page is None:
        build()
    return app


def _build(
    app: FastAPI, ports: Ports, queue: SyncQueue, watched: Sequence[BaseRoute], mounts: Mapping[str, ASGIApp]
) -> None:
    """The operations of the API, their description, and the applications of other doors."""
    for route in watched:
        # They come last in the description.
        app.router.routes.remove(route)
    for router in (
        sources.router(ports, queue),
        runs.router(ports, queue),
        history.router(ports, queue),
        reading.router(ports, queue),
        changes.router(ports, queue),
        comparing.router(ports),
        subscriptions.router(ports),
        companies.router(ports),
        handoffs.router(ports, queue),
        health.status_router(ports),
        syncing.scraping_router(ports, queue),
        syncing.scraping_router(ports, queue, root="", suffix="_at_the_root"),
        webhook_router(ports, queue),
    ):
        # Not `include_router`: it would read every signature a second time.
        app.router.routes.extend(router.routes)
    app.router.routes.extend(watched)
    _describe_problems(app)
    app.router.routes.extend(reference.router(app.openapi).routes)
    for path, mounted in mounts.items():
        # Also without a slash at the end: a redirect would lose the bodies of some clients.
        app.router.routes.append(Route(path, mounted, include_in_schema=False))
        app.mount(path, mounted)


class Fork:
    """Hands requests for the page to it, and all others on.

    The first of the others builds what answers them: to read the signatures of all operations takes longer
    than the rest of the start, and who looks at pages only needs none of them.
    """

    def __init__(
        self, app: ASGIApp, *, page: ASGIApp, is_page: Callable[[str], bool], build: Callable[[], None]
    ) -> None:
        self._app, self._page, self._is_page = app, page, is_page
        self._build: Callable[[], None] | None = build

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._is_page(scope["path"]):
            await self._page(scope, receive, send)
            return
        if self._build is not None and scope["type"] == "http" and not scope["path"].startswith(WATCHED):
            build, self._build = self._build, None
            build()
        await self._app(scope, receive, send)


def _handle_errors(app: FastAPI) -> None:
    def answered(request: Request, problem: problems.Problem) -> Response:
        return problem.response(request.scope.get(REQUEST_ID))

    @app.exception_handler(RowenError)
    async def ours(request: Request, exc: RowenError) -> Response:
        problem = problems.of_error(exc)
        if problem.status >= 500:
            # The answer to the caller may leave out this message.
            logs.event(
                _log,
                "failed",
                level=logging.WARNING,
                error=exc.message,
                request_id=request.scope.get(REQUEST_ID),
            )
        return answered(request, problem)

    @app.exception_handler(problems.Refusal)
    async def refusal(request: Request, exc: problems.Refusal) -> Response:
        return answered(request, exc.problem)

    @app.exception_handler(HTTPException)
    async def of_framework(request: Request, exc: HTTPException) -> Response:
        if exc.status_code == 405:
            # The framework names the methods of the first route of this path, and forgets the others.
            exc.headers = {**(exc.headers or {}), **_allowed(app, request.scope["path"])}
        return answered(request, problems.of_http(exc, request.method, request.url.path))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, exc: RequestValidationError) -> Response:
        return answered(request, problems.of_validation(list(exc.errors())))

    @app.exception_handler(Gone)
    async def gone(request: Request, exc: Gone) -> Response:
        return Response(status_code=499)


def _allowed(app: FastAPI, path: str) -> dict[str, str]:
    found = {
        method.upper()
        for template, methods in app.openapi()["paths"].items()
        if re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template)), path)
        for method in methods
    }
    if "GET" in found:
        found.add("HEAD")
    return {"Allow": ", ".join(sorted(found))} if found else {}


def _describe_problems(app: FastAPI) -> None:
    """The one shape of all refusals belongs to the description, though no operation answers with it."""
    describe = app.openapi

    def described() -> dict[str, Any]:
        schema = describe()
        schema.setdefault("components", {}).setdefault("schemas", {}).setdefault(
            "Problem", problems.ProblemModel.model_json_schema()
        )
        return schema

    app.openapi = described  # type: ignore[method-assign]
