"""`rowen open`: the page of a hit, in the browser."""

from __future__ import annotations

from rowen.doors.cli import last_search
from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.starting.declared import click

READABLE = (".htm", ".html", ".md", ".txt", ".pdf", ".rst")
"""Files that a desktop shows. Others it might run, so their address is printed."""


@store_command("open", reads=True)
@click.argument("hit")
async def command(call: Call, hit: str) -> None:
    """Open HIT in the browser: the number of a hit of the last search, or an address.

    Where there is no browser, its address is printed.
    """
    from rowen.reading import read

    wanted = await last_search.wanted(call, hit)
    document = await read.by_url(call.ports.store, wanted)
    anchor = wanted.partition("#")[2]
    url = f"{document.url}#{anchor}" if anchor else document.url
    opened = may_open(url) and _open(url)
    call.out.result({"url": url, "opened": opened}, f"opened {url}" if opened else url)


def may_open(url: str) -> bool:
    """Only pages and files to read: a desktop starts programs by their addresses too."""
    page = url.partition("#")[0].partition("?")[0].lower()
    return page.startswith(("http://", "https://")) or (page.startswith("file:") and page.endswith(READABLE))


def _open(url: str) -> bool:
    import sys
    import webbrowser

    from rowen.config import variable

    if sys.platform.startswith("linux") and not (variable("DISPLAY") or variable("WAYLAND_DISPLAY")):
        # What is installed there may be a browser for the terminal, which would take it over.
        return False
    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False
