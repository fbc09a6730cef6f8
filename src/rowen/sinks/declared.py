"""Sinks as `rowen.toml` lists them: which sources each is about, and the steps that make a store match it.

    [[sinks]]
    name = "search-index"
    kind = "webhook"
    sources = ["docs", "api@3.*"]
    url = "https://index.example.org/rowen"
    secret = "${INDEX_SECRET}"

Rules, and one question to the store. What a kind of sink understands of its settings, that kind says itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, time
from fnmatch import fnmatchcase
from typing import Any

from rowen.core import hashing
from rowen.core import params as parameters
from rowen.core.exchange.sink import Sink, SinkEntry
from rowen.core.feed import ALL_SOURCES, Chosen, these
from rowen.core.params import Param
from rowen.core.source import Source
from rowen.errors import ConfigError, did_you_mean
from rowen.patterns import pattern
from rowen.ports.store.sources import Sources

SOURCES = "sources"
FIELDS: Mapping[str, str] = {
    "name": "What the sink is called: letters, digits, dots, dashes, underscores",
    "kind": "`webhook`, `export`, `atom`, `sheets`, `subscription`, or a plug-in's",
    SOURCES: "Globs over names or `name@version` of sources, as a list; all if omitted",
}
"""What every `[[sinks]]` table may have, with its meaning."""
_NAME = pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def setting(
    name: str, default: Any, parse: Callable[[str], Any], about: str, *, secret: bool = False
) -> Param:
    """A setting of a sink: unlike some of a source's, none of them makes it another sink."""
    return Param(name=name, default=default, parse=parse, identity=False, secret=secret, help=about)


START = setting(
    "start",
    "now",
    parameters.one_of("now", "beginning"),
    "Where a new sink begins: with the next change, or with everything readers see",
)


def read(tables: Any, *, where: str) -> list[SinkEntry]:
    """Raises `ConfigError`; `where` begins its messages."""
    if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
        raise ConfigError(f"{where}: `sinks` is not a list of tables", hint="write `[[sinks]]` above each")
    entries = [_entry(table, f"{where}, sink {number}") for number, table in enumerate(tables, 1)]
    names = [entry.name for entry in entries]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{where}: sink `{name}` stands there {names.count(name)} times")
    return entries


def checked(specs: Sequence[Param], entry: SinkEntry, *, needed: str = "") -> dict[str, Any]:
    """The settings of an entry as its kind reads them. Raises `ConfigError`, without the sink's name."""
    given = dict(_flat({key: value for key, value in entry.settings.items() if key != SOURCES}, specs))
    known = [SOURCES, *(spec.name for spec in specs)]
    for name in given:
        if name.partition(".")[0] not in known:
            raise ConfigError(
                f"setting `{name}`: no such setting for a sink of kind `{entry.kind}`",
                hint=did_you_mean(name, sorted(known)),
            )
    values = parameters.read(specs, given)
    if SOURCES in entry.settings:
        values[SOURCES] = list(entry.settings[SOURCES])
    if needed and not values.get(needed):
        raise ConfigError(f"setting `{needed}`: missing")
    return values


def matching(settings: Mapping[str, Any], sources: Iterable[Source]) -> list[Source]:
    """The sources that a sink is about: by label, or by name for every version of it."""
    globs = settings.get(SOURCES)
    if not globs:
        return list(sources)
    return [source for source in sources if _fits(source.label, globs)]


def matching_ids(settings: Mapping[str, Any], sources: Iterable[Source]) -> list[int] | None:
    """Their ids; None for all, also for those that come later."""
    return [source.id for source in matching(settings, sources)] if settings.get(SOURCES) else None


async def chosen(store: Sources, settings: Mapping[str, Any]) -> Chosen:
    """Whose changes a sink gets; sources are many, and not read for a sink that is about all."""
    globs = settings.get(SOURCES)
    if not globs:
        return ALL_SOURCES
    removed = [label for label in await store.removed_sources() if _fits(label, globs)]
    return these(matching(settings, await store.sources()), removed=removed)


def fingerprint(settings: Mapping[str, Any], sources: Iterable[Source] = ()) -> str:
    """Changes when the settings do, or what readers see of these sources."""
    # With its birth: one that was removed and added again may have the same number and generation.
    shown = [[one.id, one.label, one.active_generation, one.created_at.isoformat()] for one in sources]
    return hashing.of_mapping({"settings": dict(settings), "shown": shown}).hex()[:32]


def change(entry: SinkEntry, settings: Mapping[str, Any], stored: Sink | None) -> tuple[str, str]:
    """What it takes to make the stored sink that of the list, and why."""
    if stored is None:
        return "add", "not in the store"
    if stored.kind != entry.kind:
        return "change", f"another kind: it starts anew as `{entry.kind}`"
    if dict(stored.settings) != dict(settings):
        return "change", "other settings; it goes on where it was"
    return "keep", "as it is"


def plain(value: Any) -> Any:
    """A value of TOML as JSON has it."""
    match value:
        case Mapping():
            return {key: plain(one) for key, one in value.items()}
        case list():
            return [plain(one) for one in value]
        case date() | time():
            return value.isoformat()
    return value


def _fits(label: str, globs: Sequence[str]) -> bool:
    name = label.partition("@")[0]
    return any(fnmatchcase(label, glob) or fnmatchcase(name, glob) for glob in globs)


def _entry(table: Mapping[str, Any], where: str) -> SinkEntry:
    for name in ("name", "kind"):
        if not isinstance(table.get(name), str) or not table[name]:
            raise ConfigError(f"{where}: `{name}` is missing")
    if not _NAME.fullmatch(table["name"]):
        raise ConfigError(
            f"{where}: name `{table['name']}`: expected up to 64 letters, digits, dots, dashes or underscores"
        )
    settings = {key: plain(value) for key, value in table.items() if key not in ("name", "kind")}
    globs = settings.get(SOURCES, [])
    if isinstance(globs, str):
        settings[SOURCES] = globs = [globs]
    if not isinstance(globs, list) or not all(isinstance(glob, str) and glob for glob in globs):
        raise ConfigError(f"{where}: `{SOURCES}` is not a list of names", hint='write `sources = ["docs*"]`')
    return SinkEntry(name=table["name"], kind=table["kind"], settings=settings)


def _flat(settings: Mapping[str, Any], specs: Sequence[Param]) -> Iterable[tuple[str, str]]:
    """As `--set` would give them: a table as `name.KEY`."""
    tables = {spec.name for spec in specs if spec.key}
    for name, value in settings.items():
        if name in tables and isinstance(value, Mapping):
            yield from parameters.flat(value, f"{name}.").items()
        else:
            yield name, parameters.as_text(value)
