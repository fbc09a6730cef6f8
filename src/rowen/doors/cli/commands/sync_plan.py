"""`rowen sync NAME --plan FILE`: exactly what a plan says, or which of its lines do not hold any more."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowen.doors.cli import failure
from rowen.doors.cli.call import Call
from rowen.errors import UserError

if TYPE_CHECKING:
    from rowen.managing.plans import PlanApplied, PlannedSync


async def perform(call: Call, names: tuple[str, ...], file: Path, *, anyway: bool, progress: str) -> int:
    from rowen.doors.cli import receipt as receipts
    from rowen.doors.cli.commands.announce import after_a_change
    from rowen.doors.cli.commands.plan import read
    from rowen.doors.cli.progress import choose
    from rowen.doors.shapes import runs as shapes
    from rowen.managing import plans

    plan = read(file)
    if len(names) > 1:
        raise UserError("a plan is for one source", hint=f"`rowen sync {plan.source} --plan {file}`")
    source = await call.source(names[0] if names else plan.source)
    out, failures = call.out, receipts.Failures()
    shown = choose(progress, out)

    def on_event(event: Any) -> None:
        shown(event)
        failures(event)

    with shown:
        done = await plans.apply(call.ports, source, plan, anyway=anyway, on_event=on_event, on_wait=out.note)
    if done.receipt is None:
        out.result(_broken(plan, done), _told(plan, done))
        return failure.FAILED
    if out.json:
        out.emit({**shapes.Receipt.show(done.receipt), **_broken(plan, done)})
    else:
        if done.broken:
            out.line(_told(plan, done))
        out.print(receipts.render(done.receipt, failures.shown))
    await after_a_change(call.ports, out)
    good = done.receipt.good and done.receipt.failure is None
    return failure.GOOD if good else failure.FAILED


def _broken(plan: PlannedSync, done: PlanApplied) -> dict[str, Any]:
    return {
        "source": plan.source,
        "plan": plan.id,
        "applied": done.receipt is not None,
        "checked_requests": done.checked_requests,
        "checked_bytes": done.checked_bytes,
        "broken": [
            {"reference": one.reference, "planned": one.planned, "now": one.now, "words": one.words}
            for one in done.broken
        ],
    }


def _told(plan: PlannedSync, done: PlanApplied) -> str:
    from rowen.doors.words import count

    lines = [f"  {one.reference}: {one.words}" for one in done.broken]
    then = "nothing was changed" if done.receipt is None else "applied as it is now"
    head = f"{plan.source}: the plan does not hold in {count(len(lines), 'line')}; {then}"
    hint = f"make a new plan, or `rowen sync {plan.source} --plan FILE --anyway`"
    return "\n".join([head, *lines, *([hint] if done.receipt is None else [])])
