"""Settings in, a running system out: the only file that picks adapters.

Everything heavy is opened when it is first used: a refresh that finds nothing new never loads the model or
starts a parser.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowen import registers
from rowen.adapters.system import SystemClock, is_dead, owner
from rowen.config import (
    SQLITE,
    Config,
    cache_path,
    default_store_path,
    environment,
    restored,
    variable,
)
from rowen.core.exchange.complete import COPY, check_complete
from rowen.core.params import words
from rowen.core.rules.breaker import BreakerSettings
from rowen.core.rules.duration import interval_s
from rowen.core.rules.retry import RetryPolicy
from rowen.engine.ports import FetchSettings, Ports
from rowen.errors import ConfigError, UserError

if TYPE_CHECKING:
    from rowen.adapters.embedders import EmbedderSpec
    from rowen.core.exchange.alarm import Alarm
    from rowen.core.search.hit import Answer, SearchCall
    from rowen.managing.check_store import CheckPorts
    from rowen.managing.copy_store import CopyPorts, Side
    from rowen.managing.rescue_store import RescuePorts
    from rowen.ports.alarms import DeliverAlarm, Route
    from rowen.ports.dispatcher import Dispatcher
    from rowen.ports.embedder import Embedder
    from rowen.ports.exports import Exports
    from rowen.ports.fetcher import Fetcher, FetcherOptions
    from rowen.ports.renderer import OpenRenderer, Renderer, RendererOptions
    from rowen.ports.schema import Schema
    from rowen.ports.sheets import Spreadsheet, SpreadsheetOptions
    from rowen.ports.store.notes import Notes
    from rowen.ports.store.store import Store


READ_ONLY = "?mode=ro"
"""At the end of the address of a file that must not be written."""


def is_postgres(config: Config) -> bool:
    return config.store.url.startswith(("postgresql://", "postgres://"))


def store_name(config: Config) -> str:
    """The store as it may be shown: without options, which may hold a password too."""
    if not is_postgres(config):
        return str(store_path(config))
    from rowen.adapters.store.postgres.address import read_address

    address = read_address(config.store.url)
    return f"{address.shown}?schema={address.schema}"


def store_path(config: Config) -> Path:
    """The file of a store on SQLite."""
    url = config.store.url
    if not url:
        return default_store_path()
    path = url.removeprefix(SQLITE).removesuffix(READ_ONLY)
    if url.startswith(SQLITE) and path not in ("", ":memory:"):
        return Path(path).absolute()
    if "://" in url:
        # The rest of such an address may hold a password.
        raise ConfigError(
            f"store `{url.partition('://')[0]}://...`: not a store this version knows",
            hint="use `sqlite:///path/to/rowen.db` or `postgresql://user@host/database`",
        )
    if "=" in url:
        # The driver's own form; it may hold a password.
        raise ConfigError(
            "store: not an address of a store", hint="write it as `postgresql://user@host/database`"
        )
    raise ConfigError(f"store `{url}`: not an address of a store", hint=f"did you mean `sqlite:///{url}`?")


def open_store(config: Config, *, create: bool = True) -> Store:
    """Raises `NotFound` for a store that is not there, unless it may be created."""
    busy_timeout_s, auto_upgrade = config.store.busy_timeout_s, config.store.auto_upgrade
    if is_postgres(config):
        from rowen.adapters.store.postgres.store import PostgresStore

        return PostgresStore(
            config.store.url,
            busy_timeout_s=busy_timeout_s,
            create=create,
            auto_upgrade=auto_upgrade,
            cache=cache_path() / "search",
        )
    from rowen.adapters.store.sqlite.store import SqliteStore

    read_only = config.store.url.endswith(READ_ONLY)
    path = store_path(config)
    return SqliteStore(
        path,
        busy_timeout_s=busy_timeout_s,
        create=create and not read_only,
        read_only=read_only,
        auto_upgrade=auto_upgrade,
    )


@asynccontextmanager
async def open_schema(config: Config) -> AsyncIterator[Schema]:
    """The schema of a store that exists, as it is: unlike `open_store` this upgrades nothing."""
    busy_timeout_s, now = config.store.busy_timeout_s, SystemClock().now
    schema: SqliteSchema | PostgresSchema
    if is_postgres(config):
        from rowen.adapters.store.postgres.schema import PostgresSchema

        schema = PostgresSchema(config.store.url, busy_timeout_s=busy_timeout_s, now=now, is_dead=is_dead)
    else:
        from rowen.adapters.store.sqlite.schema import SqliteSchema

        schema = SqliteSchema(store_path(config), busy_timeout_s=busy_timeout_s, now=now, is_dead=is_dead)
    try:
        yield schema
    finally:
        await schema.close()


@asynccontextmanager
async def open_copy(source: Config, target: Config) -> AsyncIterator[CopyPorts]:
    """Two stores, the first of which must exist. Unlike `open_ports` this opens a half-copied one too."""
    from rowen.managing.copy_store import CopyPorts

    async with _open_side(source, create=False) as from_side, _open_side(target) as to_side:
        yield CopyPorts(source=from_side, target=to_side, clock=SystemClock(), owner=owner(), is_dead=is_dead)


@asynccontextmanager
async def open_check(config: Config) -> AsyncIterator[CheckPorts]:
    """A store that exists, to be looked at and not changed."""
    from rowen.managing.check_store import CheckPorts

    if is_postgres(config):
        from rowen.adapters.store.postgres.checking import PostgresChecking
        from rowen.adapters.store.postgres.copying import PostgresCopying
        from rowen.adapters.store.postgres.database import PostgresDatabase

        server = PostgresDatabase(config.store.url, busy_timeout_s=config.store.busy_timeout_s)
        try:
            server.open(create=False, migrate=False)
            yield CheckPorts(
                name=store_name(config), checking=PostgresChecking(server), copying=PostgresCopying(server)
            )
        finally:
            await server.close()
        return
    from rowen.adapters.store.sqlite.checking import SqliteChecking
    from rowen.adapters.store.sqlite.copying import SqliteCopying
    from rowen.adapters.store.sqlite.database import SqliteDatabase

    file = SqliteDatabase(
        store_path(config), busy_timeout_s=config.store.busy_timeout_s, create=False, read_only=True
    )
    try:
        file.open()
        yield CheckPorts(
            name=store_name(config),
            checking=SqliteChecking(file),
            copying=SqliteCopying(file),
            read_only=not file.can_be_written(),
        )
    finally:
        await file.close()


@contextmanager
def open_rescue(damaged: Config, target: Config) -> Iterator[RescuePorts]:
    """A damaged file and the place of a new one."""
    from rowen.managing.rescue_store import RescuePorts

    if is_postgres(damaged) or is_postgres(target):
        raise UserError(
            "a rescue reads a SQLite file and makes another",
            hint="a server restores its own backups; `rowen db copy` moves the rescued file into PostgreSQL",
        )
    from rowen.adapters.store.sqlite.rescue.rescue import SqliteRescue
    from rowen.adapters.store.sqlite.store import SqliteStore

    rescuing = SqliteRescue(store_path(damaged), store_path(target))

    @asynccontextmanager
    async def open_made() -> AsyncIterator[tuple[Notes, CheckPorts]]:
        from rowen.adapters.store.sqlite.checking import SqliteChecking
        from rowen.adapters.store.sqlite.copying import SqliteCopying
        from rowen.managing.check_store import CheckPorts

        store = SqliteStore(rescuing.made)
        try:
            yield (
                store,
                CheckPorts(
                    name=store_name(target),
                    checking=SqliteChecking(store.database),
                    copying=SqliteCopying(store.database),
                ),
            )
        finally:
            await store.close()

    yield RescuePorts(
        source=store_name(damaged), target=store_name(target), rescuing=rescuing, open_made=open_made
    )


@asynccontextmanager
async def _open_side(config: Config, *, create: bool = True) -> AsyncIterator[Side]:
    store = open_store(config, create=create)
    try:
        yield _side(config, store)
    finally:
        await store.close()


def _side(config: Config, store: Store) -> Side:
    from rowen.managing.copy_store import Side

    if is_postgres(config):
        from rowen.adapters.store.postgres.copying import PostgresCopying
        from rowen.adapters.store.postgres.store import PostgresStore

        if not isinstance(store, PostgresStore):
            raise AssertionError("a store of another kind than its address says")
        return Side(name=store_name(config), store=store, copying=PostgresCopying(store.database))
    from rowen.adapters.store.sqlite.copying import SqliteCopying
    from rowen.adapters.store.sqlite.store import SqliteStore

    if not isinstance(store, SqliteStore):
        raise AssertionError("a store of another kind than its address says")
    return Side(name=store_name(config), store=store, copying=SqliteCopying(store.database))


@asynccontextmanager
async def open_ports(config: Config, *, create: bool = True) -> AsyncIterator[Ports]:
    from rowen.adapters.convert.pool import PoolConverter
    from rowen.adapters.files import LocalFolders
    from rowen.adapters.git import GitRepositories

    store = open_store(config, create=create)
    converter = PoolConverter(
        workers=config.convert.workers,
        timeout_s=config.convert.timeout_s,
        find_plugin=registers.plugin_formats(),
    )
    embedders = _Embedders(config)
    try:
        check_complete(await store.note(COPY), store_name(config))
        yield Ports(
            store=store,
            clock=SystemClock(),
            open_fetcher=_open_fetcher,
            folders=LocalFolders(() if is_postgres(config) else (str(store_path(config).resolve()),)),
            repositories=GitRepositories(_clones(config), environment()),
            converter=converter,
            embedder=embedders.configured,
            embedder_from=embedders.from_spec,
            breaker=BreakerSettings(**asdict(config.breaker)),
            embedding_calls=embedders.calls,
            kinds=registers.kinds(),
            sinks=registers.sinks(),
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
            every_s=interval_s(config.runs.every),
            keep_handoffs_s=interval_s(config.history.keep_handoffs, of="setting `history.keep_handoffs`:"),
            max_parallel_runs=config.runs.max_parallel,
            time_limit_s=config.runs.time_limit_s,
        )
    finally:
        await embedders.close()
        await converter.close()
        await store.close()


@asynccontextmanager
async def searching_elsewhere(config: Config, ports: Ports) -> AsyncIterator[Ports]:
    """The same ports, with processes that answer searches; started by the first one."""
    if not config.service.search_processes:
        yield ports
        return
    import sys

    from rowen.adapters.children.searching import SearchChildren

    command = (sys.executable, "-P", "-c", "from rowen.wiring import answer_searches; answer_searches()")
    children = SearchChildren(command, config.service.search_processes, asdict(config))
    try:
        yield replace(ports, search_elsewhere=children)
    finally:
        await children.close()


def answer_searches() -> None:
    """The life of such a process. It opens the store when it is asked for the first time."""
    import asyncio

    from rowen.adapters.children import searching
    from rowen.core.search.hit import SearchMode
    from rowen.engine.embedding import for_search
    from rowen.reading.search import search

    async def opened(stack: AsyncExitStack, config: Config) -> Ports:
        return await stack.enter_async_context(open_ports(config, create=False))

    async def answered(ports: Ports, call: SearchCall) -> Answer:
        embedder = await for_search(ports) if call.mode is not SearchMode.KEYWORD else None
        return await search(
            ports.store,
            embedder,
            call.query,
            mode=call.mode,
            filters=call.filters,
            limit=call.limit,
            prefix=call.prefix,
        )

    ports: Ports | None = None
    stack = AsyncExitStack()
    with asyncio.Runner() as runner:

        def answer(sections: Mapping[str, Any], call: SearchCall) -> Answer | None:
            nonlocal ports
            try:
                ports = ports or runner.run(opened(stack, restored(sections)))
                return runner.run(answered(ports, call))
            except Exception:
                # The parent asks itself, and says what is wrong.
                return None

        searching.answer_searches(answer)
        runner.run(stack.aclose())


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
            options=_options(config.options),
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
            make = registers.embedders().named(spec.provider)
            self._made[key] = make(embedders.with_key(spec, variable, named=named))
        return self._made[key]

    @property
    def calls(self) -> int:
        """How many calls at a time are worth it."""
        from rowen.adapters.embedders import local_children

        if self._config.provider == "minilm":
            return max(1, local_children())
        if self._config.provider != "static":
            return self._config.concurrency
        # One more than there are children: while an answer is stored, its child has the next texts.
        return local_children() + 1

    async def close(self) -> None:
        for embedder in self._made.values():
            await embedder.close()


def _options(text: str) -> dict[str, Any]:
    import json

    try:
        options = json.loads(text) if text.strip() else {}
    except ValueError as exc:
        raise ConfigError(f"setting `embedding.options`: not JSON: {exc}") from exc
    if not isinstance(options, dict):
        raise ConfigError(
            "setting `embedding.options`: expected an object", hint="""for example '{"path": "data"}'"""
        )
    return options


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


def _open_fetcher(options: FetcherOptions) -> AbstractAsyncContextManager[Fetcher]:
    from rowen.adapters.http import open_fetcher  # half of the start-up time, and most commands fetch nothing

    return open_fetcher(options)


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
