"""What flows work with: the ports, opened by wiring and handed down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from rowen.core.breaker import BreakerSettings
from rowen.core.retry import RetryPolicy
from rowen.errors import ConfigError
from rowen.ports.clock import Clock
from rowen.ports.converter import Converter
from rowen.ports.embedder import Embedder
from rowen.ports.fetcher import OpenFetcher
from rowen.ports.folders import Folders
from rowen.ports.renderer import OpenRenderer, RendererOptions
from rowen.ports.repositories import Repositories
from rowen.ports.store import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class FetchSettings:
    user_agent: str = "rowen"
    timeout_s: float = 30.0
    max_body_bytes: int = 10_000_000
    allow_private: bool = False
    retry: RetryPolicy = field(default_factory=RetryPolicy)


def no_renderer(options: RendererOptions) -> NoReturn:
    raise ConfigError("no browser was set up for rendering pages")


@dataclass(frozen=True, kw_only=True, slots=True)
class Tools:
    store: Store
    clock: Clock
    open_fetcher: OpenFetcher
    folders: Folders
    repositories: Repositories
    converter: Converter
    embedder: Callable[[], Embedder]
    """Called when a text must be embedded, not before: an unchanged run never loads a model."""
    embedder_from: Callable[[Mapping[str, Any]], Embedder]
    """Another embedder by its spec: the one search uses while a new model is being filled in."""
    breaker: BreakerSettings = field(default_factory=BreakerSettings)
    owner: str
    """This process, as a lease names it."""
    is_dead: Callable[[str], bool]
    """Is the process behind an owner certainly gone?"""
    fetch: FetchSettings = field(default_factory=FetchSettings)
    open_renderer: OpenRenderer = no_renderer
    secrets: Callable[[str], str | None] = lambda name: None
    """The value of a variable that a setting refers to, or None."""
    keep_generations: int = 3
    max_parallel_runs: int = 1
