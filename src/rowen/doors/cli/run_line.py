"""One run in one line, for commands that go on and on: when it ended, whose it was, what it brought."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from rowen.doors.cli import receipt as receipts
from rowen.doors.cli.output import Output
from rowen.doors.words import nothing, seconds

if TYPE_CHECKING:
    from rowen.doors.cli.drawing.text import Text
    from rowen.engine.receipt import Receipt
    from rowen.service.attempts import RunResult


def show(out: Output, result: RunResult, now: datetime, *, everything: bool = False) -> bool:
    """Print a result; was it good? A run without news is a line only for a caller who wants everything."""
    from rowen.doors.shapes import runs as shapes
    from rowen.service.attempts import NotRun

    if isinstance(result, NotRun):
        if out.json:
            out.emit(shapes.Passed.show(result))
        out.warn(f"{result.source.label}: not run, {result.reason}")
        return False
    if out.json:
        out.emit(shapes.Receipt.show(result))
    elif everything or has_news(result):
        out.line(line(result, now))
    if result.error:
        out.warn(result.error, result.hint)
    return result.good


def has_news(receipt: Receipt) -> bool:
    """Did readers get something new, or does a person have to know something?"""
    counters = receipt.counters
    changed = counters.changed or counters.deleted
    # That a budget leaves pages for later is no news.
    missing = receipt.result.missing not in ("", receipt.result.asked_some)
    return bool(changed or counters.failed or not receipt.good or missing)


def line(receipt: Receipt, now: datetime) -> Text:
    """`20:41:03  notes  1 new · 2 updated  generation 5  completed in 0.3 s`."""
    from rowen.doors.cli.drawing.text import Text

    text = Text(f"{now.astimezone():%H:%M:%S}  ", style="dim").append(receipt.source.label, "bold default")
    text.append("  ").append(receipts.outcomes(receipt.counters, nothing=nothing(receipt.status.value)))
    shown = f"  generation {receipt.generation}"
    if receipt.held_generation is not None:
        shown += f", {receipt.held_generation} is held"
    state = receipts.state_of(receipt)
    text.append(shown, "default").append("  ").append(state)
    missing = receipt.result.missing
    if missing:
        text.append(f": {missing}", state.style)
    return text.append(f" in {seconds(receipt.duration_s)}", "dim")
