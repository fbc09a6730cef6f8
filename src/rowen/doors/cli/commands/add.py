"""`rowen add`: add a source; its server is asked first."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.output import Output, clean
from rowen.doors.cli.starting.declared import click
from rowen.errors import UserError

if TYPE_CHECKING:
    from rowen.core.source import Source
    from rowen.engine.ports import Ports
    from rowen.managing.add_many.add import Listed
    from rowen.managing.add_many.rules import LeftOut
    from rowen.managing.sources import Added


class AddCommand(click.Command):
    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from rowen.registers import kinds

        for kind in kinds().loadable().values():
            with formatter.section(f"Settings of kind `{kind.name}`, for --set"):
                formatter.write_dl([(f"{p.label}={p.shown}", f"{p.help}.") for p in kind.params], col_max=34)


@rowen_command("add", cls=AddCommand)
@click.argument("location", required=False)
@click.option("--name", help="The name of the source; guessed from LOCATION if omitted.")
@click.option("--kind", help="The kind of source; detected if omitted.")
@click.option("--version", "version", default="", help="The version that it documents.")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting of the source; repeatable."
)
@click.option("--every", metavar="6h", help="How often `rowen serve` syncs it, or `auto`.")
@click.option(
    "--from",
    "listed",
    metavar="FILE|URL",
    help="Add all portals of a TOML file, of a list of CKAN instances (JSON) or of a register (CSV).",
)
@click.option(
    "--check/--no-check",
    default=None,
    help="Ask the server now; by default yes, and no with --from.",
)
@click.option(
    "--sync/--no-sync",
    "sync_now",
    default=None,
    help="Sync it at once; by default it asks on a terminal.",
)
def command(
    call: Call,
    location: str | None,
    name: str | None,
    kind: str | None,
    version: str,
    settings: tuple[str, ...],
    every: str | None,
    listed: str | None,
    check: bool | None,
    sync_now: bool | None,
) -> int:
    """Add the source at LOCATION, for example `docs.example.org` or `./notes`, or all portals of a list.

    LOCATION is a site, a folder, a file or a repository; `https` is guessed where it is omitted. An address
    may be private, because you typed it. Links and redirects to other private addresses are not followed.
    """
    from rowen.core.rules import duration
    from rowen.doors.cli import session

    if listed is not None:
        if location or name or kind or version or settings or every or sync_now is not None:
            raise UserError("--from: the file has the locations, names and settings; omit the others")
        _add_listed(call, listed, check=bool(check))
        return 0
    if location is None:
        raise _missing()
    given = pairs(settings)
    every_s = None if every is None else duration.every_s(every)

    async def work(ports: Ports) -> Source:
        added = await perform(
            ports,
            call.out,
            location,
            name=name,
            kind=kind,
            version=version,
            settings=given,
            check=check is not False,
            guess=True,
        )
        if every_s is not None:
            await ports.store.set_schedule(added.source.id, every_s)
        return added.source

    # The store is closed while the question waits for its answer.
    return _first_sync(call, session.run(call, work, creates=True), wanted=sync_now)


def _first_sync(call: Call, source: Source, *, wanted: bool | None) -> int:
    label = source.label
    if wanted is None and call.out.asks:
        wanted = click.confirm(f"sync {label} now?", default=True, err=True)
    if not wanted:
        call.out.note(f"next: rowen sync {label}")
        return 0
    from rowen.doors.cli import session
    from rowen.doors.cli.commands import sync
    from rowen.doors.cli.progress import choose

    def work(ports: Ports) -> Coroutine[Any, Any, int]:
        return sync.perform_all(
            ports,
            call.out,
            [source],
            full=False,
            progress=lambda: choose("auto", call.out),
            verbose=call.verbose,
        )

    code = session.run(call, work, interrupted=sync.INTERRUPTED)
    if code == 0:
        call.out.note(f'next: rowen search --source {label} "what you want to know"')
    return code


async def perform(ports: Ports, out: Output, location: str, **options: Any) -> Added:
    from rowen.doors.shapes import sources as shapes
    from rowen.managing import sources

    added = await sources.add(ports, location, **options)
    source = added.source
    if out.json:
        out.emit(shapes.Added.show(added, source))
        return added
    from rowen.doors.cli.drawing.text import Text

    line = Text("added ", style="green").append(source.label, "bold default")
    out.line(line.append(f"  {source.kind}  {source.location}", "default"))
    for finding in added.findings:
        out.line(Text(f"  {clean(finding)}", style="dim"))
    return added


def _missing() -> click.MissingParameter:
    """The message of click; click itself cannot require what `--from` replaces."""
    context = click.get_current_context()
    return click.MissingParameter(ctx=context, param_hint="'LOCATION'", param_type="argument")


def _add_listed(call: Call, file: str, *, check: bool) -> None:
    from rowen.core.source import LIST
    from rowen.doors.cli import session
    from rowen.doors.words import count
    from rowen.managing.add_many import registers
    from rowen.managing.add_many import rules as portal_list
    from rowen.managing.add_many.add import ADDED, REFUSED, add_listed, add_register, fetched

    remote = file.startswith(("http://", "https://"))
    here = "" if remote else _read(file)
    if not remote and not registers.is_register(here):
        # Before a store is made: a mistake in the file should not leave an empty one.
        portal_list.parse(here, file=file)

    async def work(ports: Ports) -> None:
        text = await fetched(ports, file) if remote else here
        origin = LIST if remote else None
        left_out: Sequence[LeftOut] = ()
        if registers.is_register(text):
            entries, left_out = registers.read(text, file=file)
            results = await add_register(ports, entries, check=check, origin=origin)
        else:
            entries = portal_list.parse(text, file=file)
            results = await add_listed(ports, entries, check=check, origin=origin)
        for result in results:
            _show(call.out, result)
        for row in left_out:
            _show_left_out(call.out, row)
        added, refused = (sum(one.outcome == outcome for one in results) for outcome in (ADDED, REFUSED))
        also = f", {refused} refused" if refused else ""
        also += f", {count(len(left_out), 'row')} left out" if left_out else ""
        call.out.note(f"{added} of {len(results)} added{also}" + ("; next: rowen sync" if added else ""))

    session.run(call, work, creates=True)


def _show_left_out(out: Output, row: LeftOut) -> None:
    if out.json:
        error = f"row {row.row}: {row.why}"
        out.emit(
            {
                "source": row.name or None,
                "kind": None,
                "location": None,
                "outcome": "left_out",
                "error": error,
            }
        )
        return
    out.line(f"left out row {row.row}{f' ({clean(row.name)})' if row.name else ''}: {clean(row.why)}")


def _read(file: str) -> str:
    from pathlib import Path

    try:
        return Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        cause = exc.strerror if isinstance(exc, OSError) else "it is not UTF-8"
        raise UserError(f"file `{file}`: cannot be read: {cause}") from exc


def _show(out: Output, result: Listed) -> None:
    entry = result.entry
    if out.json:
        value = {"source": entry.name, "kind": entry.type, "location": entry.url, "outcome": result.outcome}
        if result.added is not None:
            source = result.added.source
            value |= {"source": source.label, "kind": source.kind, "location": source.location}
        if result.why:
            value |= {"error": result.why}
        out.emit(value)
        return
    from rowen.core.source import label_of
    from rowen.doors.cli.drawing.text import Text

    style = "green" if result.added else "yellow" if result.why else "dim"
    kind = result.added.source.kind if result.added else entry.type or "?"
    out.line(
        Text(f"{result.outcome:9}", style=style)
        .append(clean(label_of(entry.name, entry.version)), "bold default")
        .append(f"  {kind}  {clean(entry.url)}", "default")
        .append(f"  {clean(result.why)}" if result.why else "", "yellow")
    )


def pairs(settings: tuple[str, ...]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise UserError(
                f"--set `{setting}`: expected `key=value`", hint="for example `--set max_depth=3`"
            )
        pairs[key.strip()] = value
    return pairs
