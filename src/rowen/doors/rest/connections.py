"""Connections of the HTTP server: how many, how many of one address, and how long one may be slow.

The server below counts requests, and a connection that sends none is not counted: a thousand of them would
lock everybody else out. Here a new connection is let in before an old one that waits for nothing but its
caller: first those that never sent a request, the oldest first; never one whose caller has shown a token and
waits for an answer. When nothing can be closed, a few more connections get the health of the service and no
other answer. The time for a body is limited in `limits.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, cast

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from rowen.doors.rest import logs
from rowen.doors.rest.frame import SECURITY_HEADERS
from rowen.doors.rest.guard import SCOPE
from rowen.doors.rest.problems import Problem, refused
from rowen.records import dataclass

EXTRA = 32
"""Connections beyond the limit that may ask for the health of the service."""
HEALTH = ("/health/live", "/health/ready")
LOOK_S = 1.0
"""How often slow connections are looked for."""
TELL_S = 60.0
"""That connections are closed is logged once in this time."""
FULL = refused(
    503,
    "too many connections",
    hint="ask again later, or raise `service.max_connections`",
    Retry_After="5",
    Connection="close",
    **SECURITY_HEADERS,
)
TOO_SLOW = refused(408, "the headers of the request did not come in in time")
NO_HTTP = refused(400, "this is not HTTP")

_log = logging.getLogger("rowen.rest")


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    total: int
    per_address: int
    """0 for no limit."""
    proxies: tuple[str, ...] = ()
    """Addresses or networks, each of which speaks for many callers."""
    headers_s: float = 10.0
    """For the headers of a request, from its first byte or from the beginning of the connection."""
    stalled_s: float = 30.0
    """For a caller that does not read its answer."""


class Connections:
    """All connections of a server."""

    def __init__(self, limits: Limits, *, now: Callable[[], float] | None = None) -> None:
        self.limits = limits
        self.now = now or (lambda: asyncio.get_running_loop().time())
        self._open: dict[Connection, bool] = {}
        """In the order in which they came; whether one is beyond the limits."""
        self._of_address: Counter[str] = Counter()
        self._networks = [ip_network(one, strict=False) for one in limits.proxies if one != "*"]
        self._looking: asyncio.TimerHandle | None = None
        self._told_at: float | None = None

    def __len__(self) -> int:
        return len(self._open)

    def protocol(self, *arguments: Any, **named: Any) -> Connection:
        """For the setting `http` of the server below."""
        return Connection(self, *arguments, **named)

    def join(self, new: Connection) -> None:
        crowded = self._crowded(new.address)
        extra = False
        if crowded is not None:
            self._tell()
            leaving = min((one for one in self._open if crowded(one)), key=_order, default=None)
            if leaving is not None:
                leaving.drop()
            else:
                extra = True
        if extra and sum(self._open.values()) >= EXTRA:
            new.transport.abort()
            return
        if extra:
            new.app = _health_only(new.app)
        self._open[new] = extra
        self._of_address[new.address] += 1
        if self._looking is None:
            self._look_later()

    def leave(self, gone: Connection) -> None:
        if self._open.pop(gone, None) is not None:
            self._of_address[gone.address] -= 1
            if not self._of_address[gone.address]:
                del self._of_address[gone.address]

    def look(self) -> None:
        """Close the connections that are slower than the limits."""
        for one in list(self._open):
            one.close_if_slow()
        if self._open:
            self._look_later()
        else:
            self._looking = None

    def _look_later(self) -> None:
        self._looking = asyncio.get_running_loop().call_later(LOOK_S, self.look)

    def _crowded(self, address: str) -> Callable[[Connection], bool] | None:
        """When there is no room for a connection of this address: which ones could be closed for it."""
        most = self.limits.per_address
        if most and self._of_address[address] >= most and not self._is_proxy(address):
            return lambda one: one.address == address and one.rank() is not None
        if len(self._open) >= self.limits.total:
            return lambda one: one.rank() is not None
        return None

    def _is_proxy(self, address: str) -> bool:
        return "*" in self.limits.proxies or _is_in(address, self._networks)

    def _tell(self) -> None:
        now = self.now()
        if self._told_at is None or now - self._told_at >= TELL_S:
            self._told_at = now
            logs.event(
                _log,
                "connections_full",
                level=logging.WARNING,
                open=len(self._open),
                addresses=len(self._of_address),
            )


class Connection(H11Protocol):
    def __init__(self, among: Connections, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._among = among
        self.address = ""
        self.opened_at = among.now()
        self._request_since: float | None = self.opened_at
        """Since when the headers of a request are awaited; None while no byte of the next one came."""
        self._stalled_since: float | None = None

    @property
    def _request(self) -> RequestResponseCycle | None:
        """The last request; None before the first."""
        return cast("RequestResponseCycle | None", self.cycle)

    @property
    def awaits_request(self) -> bool:
        return self._request is None or self._request.response_complete

    def rank(self) -> int | None:
        """Which are closed first when there are too many: a low rank; None is not closed."""
        if self._request is None:
            return 0
        has_token = bool(self.scope.get(SCOPE))
        if self.awaits_request:
            return 3 if has_token else 1
        waits_for_caller = self._request.more_body or self.flow.write_paused
        return 2 if waits_for_caller and not has_token else None

    def drop(self) -> None:
        self._among.leave(self)
        self.transport.abort()

    def close_if_slow(self) -> None:
        now, limits = self._among.now(), self._among.limits
        if self.transport.is_closing() and self._stalled_since is None:
            # It closes when the caller has read the answer, which may never be.
            self._stalled_since = now
        if self._stalled_since is not None and now - self._stalled_since >= limits.stalled_s:
            self.drop()
        elif self.transport.is_closing() or not self.awaits_request or self._request_since is None:
            return
        elif now - self._request_since >= limits.headers_s:
            if self._request is None or not self._request.more_body:
                self.transport.write(as_bytes(TOO_SLOW))
            self.transport.close()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._among.join(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._among.leave(self)
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.awaits_request and self._request_since is None:
            self._request_since = self._among.now()

    def handle_events(self) -> None:
        super().handle_events()
        if not self.awaits_request:
            self._request_since = None

    def shutdown(self) -> None:
        if self.rank() is not None:
            # It waits for its caller, who may take for ever.
            self.drop()
        else:
            super().shutdown()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled_since = self._among.now()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stalled_since = None

    def send_400_response(self, msg: str) -> None:
        self.transport.write(as_bytes(NO_HTTP))
        self.transport.close()


def as_bytes(problem: Problem) -> bytes:
    """An answer without a request: there is no application to make it."""
    response: Response = problem.response(None)
    headers = {**SECURITY_HEADERS, **response.headers, "Connection": "close"}
    lines = [
        f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}",
        *(f"{k}: {v}" for k, v in headers.items()),
        "",
        "",
    ]
    return "\r\n".join(lines).encode("latin-1") + bytes(response.body)


def _order(one: Connection) -> tuple[int, float]:
    return one.rank() or 0, one.opened_at


def _is_in(address: str, networks: list[IPv4Network | IPv6Network]) -> bool:
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return any(parsed in network for network in networks)


def _health_only(app: Any) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in HEALTH:
            await FULL.response(None)(scope, receive, send)
        else:
            await app(scope, receive, send)

    return answer
