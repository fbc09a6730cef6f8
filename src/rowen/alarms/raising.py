"""Raise alarms: once for a streak of failures, and once when the source or sink works again.

Called after the last retry, never before. What was delivered is remembered in the store, so that a restart
repeats nothing. A channel that fails never fails the run: that is logged, and tried again the next time.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from rowen.core.exchange import alarm_channels
from rowen.core.exchange.alarm import (
    RATE_LIMIT_PATIENCE,
    Alarm,
    Channel,
    What,
    after_delivery,
    channels_for,
    verdict,
)
from rowen.core.exchange.sink import Sink
from rowen.core.rules.schedule import ATTEMPTS, Failure
from rowen.core.rules.standing import Loudness, standing
from rowen.core.safety import secrets
from rowen.core.source import Source
from rowen.engine.ports import Ports
from rowen.engine.receipt import Receipt
from rowen.errors import RowenError, TransientError
from rowen.ports.alarms import Route
from rowen.ports.store.notes import Notes

NOTE = "alarms"
"""The definitions of the channels."""
RAISED = "alarm:"
"""Begins the names of the notes about what was delivered."""
RETRY_BASE_S = 2.0

_log = logging.getLogger("rowen.alarms")


async def channels(store: Notes) -> list[Channel]:
    """Where alarms go; to the log when no channels are stored."""
    tables = await store.note(NOTE)
    return [alarm_channels.DEFAULT] if tables is None else alarm_channels.read(tables, where="stored alarms")


async def save_channels(store: Notes, found: Sequence[Channel] | None) -> None:
    """Store these definitions; None for the default, an empty list for no alarms."""
    await store.save_note(NOTE, found and [alarm_channels.as_table(channel) for channel in found])


async def after_source(ports: Ports, before: Source, receipt: Receipt) -> None:
    """Raise or end the alarm of a source. `before` is the source as it was before the run."""
    what = verdict(receipt.status, receipt.failure)
    if what is None:
        return
    failures = 0
    if what is not What.RECOVERED:
        now = await ports.store.source(before.id) or before
        failures = max(now.consecutive_failures, before.consecutive_failures + 1)
    alarm = Alarm(
        what=what,
        source=before.label,
        message=receipt.result.words or ""
        if what is What.RECOVERED
        else receipt.error or "it ended without an error message",
        hint=_hint(what, before, receipt),
        failures=failures,
        at=ports.clock.now(),
    )
    limited = receipt.failure is Failure.RATE_LIMIT
    await _consider(
        ports,
        alarm,
        note=f"{RAISED}source:{before.id}",
        fresh=before.consecutive_failures == 0,
        patience=RATE_LIMIT_PATIENCE if limited else 1,
    )


async def about_holds(ports: Ports, sources: Sequence[Source]) -> None:
    """Raise the alarm for sources whose generation was held for days, once for a hold."""
    now = ports.clock.now()
    for source in sources:
        if source.held_generation is None:
            continue
        held = standing(source, now)
        if held.loudness is not Loudness.ALARM or held.since is None:
            continue
        alarm = Alarm(
            what=What.STILL_HELD,
            source=source.label,
            message=f"generation {source.held_generation} is held since {held.since:%Y-%m-%d}: {held.says};"
            f" readers still see generation {source.active_generation}",
            hint=held.hint,
            failures=source.consecutive_failures,
            at=now,
        )
        await _consider(ports, alarm, note=f"{RAISED}source:{source.id}", fresh=False)


def _hint(what: What, source: Source, receipt: Receipt) -> str | None:
    if what is What.RECOVERED:
        return None
    if what is What.FATAL:
        resume = f"then `rowen resume {source.label}`: until then it is not run"
        return f"{receipt.hint}; {resume}" if receipt.hint else f"fix it, {resume}"
    return receipt.hint


async def after_sink(ports: Ports, before: Sink, error: RowenError | None) -> None:
    """The same for a sink: `error` is what stopped it, None when it has sent."""
    alarm = Alarm(
        what=What.RECOVERED if error is None else What.SINK,
        sink=before.name,
        message="" if error is None else error.message,
        hint=None if error is None else error.hint,
        failures=0 if error is None else before.failures + 1,
        at=ports.clock.now(),
    )
    await _consider(ports, alarm, note=f"{RAISED}sink:{before.name}", fresh=before.failures == 0)


async def _consider(ports: Ports, alarm: Alarm, *, note: str, fresh: bool, patience: int = 1) -> None:
    try:
        raised: Mapping[str, Sequence[str]] = await ports.store.note(note) or {}
        recovered = alarm.what is What.RECOVERED
        if recovered and not raised:
            return
        if fresh and not recovered:
            # It worked in between, in a sync that raises no alarms, or it is another source of the same name.
            raised = {}
        wanted = channels_for(await channels(ports.store), alarm, raised, patience=patience)
        delivered = [channel for channel in wanted if await _delivered(ports, channel, alarm)]
        remembered = after_delivery(raised, alarm, delivered)
        if delivered or recovered:
            await ports.store.save_note(note, remembered)
    except RowenError as exc:
        _log.error("alarm_failed about=%s error=%s", alarm.subject, exc.message)


async def _delivered(ports: Ports, channel: Channel, alarm: Alarm) -> bool:
    hidden: list[str] = []
    problem = ""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            settings = _resolved(ports, channel, hidden)
            await ports.deliver_alarm(Route(name=channel.name, kind=channel.kind, settings=settings), alarm)
            return True
        except Exception as exc:
            # A bug in a channel must not fail the run that is being reported.
            problem = exc.message if isinstance(exc, RowenError) else f"{type(exc).__name__}: {exc}"
            if not isinstance(exc, TransientError):
                break
        if attempt < ATTEMPTS:
            await ports.clock.sleep(RETRY_BASE_S * 2 ** (attempt - 1))
    for value in sorted(hidden, key=len, reverse=True):
        problem = problem.replace(value, "***")
    _log.error("alarm_not_delivered channel=%s error=%r %s", channel.name, problem, alarm.line)
    return False


def _resolved(ports: Ports, channel: Channel, hidden: list[str]) -> dict[str, Any]:
    """The settings with their secrets; `hidden` collects the values that no log may show."""

    def looked_up(name: str) -> str | None:
        value = ports.secrets(name)
        if value and value.strip():
            hidden.append(value.strip())
        return value

    return {
        key: secrets.fill(f"alarms.{channel.name}.{key}", value, looked_up)
        if isinstance(value, str)
        else value
        for key, value in channel.settings.items()
    }
