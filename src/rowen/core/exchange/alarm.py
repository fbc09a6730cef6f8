"""Alarms: which failure is reported to a person, once, and through which channels.

A streak of failures raises one alarm on each channel that wants it, and none after that until the source or
sink works again. A `FATAL` alarm after an `ERROR` in the same streak is raised too, an `ERROR` after a
`FATAL` is not. Pure: what was raised before comes in, the channels to deliver to go out; `alarm_channels`
reads their definitions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import IntEnum, StrEnum
from fnmatch import fnmatchcase
from typing import Any

from rowen.core.rules.schedule import Failure
from rowen.core.run import RunStatus
from rowen.records import dataclass

RATE_LIMIT_PATIENCE = 3
"""An upstream that limits us is paused and asked again later; only so many in a row raise an alarm."""


class What(StrEnum):
    ERROR = "error"
    """A source failed after all its attempts."""
    FATAL = "fatal"
    """Settings or credentials are wrong: the source stops until a person fixes them."""
    HELD = "held"
    """The deletion guard waits for a person's approval."""
    STILL_HELD = "still_held"
    """A generation was held for days, and no person decided."""
    SINK = "sink"
    """A sink could not send after all its attempts."""
    RECOVERED = "recovered"
    """What an alarm was raised for works again."""


class Severity(IntEnum):
    INFO = 0
    WARNING = 1
    ERROR = 2
    CRITICAL = 3

    @property
    def label(self) -> str:
        return self.name.lower()


_SEVERITY = {
    What.RECOVERED: Severity.INFO,
    What.HELD: Severity.WARNING,
    What.STILL_HELD: Severity.ERROR,
    What.ERROR: Severity.ERROR,
    What.SINK: Severity.ERROR,
    What.FATAL: Severity.CRITICAL,
}
_SAID_BEFORE = {What.ERROR: frozenset({What.ERROR, What.FATAL})}
"""Which earlier alarms of the same streak suppress an alarm; by default the same one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Alarm:
    what: What
    source: str | None = None
    """The label of the source it is about; either this or `sink` is set."""
    sink: str | None = None
    message: str = ""
    hint: str | None = None
    failures: int = 0
    """In a row."""
    at: datetime

    @property
    def severity(self) -> Severity:
        return _SEVERITY[self.what]

    @property
    def subject(self) -> str:
        return f"source `{self.source}`" if self.source is not None else f"sink `{self.sink}`"

    @property
    def title(self) -> str:
        """One line for a person, without text from outside."""
        if self.what is What.RECOVERED:
            return f"{self.subject} works again"
        if self.what is What.HELD:
            return f"{self.subject}: a generation is held for approval"
        if self.what is What.STILL_HELD:
            return f"{self.subject}: a generation still waits for approval"
        if self.what is What.FATAL:
            return f"{self.subject} stopped: only a person can fix it"
        times = "" if self.failures <= 1 else f", {self.failures} times in a row"
        return f"{self.subject} failed{times}"

    @property
    def text(self) -> str:
        """The whole alarm for a person."""
        lines = [self.title]
        if self.message:
            lines += ["", self.message]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)

    @property
    def line(self) -> str:
        """One event name, then fields; text from outside is quoted, so that it stays on its line."""
        fields = {name: value for name, value in self.as_dict().items() if value is not None}
        return "alarm " + " ".join(f"{name}={_shown(value)}" for name, value in fields.items())

    def as_dict(self) -> dict[str, Any]:
        return {
            "what": self.what.value,
            "severity": self.severity.label,
            "source": self.source,
            "sink": self.sink,
            "message": self.message or self.title,
            "hint": self.hint,
            "failures": self.failures,
            "at": self.at.isoformat(),
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Channel:
    """Where alarms are delivered, as it is defined; it holds secrets by reference."""

    name: str
    kind: str
    on: frozenset[What] = frozenset(What)
    sources: tuple[str, ...] = ()
    """Globs of sources; empty for all. Alarms about a sink are not filtered by source."""
    severity: Severity = Severity.INFO
    """Nothing below this."""
    after: int = 1
    """Failures in a row, retries included, before an alarm is delivered."""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def wants(self, alarm: Alarm) -> bool:
        if alarm.what not in self.on or alarm.severity < self.severity:
            return False
        if alarm.source is None or not self.sources:
            return True
        name = alarm.source.partition("@")[0]
        return any(fnmatchcase(alarm.source, glob) or fnmatchcase(name, glob) for glob in self.sources)


Raised = Mapping[str, Sequence[str]]
"""The alarms delivered in this streak, by the name of the channel."""


def verdict(status: RunStatus, failure: Failure | None) -> What | None:
    """The alarm for the end of a run; None for no alarm, `RECOVERED` when the run was good."""
    if status is RunStatus.HELD:
        return What.HELD
    # A run that stored what it found goes on by its schedule, also when its embedding provider refuses.
    if failure is Failure.FATAL and not status.is_good:
        return What.FATAL
    if failure is not None:
        return What.ERROR
    # A cancelled run is neither a failure nor a proof that the source works.
    return What.RECOVERED if status.is_good else None


def channels_for(
    channels: Sequence[Channel], alarm: Alarm, raised: Raised, *, patience: int = 1
) -> list[Channel]:
    """The channels that get this alarm."""
    if alarm.what is What.RECOVERED:
        # A recovery goes to the channels that got the alarm, also when they want a higher severity.
        return [channel for channel in channels if raised.get(channel.name) and alarm.what in channel.on]
    said = _SAID_BEFORE.get(alarm.what, frozenset({alarm.what}))
    counted = alarm.what in (What.ERROR, What.SINK)
    return [
        channel
        for channel in channels
        if channel.wants(alarm)
        and said.isdisjoint(raised.get(channel.name, ()))
        and (not counted or alarm.failures >= max(channel.after, patience))
    ]


def after_delivery(raised: Raised, alarm: Alarm, delivered: Sequence[Channel]) -> dict[str, list[str]]:
    """What to remember: a channel whose delivery failed is tried again the next time."""
    if alarm.what is What.RECOVERED:
        return {}
    kept = {name: list(said) for name, said in raised.items()}
    for channel in delivered:
        kept[channel.name] = sorted({*kept.get(channel.name, ()), alarm.what.value})
    return kept


def _shown(value: object) -> str:
    if isinstance(value, int):
        return str(value)
    text = str(value)
    if text and text.isprintable() and not set(text) & set(" \"'=`\\"):
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())
