"""`rowen serve`: sync every source when it is due, and answer the API."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.starting.declared import click
from rowen.errors import ConfigError, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.types import ASGIApp

    from rowen.config import Config
    from rowen.doors.mcp.http import McpApp
    from rowen.engine.ports import Ports
    from rowen.service.attempts import RunResult
    from rowen.service.sync_queue import SyncQueue

INTERRUPTED = "stopped; what was visible stays, and what is due is synced by the next `rowen serve`"


@rowen_command("serve")
@click.option("--once", is_flag=True, help="Sync what is due now, then end.")
@click.option("--standby", is_flag=True, help="Wait while another process serves the store.")
@click.option(
    "--listen",
    is_flag=False,
    flag_value="",
    metavar="[HOST:]PORT",
    help="Also answer the REST API; without a value, at the configured address.",
)
@click.option(
    "--log",
    type=click.Choice(["human", "json"]),
    default="human",
    show_default=True,
    help="How events are logged on standard error, with --listen.",
)
def command(call: Call, once: bool, standby: bool, listen: str | None, log: str) -> int:
    """Sync every source when it is due, one at a time (`runs.max_parallel`), until stopped.

    An upstream that limits requests is paused for as long as it asks, or six hours; other sources continue.
    One process serves a store: a second one ends and names the first. Each run that brought something prints
    a line with its time; -v shows the others, too.

    With --listen it answers the REST API (see /docs there) in the same process, and shows the page for people
    at /. Without tokens it listens on this machine only; `rowen token create` creates one.
    """
    from rowen.core.rules.duration import interval_s
    from rowen.doors.cli import session

    config = call.config()
    every_s = interval_s(config.runs.every)
    if listen is not None:
        if once:
            raise UserError("--once and --listen: one ends, the other does not", hint="omit one")
        return run_service(call, config, listen, every_s=every_s, standby=standby, log=log)

    async def work(ports: Ports) -> int:
        from rowen.service.serve import serve

        good = True
        async for result in serve(ports, default_every_s=every_s, once=once, standby=standby):
            good = _show(call, ports, result) and good
        return 0 if good else 1

    return session.run(call, work, interrupted=INTERRUPTED, creates=True)


def run_service(
    call: Call,
    config: Config,
    listen: str,
    *,
    every_s: float,
    standby: bool,
    log: str | None,
    on_start: Callable[[str, bool], None] | None = None,
) -> int:
    """The API, the page, the MCP server and the loop, until stopped. Without `log`, only warnings are
    logged.
    """
    from rowen.doors import answering
    from rowen.doors.cli import session
    from rowen.service.attempts import NotRun
    from rowen.wiring import searching_elsewhere

    try:
        from rowen.doors.rest import logs, server
    except ModuleNotFoundError as exc:
        if exc.name not in ("fastapi", "starlette", "uvicorn", "prometheus_client", "pydantic"):
            raise
        raise ConfigError(
            f"the API needs the package `{exc.name}`, which is not installed",
            hint="this installation is not whole: `pip install --force-reinstall rowen`",
        ) from exc

    def say(url: str, is_open: bool) -> None:
        if log == "json" or call.out.json:
            logs.event(logging.getLogger("rowen.rest"), "listening", url=url, tokens=not is_open)
            return
        who = (
            "every program on this machine may call: there are no tokens"
            if is_open
            else "callers need a token"
        )
        call.out.note(f"listening on {url}, {who}; the page is at {url}/, the API at /docs")

    async def work(ports: Ports) -> int:
        async with searching_elsewhere(config, ports, answering.CODE) as with_searches:
            return await listened(with_searches)

    async def listened(ports: Ports) -> int:
        def show(result: RunResult) -> None:
            if log != "json" or call.out.json:
                _show(call, ports, result)
            elif isinstance(result, NotRun):
                # Of every run there is an event already.
                logger = logging.getLogger("rowen.rest")
                fields = {"source": result.source.label, "reason": result.reason}
                logs.event(logger, "not_run", level=logging.WARNING, **fields)

        service = server.Service(
            address=server.Address.parse(listen, config.service),
            every_s=every_s,
            standby=standby,
            mounts=lambda queue: _mounts(ports, queue),
            page=lambda queue: _page(call, config, ports, queue),
            on_start=on_start or say,
            on_result=show,
        )
        handler = logs.configure(log) if log else None
        try:
            await server.serve(ports, config, service)
        finally:
            if handler is not None:
                logs.restore(handler)
        return 0

    last = logs.line("stopped") if log == "json" and not call.out.json else INTERRUPTED
    return session.run(call, work, interrupted=last, creates=True)


def _page(call: Call, config: Config, ports: Ports, queue: SyncQueue) -> ASGIApp | None:
    """The page for people; None where it is not installed."""
    from rowen import config as settings
    from rowen import wiring

    try:
        from rowen.doors.web.app import web_app
    except ModuleNotFoundError as exc:
        if exc.name not in ("jinja2", "markupsafe"):
            raise
        return None
    # Which database, and not where it lies: readers from elsewhere see it too.
    name = "PostgreSQL" if wiring.is_postgres(config) else "SQLite"
    return web_app(ports, queue=queue, settings=settings.load(db=call.db)[1], store_name=name)


def _mounts(ports: Ports, queue: SyncQueue) -> Mapping[str, ASGIApp]:
    """The other doors that speak HTTP."""
    from rowen.doors.mcp.late import Late

    def make() -> McpApp:
        from rowen.doors.mcp.http import mcp_app

        return mcp_app(ports, queue=queue)

    return {"/mcp": Late(make)}


def _show(call: Call, ports: Ports, result: RunResult) -> bool:
    """Print a result; was it good?"""
    from rowen.doors.cli import run_line

    return run_line.show(call.out, result, ports.clock.now(), everything=call.verbose)
