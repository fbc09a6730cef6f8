"""`rowen changes`: what readers saw change, in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.output import clean, clean_text
from rowen.doors.cli.starting.declared import click
from rowen.errors import UserError

if TYPE_CHECKING:
    from rowen.doors.cli.drawing.text import Drawable
    from rowen.reading.changes import ChangedDocument, SourceChanges

SECTIONS_TOLD = 4
COLOURS = {"added": "green", "changed": "yellow", "removed": "red"}


@store_command("changes", reads=True)
@click.argument("name", required=False, shell_complete=source_names)
@click.option(
    "--since", metavar="WHEN", help="`2d`, `6h` or a date; by default the last change of each source."
)
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="Documents of a source.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "markdown", "atom", "json"]),
    default="text",
    help="`atom` is a feed of one source: an entry for each time readers saw a change.",
)
async def command(call: Call, name: str | None, since: str | None, limit: int, format_: str) -> None:
    """Tell what changed in source NAME, or in all: a changelog for people, with new, removed and changed
    names, signatures and sections.
    """
    from rowen.doors.shapes import changelog as shapes
    from rowen.reading.changes import all_changes, changes

    now = call.ports.clock.now()
    if format_ == "atom":
        await _feed(call, name, now)
        return
    call.out.json = call.out.json or format_ == "json"
    moment = _moment(since, now) if since else None
    if name is None:
        found = await all_changes(
            call.ports.store, await call.ports.store.sources(), since=moment, limit=limit
        )
    else:
        found = [await changes(call.ports.store, await call.source(name), since=moment, limit=limit)]
    if call.out.json:
        call.out.emit(
            {"since": moment and moment.isoformat(), "sources": [shapes.Changelog.show(one) for one in found]}
        )
        return
    if format_ == "markdown":
        click.echo("\n".join(clean_text(shapes.markdown(one)) for one in found), nl=False)
        return
    if not found:
        call.out.line("nothing changed" + (f" since {moment:%Y-%m-%d %H:%M} UTC" if moment else " yet"))
        return
    from rowen.doors.cli.drawing.parts import Group

    call.out.page(Group(*(part for one in found for part in _drawn(one, now))))


async def _feed(call: Call, name: str | None, now: datetime) -> None:
    from rowen.doors.shapes import changelog as shapes
    from rowen.reading.changes import releases

    if name is None:
        raise UserError("an Atom feed is of one source", hint="`rowen changes NAME --format atom`")
    source = await call.source(name)
    click.echo(shapes.atom(source, await releases(call.ports.store, source), now=now), nl=False)


def _drawn(one: SourceChanges, now: datetime) -> list[Drawable]:
    from rowen.core.compare.notes import About, sentence
    from rowen.doors.cli.drawing.parts import Indent
    from rowen.doors.cli.drawing.text import Text
    from rowen.doors.words import ago, count

    head = Text(one.source, style="bold").append(f"  {one.summary}", "default")
    when = (
        f"  {ago(one.until, now)}, generation {one.from_generation} → {one.to_generation}"
        if one.until
        else ""
    )
    parts: list[Drawable] = [head.append(when, "dim")]
    parts += [
        Text("  removed ", style=COLOURS["removed"]).append(
            f"{count(len(folder.references), 'page')} under {clean(folder.path)}", "default"
        )
        for folder in one.folders
    ]
    for document in one.told:
        line = Text(f"  {document.word:8}", style=COLOURS[document.change])
        line.append(clean(document.title) or document.reference, "default")
        parts += [
            line,
            Text(f"          {clean(document.url)}", style="blue", whole=True),
        ]
        if any(note.about is About.SYMBOL or note.change != "changed" for note in document.notes):
            parts.append(Indent(Text(clean(sentence(document.notes))), 10))
        elif document.sections:
            parts.append(Text(f"          in {_sections(document)}", style="dim"))
    if one.untold:
        every = one.more + len(one.documents)
        parts.append(Text(f"  and {one.untold:,} more: `rowen changes {one.source} --limit {every}`"))
    return parts


def _sections(document: ChangedDocument) -> str:
    names = [clean(path).rpartition(" › ")[2] for path in document.sections]
    more = f" and {len(names) - SECTIONS_TOLD} more" if len(names) > SECTIONS_TOLD else ""
    return "; ".join(filter(None, names[:SECTIONS_TOLD])) + more


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
