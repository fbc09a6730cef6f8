"""A list of portals as a TOML file: `[[portals]]` with a name, a url, a type and any setting of that type.

Only the file's own rules are checked here: which types and settings there are is known to the kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from rowen.errors import ConfigError, did_you_mean
from rowen.records import dataclass

DEFAULT_TYPE = "ckan"


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    name: str
    url: str
    type: str = DEFAULT_TYPE
    version: str = ""
    enabled: bool = True
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut:
    """A row of a register that becomes no source."""

    row: int
    """Its number, from 1; the line of names does not count."""
    name: str
    why: str


def parse(text: str, *, file: str) -> list[Entry]:
    """The entries in the order of the file. Raises `ConfigError` for anything that is not one."""
    import tomllib

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise ConfigError(f"file `{file}`: not TOML: {exc}") from exc
    for key in document:
        if key != "portals":
            hint = did_you_mean(key, ["portals"], otherwise="each portal is a `[[portals]]` table")
            raise ConfigError(f"file `{file}`: `{key}` is not known", hint=hint)
    tables = document.get("portals")
    if not isinstance(tables, list) or not tables or not all(isinstance(one, dict) for one in tables):
        raise ConfigError(f"file `{file}`: no portals", hint="each portal is a `[[portals]]` table")
    entries = [_entry(table, f"file `{file}`: portal {place}") for place, table in enumerate(tables, 1)]
    seen: set[tuple[str, str]] = set()
    for entry in entries:
        if (entry.name, entry.version) in seen:
            raise ConfigError(f"file `{file}`: two portals are called `{entry.name}`")
        seen.add((entry.name, entry.version))
    return entries


def _entry(table: Mapping[str, Any], where: str) -> Entry:
    given = dict(table)
    name = given.pop("name", None)
    if isinstance(name, str) and name:
        where = f"{where} (`{name}`)"
    texts: dict[str, str] = {"name": name or ""}
    for key in ("url", "type", "version"):
        texts[key] = given.pop(key, {"type": DEFAULT_TYPE}.get(key, ""))
    for key, value in texts.items():
        if not isinstance(value, str):
            raise ConfigError(f"{where}: `{key}` is no text")
        if not value and key != "version":
            raise ConfigError(f"{where}: has no `{key}`")
    enabled = given.pop("enabled", True)
    if not isinstance(enabled, bool):
        raise ConfigError(f"{where}: `enabled` is neither true nor false")
    settings: dict[str, str] = {}
    for key, value in given.items():
        if isinstance(value, dict):
            settings |= {
                f"{key}.{inner}": _text(one, f"{where}: `{key}.{inner}`") for inner, one in value.items()
            }
        else:
            settings[key] = _text(value, f"{where}: `{key}`")
    return Entry(**texts, enabled=enabled, settings=settings)


def _text(value: Any, where: str) -> str:
    """A setting as it would be typed."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, list) and all(isinstance(one, str | int | float) for one in value):
        return ",".join(str(one) for one in value)
    raise ConfigError(f"{where}: expected a text, a number, true, false or a list")
