"""Settings in, a running system out: the only file that picks adapters.

Everything heavy is opened when it is first used: a refresh that finds nothing new never loads the model or
starts a parser.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rowen.adapters.system import SystemClock, is_dead, owner
from rowen.config import Config, default_store_path, environment, variable
from rowen.core.breaker import BreakerSettings
from rowen.core.retry import RetryPolicy
from rowen.errors import ConfigError
from rowen.flows.tools import FetchSettings, Tools
from rowen.ports.embedder import Embedder
from rowen.ports.fetcher import Fetcher, FetcherOptions
from rowen.ports.renderer import OpenRenderer, Renderer, RendererOptions
from rowen.ports.store import Store


def store_path(config: Config) -> Path:
    url = config.store.url
    if not url:
        return default_store_path()
    if url.startswith("sqlite:///"):
        return Path(url.removeprefix("sqlite:///"))
    raise ConfigError(
        f"store `{url.split('://')[0]}://...`: not a store this version knows",
        hint="use `sqlite:///path/to/rowen.db`",
    )


def open_store(config: Config) -> Store:
    from rowen.adapters.sqlite.store import SqliteStore

    return SqliteStore(store_path(config), busy_timeout_s=config.store.busy_timeout_s)


@asynccontextmanager
async def open_tools(config: Config) -> AsyncIterator[Tools]:
    from rowen.adapters.convert.pool import PoolConverter
    from rowen.adapters.files import LocalFolders
    from rowen.adapters.git import GitRepositories

    store = open_store(config)
    converter = PoolConverter(workers=config.convert.workers, timeout_s=config.convert.timeout_s)
    try:
        yield Tools(
            store=store,
            clock=SystemClock(),
            open_fetcher=_open_fetcher,
            folders=LocalFolders(),
            repositories=GitRepositories(_clones(config), environment()),
            converter=converter,
            embedder=_Once(config),
            embedder_from=_embedder_from,
            breaker=BreakerSettings(**asdict(config.breaker)),
            owner=owner(),
            is_dead=is_dead,
            fetch=FetchSettings(
                user_agent=config.fetch.user_agent,
                timeout_s=config.fetch.timeout_s,
                max_body_bytes=config.fetch.max_body_bytes,
                allow_private=config.fetch.allow_private,
                retry=RetryPolicy(
                    retries=config.fetch.retries,
                    base_s=config.fetch.retry_base_s,
                    max_wait_s=config.fetch.retry_max_wait_s,
                ),
            ),
            open_renderer=_renderers(config),
            secrets=variable,
            keep_generations=config.history.keep_generations,
        )
    finally:
        await converter.close()
        await store.close()


class _Once:
    """Makes the embedder when it is asked for, and the same one after that."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._made: Embedder | None = None

    def __call__(self) -> Embedder:
        if self._made is None:
            from rowen.adapters import embedders

            self._made = embedders.make(self._config.embedding.provider)
        return self._made


def _embedder_from(spec: Mapping[str, Any]) -> Embedder:
    from rowen.adapters import embedders

    return embedders.make(spec["provider"])


def _clones(config: Config) -> Path:
    """Clones lie beside the store: whoever deletes the store finds what belonged to it."""
    store = store_path(config)
    return store.with_name(f"{store.name}.clones")


def _open_fetcher(options: FetcherOptions) -> AbstractAsyncContextManager[Fetcher]:
    from rowen.adapters.http import open_fetcher  # half of the start-up time, and most commands fetch nothing

    return open_fetcher(options)


def _renderers(config: Config) -> OpenRenderer:
    def open_one(options: RendererOptions) -> AbstractAsyncContextManager[Renderer]:
        from rowen.adapters.render import open_renderer

        return open_renderer(options, browser=config.render.browser, sandbox=config.render.sandbox)

    return open_one
