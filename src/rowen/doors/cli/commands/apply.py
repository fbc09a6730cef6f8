"""`rowen apply`: make the store match a list of sources, sinks and alarms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.errors import ConfigError

if TYPE_CHECKING:
    from rowen.engine.ports import Ports

MARKS = {"add": "+", "replace": "!", "reschedule": "~", "change": "~", "keep": "=", "remove": "-"}


@rowen_command("apply", short_help="Make the sources match a list, `rowen.toml`.")
@click.argument("file", default="rowen.toml")
@click.option(
    "--prune", is_flag=True, help="Also remove what the list does not name, and replace what it changes."
)
@click.option("--dry-run", is_flag=True, help="Show the plan and do nothing.")
def command(call: Call, file: str, prune: bool, dry_run: bool) -> int:
    """Add, change, reschedule and, with --prune, replace and remove sources until they are those of FILE.

    Sinks and alarms of FILE are taken over too; sinks that it does not name go with --prune.
    """
    from pathlib import Path

    from rowen.doors.cli import session
    from rowen.managing.registry import rules as registry

    try:
        # Some editors put a mark at the beginning.
        listed = registry.read(Path(file).read_text("utf-8-sig"), file=file)
    except OSError as exc:
        raise ConfigError(f"registry `{file}`: cannot be read: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        raise ConfigError(
            f"registry `{file}`: not UTF-8: byte {exc.start + 1} is no part of a character",
            hint="save it as UTF-8",
        ) from exc

    async def work(ports: Ports) -> None:
        from rowen.managing.registry import apply as flow

        steps = await flow.plan(ports, listed)
        if not call.out.json:
            for step in steps:
                waits = " (needs --prune)" if step.action in flow.NEEDS_PRUNE and not prune else ""
                label = step.label if step.what != "sink" else f"sink {step.label}"
                call.out.line(f"{MARKS[step.action]} {label}  {step.action}: {step.reason}{waits}")
        done = [] if dry_run else await flow.apply(ports, listed, steps, prune=prune)
        if call.out.json:
            plan = [
                {"action": s.action, s.what: s.label, "reason": s.reason, "done": s in done} for s in steps
            ]
            call.out.emit({"file": file, "steps": plan})
        elif not dry_run:
            waiting = sum(step.action in flow.NEEDS_PRUNE for step in steps if step not in done)
            said = [f"{len(done)} of {len(steps)} steps done"] if done else []
            if waiting:
                said.append(
                    "1 step waits for `--prune`" if waiting == 1 else f"{waiting} steps wait for `--prune`"
                )
            call.out.line("; ".join(said) or "nothing to do")

    session.run(call, work)
    return 0
