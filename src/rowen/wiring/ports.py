"""The ports of a running system, each opened when it is first used.

A refresh that finds nothing new never loads the model or starts a parser.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rowen.adapters.system import SystemClock, is_dead, owner
from rowen.config import (
    Config,
    environment,
    variable,
)
from rowen.core.params import words
from rowen.core.rules.breaker import BreakerSettings
from rowen.core.rules.complete import COPY, check_complete
from rowen.core.rules.duration import interval_s
from rowen.core.rules.retry import RetryPolicy
from rowen.engine.learning.shown import ShownPages
from rowen.engine.ports import FetchSettings, Ports
from rowen.errors import ConfigError
from rowen.eventloop import loop_here
from rowen.places import default_store_path

if TYPE_CHECKING:
    from rowen.adapters.convert.pool import PoolConverter
    from rowen.adapters.split.pool import PoolSplitter
    from rowen.core.exchange.alarm import Alarm
    from rowen.engine.kind import Kind
    from rowen.engine.register import Register
    from rowen.engine.sink_kind import SinkKind
    from rowen.ports.alarms import DeliverAlarm, Route
    from rowen.ports.dispatcher import Dispatcher
    from rowen.ports.exports import Exports
    from rowen.ports.fetcher import Fetcher, FetcherOptions
    from rowen.ports.folders import Folders
    from rowen.ports.renderer import OpenRenderer, Renderer, RendererOptions
    from rowen.ports.repositories import Repositories
    from rowen.ports.sheets import Spreadsheet, SpreadsheetOptions
    from rowen.ports.store.store import Store

from rowen.wiring.embedders import Embedders
from rowen.wiring.later import Later
from rowen.wiring.stores import is_postgres, open_store, store_name, store_path


@asynccontextmanager
async def open_ports(config: Config, *, create: bool = True, alone: bool = False) -> AsyncIterator[Ports]:
    """`alone`: the caller does one thing after the other, and waits for the store in its own thread."""
    store = open_store(config, create=create, alone=alone)
    converter, splitter = Later(lambda: _converter(config)), Later(_splitter)
    embedders, shown = Embedders(config), ShownPages()
    try:
        check_complete(await store.note(COPY), store_name(config))
        yield Ports(
            store=store,
            clock=SystemClock(),
            open_fetcher=_open_fetcher,
            folders=Later(lambda: _folders(config)).port,
            repositories=Later(lambda: _repositories(config)).port,
            converter=converter.port,
            splitter=splitter.port,
            embedder=embedders.configured,
            embedder_from=embedders.from_spec,
            breaker=BreakerSettings(**asdict(config.breaker)),
            embedding_calls=embedders.calls,
            shown=shown,
            kinds=Later(_kinds).port,
            sinks=Later(_sinks).port,
            owner=owner(),
            is_dead=is_dead,
            fetch=FetchSettings(
                user_agent=config.fetch.user_agent,
                timeout_s=config.fetch.timeout_s,
                max_body_bytes=config.fetch.max_body_bytes,
                allow_private=config.fetch.allow_private,
                allowed_roots=tuple(words(config.service.allowed_roots)),
                allowed_variables=tuple(words(config.service.allowed_variables)),
                retry=RetryPolicy(
                    retries=config.fetch.retries,
                    base_s=config.fetch.retry_base_s,
                    max_wait_s=config.fetch.retry_max_wait_s,
                ),
            ),
            open_renderer=_renderers(config),
            open_spreadsheet=_spreadsheets,
            exports=_exports,
            deliver_alarm=_alarms(config),
            dispatcher=lambda: _dispatcher(config, store),
            secrets=variable,
            keep_generations=config.history.keep_generations,
            keep_s=interval_s(config.history.keep, of="setting `history.keep`:")
            if config.history.keep
            else 0.0,
            every_s=interval_s(config.runs.every),
            keep_handoffs_s=interval_s(config.history.keep_handoffs, of="setting `history.keep_handoffs`:"),
            max_parallel_runs=config.runs.max_parallel,
            time_limit_s=config.runs.time_limit_s,
        )
    finally:
        await shown.close()
        await embedders.close()
        if converter.made is not None:
            await converter.made.close()
        if splitter.made is not None:
            await splitter.made.close()
        await store.close()


def _dispatcher(config: Config, store: Store) -> Dispatcher:
    if is_postgres(config):
        from rowen.adapters.store.postgres.jobs.dispatcher import PgQueuerDispatcher

        return PgQueuerDispatcher(config.store.url, SystemClock(), held_s=config.workers.held_s)
    from rowen.adapters.store.sqlite.jobs import SqliteDispatcher
    from rowen.adapters.store.sqlite.store import SqliteStore

    if not isinstance(store, SqliteStore):
        raise AssertionError("a store of another kind than its address says")
    return SqliteDispatcher(store.database, SystemClock(), owner=owner(), held_s=config.workers.held_s)


def _clones(config: Config) -> Path:
    """Clones lie beside the store, so that a person who deletes the store finds what belonged to it."""
    store = default_store_path() if is_postgres(config) else store_path(config)
    return store.with_name(f"{store.name}.clones")


def _kinds() -> Register[Kind]:
    from rowen import registers

    return registers.kinds()


def _sinks() -> Register[SinkKind]:
    from rowen import registers

    return registers.sinks()


def _converter(config: Config) -> PoolConverter:
    from rowen import registers
    from rowen.adapters.convert.pool import PoolConverter

    return PoolConverter(
        workers=config.convert.workers,
        timeout_s=config.convert.timeout_s,
        find_plugin=registers.plugin_formats(),
    )


def _splitter() -> PoolSplitter:
    from rowen.adapters.children.cores import half_of_the_cores
    from rowen.adapters.split.pool import PoolSplitter

    return PoolSplitter(half_of_the_cores())


def _folders(config: Config) -> Folders:
    from rowen.adapters.files import LocalFolders

    return LocalFolders(() if is_postgres(config) else (str(store_path(config).resolve()),))


def _repositories(config: Config) -> Repositories:
    from rowen.adapters.git import GitRepositories

    return GitRepositories(_clones(config), environment())


@asynccontextmanager
async def _open_fetcher(options: FetcherOptions) -> AsyncIterator[Fetcher]:
    await loop_here()
    from rowen.adapters.http import open_fetcher  # half of the start-up time, and most commands fetch nothing

    async with open_fetcher(options) as fetcher:
        yield fetcher


def _spreadsheets(options: SpreadsheetOptions) -> AbstractAsyncContextManager[Spreadsheet]:
    try:
        from rowen.adapters.sheets import open_spreadsheet
    except ImportError as exc:
        raise ConfigError(
            "Google Sheets needs the package `cryptography`, which is not installed",
            hint="`pip install 'rowen[sheets]'`",
        ) from exc
    return open_spreadsheet(options, open_fetcher=_open_fetcher, clock=SystemClock())


def _exports() -> Exports:
    from rowen.adapters.exports import LocalExports

    return LocalExports()


def _alarms(config: Config) -> DeliverAlarm:
    async def deliver(route: Route, alarm: Alarm) -> None:
        from rowen.adapters.alarms import Deliveries

        deliveries = Deliveries(_open_fetcher, environment(), user_agent=config.fetch.user_agent)
        await deliveries(route, alarm)

    return deliver


def _renderers(config: Config) -> OpenRenderer:
    def open_one(options: RendererOptions) -> AbstractAsyncContextManager[Renderer]:
        from rowen.adapters.render import open_renderer

        return open_renderer(options, browser=config.render.browser, sandbox=config.render.sandbox)

    return open_one
