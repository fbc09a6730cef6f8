"""Things found by the name that a person typed: kinds of source, kinds of sink, embedding providers.

Each of our own is imported when its name is asked for, not before: a sync of a site loads no portal. A name
that is not ours is looked up among plug-ins, and only then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, Protocol, TypeVar

from rowen.errors import ConfigError, did_you_mean

Thing = TypeVar("Thing")
Loaded = TypeVar("Loaded", covariant=True)


class Plugins(Protocol[Loaded]):
    """What other packages offer under names of their own."""

    def names(self) -> Iterable[str]:
        """Without loading any of them."""
        ...

    def load(self, name: str) -> Loaded | None:
        """None when no package offers that name. Raises `ConfigError` when it is offered and of no use."""
        ...


class Register(Generic[Thing]):
    def __init__(
        self,
        unknown: str,
        ours: Mapping[str, Callable[[], Thing]],
        plugins: Plugins[Thing] | None = None,
    ) -> None:
        """`ours` says how each of our own is loaded.

        `unknown` is the message about a name that is not known, with `{}` for the name.
        """
        self._unknown = unknown
        self._ours = ours
        self._plugins = plugins
        self._loaded: dict[str, Thing] = {}

    def is_ours(self, name: str) -> bool:
        return name in self._ours

    def ours(self) -> Iterator[Thing]:
        """Our own, in their order, each loaded when the one before it was not enough."""
        return map(self.named, self._ours)

    def names(self) -> list[str]:
        """Our own names, then those of plug-ins. Nothing is loaded."""
        others = self._plugins.names() if self._plugins else ()
        return [*self._ours, *sorted(set(others).difference(self._ours))]

    def loadable(self) -> dict[str, Thing]:
        """Our own, then the plug-ins that can be loaded."""
        return {name: found for name in self.names() if (found := self.get(name)) is not None}

    def get(self, name: str) -> Thing | None:
        """None also for a plug-in that cannot be loaded: `named` says why."""
        try:
            return self._find(name)
        except ConfigError:
            return None

    def named(self, name: str) -> Thing:
        """Raises `ConfigError` when there is none, or its plug-in cannot be loaded."""
        found = self._find(name)
        if found is None:
            raise self._no_such(name)
        return found

    def stored(self, name: str) -> Thing:
        """The same for a name out of the store: it was known once, so no other name is suggested."""
        found = self._find(name)
        if found is None:
            hint = "its plug-in is not installed here: install that package"
            raise ConfigError(self._unknown.format(f"`{name}`"), hint=hint, name=name)
        return found

    def check(self, name: str) -> None:
        """Raises `ConfigError` when there is no such name. Nothing is loaded."""
        if name not in self._ours and name not in self.names():
            raise self._no_such(name)

    def _no_such(self, name: str) -> ConfigError:
        known = self.names()
        hint = did_you_mean(name, known, cutoff=0.5)
        return ConfigError(self._unknown.format(f"`{name}`"), hint=hint, name=name, known=known)

    def _find(self, name: str) -> Thing | None:
        if name not in self._loaded:
            if name in self._ours:
                self._loaded[name] = self._ours[name]()
            elif self._plugins is not None and (found := self._plugins.load(name)) is not None:
                self._loaded[name] = found
        return self._loaded.get(name)
