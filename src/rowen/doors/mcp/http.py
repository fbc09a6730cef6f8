"""The server over streamable HTTP, as an ASGI application for the service that mounts it.

Stateless: each request stands for itself, so any process may answer it. Who may call is decided in front of
us; the scope of the token is read from the ASGI scope.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, MutableMapping
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from rowen.doors.mcp.refreshing import alone, through
from rowen.doors.mcp.server import SCOPE, make_server
from rowen.engine.ports import Ports

if TYPE_CHECKING:
    from rowen.service.sync_queue import SyncQueue

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


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
            await _refuse(send, 405, "only POST is answered here", (b"allow", b"POST"))
        elif SCOPE not in scope and not self._may_come_from(_origin(scope)):
            await _refuse(send, 403, "pages of this origin may not call")
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


def mcp_app(
    ports: Ports,
    *,
    queue: SyncQueue | None = None,
    read_only: bool = False,
    origins: Collection[str] = (),
) -> McpApp:
    """`queue` runs the syncs, if given; `origins` are those of pages that may call without a token."""

    async def opened() -> Ports:
        return ports

    server = make_server(opened, sync=through(queue) if queue else alone, read_only=read_only)
    return McpApp(StreamableHTTPSessionManager(server, stateless=True), origins)


def _origin(scope: Scope) -> str | None:
    values = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
    return values[0] if values else None


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


async def _refuse(send: Send, status: int, message: str, *headers: tuple[bytes, bytes]) -> None:
    body = message.encode()
    said = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*said, *headers]})
    await send({"type": "http.response.body", "body": body})
