"""`rowen edit`: other settings for a source, in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.starting.declared import click
from rowen.errors import UserError

if TYPE_CHECKING:
    from rowen.core.source import Source
    from rowen.engine.ports import Ports
    from rowen.managing.edit import Edit


@rowen_command("edit")
@click.argument("name", shell_complete=source_names)
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting; repeatable.")
@click.option("--unset", multiple=True, metavar="KEY", help="Back to the default; repeatable.")
@click.option(
    "--every",
    default=None,
    metavar="6h",
    help="How often `rowen serve` syncs it; `none` for the common interval.",
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask, even if many documents will be removed.")
def command(
    call: Call, name: str, settings: tuple[str, ...], unset: tuple[str, ...], every: str | None, yes: bool
) -> None:
    """Change the settings of source NAME; its documents and history stay.

    The next sync removes what the new settings no longer cover, and adds what they newly cover.
    """
    from rowen.core.rules import duration
    from rowen.doors.cli import session
    from rowen.doors.cli.commands.add import pairs

    if not settings and not unset and every is None:
        raise UserError(
            "nothing to change",
            hint="for example `--set exclude='/old/**'`, `--unset include` or `--every 6h`",
        )
    given = pairs(settings)
    every_s = None if every in (None, "none") else duration.every_s(every or "")

    async def look(ports: Ports) -> Edit:
        from rowen.managing import edit
        from rowen.managing.find import find

        return await edit.plan(ports, await find(ports.store, name), given, unset=unset)

    # The store is closed while the question waits for its answer.
    planned = session.run(call, look)
    if not yes and not _agreed(call, planned):
        call.out.note("nothing was changed")
        return

    async def work(ports: Ports) -> Source:
        from rowen.managing import edit

        source = await edit.carry_out(ports, planned) if planned.changed else planned.source
        if every is not None:
            await ports.store.set_schedule(source.id, every_s)
        return source

    source = session.run(call, work)
    _show(call, source, planned, every=every)


def _agreed(call: Call, planned: Edit) -> bool:
    """Asks when so many documents go that a mistyped pattern is likely."""
    share = float(planned.params.get("max_deleted_share", 0.3))
    if planned.uncovered <= planned.documents * share:
        return True
    said = f"{planned.uncovered:,} of {planned.documents:,} documents are not covered by the new settings"
    if not call.out.asks:
        raise UserError(f"source `{planned.source.label}`: {said}", hint="say `--yes` if that is meant")
    return click.confirm(f"{said} and go with the next sync. Go on?", err=True)


def _show(call: Call, source: Source, planned: Edit, *, every: str | None) -> None:
    from rowen.core.source import Edited

    changed = [*planned.changed, *(["every"] if every is not None else [])]
    if call.out.json:
        call.out.emit(
            {
                "source": source.label,
                "key": source.key,
                "changed": changed,
                "settings": dict(source.params),
                "documents": planned.documents,
                "uncovered": planned.uncovered,
                "reads_again": planned.edited is Edited.READ,
            }
        )
        return
    if not changed:
        call.out.line(f"{source.label}: as it was")
        return
    call.out.line(f"{source.label}: changed {', '.join(changed)}")
    if planned.edited is None and not planned.account:
        return
    if planned.uncovered:
        call.out.line(f"{planned.uncovered:,} of {planned.documents:,} documents go with the next sync")
    if planned.edited is Edited.READ and planned.documents:
        call.out.line("the next sync reads every document again, to find what the new settings add")
    if planned.account and planned.documents:
        whole = f"rowen sync {source.label} --full-sync"
        call.out.note(
            f"hint: if this account sees other documents than the one before, `{whole}` finds all of them"
        )
    call.out.note(f"next: rowen sync {source.label}")
