"""`rowen sinks`: where changes are sent, how far each place has come, and what is the matter with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.output import clean

if TYPE_CHECKING:
    from rowen.engine.ports import Ports
    from rowen.sinks.states import SinkState


@rowen_command("sinks", short_help="Show where changes are sent, and how far each place has come.")
def command(call: Call) -> int:
    """Show every sink of `rowen.toml` that was applied: when it last went well, and what waits for it."""
    from rowen.doors.cli import session

    async def work(ports: Ports) -> None:
        from rowen.doors import shapes
        from rowen.sinks.states import states

        found = await states(ports)
        if call.out.json:
            call.out.emit({"sinks": [shapes.Sink.show(one, one.sink) for one in found]})
            return
        if not found:
            call.out.line("no sinks")
            call.out.note("hint: write `[[sinks]]` into rowen.toml and call `rowen apply`")
            return
        from rich.table import Table
        from rich.text import Text

        from rowen.doors.cli.words import ago

        table = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
        table.add_column("sink", no_wrap=True, style="bold")
        for column in ("kind", "sources"):
            table.add_column(column, no_wrap=True)
        table.add_column("waiting", justify="right", no_wrap=True)
        table.add_column("cursor", no_wrap=True)
        table.add_column("last success", no_wrap=True)
        table.add_column("state", no_wrap=True)
        now = ports.clock.now()
        for one in found:
            word, style = _state(one)
            table.add_row(
                one.sink.name,
                one.sink.kind,
                clean(", ".join(one.sink.settings.get("sources", ())) or "all"),
                f"{one.waiting:,}{'+' if one.more else ''}",
                # The number of the last activation it was told of; the rest is for programs.
                str(one.sink.cursor.activation),
                ago(one.sink.last_success_at, now),
                Text(word, style=style),
            )
        call.out.print(table)
        for one in found:
            if one.sink.last_error:
                call.out.line(clean(f"{one.sink.name}: {one.sink.last_error}"))

    session.run(call, work)
    return 0


def _state(one: SinkState) -> tuple[str, str]:
    """One word for the state, and its colour."""
    if one.disabled:
        return "disabled", "red"
    waits = f"waits until {one.until:%Y-%m-%d %H:%M} UTC" if one.until is not None else ""
    if one.sink.failures:
        return f"failing, {waits}" if waits else "failing", "red"
    if waits:
        return waits, "yellow"
    return ("waiting", "yellow") if one.waiting else ("up to date", "green")
