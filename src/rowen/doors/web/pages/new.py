"""`/add` and `/sources/new`: what is at an address, before it is stored; then add it, and harvest it."""

from __future__ import annotations

from typing import Any

from rowen.core.rules import duration
from rowen.core.safety.access import Scope
from rowen.core.source import API
from rowen.doors.web.actions import begin, changing, home
from rowen.doors.web.visit import Moved, Page, Visit
from rowen.errors import RowenError
from rowen.managing import sources

FIELDS = ("location", "name", "kind", "version", "every")
MAX_LOCATION = 2000
GUESSED_NAME = "named `"
"""How a finding begins that tells of a name; the field of the form shows it."""


async def new(visit: Visit) -> Page:
    """The form; with an address, also what its server said."""
    visit.need(Scope.ADMIN)
    asked = {name: visit.asked(name)[:MAX_LOCATION] for name in FIELDS}
    looked: dict[str, Any] | None = None
    if asked["location"] and visit.is_own_link:
        looked = await _looked(visit, asked)
    data = {"asked": asked, "looked": looked, "kinds": sorted(visit.ports.kinds.names())}
    return Page(template="new", title="Add a source", data=data, tab="sources")


async def _looked(visit: Visit, asked: dict[str, str]) -> dict[str, Any]:
    """What `add` would store and what was found, or why it cannot be."""
    try:
        given = sources.Given(**_given(asked))
        found, findings = await sources.look(visit.ports, asked["location"], given, origin=API, guess=True)
    except RowenError as exc:
        return {"error": exc.message, "hint": exc.hint}
    taken = any(
        (one.name, one.version) == (found.name, found.version) for one in await visit.ports.store.sources()
    )
    return {
        "error": None,
        "name": found.name,
        "kind": found.kind,
        "location": found.location,
        "version": found.version,
        "findings": [one for one in findings if not one.startswith(GUESSED_NAME)],
        "taken": taken,
    }


def _given(asked: dict[str, str]) -> dict[str, Any]:
    return {
        "name": asked["name"] or None,
        "kind": asked["kind"] or None,
        "version": asked["version"],
    }


@changing(Scope.ADMIN)
async def add(visit: Visit, fields: dict[str, str]) -> Moved:
    """Its server is asked again: what is stored has answered."""
    asked = {name: fields.get(name, "")[:MAX_LOCATION] for name in FIELDS}
    every_s = duration.every_s(asked["every"]) if asked["every"] else None
    added = await sources.add(visit.ports, asked["location"], **_given(asked), origin=API, guess=True)
    if every_s is not None:
        await visit.ports.store.set_schedule(added.source.id, every_s)
    visit.queue.wake.set()
    if fields.get("then") != "sync":
        return Moved(to=home(added.source, done="added"))
    return await begin(visit, added.source)
