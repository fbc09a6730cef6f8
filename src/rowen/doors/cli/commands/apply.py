"""`rowen apply`: make the store match a list of sources, sinks and alarms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.starting.declared import click
from rowen.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowen.engine.ports import Ports
    from rowen.managing.registry.rules import Registry, Step

MARKS = {"add": "+", "replace": "!", "reschedule": "~", "change": "~", "keep": "=", "remove": "-"}


@rowen_command("apply")
@click.argument("file", default="rowen.toml")
@click.option("--prune", is_flag=True, help="Also remove what the list does not name.")
@click.option(
    "--replace", is_flag=True, help="Also replace sources that have another location or kind in the list."
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask before something is replaced or removed.")
@click.option("--dry-run", is_flag=True, help="Show the plan and do nothing.")
def command(call: Call, file: str, prune: bool, replace: bool, yes: bool, dry_run: bool) -> None:
    """Add, change and reschedule sources until they are those of FILE; sinks and alarms too.

    A source whose settings changed keeps its history, and the next sync applies them. Nothing is deleted
    unless you agree: on a terminal it asks, elsewhere use `--replace` and `--prune`.
    """
    from rowen.config import SECTIONS
    from rowen.doors.cli import session
    from rowen.managing.registry import apply as registry
    from rowen.managing.registry.rules import read

    # Read before the store is opened: a wrong call must not create an empty one.
    listed = read(_text(file), file=file, settings=SECTIONS)
    steps = session.run(call, lambda ports: registry.plan(ports, listed), creates=True)
    asks = call.out.asks and not dry_run and not yes
    # On a terminal, replacing is asked about instead of waiting for its flag.
    replace = replace or asks or (yes and call.out.asks)
    flags = {"--prune": prune, "--replace": replace}
    if not call.out.json:
        _show(call, steps, flags)
    if asks and not _agreed(steps, flags):
        flags = dict.fromkeys(flags, False)
    session.run(call, lambda ports: _apply(call, ports, listed, steps, flags, file=file, dry_run=dry_run))


def _show(call: Call, steps: Sequence[Step], flags: dict[str, bool]) -> None:
    from rowen.managing.registry.apply import NEEDS

    for step in steps:
        flag = NEEDS.get(step.action)
        waits = f" (needs {flag})" if flag and not flags[flag] else ""
        label = step.label if step.what != "sink" else f"sink {step.label}"
        call.out.line(f"{MARKS[step.action]} {label}  {step.action}: {step.reason}{waits}")


def _agreed(steps: Sequence[Step], flags: dict[str, bool]) -> bool:
    """The store is closed while the question waits for its answer."""
    from rowen.managing.registry.apply import NEEDS

    going = [step for step in steps if step.action in NEEDS and flags[NEEDS[step.action]]]
    if not going:
        return True
    said = ", ".join(f"{step.action} `{step.label}`" for step in going)
    return click.confirm(f"{said}: what is stored of them is deleted. Go on?", err=True)


async def _apply(
    call: Call,
    ports: Ports,
    listed: Registry,
    steps: Sequence[Step],
    flags: dict[str, bool],
    *,
    file: str,
    dry_run: bool,
) -> None:
    from rowen.doors.cli.commands.announce import after_a_change
    from rowen.doors.words import count
    from rowen.managing.registry import apply as registry

    done: list[Step] = []
    if not dry_run:
        done = await registry.apply(ports, listed, steps, prune=flags["--prune"], replace=flags["--replace"])
    if any(step.source is not None and step.action in registry.NEEDS for step in done):
        await after_a_change(ports, call.out)
    if call.out.json:
        plan = [{"action": s.action, s.what: s.label, "reason": s.reason, "done": s in done} for s in steps]
        call.out.emit({"file": file, "steps": plan})
    elif not dry_run:
        said = [f"{len(done)} of {count(len(steps), 'step')} done"] if done else []
        for action, flag in registry.NEEDS.items():
            waiting = sum(step.action == action for step in steps if step not in done)
            if waiting:
                said.append(
                    f"1 step waits for `{flag}`" if waiting == 1 else f"{waiting} steps wait for `{flag}`"
                )
        call.out.line("; ".join(said) or "nothing to do")


def _text(file: str) -> str:
    from pathlib import Path

    try:
        # Some editors begin a file with a byte order mark.
        return Path(file).read_text("utf-8-sig")
    except OSError as exc:
        raise ConfigError(
            f"registry `{file}`: cannot be read: {exc.strerror}", hint="`rowen init` writes one"
        ) from exc
    except UnicodeDecodeError as exc:
        raise ConfigError(
            f"registry `{file}`: not UTF-8: byte {exc.start + 1} is no part of a character",
            hint="save it as UTF-8",
        ) from exc
