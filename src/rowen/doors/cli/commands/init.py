"""`rowen init`: three questions, and a `rowen.toml` that every command in this folder finds."""

from __future__ import annotations

import json
from pathlib import Path

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.starting.declared import click
from rowen.errors import Conflict, UserError

HEAD = """\
# What this folder mirrors. `rowen apply` makes the store match it, `rowen sync` brings everything up to date.
# All settings: `rowen config show`. All fields of a source: `rowen add --help`.
"""


@rowen_command("init")
@click.argument("locations", nargs=-1, metavar="[LOCATION]...")
@click.option(
    "--store",
    type=click.Choice(["here", "user"]),
    help="Where documents are kept: `rowen.db` in this folder, or your data folder.",
)
@click.option("--every", metavar="1d", help="How often `rowen serve` syncs: `6h`, `1d`, ...")
def command(call: Call, locations: tuple[str, ...], store: str | None, every: str | None) -> None:
    """Write a rowen.toml for this folder: what to mirror, where to keep it, how often to sync it.

    On a terminal it asks for what you omit; elsewhere LOCATION is needed.
    """
    from rowen import project_file
    from rowen.core.rules.duration import interval_s

    path = Path(project_file.FILE)
    if path.exists():
        raise Conflict(f"file `{path}`: exists already", hint="edit it, then `rowen apply`")
    if not locations:
        if not call.out.asks:
            raise UserError(
                "what should be mirrored?", hint="for example `rowen init docs.example.org ./notes`"
            )
        answer = click.prompt("What should be mirrored? (sites, folders, repositories)", err=True)
        locations = tuple(answer.replace(",", " ").split())
    if store is None and call.out.asks:
        here = click.confirm("Keep the documents in this folder (rowen.db)?", default=True, err=True)
        store = "here" if here else "user"
    if every is None and call.out.asks:
        every = click.prompt("How often should `rowen serve` sync them?", default="1d", err=True)
    interval_s(every or "1d")
    sources = _sources(locations)
    path.write_text(_text(sources, store=store or "here", every=every or "1d"), "utf-8")
    project_file.trust(path)
    if call.out.json:
        call.out.emit({"file": str(path.absolute()), "sources": [name for name, _ in sources]})
        return
    call.out.line(f"written to {path}: {', '.join(name for name, _ in sources)}")
    call.out.note("next: rowen apply && rowen sync")


def _sources(locations: tuple[str, ...]) -> list[tuple[str, str]]:
    """Names and whole addresses of what was typed."""
    from rowen.managing.guess import complete, name_of, unused

    sources: dict[str, str] = {}
    for typed in locations:
        # A shell has expanded `~`; a prompt has not.
        local = Path(typed).expanduser()
        exists = local.exists()
        location = complete(typed, exists=exists).locations[0]
        name = unused(name_of(str(local.resolve()) if exists else location), sources)
        # `rowen apply` may be called elsewhere: a folder is written down whole.
        sources[name] = str(local.resolve()) if exists else location
    return list(sources.items())


def _text(sources: list[tuple[str, str]], *, store: str, every: str) -> str:
    parts = [HEAD]
    if store == "here":
        parts.append('[store]\nurl = "sqlite:///rowen.db"\n')
    parts.append(f"[defaults]\nevery = {_quoted(every)}\n")
    parts += [
        f"[[sources]]\nname = {_quoted(name)}\nlocation = {_quoted(location)}\n" for name, location in sources
    ]
    return "\n".join(parts)


def _quoted(text: str) -> str:
    """A basic string of TOML, which JSON without escaped letters is."""
    return json.dumps(text, ensure_ascii=False)
