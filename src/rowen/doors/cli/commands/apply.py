"""`rowen apply`: make the store match a list of sources, sinks and alarms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.errors import ConfigError

if TYPE_CHECKING:
    from rowen.engine.ports import Ports
    from rowen.managing.registry.rules import Registry

MARKS = {"add": "+", "replace": "!", "reschedule": "~", "change": "~", "keep": "=", "remove": "-"}


@rowen_command("apply")
@click.argument("file", default="rowen.toml")
@click.option(
    "--prune", is_flag=True, help="Also remove what the list does not name, and replace what it changes."
)
@click.option("--dry-run", is_flag=True, help="Show the plan and do nothing.")
def command(call: Call, file: str, prune: bool, dry_run: bool) -> None:
    """Add, change, reschedule and, with --prune, replace and remove sources until they are those of FILE.

    Sinks and alarms of FILE are applied too; sinks that it does not name are removed with --prune.
    """
    from rowen.doors.cli import session
    from rowen.managing.registry.rules import read

    # Read before the store is opened: a wrong call must not create an empty one.
    listed = read(_text(file), file=file)
    session.run(
        call, lambda ports: _apply(call, ports, listed, file=file, prune=prune, dry_run=dry_run), creates=True
    )


async def _apply(
    call: Call, ports: Ports, listed: Registry, *, file: str, prune: bool, dry_run: bool
) -> None:
    from rowen.doors.cli.commands.announce import after_a_change
    from rowen.managing.registry import apply as registry

    steps = await registry.plan(ports, listed)
    if not call.out.json:
        for step in steps:
            waits = " (needs --prune)" if step.action in registry.NEEDS_PRUNE and not prune else ""
            label = step.label if step.what != "sink" else f"sink {step.label}"
            call.out.line(f"{MARKS[step.action]} {label}  {step.action}: {step.reason}{waits}")
    done = [] if dry_run else await registry.apply(ports, listed, steps, prune=prune)
    if any(step.source is not None and step.action in registry.NEEDS_PRUNE for step in done):
        await after_a_change(ports, call.out)
    if call.out.json:
        plan = [{"action": s.action, s.what: s.label, "reason": s.reason, "done": s in done} for s in steps]
        call.out.emit({"file": file, "steps": plan})
    elif not dry_run:
        waiting = sum(step.action in registry.NEEDS_PRUNE for step in steps if step not in done)
        said = [f"{len(done)} of {len(steps)} steps done"] if done else []
        if waiting:
            said.append(
                "1 step waits for `--prune`" if waiting == 1 else f"{waiting} steps wait for `--prune`"
            )
        call.out.line("; ".join(said) or "nothing to do")


def _text(file: str) -> str:
    from pathlib import Path

    try:
        # Some editors begin a file with a byte order mark.
        return Path(file).read_text("utf-8-sig")
    except OSError as exc:
        raise ConfigError(f"registry `{file}`: cannot be read: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        raise ConfigError(
            f"registry `{file}`: not UTF-8: byte {exc.start + 1} is no part of a character",
            hint="save it as UTF-8",
        ) from exc
