"""`rowen db copy`: a complete store into another database; after an interruption it can be continued."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.output import Output, dumps, write_line
from rowen.doors.cli.progress import LINE_EVERY_S, Lines, Progress, Redrawn, Silence, clock
from rowen.doors.cli.starting.declared import click

if TYPE_CHECKING:
    from rowen.doors.cli.drawing.text import Drawable
    from rowen.managing.copy_store import Copied, CopyEvent


INTERRUPTED = "interrupted: what was copied stays; the same command continues from there"
STAGES = {
    "verifying": "verifying what was copied before",
    "restarted": "the store has changed since, or what was copied was wrong: copying from the start",
    "copying": "copying",
    "preparing": "building indexes",
    "checking": "checking",
    "reading": "reading what can be read",
    "mending": "removing what belongs to lost rows",
}


progress_option = click.option(
    "--progress",
    type=click.Choice(["auto", "bar", "lines", "json", "none"]),
    default="auto",
    help="How to show progress on standard error.",
)


@rowen_command("copy", short_help="Copy a store into another database.")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@progress_option
def copy(call: Call, source: str, target: str, progress: str) -> None:
    """Copy the store FROM into the empty store TO: `sqlite:///path` or `postgresql://user@host/database`.

    If interrupted, the same command continues where it stopped. At the end both are counted and compared;
    until then other commands refuse TO. FROM stays as it is, and cannot be synced meanwhile.
    """
    from rowen import config as settings
    from rowen import wiring
    from rowen.doors.cli import session
    from rowen.managing.copy_store import copy as copy_store

    from_config, to_config = settings.load(db=source)[0], settings.load(db=target)[0]

    async def work() -> None:
        async with wiring.open_copy(from_config, to_config) as ports:
            with choose(progress, call.out) as show:
                done = await copy_store(ports, on_event=show)
            _tell(call.out, done, ports.source.name, ports.target.name)

    session.run_async(work, interrupted=INTERRUPTED)


def _tell(out: Output, done: Copied, source: str, target: str) -> None:
    from rowen.doors.words import count, seconds

    if out.json:
        out.emit(as_json(done, source, target))
    elif done.already:
        at = f"{done.progress.completed_at:%Y-%m-%d %H:%M} UTC"
        out.line(f"`{target}` is a complete copy of `{source}` as it was at {at}; nothing was done")
    else:
        again = ", part of them earlier" if done.resumed else ""
        took = seconds(done.duration.total_seconds())
        out.line(f"copied {count(done.rows, 'row')}{again} from `{source}` to `{target}` in {took}")
        out.line("both have the same rows: counts and digests agree")
        out.note("`rowen --db` or ROWEN_DB says which store is used from now on")


def as_json(done: Copied, source: str, target: str) -> dict[str, Any]:
    at = done.progress.completed_at
    return {
        "from": source,
        "to": target,
        "rows": done.rows,
        "resumed": done.resumed,
        "already": done.already,
        "completed_at": at.isoformat() if at else None,
        "duration_s": round(done.duration.total_seconds(), 3),
        "tables": {name: {"rows": one.rows, "digest": one.hex} for name, one in done.sums.items()},
    }


def choose(style: str, out: Output) -> Progress[CopyEvent]:
    if style == "auto":
        style = "json" if out.json else "bar" if sys.stderr.isatty() else "lines"
    match style:
        case "bar":
            return StageBar(out.messages)
        case "lines":
            return StageLines()
        case "json":
            return JsonLines()
    return Silence()


class JsonLines(Silence["CopyEvent"]):
    def __call__(self, event: CopyEvent) -> None:
        said = {"event": event.kind, "table": event.part, "rows": event.rows, "total": event.total}
        write_line(sys.stderr, dumps(said))


class StageLines(Lines["CopyEvent"]):
    """Each stage when it begins, and a sign of life now and then."""

    def _begin(self) -> None:
        self._stage = ""
        self._told = 0.0

    def __call__(self, event: CopyEvent) -> None:
        now = self._monotonic()
        if event.kind != self._stage:
            self._write(STAGES[event.kind])
        elif now - self._told < LINE_EVERY_S:
            return
        else:
            of = f" of {event.total:,}" if event.total else ""
            self._write(f"{event.kind}: {event.rows:,}{of} rows, now `{event.part}`")
        self._stage, self._told = event.kind, now


class StageBar(Redrawn["CopyEvent"]):
    _event: CopyEvent | None = None
    _since = 0.0
    _stage = ""

    def __call__(self, event: CopyEvent) -> None:
        if event.kind != self._stage:
            self._stage, self._since = event.kind, self._monotonic()
        self._event = event

    def frame(self) -> Drawable:
        from rowen.doors.cli.drawing.parts import Bar, blank, rows_of
        from rowen.doors.cli.drawing.text import Text

        event = self._event
        if event is None:
            return blank()
        words = f"{event.kind} {event.part}" if event.part else STAGES[event.kind]
        if not event.total:
            return rows_of([Text(words), Text(f"{event.rows:,} rows" if event.rows else "")])
        passed_s = self._monotonic() - self._since
        left = clock(passed_s * (event.total - event.rows) / event.rows) + " left" if event.rows else ""
        rows = Text(f"{event.rows:,}/{event.total:,} rows")
        return rows_of([Text(words), Bar(event.rows, event.total, 24), rows, Text(left, "dim")])
