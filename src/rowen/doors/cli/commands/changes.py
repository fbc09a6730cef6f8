"""`rowen changes`: what readers saw change, in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.output import clean
from rowen.errors import UserError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rowen.reading.changes import ChangedDocument, SourceChanges

SECTIONS_TOLD = 4
COLOURS = {"added": "green", "changed": "yellow", "removed": "red"}


@store_command("changes")
@click.argument("name", required=False, shell_complete=source_names)
@click.option(
    "--since", metavar="WHEN", help="`2d`, `6h` or a date; by default the last change of each source."
)
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="Documents of a source.")
async def command(call: Call, name: str | None, since: str | None, limit: int) -> None:
    """Tell what changed in source NAME, or in all, in words: new, updated and removed documents."""
    from rowen.reading.changes import all_changes, changes

    now = call.ports.clock.now()
    moment = _moment(since, now) if since else None
    if name is None:
        found = await all_changes(
            call.ports.store, await call.ports.store.sources(), since=moment, limit=limit
        )
    else:
        found = [await changes(call.ports.store, await call.source(name), since=moment, limit=limit)]
    if call.out.json:
        call.out.emit({"since": moment and moment.isoformat(), "sources": [_shape(one) for one in found]})
        return
    if not found:
        call.out.line("nothing changed" + (f" since {moment:%Y-%m-%d %H:%M} UTC" if moment else " yet"))
        return
    from rich.console import Group

    call.out.page(Group(*(part for one in found for part in _drawn(one, now))))


def _drawn(one: SourceChanges, now: datetime) -> list[RenderableType]:
    from rich.text import Text

    from rowen.doors.words import ago

    head = Text(one.source, style="bold").append(f"  {one.summary}", "default")
    when = (
        f"  {ago(one.until, now)}, generation {one.from_generation} → {one.to_generation}"
        if one.until
        else ""
    )
    parts: list[RenderableType] = [head.append(when, "dim")]
    for document in one.documents:
        line = Text(f"  {document.word:8}", style=COLOURS[document.change])
        line.append(clean(document.title) or document.reference, "default")
        parts += [
            line,
            Text(f"          {clean(document.url)}", style="blue", no_wrap=True, overflow="ignore"),
        ]
        if document.sections:
            parts.append(Text(f"          in {_sections(document)}", style="dim"))
    if one.more:
        every = one.more + len(one.documents)
        parts.append(Text(f"  and {one.more:,} more: `rowen changes {one.source} --limit {every}`"))
    return parts


def _sections(document: ChangedDocument) -> str:
    names = [clean(path).rpartition(" › ")[2] for path in document.sections]
    more = f" and {len(names) - SECTIONS_TOLD} more" if len(names) > SECTIONS_TOLD else ""
    return "; ".join(filter(None, names[:SECTIONS_TOLD])) + more


def _shape(one: SourceChanges) -> dict[str, Any]:
    return {
        "source": one.source,
        "since": one.since and one.since.isoformat(),
        "until": one.until and one.until.isoformat(),
        "from_generation": one.from_generation,
        "to_generation": one.to_generation,
        "counts": dict(one.counts),
        "more": one.more,
        "documents": [
            {
                "change": document.change,
                "reference": document.reference,
                "url": document.url,
                "title": document.title,
                "at": document.at.isoformat(),
                "sections": list(document.sections),
            }
            for document in one.documents
        ],
    }


def _moment(since: str, now: datetime) -> datetime:
    from rowen.core.rules.duration import interval_s
    from rowen.errors import ConfigError

    try:
        moment = datetime.fromisoformat(since)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    except ValueError:
        pass
    try:
        return now - timedelta(seconds=interval_s(since))
    except ConfigError:
        raise UserError(
            f"--since `{since}`: neither a stretch of time nor a date",
            hint="for example `2d` or `2026-05-01`",
        ) from None
