"""The server over streamable HTTP, as an ASGI application for the service that mounts it.

Stateless: each request stands for itself, so any process may answer it. Who may call is decided in front of
us; the scope of the token is read from the ASGI scope.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from rowen.doors.mcp.refreshing import alone, through
from rowen.doors.mcp.server import SCOPE, make_server
from rowen.engine.ports import Ports

if TYPE_CHECKING:
    from rowen.service.sync_queue import SyncQueue


class McpApp:
    """An ASGI application. It answers while `running()` is entered, which is possible once."""

    def __init__(self, manager: StreamableHTTPSessionManager, origins: Collection[str]) -> None:
        self._manager = manager
        self._origins = frozenset(origins)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
        elif scope["method"] != "POST":
            # Without sessions there is no stream to open and nothing to end.
            refused = PlainTextResponse("only POST is answered here", 405, {"Allow": "POST"})
            await refused(scope, receive, send)
        elif SCOPE not in scope and not self._may_come_from(Headers(scope=scope).get("origin")):
            await PlainTextResponse("pages of this origin may not call", 403)(scope, receive, send)
        else:
            await self._manager.handle_request(scope, receive, send)

    def _may_come_from(self, origin: str | None) -> bool:
        """Programs send no origin. A browser does, and a page may have given its own name to our address.

        That trick needs a name; an address or `localhost` cannot be taken. A token cannot be taken either,
        so a caller with a token is not checked.
        """
        if origin is None or origin in self._origins:
            return True
        host = urlsplit(origin).hostname or ""
        return host == "localhost" or _is_address(host)


def mcp_app(ports: Ports, *, queue: SyncQueue | None = None, origins: Collection[str] = ()) -> McpApp:
    """`queue` runs the syncs, if given; `origins` are those of pages that may call without a token."""

    async def opened() -> Ports:
        return ports

    server = make_server(opened, sync=through(queue) if queue else alone)
    return McpApp(StreamableHTTPSessionManager(server, stateless=True), origins)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
