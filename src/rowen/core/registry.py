"""The registry: sources, sinks and alarms somebody keeps in a file, and what makes a store match it.

    [defaults]
    every = "6h"

    [[sources]]
    name = "python"
    location = "https://docs.python.org/3/"
    version = "3.12"
    every = "1d"
    set = { max_pages = 5000, exclude = ["/3/whatsnew/**"] }

    [[sinks]]
    name = "index"
    kind = "webhook"
    url = "https://index.example.org/rowen"

Pure: text in, a plan out. Nothing is added or removed here.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rowen.core import alarm_channels, sinks
from rowen.core.alarm import Channel
from rowen.core.schedule import seconds
from rowen.core.sinks import SinkEntry
from rowen.core.source import Source
from rowen.errors import ConfigError

_FIELDS = frozenset({"name", "location", "kind", "version", "every", "set"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    name: str
    location: str
    kind: str | None = None
    version: str = ""
    every_s: float | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    """As `--set` would be given."""

    @property
    def label(self) -> str:
        return f"{self.name}@{self.version}" if self.version else self.name


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One thing to do, with the reason for it."""

    action: str
    """`add`, `replace`, `reschedule`, `change`, `keep` or `remove`."""
    label: str
    reason: str
    entry: Entry | None = None
    source: Source | None = None
    what: str = "source"
    """`source`, `sink` or `alarms`."""
    sink: SinkEntry | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Registry:
    sources: Sequence[Entry]
    sinks: Sequence[SinkEntry] = ()
    alarms: Sequence[Channel] | None = None
    """None when the file does not speak of alarms."""


def read(text: str, *, file: str) -> Registry:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise ConfigError(f"registry `{file}`: not TOML: {exc}") from exc
    unknown = sorted(set(content) - {"defaults", "sources", "sinks", "alarms"})
    if unknown:
        raise ConfigError(
            f"registry `{file}`: unknown section `{unknown[0]}`",
            hint="known: defaults, sources, sinks, alarms",
        )
    defaults = content.get("defaults", {})
    entries = [
        _entry({**defaults, **one}, f"registry `{file}`, source {number}")
        for number, one in enumerate(content.get("sources", []), 1)
    ]
    labels = [entry.label for entry in entries]
    for label in labels:
        if labels.count(label) > 1:
            raise ConfigError(f"registry `{file}`: source `{label}` stands there {labels.count(label)} times")
    where = f"registry `{file}`"
    told = content.get("alarms")
    return Registry(
        sources=entries,
        sinks=sinks.read(content.get("sinks", []), where=where),
        alarms=None if told is None else alarm_channels.read(told, where=where),
    )


def plan(entries: Sequence[Entry], sources: Sequence[Source], keys: Mapping[str, str]) -> list[Step]:
    """What makes the store match the list. `keys` are the source keys the entries would have, by label."""
    stored = {source.label: source for source in sources}
    steps: list[Step] = []
    for entry in entries:
        source = stored.pop(entry.label, None)
        if source is None:
            steps.append(Step(action="add", label=entry.label, reason="not in the store", entry=entry))
        elif source.key != keys[entry.label]:
            reason = "what it fetches changed: a new source with clean history"
            steps.append(Step(action="replace", label=entry.label, reason=reason, entry=entry, source=source))
        elif source.every_s != entry.every_s:
            steps.append(
                Step(
                    action="reschedule",
                    label=entry.label,
                    reason="another interval",
                    entry=entry,
                    source=source,
                )
            )
        else:
            steps.append(
                Step(action="keep", label=entry.label, reason="as it is", entry=entry, source=source)
            )
    steps += [
        Step(action="remove", label=label, reason="not in the list", source=source)
        for label, source in stored.items()
    ]
    return steps


def _entry(values: Mapping[str, Any], where: str) -> Entry:
    for name in values:
        if name not in _FIELDS:
            close = difflib.get_close_matches(name, _FIELDS, 1)
            hint = f"did you mean `{close[0]}`?" if close else f"known: {', '.join(sorted(_FIELDS))}"
            raise ConfigError(f"{where}: unknown field `{name}`", hint=hint)
    for name in ("name", "location"):
        if not isinstance(values.get(name), str) or not values[name]:
            raise ConfigError(f"{where}: `{name}` is missing")
    settings = values.get("set", {})
    if not isinstance(settings, dict):
        raise ConfigError(f"{where}: `set` is not a table", hint="write `set = { max_pages = 100 }`")
    return Entry(
        name=values["name"],
        location=values["location"],
        kind=values.get("kind"),
        version=str(values.get("version", "")),
        every_s=seconds(str(values["every"])) if "every" in values else None,
        settings=_flat(settings),
    )


def _flat(settings: Mapping[str, Any], above: str = "") -> dict[str, str]:
    """`{ param = { q = "x" } }` as `--set param.q=x` would be given."""
    flat: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{above}{key}.")
        else:
            flat[above + key] = _text(value)
    return flat


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(_text(one) for one in value)
    return str(value).lower() if isinstance(value, bool) else str(value)
