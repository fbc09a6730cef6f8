"""The end of a crawl: what its frontier found out about the whole, told to the intake."""

from __future__ import annotations

from collections import Counter

from rowen.core.run import StopReason
from rowen.engine.intake import Intake
from rowen.kinds.crawl.visits import Settlement


def tell(intake: Intake, settled: Settlement, ignored: Counter[str]) -> StopReason:
    """Answers why the crawl ended, if nothing stopped it."""
    for move in settled.moved:
        intake.gone(move.page.reference, "moved", f"redirects to `{move.target}`", lost=move.lost)
    for move in settled.astray:
        said = f"`{move.page.reference}`: redirects to `{move.target}`, which gives no page"
        intake.failed_because(move.page.reference, "redirect_failed", said)
    for page in settled.forbidden:
        intake.gone(page.reference, "robots")
    for page in settled.orphaned:
        intake.gone(page.reference, "orphaned", answered=True)
    for page in settled.displaced:
        intake.gone(page.reference, "over_max_pages", answered=True)
    counted = intake.counters.ignored
    counted.update(ignored)
    if settled.left_out:
        counted["over_max_pages"] = settled.left_out
    if settled.unlinked_but_kept:
        counted["unlinked_but_kept"] = settled.unlinked_but_kept
    return StopReason.MAX_PAGES if settled.left_out else StopReason.EXHAUSTED
