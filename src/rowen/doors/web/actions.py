"""What people change: every change is a form of ours, sent with the key of the session from this origin.

An answer leads back to a page whose address says what was done, so that a reload repeats nothing, and the
page offers the way back where there is one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import quote

from rowen.core.rules.standing import WEB, by_token
from rowen.core.safety.access import Scope
from rowen.core.source import Source
from rowen.doors.web.visit import Moved, Refused, Visit
from rowen.errors import Conflict, NotFound
from rowen.managing import handoffs, pausing
from rowen.managing import sources as managing
from rowen.reading import history
from rowen.service import cancelling

MANY = 200
"""Handoffs that one form may name."""

CANCEL_WAIT_S = 5.0
"""How long a page waits for the end of a run; one of another process may take longer, and is shown as
told.
"""


def who(visit: Visit) -> str:
    """Who decides it, as the store keeps it."""
    return by_token(visit.token) if visit.token else WEB


def home(source: Source, **query: object) -> str:
    asked = "&".join(f"{name}={quote(str(value))}" for name, value in query.items())
    return f"/sources/{quote(source.label)}" + (f"?{asked}" if asked else "")


async def begin(visit: Visit, source: Source, *, full: bool = False) -> Moved:
    """Begin a run; the answer leads to it as soon as it has a number."""
    begun = await visit.queue.begin(source, full=full, force=True)
    if begun.run_id is None:
        return Moved(to=home(source, done="queued"))
    return Moved(to=f"{home(source)}/runs/{begun.run_id}")


def changing(
    scope: Scope,
) -> Callable[[Callable[[Visit, dict[str, str]], Awaitable[Moved]]], Callable[[Visit], Awaitable[Moved]]]:
    """A change that needs this scope; the form is checked before it is carried out."""

    def wrap(
        change: Callable[[Visit, dict[str, str]], Awaitable[Moved]],
    ) -> Callable[[Visit], Awaitable[Moved]]:
        async def checked(visit: Visit) -> Moved:
            fields = await visit.form()
            visit.need(scope)
            return await change(visit, fields)

        checked.__name__ = change.__name__
        return checked

    return wrap


@changing(Scope.SYNC)
async def sync(visit: Visit, fields: dict[str, str]) -> Moved:
    source = await visit.source()
    return await begin(visit, source, full=fields.get("full") == "1")


@changing(Scope.SYNC)
async def try_again(visit: Visit, fields: dict[str, str]) -> Moved:
    """A stopped source: a person has looked at it, so it may run again, and does."""
    source = await visit.source()
    if visit.may(Scope.ADMIN):
        await pausing.resume(visit.ports.store, source)
    return await begin(visit, source)


@changing(Scope.SYNC)
async def cancel(visit: Visit, fields: dict[str, str]) -> Moved:
    source = await visit.source()
    ended = await cancelling.cancel_source(visit.ports, source, queue=visit.queue, wait_s=CANCEL_WAIT_S)
    if ended.run is not None:
        return Moved(to=f"{home(source)}/runs/{ended.run.id}?done={ended.outcome.value}")
    return Moved(to=home(source, done=ended.outcome.value))


@changing(Scope.ADMIN)
async def pause(visit: Visit, fields: dict[str, str]) -> Moved:
    source = await visit.source()
    await pausing.pause(visit.ports.store, visit.ports.clock, source, by=who(visit))
    visit.queue.wake.set()
    return Moved(to=home(source, done="paused"))


@changing(Scope.ADMIN)
async def resume(visit: Visit, fields: dict[str, str]) -> Moved:
    source = await visit.source()
    await pausing.resume(visit.ports.store, source)
    visit.queue.wake.set()
    return Moved(to=home(source, done="resumed"))


@changing(Scope.ADMIN)
async def rollback(visit: Visit, fields: dict[str, str]) -> Moved:
    """Show another generation; with `pin` the source stays there."""
    source = await visit.source()
    wanted, pin = _number(fields, "to"), fields.get("pin") == "1"
    await history.rollback(visit.ports, source, to_generation=wanted, pin=pin, by=who(visit))
    visit.queue.activated()
    done = "pinned" if pin else "rolled_back"
    return Moved(to=home(source, done=done, to=wanted, was=source.active_generation))


@changing(Scope.ADMIN)
async def approve(visit: Visit, fields: dict[str, str]) -> Moved:
    """Show the held generation: the one that the person looked at, and no later one."""
    source = await visit.source()
    looked_at = _number(fields, "generation")
    if source.held_generation is not None and source.held_generation != looked_at:
        raise Conflict(
            f"generation {looked_at} of `{source.label}`: not held any more; {source.held_generation} is",
            hint="look at the newer one before you approve it",
        )
    shown = await history.approve(visit.ports, source, by=who(visit))
    visit.queue.activated()
    return Moved(to=home(source, done="approved", to=shown, was=source.active_generation))


@changing(Scope.ADMIN)
async def remove(visit: Visit, fields: dict[str, str]) -> Moved:
    source = await visit.source()
    if fields.get("typed") != source.label:
        raise Refused(
            status=422,
            detail=f"to remove `{source.label}`, its name must be typed as it is; nothing was removed",
        )
    await managing.remove(visit.ports, source)
    visit.queue.activated()
    return Moved(to=f"/?done=removed&name={quote(source.label)}")


@changing(Scope.SYNC)
async def change_handoffs(visit: Visit, fields: dict[str, str]) -> Moved:
    """Retry or cancel all that were ticked; those that cannot be are counted, not hidden."""
    change = fields.get("change")
    chosen = [int(value) for name, value in visit.pairs if name == "id" and value.isdigit()][:MANY]
    done = refused = 0
    for number in chosen:
        try:
            if change == "retry":
                await handoffs.retry(visit.ports.store, visit.ports.clock, number)
            elif change == "cancel":
                await handoffs.cancel(visit.ports, number)
            else:
                raise Refused(status=422, detail="say whether to retry or to cancel")
            done += 1
        except (Conflict, NotFound):
            refused += 1
    visit.queue.wake.set()
    back = {name: fields[name] for name in ("status", "source") if fields.get(name)}
    word = {"retry": "retried", "cancel": "cancelled"}.get(change or "", "none")
    return Moved(to=visit.address("/handoffs", **back, done=word, n=done, not_done=refused))


def _number(fields: dict[str, str], name: str) -> int:
    said = fields.get(name, "")
    if not (said.isascii() and said.isdigit() and len(said) < 10):
        raise Refused(status=422, detail=f"`{name}`: expected the number of a generation")
    return int(said)
