"""What is found by a name, our own first: kinds of source, kinds of sink, embedding providers, file formats.

A name that is not ours is looked up among plug-ins (docs/plugins.md). Nothing of theirs is imported before it
is used, and a plug-in that is of no use is an error for those calls only that use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from rowen.engine.register import Register
from rowen.errors import ConfigError, RowenError
from rowen.records import dataclass

if TYPE_CHECKING:
    from rowen.adapters.convert.formats import PluginFormat
    from rowen.adapters.embedders import EmbedderSpec
    from rowen.adapters.system.plugins import Installed, Plugin
    from rowen.engine.kind import Kind
    from rowen.engine.sink_kind import SinkKind
    from rowen.ports.embedder import Embedder

Thing = TypeVar("Thing")

PLUGIN_KINDS = "rowen.kinds"
PLUGIN_SINKS = "rowen.sinks"
PLUGIN_EMBEDDERS = "rowen.embedders"
PLUGIN_CONVERTERS = "rowen.converters"


def installed() -> Installed:
    from rowen.adapters.system.plugins import Installed

    return Installed()


class _Group(Generic[Thing]):
    """The `Plugins` of one register; the metadata of packages is read when the first one is asked for."""

    def __init__(self, group: str, made: Callable[[Plugin], Thing]) -> None:
        self._group = group
        self._made = made
        self._installed: Installed | None = None

    def names(self) -> Iterable[str]:
        return [plugin.name for plugin in self._found().all(self._group)]

    def load(self, name: str) -> Thing | None:
        plugin = self._found().find(self._group, name)
        return None if plugin is None else self._made(plugin)

    def _found(self) -> Installed:
        self._installed = self._installed or installed()
        return self._installed


def kinds() -> Register[Kind]:
    """The kinds of source there are."""
    from rowen.kinds.builtin import BUILTIN

    return Register("kind {}: no such kind of source", BUILTIN, _Group(PLUGIN_KINDS, _kind))


def sinks() -> Register[SinkKind]:
    """The kinds of sink there are."""
    return Register("kind {}: no such kind of sink", our_sinks(), _Group(PLUGIN_SINKS, _sink))


def our_sinks() -> dict[str, Callable[[], SinkKind]]:
    """What makes each of our own kinds of sink, by name."""
    from rowen.core.exchange.sink import SUBSCRIPTION
    from rowen.sinks.builtin import BUILTIN

    return {**BUILTIN, SUBSCRIPTION: _subscription}


def embedders() -> Register[Callable[[EmbedderSpec], Embedder]]:
    """What makes an embedder, by the name of its provider."""
    from rowen.adapters import embedders

    ours = dict.fromkeys(embedders.NAMES, lambda: embedders.make)
    return Register("embedding provider {}: no such provider", ours, _Group(PLUGIN_EMBEDDERS, _embedder))


def plugin_formats() -> Callable[[Sequence[str]], PluginFormat | None]:
    """Finds the plug-in that reads the first of some content types and endings, if there is one."""
    known: dict[str, PluginFormat] | None = None

    def find(names: Sequence[str]) -> PluginFormat | None:
        nonlocal known
        if known is None:
            from rowen.adapters.convert.formats import PluginFormat

            found = installed().all(PLUGIN_CONVERTERS)
            # The first package by its name, when several read a format; `rowen doctor` tells of the others.
            known = {one.name.lower(): PluginFormat(one.target, one.package) for one in reversed(found)}
        return next((known[name] for name in names if name in known), None)

    return find


def _kind(plugin: Plugin) -> Kind:
    from rowen.engine.kind import Kind
    from rowen.kinds.builtin import with_common_settings

    kind = plugin.value(Kind)
    if kind.name != plugin.name:
        raise plugin.wrong(f"its kind calls itself `{kind.name}`, not `{plugin.name}`")
    return with_common_settings(kind)


def _subscription() -> SinkKind:
    """A sink that asks questions, so it stands above the room of sinks."""
    from rowen.engine.sink_kind import SinkKind
    from rowen.service.subscriptions import sink

    return SinkKind(send=sink.send, check=sink.check, params=sink.PARAMS, stale=sink.stale)


def _sink(plugin: Plugin) -> SinkKind:
    from rowen.engine.sink_kind import SinkKind

    return plugin.value(SinkKind)


def _embedder(plugin: Plugin) -> Callable[[EmbedderSpec], Embedder]:
    from rowen.ports.embedder import Embedder

    function = plugin.function()

    def make(spec: EmbedderSpec) -> Embedder:
        if spec.key_variable and spec.api_key is None:
            raise ConfigError(
                f"variable `{spec.key_variable}`: not set, and `embedding.api_key_env` names it",
                hint="nothing was sent",
                variable=spec.key_variable,
            )
        try:
            made = function(spec)
        except RowenError:
            raise
        except Exception as exc:
            raise plugin.wrong(f"makes no embedder: {type(exc).__name__}: {exc}") from exc
        if not isinstance(made, Embedder):
            raise plugin.wrong(f"makes something of type {type(made).__name__}, expected an Embedder")
        return made

    return make


def _is_read(name: str) -> bool:
    from rowen.adapters.convert.formats import reads

    return reads(name)


@dataclass(frozen=True, kw_only=True, slots=True)
class PluginState:
    """An installed plug-in, for `rowen doctor`."""

    name: str
    group: str
    distribution: str
    version: str
    ok: bool
    error: str | None = None
    hint: str | None = None


def plugins() -> list[PluginState]:
    """Every plug-in that is installed. All of them are loaded, to say which are of use."""
    found = installed()
    return [_state(plugin, found) for group in _CHECKS for plugin in found.all(group)]


def _state(plugin: Plugin, found: Installed) -> PluginState:
    problem: ConfigError | None = None
    is_ours, load = _CHECKS[plugin.group]
    try:
        if is_ours(plugin.name):
            raise plugin.wrong("the name is one of ours, so it is not used", hint="its author can rename it")
        found.check_only(plugin)
        load(plugin)
    except ConfigError as exc:
        problem = exc
    return PluginState(
        name=plugin.name,
        group=plugin.group,
        distribution=plugin.distribution,
        version=plugin.version,
        ok=problem is None,
        error=problem.message if problem else None,
        hint=problem.hint if problem else None,
    )


_CHECKS: dict[str, tuple[Callable[[str], bool], Callable[[Plugin], object]]] = {
    PLUGIN_KINDS: (lambda name: kinds().is_ours(name), _kind),
    PLUGIN_SINKS: (lambda name: sinks().is_ours(name), _sink),
    PLUGIN_EMBEDDERS: (lambda name: embedders().is_ours(name), _embedder),
    PLUGIN_CONVERTERS: (_is_read, lambda plugin: plugin.function()),
}
