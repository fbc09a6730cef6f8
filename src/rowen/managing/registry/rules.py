"""The registry: a file that lists sources, sinks and alarms, and the steps that make a store match it.

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

import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import Any

from rowen.core import params as parameters
from rowen.core.exchange import alarm_channels
from rowen.core.exchange.alarm import Channel
from rowen.core.exchange.sink import SinkEntry
from rowen.core.params import Param
from rowen.core.rules import duration
from rowen.core.source import NewSource, Source, label_of
from rowen.errors import ConfigError, did_you_mean
from rowen.records import dataclass
from rowen.sinks import declared as sinks

FIELDS: Mapping[str, str] = {
    "name": "What the source is called",
    "location": "Its address, folder, file or repository, as `rowen add` takes it",
    "kind": "The kind of source; detected if omitted",
    "version": 'The version that it documents, in quotes: `"3.12"`',
    "every": "How often `rowen serve` syncs it; if omitted, as `runs.every` says",
    "set": "Settings of its kind, as a table",
}
"""What may stand in `[[sources]]` and `[defaults]`, with its meaning."""
_SECTIONS = ("defaults", "sources", "sinks", "alarms")


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    name: str
    location: str
    kind: str | None = None
    version: str = ""
    every_s: float | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    """As `--set` would be given."""
    where: str = ""
    """Begins messages about it."""

    @property
    def label(self) -> str:
        return label_of(self.name, self.version)


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """The source that an entry means, and the settings that its kind has."""

    new: NewSource
    specs: Sequence[Param]
    editable: Callable[[Sequence[str]], bool] = lambda names: False
    """Can a stored source get other values of these settings, which decide what is fetched?"""


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


def read(text: str, *, file: str, settings: Collection[str] = ()) -> Registry:
    """`settings` are sections that other commands read in the same file."""
    where = f"registry `{file}`"
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise ConfigError(f"{where}: not TOML: {exc}") from exc
    for name in content:
        if name not in (*_SECTIONS, *settings):
            hint = did_you_mean(name, (*_SECTIONS, *settings))
            raise ConfigError(f"{where}: unknown section `{name}`", hint=hint)
    defaults = content.get("defaults", {})
    if not isinstance(defaults, dict):
        raise ConfigError(f"{where}: `defaults` is not a table", hint="write `[defaults]` above it")
    _check(defaults, f"{where}, defaults")
    tables = content.get("sources", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ConfigError(
            f"{where}: `sources` is not a list of tables",
            hint="write `[[sources]]`, with two brackets, above each source",
        )
    entries = [_entry(table, defaults, where, number) for number, table in enumerate(tables, 1)]
    labels = [entry.label for entry in entries]
    for label in labels:
        if labels.count(label) > 1:
            raise ConfigError(f"{where}: source `{label}` stands there {labels.count(label)} times")
    told = content.get("alarms")
    return Registry(
        sources=entries,
        sinks=sinks.read(content.get("sinks", []), where=where),
        alarms=None if told is None else alarm_channels.read(told, where=where),
    )


def plan(entries: Sequence[Entry], sources: Sequence[Source], wanted: Mapping[str, Wanted]) -> list[Step]:
    """What makes the store match the list. `wanted` are the sources that the entries mean, by label."""
    stored = {source.label: source for source in sources}
    steps: list[Step] = []
    for entry in entries:
        source = stored.pop(entry.label, None)
        action, reason = _difference(entry, wanted[entry.label], source)
        steps.append(Step(action=action, label=entry.label, reason=reason, entry=entry, source=source))
    steps += [
        Step(action="remove", label=label, reason="not in the list", source=source)
        for label, source in stored.items()
    ]
    return steps


def _difference(entry: Entry, wanted: Wanted, source: Source | None) -> tuple[str, str]:
    """What it takes to make the stored source that of the list, and why."""
    if source is None:
        return "add", "not in the store"
    new = wanted.new
    if source.key != new.key:
        named = [name for name in ("kind", "location") if getattr(source, name) != getattr(new, name)]
        # Of another kind, the settings with the same names are other settings.
        settings = [] if "kind" in named else _changed(wanted, source, identity=True)
        if settings and not named and wanted.editable([name.partition(".")[0] for name in settings]):
            settings += _changed(wanted, source, identity=False)
            settings += ["every"] if source.every_s != entry.every_s else []
            return "change", f"other {_listed(settings)}; history stays, the next sync follows"
        named += settings
        said = f"other {_listed(named)}" if named else "what it fetches changed"
        return "replace", f"{said}: a new source with clean history"
    named = _changed(wanted, source, identity=False)
    if named:
        named += ["every"] if source.every_s != entry.every_s else []
        return "change", f"other {_listed(named)}; what it has stays"
    if source.every_s != entry.every_s:
        return "reschedule", "another interval"
    return "keep", "as it is"


def _changed(wanted: Wanted, source: Source, *, identity: bool) -> list[str]:
    """The names of the settings that are not what they were; of a table, those of its keys."""
    names: list[str] = []
    for spec in wanted.specs:
        before, now = (params.get(spec.name) for params in (source.params, wanted.new.params))
        if spec.identity is not identity or before == now:
            continue
        if spec.key is None:
            names.append(spec.name)
            continue
        keys = sorted({*(before or {}), *(now or {})})
        names += [f"{spec.name}.{key}" for key in keys if (before or {}).get(key) != (now or {}).get(key)]
    return names


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(f"`{name}`" for name in names[:-1]), f"`{names[-1]}`")))


def _entry(table: Mapping[str, Any], defaults: Mapping[str, Any], where: str, number: int) -> Entry:
    name = table.get("name", defaults.get("name"))
    where = f"{where}, source `{name}`" if isinstance(name, str) and name else f"{where}, source {number}"
    _check(table, where)
    values = {**defaults, **table}
    for field_name in ("name", "location"):
        if not values.get(field_name):
            raise ConfigError(f"{where}: `{field_name}` is missing")
    return Entry(
        name=values["name"],
        location=values["location"],
        kind=values.get("kind"),
        version=values.get("version", ""),
        every_s=duration.every_s(values["every"]) if "every" in values else None,
        settings=parameters.flat(values.get("set", {})),
        where=f"{where}, with `set` of the defaults" if "set" in defaults and "set" not in table else where,
    )


def _check(values: Mapping[str, Any], where: str) -> None:
    """Are these fields of a source, and of the right shape?"""
    for name, value in values.items():
        if name not in FIELDS:
            raise ConfigError(f"{where}: unknown field `{name}`", hint=did_you_mean(name, FIELDS))
        if name == "set":
            if not isinstance(value, dict):
                raise ConfigError(f"{where}: `set` is not a table", hint="write `set = { max_pages = 100 }`")
        elif not isinstance(value, str):
            # As a number, 3.10 would be 3.1.
            number = isinstance(value, int | float) and not isinstance(value, bool)
            shown = "a number" if number else "not a text"
            raise ConfigError(f"{where}: `{name}` is {shown}", hint=f"write it in quotes: {_example(name)}")
    if "every" in values:
        try:
            duration.every_s(values["every"])
        except ConfigError as exc:
            raise ConfigError(f"{where}: {exc.message}", hint=exc.hint) from None


def _example(name: str) -> str:
    values = {"version": "3.10", "every": "6h", "kind": "web", "location": "https://docs.example.org/"}
    return f'`{name} = "{values.get(name, "docs")}"`'
