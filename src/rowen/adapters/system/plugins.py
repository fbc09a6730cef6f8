"""Plug-ins: what packages that are installed beside Rowen offer, by entry points in four groups.

    [project.entry-points."rowen.kinds"]
    rss = "rowen_rss:RSS"

Which plug-ins there are is read from the metadata of the packages; the code of one is imported when it is
used. What is wrong with a plug-in is a `ConfigError` that names the package it came with.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

from rowen.errors import ConfigError
from rowen.records import dataclass

GROUPS = ("rowen.kinds", "rowen.sinks", "rowen.embedders", "rowen.converters")

Wanted = TypeVar("Wanted")


@dataclass(frozen=True, slots=True)
class Plugin:
    group: str
    name: str
    target: str
    """Where its object is: `module:attribute`."""
    distribution: str
    version: str

    @property
    def package(self) -> str:
        return f"{self.distribution} {self.version}".strip()

    def value(self, wanted: type[Wanted]) -> Wanted:
        """Its object, or what the object gives when it is called. Raises `ConfigError`."""
        found = self._load()
        if not isinstance(found, wanted) and callable(found):
            found = self._guarded(found)
        if not isinstance(found, wanted):
            raise self.wrong(
                f"`{self.target}` is of type {type(found).__name__}, expected a {wanted.__name__}"
            )
        return found

    def function(self) -> Callable[..., Any]:
        """Its object, which must be callable. Raises `ConfigError`."""
        found: object = self._load()
        if not callable(found):
            raise self.wrong(f"`{self.target}` is of type {type(found).__name__}, expected a function")
        return found

    def wrong(self, what: str, *, hint: str = "") -> ConfigError:
        return ConfigError(
            f"plug-in `{self.name}` of package `{self.package}`: {what}",
            hint=hint or f"update the package, or remove it: `pip uninstall {self.distribution}`",
            plugin=self.name,
            group=self.group,
            distribution=self.distribution,
        )

    def _load(self) -> Any:
        return self._guarded(importlib.metadata.EntryPoint(self.name, self.target, self.group).load)

    def _guarded(self, function: Callable[[], Any]) -> Any:
        try:
            return function()
        except (Exception, SystemExit) as exc:
            # The code is another author's: anything may come out of it.
            raise self.wrong(f"cannot be loaded: {type(exc).__name__}: {exc}") from exc


class Installed:
    """The plug-ins that are installed; looked up once, when the first one is asked for."""

    def all(self, group: str) -> list[Plugin]:
        return [plugin for plugin in self._found if plugin.group == group]

    def find(self, group: str, name: str) -> Plugin | None:
        """Raises `ConfigError` when several packages offer that name."""
        found = next((plugin for plugin in self.all(group) if plugin.name == name), None)
        if found is not None:
            self.check_only(found)
        return found

    def check_only(self, plugin: Plugin) -> None:
        """Raises `ConfigError` when another package offers the name of this plug-in."""
        same = [one for one in self.all(plugin.group) if one.name == plugin.name and one != plugin]
        if same:
            others = " and ".join(f"`{one.package}`" for one in same)
            raise plugin.wrong(f"{others} offers the same name", hint="uninstall all but one of them")

    @cached_property
    def _found(self) -> list[Plugin]:
        everything = importlib.metadata.entry_points()
        found = [_plugin(entry) for group in GROUPS for entry in everything.select(group=group)]
        return sorted(found, key=lambda one: (GROUPS.index(one.group), one.name, one.distribution))


def _plugin(entry: importlib.metadata.EntryPoint) -> Plugin:
    # Metadata that was damaged may have neither name nor version.
    package = entry.dist
    name = (package.metadata["Name"] if package else None) or "unknown"
    version = (package.metadata["Version"] if package else None) or ""
    return Plugin(entry.group, entry.name, entry.value, name, version)
