"""Which requests are let in: by the token, the origin, the rate and the size.

Runs before every route and every mounted application. A store without tokens is open to every program that
reaches the loopback address, so such a server listens nowhere else and checks the `Host` header: a web page
that points its own name at 127.0.0.1 is refused. What a caller may do is put into the ASGI scope as
`rowen.scope`; each operation says what it needs with `needs`.

Requests for the page may show the cookie of a session in place of a token; the API takes no cookie. A refusal
of such a request is handed to the page, which shows it in its own way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from rowen.core.rules.standing import API, by_token
from rowen.core.safety.access import Scope, digest
from rowen.doors.rest.limits import BodyTooLong, Buckets, limited
from rowen.doors.rest.problems import Problem, Refusal, of_error, refused
from rowen.doors.sessions import COOKIE, Sessions
from rowen.errors import RowenError
from rowen.ports.clock import Clock
from rowen.ports.store.store import Store

OPEN = frozenset(("/health/live", "/health/ready", "/openapi.json", "/docs", "/docs/style.css"))
"""Without a token, from anywhere."""
HOOKS = "/webhooks/"
"""Their senders have no token and sign instead; their routes limit the bodies themselves."""
LOOPBACK = frozenset(("localhost", "127.0.0.1", "[::1]"))
FORWARDED = frozenset(("forwarded", "x-real-ip"))
"""Written by a proxy, like all of `X-Forwarded-...`: then the caller is not on the loopback address."""
SAFE = frozenset(("GET", "HEAD", "OPTIONS"))

SCOPE, CALLER, REQUEST_ID, DECIDER = "rowen.scope", "rowen.caller", "rowen.request_id", "rowen.decider"
"""What stands in the ASGI scope of a request that came in."""
TOKEN, REFUSED = "rowen.token", "rowen.refused"
"""Beside them, for the page: the name of the caller's token; status, detail and hint of a refusal."""

_BEARER = HTTPBearer(
    auto_error=False,
    scheme_name="token",
    description="A token made with `rowen token create NAME --scope read|sync|admin`",
)


def needs(wanted: Scope) -> Any:
    """A dependency of operations: refuses callers whose token does not allow this."""

    async def check(
        request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)]
    ) -> None:
        require(request, wanted)

    return Depends(check)


def require(request: Request, wanted: Scope) -> None:
    """Refuses a caller whose token does not allow this: for what one parameter of an operation needs."""
    held: Scope | None = request.scope.get(SCOPE)
    if held is None or not held.allows(wanted):
        raise Refusal(
            refused(
                403,
                f"this needs a token with scope `{wanted}`; yours has `{held or 'none'}`",
                hint=f"make one with `rowen token create NAME --scope {wanted}`",
            )
        )


def decider(request: Request) -> str:
    """Who makes this request, as the store keeps it with a decision: the name of the token, or the API."""
    return str(request.scope.get(DECIDER, API))


class Guard:
    def __init__(
        self,
        app: ASGIApp,
        *,
        store: Store,
        clock: Clock,
        max_body_bytes: int,
        buckets: Buckets,
        may_be_open: Callable[[], bool],
        is_page: Callable[[str], bool],
    ) -> None:
        self._app = app
        self._is_page = is_page
        """Does a path belong to the page?"""
        self._sessions = Sessions(store, clock)
        self._store = store
        self._clock = clock
        self._max_body_bytes = max_body_bytes
        self._buckets = buckets
        self._may_be_open = may_be_open
        """Can only this machine reach this server?"""
        self._had_tokens = False
        """A server that had tokens stays closed, also after the last one is removed."""

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        problem = await self._problem(scope, headers)
        if problem is not None and not self._is_page(scope["path"]):
            await problem.response(scope.get(REQUEST_ID))(scope, receive, send)
            return
        if problem is not None:
            scope[SCOPE] = None
        scope[REFUSED] = problem and (problem.status, problem.detail, problem.hint)
        limit = None if scope["path"].startswith(HOOKS) else self._max_body_bytes
        await self._app(scope, limited(receive, limit), send)

    async def _problem(self, scope: AsgiScope, headers: Headers) -> Problem | None:
        path = scope["path"]
        if path in OPEN:
            scope[SCOPE] = None
            return None
        hook = path.startswith(HOOKS)
        try:
            # While the store does not answer, every caller is refused, with the reason.
            problem = await self._admit(scope, headers, hook=hook)
        except RowenError as exc:
            return of_error(exc)
        if problem is None and not hook:
            problem = self._length(headers)
        return problem or _foreign_page(scope["method"], headers)

    async def _admit(self, scope: AsgiScope, headers: Headers, *, hook: bool) -> Problem | None:
        store, now = self._store, self._clock.now()
        address = scope["client"][0] if scope.get("client") else "unknown"
        given = _bearer(headers)
        shown = digest(given) if given is not None else await self._of_session(scope["path"], headers)
        token = await store.token(shown, now=now) if shown is not None else None
        scope[CALLER] = token.name if token else address
        scope[DECIDER] = by_token(token.name) if token else API
        scope[TOKEN] = token.name if token else None
        # By token when there is one: callers behind one address have separate limits.
        wait_s = self._buckets.wait_s(f"token:{token.id}" if token else f"address:{address}")
        if wait_s:
            return refused(
                429,
                "too many requests in the last minute",
                hint="ask less often, or raise `service.rate_limit_per_minute`",
                Retry_After=str(math.ceil(wait_s)),
            )
        if token is not None:
            self._had_tokens = True
            scope[SCOPE] = token.scope
            return None
        if given is not None:
            return _unknown("the token is not known here", error=True)
        if hook:
            scope[SCOPE] = None
            return None
        self._had_tokens = self._had_tokens or bool(await store.tokens())
        if not self._may_be_open() or self._had_tokens:
            return _unknown("this server wants a token")
        if any(name in FORWARDED or name.startswith("x-forwarded-") for name in headers):
            return refused(
                403,
                "this server has no tokens yet, and the request came through a proxy",
                hint="callers behind a proxy need a token: `rowen token create NAME --scope read`",
            )
        if _host(headers) not in LOOPBACK:
            return refused(
                403,
                "this server has no tokens yet and answers to `localhost` only",
                hint="make a token with `rowen token create NAME --scope read`",
            )
        scope[SCOPE] = Scope.ADMIN
        return None

    async def _of_session(self, path: str, headers: Headers) -> bytes | None:
        if not self._is_page(path):
            return None
        cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE)
        return await self._sessions.token_digest(cookie) if cookie else None

    def _length(self, headers: Headers) -> Problem | None:
        said = headers.get("content-length", "")
        if said.isascii() and said.isdigit() and int(said) > self._max_body_bytes:
            return refused(413, str(BodyTooLong(self._max_body_bytes).detail))
        return None


def _foreign_page(method: str, headers: Headers) -> Problem | None:
    """A browser names the page that made a request: pages of other origins may change nothing."""
    origin = headers.get("origin")
    if method in SAFE or origin is None or urlsplit(origin).netloc.lower() == headers.get("host", "").lower():
        return None
    return refused(403, "asked for by a page of another origin", hint="call this server from its own pages")


def _unknown(detail: str, *, error: bool = False) -> Problem:
    challenge = 'Bearer realm="rowen"' + (', error="invalid_token"' if error else "")
    return refused(
        401,
        detail,
        hint="send `Authorization: Bearer TOKEN`; `rowen token create` makes one",
        WWW_Authenticate=challenge,
    )


def _bearer(headers: Headers) -> str | None:
    scheme, _, value = headers.get("authorization", "").partition(" ")
    return value.strip() if scheme.lower() == "bearer" and value.strip() else None


def _host(headers: Headers) -> str:
    host = headers.get("host", "").lower()
    name, _, port = host.rpartition(":")
    return name if name and port.isdigit() and not host.endswith("]") else host
