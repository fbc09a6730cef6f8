"""`rowen web`: the page for people on this machine, in the browser."""

from __future__ import annotations

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.starting.declared import click
from rowen.errors import ConfigError


@rowen_command("web")
@click.option("--port", type=click.IntRange(0, 65_535), help="The port to listen on; a free one if omitted.")
@click.option("--no-open", is_flag=True, help="Only say where it is; open no browser.")
def command(call: Call, port: int | None, no_open: bool) -> int:
    """Show the sources, their runs and what changed in a page, on this machine only, until stopped.

    It is the same page as that of `rowen serve --listen`. If that runs, too, this command shows and changes
    the store, and the other one runs the sources. If not, this command also syncs sources when they are due.
    """
    from rowen.core.rules.duration import interval_s
    from rowen.doors.cli.commands.serve import run_service

    config = call.config()
    for package in ("fastapi", "uvicorn", "jinja2"):
        _check(package)
    listen = f"127.0.0.1:{_free(config.service.port) if port is None else port}"

    def on_start(url: str, is_open: bool) -> None:
        call.out.result(
            {"url": url, "tokens": not is_open},
            f"the page is at {url}" + ("" if is_open else "; sign in with a token") + "; Ctrl-C stops it",
        )
        if not no_open:
            _open(call, url)

    every_s = interval_s(config.runs.every)
    return run_service(call, config, listen, every_s=every_s, standby=True, log=None, on_start=on_start)


def _check(package: str) -> None:
    from importlib.util import find_spec

    if find_spec(package) is None:
        raise ConfigError(
            f"the page needs the package `{package}`, which is not installed",
            hint="this installation is not whole: `pip install --force-reinstall rowen`",
        )


def _free(wanted: int) -> int:
    """The configured port, or any other when a program has it, such as `rowen serve --listen`."""
    import socket

    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", wanted))
        except OSError:
            return 0
    return wanted


def _open(call: Call, url: str) -> None:
    import threading
    import webbrowser

    def show() -> None:
        if not webbrowser.open(url):
            call.out.note(f"no browser could be opened; go to {url}")

    # A browser that is started here may take its time; the server answers meanwhile.
    threading.Thread(target=show, daemon=True).start()
