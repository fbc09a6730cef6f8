"""Things found by the name that a person typed: kinds of source, sinks.

Our own are made when the first one is asked for, not before: most commands need none. A name that is not
ours is looked up among plug-ins, and only then.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar

from rowen.errors import ConfigError

Thing = TypeVar("Thing")


def _none_by_that_name(name: str) -> None:
    return None


class Register(Generic[Thing]):
    def __init__(
        self,
        what: str,
        builtin: Callable[[], Mapping[str, Thing]],
        *,
        plugin: Callable[[str], Thing | None] = _none_by_that_name,
        plugin_names: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self._what = what
        self._builtin = builtin
        self._plugin = plugin
        self._plugin_names = plugin_names
        self._found: dict[str, Thing] | None = None

    def builtin(self) -> Mapping[str, Thing]:
        """Our own, in their order."""
        if self._found is None:
            self._found = dict(self._builtin())
        return self._found

    def names(self) -> list[str]:
        """Our own names, then those of plug-ins."""
        ours = self.builtin()
        return [*ours, *sorted(set(self._plugin_names()).difference(ours))]

    def get(self, name: str) -> Thing | None:
        ours = self.builtin()
        return ours[name] if name in ours else self._plugin(name)

    def named(self, name: str) -> Thing:
        """Raises `ConfigError` when there is none."""
        found = self.get(name)
        if found is not None:
            return found
        known = self.names()
        close = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean `{close[0]}`?" if close else f"known: {', '.join(known)}"
        raise ConfigError(f"kind `{name}`: no such kind of {self._what}", hint=hint)
