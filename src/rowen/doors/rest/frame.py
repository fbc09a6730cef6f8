"""Around every request: its id, its line in the log, its figures, and the answer after a bug."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rowen.doors.rest import logs
from rowen.doors.rest.guard import CALLER, REQUEST_ID
from rowen.doors.rest.metrics import Metrics
from rowen.doors.rest.problems import BUG

_OURS = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""An id that a caller may choose: one that is safe in a log."""
OURS = ("/api/", "/scraping/", "/health/", "/metrics")
"""Not what other doors have mounted: they answer HEAD themselves."""
QUIET = frozenset(("/health/live", "/health/ready", "/metrics"))
"""Asked by machines every few seconds."""
GONE = 499
"""The caller went away before there was an answer."""

SECURITY_HEADERS = {
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self'",
            "connect-src 'self'",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        )
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""On every answer: a page of ours loads nothing from elsewhere, has no script inside, and is in no frame."""

_log = logging.getLogger("rowen.rest")


class Frame:
    def __init__(self, app: ASGIApp, *, metrics: Metrics, monotonic: Callable[[], float]) -> None:
        self._app = app
        self._metrics = metrics
        self._monotonic = monotonic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = scope[REQUEST_ID] = given if _OURS.fullmatch(given) else secrets.token_hex(8)
        started, status = self._monotonic(), 0
        asked = scope
        if scope["method"] == "HEAD" and scope["path"].startswith(OURS):
            # Answered like GET; the server below leaves the body out.
            asked = {**scope, "method": "GET"}

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = request_id
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self._app(asked, receive, sending)
        except Exception:
            _log.exception("bug", extra={logs.FIELDS: {"request_id": request_id, "path": scope["path"]}})
            if status:
                # A part of the answer was sent: closing the connection tells the caller.
                raise
            await BUG.response(request_id)(scope, receive, sending)
        finally:
            self._tell({**asked, "method": scope["method"]}, status, self._monotonic() - started)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        endpoint = scope.get("endpoint")
        operation = getattr(endpoint, "__name__", type(endpoint).__name__) if endpoint else "none"
        status = status or GONE
        self._metrics.answered(
            operation=operation, method=_known(scope["method"]), status=status, seconds=seconds
        )
        if scope["path"] in QUIET and status < 400:
            return
        logs.event(
            _log,
            "request",
            method=scope["method"],
            # Without its query, which may hold what the caller wants to keep private.
            path=scope["path"],
            status=status,
            ms=round(seconds * 1000, 1),
            caller=scope.get(CALLER),
            request_id=scope[REQUEST_ID],
        )


def _known(method: str) -> str:
    """A caller that invents methods must not add labels."""
    return method if method in ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE") else "other"
