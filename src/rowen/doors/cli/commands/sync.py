"""`rowen sync`: run sources, `runs.max_parallel` at a time; one that fails does not stop the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rowen.doors.cli import failure
from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.output import Output
from rowen.doors.cli.starting.declared import click
from rowen.errors import RowenError, UserError

if TYPE_CHECKING:
    from rowen.core.run import Event
    from rowen.core.source import Source
    from rowen.doors.cli.progress import Progress
    from rowen.engine.ports import Ports
    from rowen.engine.receipt import Receipt

MANY = 10
"""From so many sources on, a table at the end says which answered how."""
INTERRUPTED = (
    "interrupted: what was visible before is unchanged; the next sync continues with what was stored"
)


@store_command("sync", interrupted=INTERRUPTED, creates=True)
@click.argument("names", nargs=-1, shell_complete=source_names, metavar="[NAME]...")
@click.option("--full-sync", is_flag=True, help="Fetch every page again, also unchanged ones.")
@click.option("--force", is_flag=True, help="Also sources whose upstream is paused because it limits us.")
@click.option(
    "--progress",
    type=click.Choice(["auto", "bar", "lines", "json", "none"]),
    default="auto",
    help="How to show progress on standard error.",
)
@click.option(
    "--plan",
    "plan_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Do exactly what this plan of the one named source says, if it still holds.",
)
@click.option("--anyway", is_flag=True, help="With --plan: where it does not hold, do what is right now.")
async def command(
    call: Call,
    names: tuple[str, ...],
    full_sync: bool,
    force: bool,
    progress: str,
    plan_file: Path | None,
    anyway: bool,
) -> int:
    """Bring the copies of the named sources, or of all, up to date.

    With --json, one JSON object per source and line, as each ends.
    """
    if plan_file is not None:
        from rowen.doors.cli.commands import sync_plan

        return await sync_plan.perform(call, names, plan_file, anyway=anyway, progress=progress)
    from rowen.doors.cli.progress import choose
    from rowen.managing.find import find_all

    found = await find_all(call.ports.store, names)
    if not found:
        raise UserError("no source to sync", hint=_how_to_begin())
    # A terminal shows one bar at a time.
    together = len(found) > 1 and call.ports.max_parallel_runs > 1 and not call.out.json
    return await perform_all(
        call.ports,
        call.out,
        found,
        full=full_sync,
        force=force,
        progress=lambda: choose("lines" if together and progress == "auto" else progress, call.out),
        verbose=call.verbose,
    )


def _how_to_begin() -> str:
    from rowen.project_file import find

    listed = find(Path.cwd())
    if listed is not None and listed.sources:
        return "`rowen apply` adds those of the rowen.toml in this folder"
    return "add one with `rowen add docs.example.org`"


async def perform_all(
    ports: Ports,
    out: Output,
    found: list[Source],
    *,
    full: bool,
    force: bool = False,
    progress: Callable[[], Progress[Event]],
    verbose: bool,
) -> int:
    from rowen.doors.cli.commands.announce import after_a_change
    from rowen.engine.tasks import each

    codes = set()
    receipts = []
    could_not = []

    async def one(source: Source) -> None:
        try:
            receipt = await perform(ports, out, source, full=full, force=force, progress=progress())
            codes.add(failure.GOOD if receipt.good and receipt.failure is None else failure.FAILED)
            receipts.append(receipt)
        except Exception as exc:
            codes.add(_could_not(out, source, exc, full=full, verbose=verbose))
            could_not.append((source, str(exc)))
        if len(found) > 1:
            out.line("")

    await each(found, one, ports.max_parallel_runs)
    await after_a_change(ports, out)
    if len(found) > 1 and not out.json:
        from rowen.doors.cli.receipt import answers, totals

        if len(found) >= MANY:
            out.print(answers(receipts, could_not))
        out.line(totals(receipts, sources=len(found)))
    # That some work failed says more than that some call was wrong.
    return failure.FAILED if failure.FAILED in codes else max(codes)


async def perform(
    ports: Ports,
    out: Output,
    source: Source,
    *,
    full: bool = False,
    force: bool = False,
    progress: Progress[Event],
) -> Receipt:
    from rowen.core.run import Event
    from rowen.doors.cli import receipt as receipts
    from rowen.doors.cli.progress import JsonProgress
    from rowen.service.attempts import sync_now

    failures = receipts.Failures()

    def on_event(event: Event) -> None:
        progress(event)
        failures(event)

    def on_wait(words: str) -> None:
        if isinstance(progress, JsonProgress):
            # Not through a note: who reads JSON lines reads no others.
            progress(Event(source.label, "waiting", detail=words))
        else:
            out.note(f"{source.label}: {words}")

    with progress:
        receipt = await sync_now(
            ports,
            source,
            full=full,
            force=force,
            on_event=on_event,
            on_wait=on_wait,
        )
    if out.json:
        from rowen.doors.shapes import runs as shapes

        out.emit(shapes.Receipt.show(receipt))
    else:
        out.print(receipts.render(receipt, failures.shown))
    _complain(out, receipt)
    return receipt


def _complain(out: Output, receipt: Receipt) -> None:
    from rowen.core.rules.schedule import Failure

    label, words = receipt.source.label, receipt.result.words
    if receipt.good:
        if receipt.error and receipt.failure is Failure.FATAL:
            out.warn(f"source `{label}`: stored, and found by words alone: {receipt.error}")
        elif receipt.error:
            out.warn(f"source `{label}`: {words}: {receipt.error}")
        elif receipt.counters.failed:
            out.warn(f"source `{label}`: {words}; what was visible of them stays")
        if receipt.hint:
            out.note(f"source `{label}`: {receipt.hint}")
        return
    message = f"source `{label}`: {receipt.error or receipt.status.value}"
    reason = receipt.status.value
    failure.tell(message, reason, receipt.hint, out=out)


def _could_not(out: Output, source: Source, exc: Exception, *, full: bool, verbose: bool) -> int:
    from rowen.doors.shapes import runs as shapes

    if out.json:
        out.emit(shapes.failed_receipt(source, exc, full=full))
    if isinstance(exc, RowenError) and f"`{source.label}`" not in exc.message:
        exc.message = f"source `{source.label}`: {exc.message}"
    return failure.report(exc, out=out, verbose=verbose)
