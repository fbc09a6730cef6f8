"""Settings in, a running system out: the only file that picks adapters.

Everything heavy is opened when it is first used: a refresh that finds nothing new never loads the model or
starts a parser.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from rowen.adapters.embedders import EmbedderSpec


def store_path(config: Config) -> Path:
    url = config.store.url
    if not url:
        return default_store_path()
    path = url.removeprefix("sqlite:///")
    if path != url and path not in ("", ":memory:"):
        return Path(path)
    if "://" in url:
        # The rest of such an address may hold a password.
        raise ConfigError(
            f"store `{url.partition('://')[0]}://...`: not a store this version knows",
            hint="use `sqlite:///path/to/rowen.db`",
        )
    raise ConfigError(f"store `{url}`: not an address of a store", hint=f"did you mean `sqlite:///{url}`?")


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
    embedders = _Embedders(config)
    try:
        yield Tools(
            store=store,
            clock=SystemClock(),
            open_fetcher=_open_fetcher,
            folders=LocalFolders(),
            repositories=GitRepositories(_clones(config), environment()),
            converter=converter,
            embedder=embedders.configured,
            embedder_from=embedders.from_spec,
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
            max_parallel_runs=config.runs.max_parallel,
        )
    finally:
        await embedders.close()
        await converter.close()
        await store.close()


class _Embedders:
    """Makes an embedder when it is asked for, and the same one after that; closes what it made."""

    def __init__(self, config: Config) -> None:
        self._config = config.embedding
        self._made: dict[str, Embedder] = {}

    def configured(self) -> Embedder:
        from rowen.adapters.embedders import EmbedderSpec

        config = self._config
        spec = EmbedderSpec(
            provider=config.provider,
            model=config.model,
            base_url=config.base_url,
            dimensions=config.dimensions,
            timeout_s=config.timeout_s,
        )
        return self._make(spec, named=config.api_key_env)

    def from_spec(self, values: Mapping[str, Any]) -> Embedder:
        from rowen.adapters.embedders import EmbedderSpec

        spec = EmbedderSpec.from_mapping(values, timeout_s=self._config.timeout_s)
        same_provider = values["provider"] == self._config.provider
        return self._make(spec, named=self._config.api_key_env if same_provider else "")

    def _make(self, spec: EmbedderSpec, *, named: str) -> Embedder:
        from rowen.adapters import embedders

        key = repr(spec)
        if key not in self._made:
            self._made[key] = embedders.make(embedders.with_key(spec, variable, named=named))
        return self._made[key]

    async def close(self) -> None:
        for embedder in self._made.values():
            await embedder.close()


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
