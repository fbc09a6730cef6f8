"""The service as a process: the API and the loop that syncs sources, on one event loop.

It ends cleanly: no more callers are accepted, those that wait are answered, runs are cancelled and record how
far they came. That takes a few seconds at most.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, contextmanager
from ipaddress import ip_address
from typing import Protocol, cast

import uvicorn
from starlette.types import ASGIApp

from rowen.config import Config, ServiceConfig
from rowen.doors.rest import logs
from rowen.doors.rest.app import create_app
from rowen.doors.rest.connections import Connections, Limits
from rowen.engine.leases import Held, orchestrator_lease
from rowen.engine.ports import Ports
from rowen.errors import ConfigError
from rowen.records import dataclass
from rowen.service import serve as orchestrate
from rowen.service.attempts import RunResult
from rowen.service.sync_queue import SyncQueue

GRACE_S = 3
"""How long answers that are under way may take when the process ends."""

KEEP_ALIVE_S = 15
"""How long a connection may stay open between two requests."""
BACKLOG = 2048
"""Connections that may wait to be accepted."""
AT_ONCE = 128
"""Connections that are accepted at once; more would run out of files before one of them is looked at."""
OTHER_FILES = 256
"""Of the files that the process may open: for the store, for fetching, and for connections being accepted."""
HIGHEST_PORT = 65_535

_log = logging.getLogger("rowen.rest")


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int

    @classmethod
    def parse(cls, text: str, config: ServiceConfig) -> Address:
        """`PORT`, `HOST:PORT` or `[HOST]:PORT`; nothing for what the settings say."""
        if not text:
            return cls(config.host, config.port)
        host, _, port = text.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if port.isascii() and port.isdigit() and int(port[:6]) > HIGHEST_PORT:
            raise ConfigError(f"--listen `{text}`: expected a port from 0 to {HIGHEST_PORT}, got {port[:20]}")
        if not (port.isascii() and port.isdigit()):
            raise ConfigError(
                f"--listen `{text}`: expected a port, or a host and a port",
                hint="for example `--listen 8340` or `--listen 0.0.0.0:8340`",
            )
        return cls(host or config.host, int(port))


class Running(Protocol):
    """An application of another door that has a life of its own."""

    def running(self) -> AbstractAsyncContextManager[None]: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Service:
    """What `serve` needs to know beside the ports."""

    address: Address
    every_s: float
    standby: bool = False
    mounts: Callable[[SyncQueue], Mapping[str, ASGIApp]] = lambda queue: {}
    lives: Callable[[Mapping[str, ASGIApp]], list[Running]] = lambda mounts: [
        app for app in mounts.values() if hasattr(app, "running")
    ]
    page: Callable[[SyncQueue], ASGIApp | None] = lambda queue: None
    """The page for people, where it is installed."""
    on_start: Callable[[str, bool], None] = lambda url, is_open: None
    """Told where it listens, and whether every program on this machine may call without a token."""
    on_result: Callable[[RunResult], object] = lambda result: None
    """Called with each result of the loop."""


async def serve(ports: Ports, config: Config, service: Service) -> None:
    """Listen and look after sources until cancelled."""
    listening = bound(service.address)
    loopback = ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback
    try:
        is_open = not await ports.store.tokens()
        if is_open and not loopback:
            raise ConfigError(
                f"listening on `{service.address.host}`: other machines could call, and there are no tokens",
                hint="make one first: `rowen token create NAME --scope read|sync|admin`",
            )
        failure: Exception | None = None
        async with AsyncExitStack() as stack:
            lead = None
            if not service.standby:
                # A second server fails here, before it says that it listens.
                lead = await stack.enter_async_context(orchestrator_lease(ports))
            queue = await stack.enter_async_context(SyncQueue(ports))
            mounts = service.mounts(queue)
            for life in service.lives(mounts):
                await stack.enter_async_context(life.running())
            app = create_app(
                ports,
                config,
                queue=queue,
                mounts=mounts,
                page=service.page(queue),
                may_be_open=lambda: loopback and is_open,
            )
            service.on_start(url_of(listening), is_open)
            try:
                await _side_by_side(ports, config, service, queue, app, listening, lead)
            except Exception as exc:
                # Raised after the mounted applications ended: their task groups would wrap it.
                failure = exc
        if failure is not None:
            raise failure
    finally:
        listening.close()


async def _side_by_side(
    ports: Ports,
    config: Config,
    service: Service,
    queue: SyncQueue,
    app: ASGIApp,
    listening: socket.socket,
    lead: Held | None,
) -> None:
    server = HttpServer(http_settings(config.service, app))
    answering = asyncio.create_task(server.serve([listening]))
    looking = asyncio.create_task(_look_after(ports, service, queue, lead))
    try:
        await asyncio.wait({answering, looking}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        logs.event(_log, "stopping")
        server.should_exit = True
        looking.cancel()
        await queue.stop()
        await asyncio.wait({answering, looking})
    for task in (looking, answering):
        if not task.cancelled():
            task.result()


async def _look_after(ports: Ports, service: Service, queue: SyncQueue, lead: Held | None) -> None:
    results = orchestrate.serve(
        ports,
        default_every_s=service.every_s,
        standby=service.standby,
        wake=queue.wake,
        run=queue.run_source,
        announcer=queue.announcer,
        lead=lead,
    )
    async with aclosing(results):
        async for result in results:
            service.on_result(result)


class HttpServer(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or ():
            # The server below takes one figure for both: how many wait, and how many are accepted at once.
            listening.listen(BACKLOG)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the caller's affair: they end more than this server."""
        yield


def http_settings(config: ServiceConfig, app: ASGIApp) -> uvicorn.Config:
    proxies = [one.strip() for one in config.trusted_proxies.split(",") if one.strip()]
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        proxy_headers=bool(proxies),
        forwarded_allow_ips=proxies,
        timeout_graceful_shutdown=GRACE_S,
        timeout_keep_alive=KEEP_ALIVE_S,
        backlog=AT_ONCE,
        http=cast("type[asyncio.Protocol]", Connections(connection_limits(config, proxies)).protocol),
    )


def connection_limits(
    config: ServiceConfig, proxies: Sequence[str] = (), *, files: int | None = None
) -> Limits:
    """What the settings say, and never more than the files this process may open (`ulimit -n`)."""
    if files is None:
        files = _open_files()
    room = config.max_connections if files is None else max(files - OTHER_FILES, files // 4)
    return Limits(
        total=min(config.max_connections, room),
        per_address=config.max_connections_per_address,
        proxies=tuple(proxies),
    )


def _open_files() -> int | None:
    try:
        import resource
    except ImportError:  # there are systems without it
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def bound(address: Address) -> socket.socket:
    """Bound before anything else happens: a port that is taken is told as such, and at once."""
    try:
        family, kind, protocol, _, sockaddr = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        # With its protocol: asyncio sends small answers without delay on sockets that name it, on no others.
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(sockaddr)
            listening.listen(BACKLOG)
        except BaseException:
            listening.close()
            raise
        return listening
    except (OSError, UnicodeError) as exc:
        cause = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
        about_the_port = isinstance(exc, OSError) and exc.errno in (errno.EADDRINUSE, errno.EACCES)
        raise ConfigError(
            f"cannot listen on `{address.host}:{address.port}`: {cause}",
            hint="choose another port: `rowen serve --listen PORT`, `rowen web --port PORT`"
            if about_the_port
            else f"is `{address.host}` an address of this machine? `0.0.0.0` is for all it has",
        ) from exc


def url_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
