"""`rowen export`: what readers see, as one file."""

from __future__ import annotations

import contextlib
import shutil
import sys
from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.errors import UserError

if TYPE_CHECKING:
    from rowen.engine.ports import Ports

STDOUT = "-"


@rowen_command("export", short_help="Write what is visible into a file.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--format",
    "wanted",
    type=click.Choice(["jsonl", "csv", "parquet", "atom"]),
    default="jsonl",
    show_default=True,
    help="Documents by line, as a table, or the last changes as a feed.",
)
@click.option("--out", default=STDOUT, metavar="FILE", help="Where to; `-`, the default, is standard output.")
@click.option("--text/--no-text", default=True, help="With or without the text of each document.")
def command(call: Call, names: tuple[str, ...], wanted: str, out: str, text: bool) -> int:
    """Write what is visible of the named sources, or of all, into a file.

    The file appears whole or not at all. The format `atom` has the last 100 changes.
    """
    from rowen.doors.cli import session

    if wanted == "parquet" and out == STDOUT:
        raise UserError("format `parquet`: not for standard output", hint="name a file: `--out FILE`")

    async def work(ports: Ports) -> None:
        if out == STDOUT:
            await _to_stdout(ports, names, wanted, text=text)
            return
        path = ports.exports().locate(out)
        count = await _write(ports, names, wanted, path, text=text)
        if call.out.json:
            call.out.emit({"file": path, "format": wanted, "count": count})
        else:
            from rowen.doors.cli.words import count as counted

            noun = "change" if wanted == "atom" else "document"
            call.out.line(f"{counted(count, noun)} in `{path}`")

    session.run(call, work, interrupted="interrupted: no file was written")
    return 0


async def _write(ports: Ports, names: tuple[str, ...], wanted: str, path: str, *, text: bool) -> int:
    from rowen.core.exchange.columns import Format
    from rowen.managing.find import find_all
    from rowen.sinks.atom import sink as atom
    from rowen.sinks.export import sink as export

    found = await find_all(ports, names)
    if wanted == "atom":
        return await atom.export(ports, path, found if names else None)
    file = export.Wanted(path=path, format=Format(wanted), text=text)
    return await export.export(ports, file, [source.label for source in found] if names else ())


async def _to_stdout(ports: Ports, names: tuple[str, ...], wanted: str, *, text: bool) -> None:
    """By way of a file: what was begun cannot be taken back, should a source be shown anew meanwhile."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="rowen-") as folder:
        path = Path(folder) / "export"
        await _write(ports, names, wanted, str(path), text=text)
        # A reader that went away is no error.
        with path.open("rb") as file, contextlib.suppress(BrokenPipeError):
            shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
