"""`rowen doctor NAME`: the signals of a source, what they claimed, and how far that was true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowen.doors.cli.call import Call

if TYPE_CHECKING:
    from rowen.core.freshness.claims import Heard

COLOURS = {"trusted": "green", "unproven": "yellow", "distrusted": "red"}


def show(call: Call, name: str) -> int:
    from rowen.core.freshness.claims import heard
    from rowen.doors.cli import session
    from rowen.doors.shapes.sources import Claims

    async def work() -> tuple[str, tuple[Heard, ...]]:
        from rowen import wiring
        from rowen.managing import find as finding

        async with wiring.open_ports(call.config(), create=False) as ports:
            source = await finding.find(ports.store, name)
            return source.label, heard(await ports.store.claims(source.id))

    label, signals = session.run_async(work)
    if call.out.json:
        call.out.emit({"source": label, "signals": [Claims.show(one) for one in signals]})
        return 0
    if not signals:
        call.out.line(f"source `{label}`: no signal was checked yet")
        call.out.note("hint: sites are checked from their second or third run on; see docs/signals.md")
        return 0
    from rowen.doors.cli.drawing.text import Text

    rows: list[tuple[str | Text, ...]] = []
    for one in signals:
        record, standing = one.record, one.record.standing.value
        numbers = (record.claims, record.checked, record.lies)
        state = Text(standing, style=COLOURS[standing])
        rows.append((one.name, *(f"{number:,}" for number in numbers), state, record.why))
    call.out.table(["*signal", ">claims", ">checked", ">lies", "standing", "~why"], rows)
    return 0
