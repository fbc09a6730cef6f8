"""The receipt of a run, for people: what it did, and what it avoided, tier by tier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rowen.core.document import Outcome
from rowen.core.run import Counters, Event, RunStatus
from rowen.doors.cli.output import clean
from rowen.doors.cli.words import count, seconds, size
from rowen.engine.run import Receipt

FAILURES_SHOWN = 5

MENTIONED = {
    *("created", "updated", "unchanged", "deleted", "failed", "skipped", "ignored"),
    *("requests", "bytes_received", "retries", "not_modified", "same_body", "same_content"),
    *("passages_new", "passages_reused", "embeddings_computed", "embeddings_reused"),
    *("pages", "reads", "redirects", "parses", "validators_refreshed"),
}
"""Counters that a receipt shows in a line of their own, and (the last five) those that JSON alone shows."""

STYLES = {
    RunStatus.COMPLETED: "green",
    RunStatus.PARTIAL: "yellow",
    RunStatus.HELD: "yellow",
    RunStatus.FAILED: "red",
    RunStatus.CANCELLED: "yellow",
}


@dataclass
class Failures:
    """The first few failed items of a run, picked from its events."""

    shown: list[Event] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        if event.outcome is Outcome.FAILED and len(self.shown) < FAILURES_SHOWN:
            self.shown.append(event)


def render(receipt: Receipt, failures: Sequence[Event] = ()) -> RenderableType:
    parts: list[RenderableType] = [headline(receipt), Padding.indent(outcomes(receipt.counters), 2)]
    rows = tiers(receipt.counters)
    if rows:
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim", no_wrap=True)
        table.add_column()
        for name, said in rows:
            table.add_row(name, said)
        parts.append(Padding.indent(table, 2))
    for event in failures:
        line = Text("failed  ", style="red")
        line.append(clean(event.detail or event.reference or ""), style="default")
        line.append(f"  ({event.reason})", style="dim")
        parts.append(Padding.indent(line, 2))
    more = receipt.counters.failed - len(failures)
    if failures and more > 0:
        line = Text(f"and {more:,} more: ", style="dim")
        parts.append(Padding.indent(line.append(f"rowen runs {receipt.source.label} --items"), 2))
    return Group(*parts)


def headline(receipt: Receipt) -> Text:
    counters = receipt.counters
    line = Text(receipt.source.label, style="bold")
    if receipt.held_generation is not None:
        line.append(f"  generation {receipt.generation} stays, {receipt.held_generation} is held", "default")
    elif not receipt.generation:
        line.append("  nothing harvested yet", "default")
    elif receipt.good and _changes(counters):
        line.append(f"  generation {receipt.generation}", "default")
    else:
        line.append(f"  generation {receipt.generation}, as before", "default")
    line.append(f"  {receipt.status.value}", STYLES.get(receipt.status, "default"))
    line.append(f" in {seconds(receipt.duration_s)}", "dim")
    if receipt.stop_reason not in ("exhausted", "error", "deletion_guard"):
        line.append(f" (stopped: {receipt.stop_reason})", "yellow")
    return line


def outcomes(counters: Counters) -> Text:
    """`1 updated · 1 new · 1 removed · 1,997 unchanged`."""
    parts = [
        (counters.updated, "updated", "green"),
        (counters.created, "new", "green"),
        (counters.deleted, "removed", "magenta"),
        (counters.skipped, "stored, vectors to come", "yellow"),
        (counters.unchanged, "unchanged", "default"),
        (counters.failed, "failed", "red"),
    ]
    line = Text(" · ", style="dim").join(
        Text(f"{number:,} {word}", style=style) for number, word, style in parts if number
    )
    return line if line.plain else Text("nothing new", style="dim")


def tiers(counters: Counters) -> list[tuple[str, str]]:
    """What each tier of the pipeline had to do, in the order in which they stand."""
    rows: list[tuple[str, str]] = []
    if counters.ignored:
        by_reason = ", ".join(
            f"{number:,} {reason.replace('_', ' ')}" for reason, number in counters.ignored.most_common()
        )
        rows.append(
            ("not asked for", f"{count(counters.ignored.total(), 'address', 'addresses')}: {by_reason}")
        )
    if counters.requests:
        asked = f"{count(counters.requests, 'request')}, {size(counters.bytes_received)} received"
        if counters.retries:
            asked += f", {count(counters.retries, 'retry', 'retries')}"
        rows.append(("network", asked))
    if counters.not_modified:
        rows.append(
            (
                "validators",
                f"{count(counters.not_modified, 'item')} not modified: nothing downloaded or opened",
            )
        )
    if counters.same_body:
        rows.append(("body hash", f"{count(counters.same_body, 'page')} byte for byte the same: not parsed"))
    if counters.same_content:
        rows.append(
            ("content hash", f"{count(counters.same_content, 'page')} with the same text: not indexed again")
        )
    passages = counters.passages_new + counters.passages_reused
    if passages:
        rows.append(
            (
                "passages",
                f"{counters.passages_reused:,} of {passages:,} known, {counters.passages_new:,} stored",
            )
        )
    if counters.embeddings_computed or counters.embeddings_reused:
        rows.append(
            (
                "embeddings",
                f"{counters.embeddings_reused:,} reused, {counters.embeddings_computed:,} computed",
            )
        )
    if other := _not_mentioned(counters):
        rows.append(("also", ", ".join(sorted(other))))
    return rows


def _not_mentioned(counters: Counters) -> list[str]:
    """Counters above zero that no other line of a receipt shows, one that was just added among them."""
    values = counters.as_dict()
    return [
        f"{values[name]:,} {name.replace('_', ' ')}" for name in values.keys() - MENTIONED if values[name]
    ]


def side_by_side(receipts: Sequence[tuple[str, Receipt]]) -> Table:
    """Several runs as columns, so that what the later ones avoided can be seen."""
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="bold")
    table.add_column("", style="dim", no_wrap=True)
    for title, _ in receipts:
        table.add_column(title, justify="right", no_wrap=True)
    all_counters = [receipt.counters for _, receipt in receipts]

    def row(name: str, *values: str) -> None:
        table.add_row(name, *values)

    row("pages new", *(f"{c.created:,}" for c in all_counters))
    row("pages updated", *(f"{c.updated:,}" for c in all_counters))
    row("pages removed", *(f"{c.deleted:,}" for c in all_counters))
    row("pages unchanged", *(f"{c.unchanged:,}" for c in all_counters))
    table.add_section()
    row("requests", *(f"{c.requests:,}" for c in all_counters))
    row("not modified (304)", *(f"{c.not_modified:,}" for c in all_counters))
    row("bytes received", *(size(c.bytes_received) for c in all_counters))
    row("pages parsed", *(f"{c.parses:,}" for c in all_counters))
    row("same text after all", *(f"{c.same_content + c.same_body:,}" for c in all_counters))
    row("passages stored", *(f"{c.passages_new:,}" for c in all_counters))
    row("passages known already", *(f"{c.passages_reused:,}" for c in all_counters))
    row("texts embedded", *(f"{c.embeddings_computed:,}" for c in all_counters))
    row("time", *(seconds(receipt.duration_s) for _, receipt in receipts))
    return table


def _changes(counters: Counters) -> int:
    return counters.created + counters.updated + counters.deleted + counters.skipped


def totals(receipts: Sequence[Receipt], *, sources: int) -> str:
    """One line for many sources."""
    counted = [receipt.counters for receipt in receipts]
    parts = [
        f"{sum(getattr(counters, name) for counters in counted):,} {word}"
        for name, word in (
            ("created", "new"),
            ("updated", "updated"),
            ("deleted", "removed"),
            ("unchanged", "unchanged"),
            ("failed", "failed"),
            ("skipped", "without vectors"),
        )
        if any(getattr(counters, name) for counters in counted)
    ]
    failed = sources - sum(receipt.good for receipt in receipts)
    ending = f", {failed:,} of them failed or held" if failed else ""
    return f"{count(sources, 'source')}{ending}: {' · '.join(parts) or 'nothing to do'}"
