"""`rowen export`: the visible documents as one file."""

from __future__ import annotations

import contextlib
import shutil
import sys
from typing import TYPE_CHECKING

from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.output import Output
from rowen.doors.cli.starting.declared import click
from rowen.doors.words import count
from rowen.errors import UserError

if TYPE_CHECKING:
    from rowen.engine.ports import Ports

STDOUT = "-"


def _check(*, wanted: str, out: str, **_: object) -> None:
    if wanted == "parquet" and out == STDOUT:
        raise UserError("format `parquet`: not for standard output", hint="name a file: `--out FILE`")


@store_command("export", interrupted="interrupted: no file was written", check=_check)
@click.argument("names", nargs=-1, shell_complete=source_names, metavar="[NAME]...")
@click.option(
    "--format",
    "wanted",
    type=click.Choice(["jsonl", "csv", "parquet", "atom"]),
    default="jsonl",
    show_default=True,
    help="Documents by line, as a table, or the last changes as a feed.",
)
@click.option(
    "--out", default=STDOUT, metavar="FILE", help="The file to write; `-`, the default, is standard output."
)
@click.option("--text/--no-text", default=True, help="With or without the text of each document.")
async def command(call: Call, names: tuple[str, ...], wanted: str, out: str, text: bool) -> None:
    """Write the visible documents of the named sources, or of all, into a file.

    The file appears when it is complete. The format `atom` has the last 100 changes.
    """
    if out == STDOUT:
        await _to_stdout(call.ports, call.out, names, wanted, text=text)
        return
    path = call.ports.exports().locate(out)
    number = await _write(call.ports, names, wanted, path, text=text)
    noun = "change" if wanted == "atom" else "document"
    call.out.result({"file": path, "format": wanted, "count": number}, f"{count(number, noun)} in `{path}`")


async def _write(ports: Ports, names: tuple[str, ...], wanted: str, path: str, *, text: bool) -> int:
    from rowen.core.exchange.columns import Format
    from rowen.managing.find import find_all
    from rowen.sinks.atom import sink as atom
    from rowen.sinks.export import sink as export

    found = await find_all(ports.store, names)
    if wanted == "atom":
        return await atom.export(ports, path, found if names else None)
    file = export.Wanted(path=path, format=Format(wanted), text=text)
    return await export.export(ports, file, [source.label for source in found] if names else ())


async def _to_stdout(ports: Ports, out: Output, names: tuple[str, ...], wanted: str, *, text: bool) -> None:
    """Through a temporary file: it can be written again when a source changes meanwhile."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="rowen-") as folder:
        path = Path(folder) / "export"
        if not await _write(ports, names, wanted, str(path), text=text):
            out.note("nothing is visible yet: `rowen sync` brings it")
        # A reader that closed the pipe is no error.
        with path.open("rb") as file, contextlib.suppress(BrokenPipeError):
            shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
