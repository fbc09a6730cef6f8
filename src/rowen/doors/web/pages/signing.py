"""Signing in with a token, once, and out again."""

from __future__ import annotations

from rowen.core.safety.access import digest
from rowen.doors.sessions import Sessions
from rowen.doors.web.visit import Moved, Page, Refused, Visit


def form(visit: Visit, *, wrong: bool = False) -> Page:
    """The page that asks for a token; it says so when a browser would not keep the session."""
    return Page(
        template="signin",
        title="Sign in",
        data={"wrong": wrong, "needs_tls": not visit.is_local and visit.request.url.scheme != "https"},
        status=403 if wrong else 401,
    )


async def sign_in(visit: Visit) -> Page | Moved:
    refused = visit.request.scope.get("rowen.refused")
    if refused is not None and refused[0] != 401:
        raise Refused(status=refused[0], detail=refused[1], hint=refused[2])
    fields = await visit.form()
    secret = fields.get("token", "")
    if not secret or await visit.ports.store.token(digest(secret), now=visit.now) is None:
        return form(visit, wrong=True)
    session = await Sessions(visit.ports.store, visit.ports.clock).begin(secret)
    return Moved(to=_ours(fields.get("to", "")), cookie=session)


async def sign_out(visit: Visit) -> Moved:
    await visit.form()
    await Sessions(visit.ports.store, visit.ports.clock).end(visit.session)
    return Moved(to="/", cookie="")


def _ours(address: str) -> str:
    """Where the reader wanted to go, when that is a page of ours."""
    inside = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if inside and address.isprintable() else "/"
