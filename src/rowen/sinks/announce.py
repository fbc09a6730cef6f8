"""Bring sinks up to date with what readers see: by `rowen announce`, and by the announcer beside other work.

A transient failure of a sink is retried, its error is recorded, and the others go on; the next call sends the
rest. One process sends to a sink at a time. Where nothing waits nothing is written.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from rowen.alarms import raising
from rowen.core.exchange.sink import Sink, sink_lease_name
from rowen.core.feed import Cursor
from rowen.core.lease import Lease
from rowen.core.rules.clocks import is_ahead
from rowen.core.rules.retry import RetryPolicy
from rowen.engine.leases import acquire, kept
from rowen.engine.patience import patiently
from rowen.engine.ports import Ports
from rowen.engine.register import Register
from rowen.engine.sink_kind import Sent, SinkKind, never_stale
from rowen.errors import ConfigError, LeaseLost, NotFound, PermanentError, RowenError, TransientError
from rowen.offers import companies
from rowen.ports.store.feed import Feed
from rowen.records import dataclass
from rowen.sinks import declared as rules
from rowen.sinks.webhook import sink as webhook

RETRY = RetryPolicy(retries=2, base_s=1.0, max_wait_s=10.0)
"""A receiver that asks for a longer wait is paused, and the other sinks go on."""
PATIENCE = 3
"""After so many failures in a row a sink is not tried for a while, longer each time."""
REST_S, LONGEST_REST_S = 60.0, 3600.0
LONGEST_PAUSE_S = 86_400.0
"""A receiver that asks for more is asked once a day."""
TURN_S = 3 * 3600.0
"""How long one attempt at a sink may take; every request in it has a limit of its own."""
PAUSE = "pause"
"""In the state of a sink: until when its receiver asked us to wait, or with which settings it is gone."""

NOTHING_SENT = Sent(sent=0)

_log = logging.getLogger("rowen.sinks")


class Outcome(StrEnum):
    SENT = "sent"
    NOTHING = "nothing"
    """It has everything."""
    WAITS = "waits"
    """There is something for it, and this is not the time."""
    BUSY = "busy"
    """Another process sends to it."""
    DISABLED = "disabled"
    """Its receiver answered 410, gone."""
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Announced:
    sink: str
    kind: str
    outcome: Outcome
    sent: int = 0
    until: datetime | None = None
    """When it may be tried again."""
    error: RowenError | None = None


async def announce(
    ports: Ports, *, only: Sequence[str] | None = None, force: bool = False
) -> list[Announced]:
    """Send what waits, to these sinks or to all; `force` also sends when it is not the time for it."""
    await project(ports)
    found = await ports.store.sinks()
    if only is not None:
        found = _named(found, only)
    wanted = {sink.name for sink in found} if force else await due(ports, found)
    # A sink that is named is tried at once: its receiver may have been fixed.
    insists = force or only is not None
    # All at once: a slow sink holds up no other.
    sending = [
        asyncio.ensure_future(send_to(ports, sink, force=force, insists=insists))
        for sink in found
        if sink.name in wanted
    ]
    try:
        sent = {one.sink: one for one in await asyncio.gather(*sending)}
    finally:
        for task in sending:
            task.cancel()
        if sending:
            await asyncio.wait(sending)
    return [sent.get(sink.name) or nothing_for(sink) for sink in found]


async def project(ports: Ports) -> None:
    """Companies first: some sinks send them."""
    try:
        await companies.project(ports)
    except TransientError as exc:
        _log.warning("companies_wait error=%r", exc.message)
    except Exception:
        # What it could not take in it takes in the next time, and no run fails for it.
        _log.exception("companies_failed")


def is_disabled(sink: Sink) -> bool:
    """Did its receiver, with these settings, answer that it is gone?"""
    pause = _pause(sink)
    return pause is not None and pause["until"] is None


def waits_until(
    kinds: Register[SinkKind], sink: Sink, now: datetime, *, insists: bool = False
) -> datetime | None:
    """When a sink may be tried again; None for now. A caller that insists does not wait after failures."""
    kind = kinds.get(sink.kind)
    asked_for, rested = _asked_for(sink), None if insists else _rested(sink)
    if asked_for and is_ahead(asked_for, now, at_most_s=LONGEST_PAUSE_S):
        asked_for = None
    if rested and is_ahead(rested, now, at_most_s=LONGEST_REST_S):
        rested = None
    moments = [kind.not_before(sink, now) if kind else None, asked_for, rested]
    return max((moment for moment in moments if moment is not None and moment > now), default=None)


def _asked_for(sink: Sink) -> datetime | None:
    pause = _pause(sink)
    return datetime.fromisoformat(pause["until"]) if pause and pause["until"] else None


def _rested(sink: Sink) -> datetime | None:
    if sink.failures < PATIENCE or sink.last_run_at is None:
        return None
    wait_s = min(REST_S * 2.0 ** min(sink.failures - PATIENCE, 30), LONGEST_REST_S)
    return sink.last_run_at + timedelta(seconds=wait_s)


def _pause(sink: Sink) -> Mapping[str, Any] | None:
    """A pause belongs to the settings it was made with: other settings are another receiver."""
    pause = sink.state.get(PAUSE)
    return pause if pause and pause["settings"] == rules.fingerprint(sink.settings) else None


def _named(found: Sequence[Sink], names: Sequence[str]) -> list[Sink]:
    known = {sink.name: sink for sink in found}
    for name in names:
        if name not in known:
            hint = (
                f"there are {', '.join(f'`{one}`' for one in known)}" if known else "list some in rowen.toml"
            )
            raise NotFound(f"sink `{name}`: no such sink", hint=hint, name=name)
    return [known[name] for name in dict.fromkeys(names)]


async def due(ports: Ports, sinks: Sequence[Sink]) -> set[str]:
    """The names of the sinks that have something to do."""
    end = await ports.store.feed_end()
    found = {sink.name for sink in sinks if end > sink.cursor}
    kinds = {sink.name: ports.sinks.get(sink.kind) for sink in sinks if sink.name not in found}
    asked = {name: kind.stale for name, kind in kinds.items() if kind and kind.stale is not never_stale}
    if asked:
        # Sources are many: they are not read for a sink that is behind in the feed, or has the feed only.
        sources = await ports.store.sources()
        found |= {sink.name for sink in sinks if sink.name in asked and asked[sink.name](sink, sources)}
    return found


def nothing_for(sink: Sink) -> Announced:
    return _announced(sink, Outcome.NOTHING)


async def send_to(ports: Ports, sink: Sink, *, force: bool = False, insists: bool = False) -> Announced:
    """Send what waits for one sink; what stops it is written down, and is no exception here."""
    now = ports.clock.now()
    try:
        if not force and is_disabled(sink):
            return _announced(sink, Outcome.DISABLED)
        until = None if force else waits_until(ports.sinks, sink, now, insists=insists)
        if until is not None:
            return _announced(sink, Outcome.WAITS, until=until)
        lease = await acquire(ports, sink_lease_name(sink.name))
        if lease is None:
            return _announced(sink, Outcome.BUSY)
        async with kept(ports, lease):
            return await _with_lease(ports, sink.name, lease, force=force)
    except LeaseLost:
        return _announced(sink, Outcome.BUSY)
    except RowenError as exc:
        # The store took neither the lease nor the error; both are tried again the next time.
        _log.error("sink_failed sink=%s error=%r", sink.name, exc.message)
        return _announced(sink, Outcome.FAILED, error=exc)


async def _with_lease(ports: Ports, name: str, lease: Lease, *, force: bool) -> Announced:
    # As it is now: another process may have sent meanwhile.
    sink = await _reloaded(ports.store, name)
    end = await ports.store.feed_end()
    if not force and not await due(ports, [sink]):
        return _announced(sink, Outcome.NOTHING)
    try:
        sent = await _attempts(ports, sink, lease, force=force)
        if sent.error is not None:
            return await _failed(ports, sink, lease, sent.error, sent=sent)
        if await _saved(ports, sink, lease, sent, end):
            await raising.after_sink(ports, sink, None)
    except LeaseLost:
        raise
    except RowenError as exc:
        return await _failed(ports, sink, lease, exc)
    except Exception as exc:
        # A bug of one sink must not stop the runs; its traceback is in the log.
        _log.exception("sink_bug sink=%s", name)
        return await _failed(ports, sink, lease, PermanentError(f"{type(exc).__name__}: {exc}"))
    if sent.waiting_until is not None:
        return _announced(sink, Outcome.WAITS, sent=sent.sent, until=sent.waiting_until)
    return _announced(sink, Outcome.SENT if sent.sent else Outcome.NOTHING, sent=sent.sent)


async def _attempts(ports: Ports, sink: Sink, lease: Lease, *, force: bool) -> Sent:
    try:
        kind = ports.sinks.stored(sink.kind)
    except ConfigError as exc:
        raise PermanentError(exc.message, hint=exc.hint) from exc

    async def send() -> Sent:
        limit = asyncio.timeout(TURN_S)
        try:
            async with limit:
                return await kind.send(ports, sink, lease, force=force)
        except TimeoutError as exc:
            if not limit.expired():
                raise
            raise PermanentError(f"sending did not end within {TURN_S / 3600:g} h") from exc

    async def took_something() -> bool:
        """A sink that moved on before it failed has met another failure than the one before."""
        nonlocal sink
        before, sink = sink.cursor, await _reloaded(ports.store, sink.name)
        return sink.cursor > before

    return await patiently(send, ports.clock, RETRY, starts_over=took_something)


async def _saved(ports: Ports, sink: Sink, lease: Lease, sent: Sent, end: Cursor) -> bool:
    """Write down what was sent; False when nothing was tried."""
    if sent.cursor is None and sent.state is None:
        return False
    state = sent.state
    if state is None and PAUSE in sink.state:
        state = {key: value for key, value in sink.state.items() if key != PAUSE}
    # A sink that does not read the feed, and has sent everything, has everything that was in it before.
    cursor = sent.cursor or (end if sent.waiting_until is None else None)
    now = ports.clock.now()
    await ports.store.move_sink(lease, sink.name, cursor=cursor, state=state, error=None, now=now)
    return True


async def _failed(
    ports: Ports, sink: Sink, lease: Lease, exc: RowenError, *, sent: Sent = NOTHING_SENT
) -> Announced:
    now = ports.clock.now()
    until, state = sent.waiting_until, sent.state
    if isinstance(exc, webhook.Gone):
        state = _with_pause(sink, until=None)
    elif state is None and isinstance(exc, TransientError):
        wait_s = min(exc.retry_after_s or 0.0, LONGEST_PAUSE_S)
        if wait_s > RETRY.max_wait_s:
            until = now + timedelta(seconds=wait_s)
            state = _with_pause(sink, until=until)
    await ports.store.move_sink(lease, sink.name, cursor=sent.cursor, state=state, error=exc.message, now=now)
    await raising.after_sink(ports, sink, exc)
    return _announced(sink, Outcome.FAILED, sent=sent.sent, error=exc, until=until)


def _with_pause(sink: Sink, *, until: datetime | None) -> dict[str, Any]:
    pause = {"until": until and until.isoformat(), "settings": rules.fingerprint(sink.settings)}
    return {**sink.state, PAUSE: pause}


async def _reloaded(store: Feed, name: str) -> Sink:
    for sink in await store.sinks():
        if sink.name == name:
            return sink
    raise NotFound(f"sink `{name}`: removed meanwhile", name=name)


def _announced(
    sink: Sink,
    outcome: Outcome,
    *,
    sent: int = 0,
    until: datetime | None = None,
    error: RowenError | None = None,
) -> Announced:
    return Announced(sink=sink.name, kind=sink.kind, outcome=outcome, sent=sent, until=until, error=error)
