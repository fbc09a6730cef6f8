"""`/settings`: each value and where it came from, and the tokens that let programs and people in."""

from __future__ import annotations

import secrets

from rowen.core.safety.access import PREFIX, SECRET_BYTES, Scope, digest
from rowen.core.web.urls import without_credentials
from rowen.doors.web.actions import changing
from rowen.doors.web.visit import Moved, Page, Refused, Visit
from rowen.managing.sources import check_name


async def settings(visit: Visit, made: dict[str, str] | None = None) -> Page:
    visit.need(Scope.ADMIN)
    data = {
        "settings": [
            {
                "name": one.name,
                "value": _shown(one.value),
                "origin": one.origin.strip("`"),
                "variable": one.variable,
                "help": one.help,
            }
            for one in visit.house.settings
        ],
        "tokens": [
            {
                "name": one.name,
                "scope": one.scope.value,
                "created_at": one.created_at,
                "last_used_at": one.last_used_at,
            }
            for one in await visit.ports.store.tokens()
        ],
        "made": made,
        "done": {"removed": "The token was removed; it is refused from now on."}.get(visit.asked("done")),
        "open": visit.is_open,
    }
    return Page(template="settings", title="Settings", data=data, tab="settings")


def _shown(value: object) -> object:
    return without_credentials(value) if isinstance(value, str) and "://" in value else value


async def create_token(visit: Visit) -> Page:
    """The token is on the page that answers, and nowhere else."""
    fields = await visit.form()
    visit.need(Scope.ADMIN)
    name, scope = fields.get("name", ""), fields.get("scope", "")
    check_name(name)
    if scope not in tuple(Scope):
        raise Refused(status=422, detail="`scope`: expected `read`, `sync` or `admin`")
    secret = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    await visit.ports.store.add_token(name, digest=digest(secret), scope=Scope(scope), now=visit.now)
    return await settings(visit, {"name": name, "scope": scope, "token": secret})


@changing(Scope.ADMIN)
async def remove_token(visit: Visit, fields: dict[str, str]) -> Moved:
    name = fields.get("name", "")
    if fields.get("typed") != name:
        raise Refused(
            status=422, detail=f"to remove token `{name}`, its name must be typed; nothing was removed"
        )
    await visit.ports.store.remove_token(name)
    return Moved(to="/settings?done=removed")
