"""`rowen sinks`: where changes are sent, and what waits for each sink."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.output import clean
from rowen.doors.words import ago, until

if TYPE_CHECKING:
    from rowen.sinks.states import SinkState


@store_command("sinks", reads=True)
async def command(call: Call) -> None:
    """Show every sink that was applied from `rowen.toml`: its last success, and what waits for it."""
    from rowen.doors.shapes import sources as shapes
    from rowen.sinks.states import states

    found = await states(call.ports.store, call.ports.sinks, call.ports.clock.now())
    if call.out.json:
        call.out.emit({"sinks": [shapes.Sink.show(one, one.sink) for one in found]})
        return
    if not found:
        call.out.line("no sinks")
        call.out.note("hint: write `[[sinks]]` into rowen.toml and call `rowen apply`")
        return
    from rowen.doors.cli.drawing.text import Text

    now = call.ports.clock.now()
    rows = [
        (
            one.sink.name,
            one.sink.kind,
            clean(", ".join(one.sink.settings.get("sources", ())) or "all"),
            f"{one.waiting:,}{'+' if one.more else ''}",
            # The number of the last activation it was told of; the rest is for programs.
            str(one.sink.cursor.activation),
            ago(one.sink.last_success_at, now),
            Text(*_state(one)),
        )
        for one in found
    ]
    call.out.table(["*sink", "kind", "sources", ">waiting", "cursor", "last success", "state"], rows)
    for one in found:
        if one.sink.last_error:
            call.out.line(clean(f"{one.sink.name}: {one.sink.last_error}"))


def _state(one: SinkState) -> tuple[str, str]:
    """One word for the state, and its colour."""
    if one.disabled:
        return "disabled", "red"
    waits = f"waits{until(one.until)}" if one.until is not None else ""
    if one.sink.failures:
        return f"failing, {waits}" if waits else "failing", "red"
    if waits:
        return waits, "yellow"
    return ("waiting", "yellow") if one.waiting else ("up to date", "green")
