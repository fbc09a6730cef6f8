"""Every port of a process in one value, opened by wiring and handed down.

Doors and the life of a run pass it on; a function that needs one port asks for that one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from rowen.core.rules.breaker import BreakerSettings
from rowen.core.rules.retry import RetryPolicy
from rowen.engine.learning.shown import ShownPages
from rowen.engine.tasks import Cancels, IngestionGate
from rowen.errors import ConfigError
from rowen.records import dataclass

if TYPE_CHECKING:  # most commands use few of these
    from rowen.core.search.hit import Answer, SearchCall
    from rowen.engine.kind import Kind
    from rowen.engine.register import Register
    from rowen.engine.sink_kind import SinkKind
    from rowen.ports.alarms import DeliverAlarm
    from rowen.ports.clock import Clock
    from rowen.ports.converter import Converter
    from rowen.ports.dispatcher import Dispatcher
    from rowen.ports.embedder import Embedder
    from rowen.ports.exports import Exports
    from rowen.ports.fetcher import OpenFetcher
    from rowen.ports.folders import Folders
    from rowen.ports.renderer import OpenRenderer
    from rowen.ports.repositories import Repositories
    from rowen.ports.sheets import OpenSpreadsheet
    from rowen.ports.splitter import Splitter
    from rowen.ports.store.store import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class FetchSettings:
    user_agent: str = "rowen"
    timeout_s: float = 30.0
    max_body_bytes: int = 10_000_000
    allow_private: bool = False
    allowed_roots: tuple[str, ...] = ()
    """Folders that sources of others may read."""
    allowed_variables: tuple[str, ...] = ()
    """Variables that sources of others may refer to."""
    retry: RetryPolicy = field(default_factory=RetryPolicy)


def _missing(problem: str) -> Callable[..., NoReturn]:
    def refuse(*_: object) -> NoReturn:
        raise ConfigError(problem)

    return refuse


no_renderer = _missing("no browser was set up for rendering pages")
no_spreadsheets = _missing("no spreadsheets were set up")
no_dispatcher = _missing("no engine was set up for workers")
no_exports = _missing("no place was set up for files that are written for others")
no_alarms = _missing("no channels for alarms were set up")


class SearchElsewhere(Protocol):
    """Answers are None when there is none, for any reason: then the caller looks itself."""

    async def __call__(self, call: SearchCall) -> Answer | None: ...

    async def page(self, call: SearchCall, *, limit: int, offset: int) -> bytes | None:
        """So many hits after so many, as the JSON that callers of the service get."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Ports:
    store: Store
    clock: Clock
    open_fetcher: OpenFetcher
    folders: Folders
    repositories: Repositories
    converter: Converter
    splitter: Splitter
    embedder: Callable[[], Embedder]
    """Called when a text must be embedded, not before: an unchanged run never loads a model."""
    embedder_from: Callable[[Mapping[str, Any]], Embedder]
    """Another embedder by its spec: the one search uses while a new model is being filled in."""
    breaker: BreakerSettings = field(default_factory=BreakerSettings)
    embedding_calls: int = 1
    """Calls of the embedder that may be under way at a time."""
    kinds: Register[Kind]
    sinks: Register[SinkKind]
    owner: str
    """This process, as a lease names it."""
    is_dead: Callable[[str], bool]
    """Is the process behind an owner certainly gone?"""
    fetch: FetchSettings = field(default_factory=FetchSettings)
    open_renderer: OpenRenderer = no_renderer
    open_spreadsheet: OpenSpreadsheet = no_spreadsheets
    exports: Callable[[], Exports] = no_exports
    deliver_alarm: DeliverAlarm = no_alarms
    dispatcher: Callable[[], Dispatcher] = no_dispatcher
    """What carries tickets between processes; opened by those who hand out or take up work."""
    shown: ShownPages = field(default_factory=ShownPages)
    """What readers of this process were shown, until the store is told."""
    search_elsewhere: SearchElsewhere | None = None
    """Where a service has its searches answered, beside its other work."""
    secrets: Callable[[str], str | None] = lambda name: None
    """The value of a variable that a setting refers to, or None."""
    keep_generations: int = 3
    keep_s: float = 0.0
    """How long generations are kept that are not among so many; 0: no longer. A source may say otherwise."""
    keep_handoffs_s: float = 30 * 86_400.0
    every_s: float = 86_400.0
    """How often `rowen serve` runs a source that has no interval of its own."""
    max_parallel_runs: int = 1
    cancels: Cancels = field(default_factory=Cancels)
    """The runs of this process that may be cancelled at once."""
    ingestion_gate: IngestionGate = field(default_factory=IngestionGate)
    """What is ingested in this process: batches, or one item that may be what ends it."""
    time_limit_s: float = 0.0
    """How long a run may take, for sources that say nothing else; 0 for no limit."""
