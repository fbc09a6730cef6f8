"""The addresses of the page, and what is common to all answers: refusals, sessions, errors.

The guard of the server has looked at every request before (`rowen.scope`, `rowen.refused` in the ASGI scope).
A caller that was refused gets the sign-in page, or the reason in words.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from rowen.config import Setting
from rowen.doors import sessions
from rowen.doors.refusals import status_of, withheld
from rowen.doors.web import actions
from rowen.doors.web.pages import (
    companies,
    diff,
    document,
    handoffs,
    inspect,
    machinery,
    new,
    run,
    search,
    settings,
    signing,
    source,
    sources,
)
from rowen.doors.web.render import HEADERS, Renderer, renderer
from rowen.doors.web.visit import House, Moved, Page, Refused, Visit
from rowen.engine.ports import Ports
from rowen.errors import RowenError
from rowen.service.sync_queue import SyncQueue

Handler = Callable[[Visit], Awaitable[Page | Moved | Response]]
Stream = Callable[[Visit, Renderer], Awaitable[Response]]

PAGES: tuple[tuple[str, Handler], ...] = (
    ("/", sources.sources),
    ("/search", search.search),
    ("/add", new.new),
    ("/sources/{name}/runs/{run:int}", run.run),
    ("/sources/{name}/diff/{span}", diff.diff),
    ("/sources/{name}/compare/{other}", diff.compare),
    ("/sources/{name}", source.page),
    ("/documents/{id:int}", document.document),
    ("/inspect", inspect.inspect),
    ("/companies/{company}", companies.company),
    ("/companies", companies.companies),
    ("/handoffs", handoffs.handoffs),
    ("/sinks", machinery.sinks),
    ("/workers", machinery.workers),
    ("/settings", settings.settings),
)
"""Each also with `.json` behind it; `/sources.json` is that of `/`."""
STREAMS: tuple[tuple[str, Stream], ...] = (
    ("/events", sources.events),
    ("/sources/{name}/events", source.events),
    ("/sources/{name}/runs/{run:int}/events", run.events),
)
CHANGES: tuple[tuple[str, Handler], ...] = (
    ("/signin", signing.sign_in),
    ("/signout", signing.sign_out),
    ("/add", new.add),
    ("/sources/{name}/sync", actions.sync),
    ("/sources/{name}/retry", actions.try_again),
    ("/sources/{name}/cancel", actions.cancel),
    ("/sources/{name}/pause", actions.pause),
    ("/sources/{name}/resume", actions.resume),
    ("/sources/{name}/rollback", actions.rollback),
    ("/sources/{name}/approve", actions.approve),
    ("/sources/{name}/remove", actions.remove),
    ("/handoffs", actions.change_handoffs),
    ("/subscriptions", machinery.subscribe),
    ("/subscriptions/{name}/remove", machinery.unsubscribe),
    ("/settings/tokens", settings.create_token),
    ("/settings/tokens/remove", settings.remove_token),
)
BUG = Refused(
    status=500, detail="a bug in Rowen; it is in the server's log", hint="report it with the request id"
)
UNTOUCHED = {
    "GET": "Nothing was changed by this.",
    "POST": "What readers see is as it was, unless this page says otherwise.",
}

_log = logging.getLogger("rowen.web")


def web_app(
    ports: Ports,
    *,
    queue: SyncQueue,
    settings: Sequence[Setting] = (),
    store_name: str = "",
) -> ASGIApp:
    """`settings` are the values in force, with where each came from; `store_name` is for people."""
    return Web(House(ports=ports, queue=queue, settings=settings, store_name=store_name))


class Web:
    def __init__(self, house: House) -> None:
        self._house = house
        self._renderer = renderer()
        routes = [Route("/assets/{tag}/{name}", self._asset)]
        for path, handler in PAGES:
            beside = "/sources.json" if path == "/" else f"{path}.json"
            routes.append(Route(beside, self._answering(handler, as_json=True), methods=["GET"]))
            routes.append(Route(path, self._answering(handler), methods=["GET"]))
        routes += [Route(path, self._streaming(stream), methods=["GET"]) for path, stream in STREAMS]
        routes += [Route(path, self._answering(change), methods=["POST"]) for path, change in CHANGES]
        self._router = Router(routes, redirect_slashes=False, default=self._nowhere)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._router(scope, receive, send)
        except HTTPException as exc:
            request = Request(scope, receive)
            refused = Refused(status=exc.status_code, detail=str(exc.detail))
            await self._refusal(Visit(self._house, request), refused)(scope, receive, send)

    async def _asset(self, request: Request) -> Response:
        found = self._renderer.assets.response(request.path_params["name"])
        return found or Response("no such file", 404, media_type="text/plain")

    async def _nowhere(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        visit = Visit(self._house, request)
        if scope["path"] == "/favicon.ico":
            await RedirectResponse(self._renderer.assets.address("icon.svg"), 301)(scope, receive, send)
            return
        detail = f"`{request.url.path}`: there is no such page"
        missing = Refused(status=404, detail=detail, hint="start from the list of sources")
        response = await self._at_the_door(visit) or self._refusal(visit, missing)
        await response(scope, receive, send)

    def _answering(self, handler: Handler, *, as_json: bool = False) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            visit = Visit(self._house, request)
            visit.as_json = as_json
            if handler is not signing.sign_in and (refusal := await self._at_the_door(visit)):
                return refusal
            try:
                return await self._response(visit, await handler(visit))
            except Refused as exc:
                return self._refusal(visit, exc)
            except RowenError as exc:
                return self._error(visit, exc)
            except Exception:
                _log.exception(
                    "bug path=%s request_id=%s", visit.path, visit.request.scope.get("rowen.request_id")
                )
                return self._refusal(visit, BUG)

        answer.__name__ = f"page_{handler.__name__}"
        return answer

    def _streaming(self, stream: Stream) -> Callable[[Request], Any]:
        async def begin(visit: Visit) -> Response:
            return await stream(visit, self._renderer)

        begin.__name__ = f"{stream.__module__.rpartition('.')[2]}_events"
        return self._answering(begin)

    async def _at_the_door(self, visit: Visit) -> Response | None:
        """What a caller gets whom the guard did not let in."""
        refused = visit.request.scope.get("rowen.refused")
        if refused is None:
            return None
        status, detail, hint = refused
        if status == 401 and visit.request.method in ("GET", "HEAD") and not visit.as_json:
            return await self._response(visit, signing.form(visit))
        return self._refusal(visit, Refused(status=status, detail=detail, hint=hint))

    async def _response(self, visit: Visit, made: Page | Moved | Response) -> Response:
        if isinstance(made, Response):
            return made
        if isinstance(made, Moved):
            response: Response = RedirectResponse(made.to, 303, HEADERS)
            if made.cookie is not None:
                _keep(visit, response, made.cookie)
            return response
        has_bar = visit.held is not None and not visit.as_json and not made.alone
        bar = await sources.bar(visit) if has_bar else None
        response = self._renderer.page(visit, made, bar=bar)
        if visit.fresh and not visit.as_json:
            _keep(visit, response, visit.session)
        return response

    def _error(self, visit: Visit, exc: RowenError) -> Response:
        hidden, status = withheld(exc), status_of(exc)
        if status >= 500:
            _log.warning(
                "failed error=%r request_id=%s", exc.message, visit.request.scope.get("rowen.request_id")
            )
        refused = Refused(status=status, detail=hidden or exc.message, hint=None if hidden else exc.hint)
        return self._refusal(visit, refused)

    def _refusal(self, visit: Visit, exc: Refused) -> Response:
        method = "GET" if visit.request.method in ("GET", "HEAD") else "POST"
        data = {
            "status": exc.status,
            "detail": exc.detail,
            "hint": exc.hint,
            "untouched": UNTOUCHED[method],
            "request_id": visit.request.scope.get("rowen.request_id"),
        }
        title = "Not found" if exc.status == 404 else "This did not work"
        return self._renderer.page(visit, Page(template="error", title=title, data=data, status=exc.status))


def _keep(visit: Visit, response: Response, session: str) -> None:
    """The cookie of a session, or its end. Only the loopback address may use it without TLS."""
    common: dict[str, Any] = {
        "path": "/",
        "httponly": True,
        "samesite": "strict",
        "secure": not visit.is_local,
    }
    if session:
        response.set_cookie(sessions.COOKIE, session, max_age=int(sessions.LIFE.total_seconds()), **common)
    else:
        response.delete_cookie(sessions.COOKIE, **common)
