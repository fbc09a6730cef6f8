"""`rowen db rescue`: what can be read of a damaged store, in a new one."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.commands.db_copy import choose, progress_option
from rowen.doors.cli.starting.declared import click

if TYPE_CHECKING:
    from rowen.core.exchange.store_rescue import Rescued
    from rowen.doors.cli.output import Output


@rowen_command("rescue", short_help="Save what can be read of a damaged store.")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@progress_option
def rescue(call: Call, source: str, target: str, progress: str) -> None:
    """Save what can be read of the damaged store FROM into the new store TO, both `sqlite:///path`.

    FROM is only read, and nothing is overwritten. TO appears once it is complete and checked. The
    command lists what was lost by table and by source; the next sync of a source fetches what it lacks.
    """
    from rowen import config as settings
    from rowen import wiring
    from rowen.doors.cli import session
    from rowen.managing.rescue_store import rescue as rescue_store

    damaged, new = settings.load(db=source)[0], settings.load(db=target)[0]

    async def work() -> None:
        with wiring.open_rescue(damaged, new) as ports:
            with choose(progress, call.out) as show:
                done = await rescue_store(ports, on_event=show)
            if call.out.json:
                call.out.emit(as_json(done, ports.source, ports.target))
            else:
                _tell(call.out, done, ports.source, ports.target)

    session.run_async(work, interrupted="interrupted: no store was made, and the damaged one is as it was")


def as_json(done: Rescued, source: str, target: str) -> dict[str, Any]:
    return {
        "from": source,
        "to": target,
        "whole": done.whole,
        "lost_rows": done.lost,
        "lost_sources": list(done.lost_sources),
        "sources": [asdict(one) for one in done.sources],
        "tables": {name: asdict(one) for name, one in done.tables.items()},
    }


def _tell(out: Output, done: Rescued, source: str, target: str) -> None:
    from rowen.doors.words import count

    saved = sum(one.saved for one in done.tables.values())
    out.line(f"saved {count(saved, 'row')} of `{source}` in `{target}`; nothing in it is damaged")
    for name, one in done.tables.items():
        if one.whole and not one.rebuilt:
            continue
        said = [f"{count(one.saved, 'row')} saved"]
        said += [f"{one.lost:,} lost"] if one.lost else []
        said += [f"{count(one.pages, 'page')} unreadable"] if one.pages else []
        said += [f"{one.rebuilt:,} made again from their text"] if one.rebuilt else []
        out.line(f"  {name}: {', '.join(said)}")
    for lost in done.lost_sources:
        out.warn(f"source `{lost}`: lost with everything in it", "add it again with `rowen add`")
    for source_rescue in done.sources:
        name, documents = source_rescue.source, source_rescue.documents
        if source_rescue.lost:
            total = documents + source_rescue.lost
            out.line(
                f"source `{name}`: {documents:,} of {total:,} documents saved, {source_rescue.lost:,} lost"
            )
        elif source_rescue.asked_again:
            out.line(f"source `{name}`: all {documents:,} documents saved; its next sync asks for everything")
        else:
            out.line(f"source `{name}`: all {documents:,} documents saved")
    if any(one.asked_again for one in done.sources):
        out.note(f"`rowen --db sqlite:///{target} sync` fetches what is missing")
    else:
        out.note(f"use it with `--db sqlite:///{target}`, or move it to the place of the damaged one")
