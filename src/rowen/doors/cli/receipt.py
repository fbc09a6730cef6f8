"""The receipt of a run, for people: what it did, and what it avoided, tier by tier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rowen.core.document import Outcome
from rowen.core.rules.left_out import sentences
from rowen.core.run import Counters, Event, Run, RunStatus, asked_of
from rowen.core.source import Source
from rowen.doors.cli.drawing.parts import Column, Group, Indent, Table
from rowen.doors.cli.drawing.text import Drawable, Text
from rowen.doors.cli.output import clean
from rowen.doors.words import OUTCOMES, count, nothing, seconds, size
from rowen.engine.receipt import Receipt

FAILURES_SHOWN = 5

MENTIONED = {
    *("created", "updated", "unchanged", "metadata_updated", "deleted", "failed", "skipped", "ignored"),
    *("requests", "bytes_received", "bytes_avoided", "retries", "not_modified", "same_body", "same_content"),
    *("resumed", "not_asked", "not_due", "claims_checked", "claims_broken"),
    *("passages_new", "passages_reused", "embeddings_computed", "embeddings_reused"),
    *("pages", "reads", "redirects", "parses", "validators_refreshed"),
}
"""Counters that a receipt shows in a line of their own, and (the last five) those that JSON alone shows."""

COLOURS = {
    "created": "green",
    "updated": "green",
    "deleted": "magenta",
    "unchanged": "default",
    "metadata_updated": "green",
    "failed": "red",
    "skipped": "yellow",
}
_RANK = {RunStatus.PARTIAL: 1, RunStatus.HELD: 2, RunStatus.CANCELLED: 3, RunStatus.FAILED: 4}
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


def render(receipt: Receipt, failures: Sequence[Event] = ()) -> Drawable:
    brought = outcomes(receipt.counters, nothing=nothing(receipt.status.value))
    parts: list[Drawable] = [headline(receipt), Indent(brought, 2)]
    rows = tiers(receipt.counters)
    if rows:
        table = Table([Column(style="dim"), Column(wraps=True)])
        for name, said in rows:
            table.row(name, said)
        parts.append(Indent(table, 2))
    for event in failures:
        line = Text("failed  ", style="red")
        line.append(clean(event.detail or event.reference or ""), style="default")
        line.append(f"  ({event.reason})", style="dim")
        parts.append(Indent(line, 2))
    more = receipt.counters.failed - len(failures)
    if failures and more > 0:
        line = Text(f"and {more:,} more: ", style="dim")
        parts.append(Indent(line.append(f"rowen runs {receipt.source.label} --items"), 2))
    return Group(*parts)


def headline(receipt: Receipt) -> Text:
    counters = receipt.counters
    line = Text(receipt.source.label, style="bold")
    if receipt.held_generation is not None:
        line.append(f"  generation {receipt.generation} stays, {receipt.held_generation} is held", "default")
    elif not receipt.generation:
        line.append("  nothing harvested yet", "default")
    elif receipt.good and counters.changed:
        line.append(f"  generation {receipt.generation}", "default")
    else:
        line.append(f"  generation {receipt.generation}, as before", "default")
    state, missing = state_of(receipt), receipt.result.missing
    line.append("  ").append(state).append(f" in {seconds(receipt.duration_s)}", "dim")
    return line.append(f": {missing}", state.style) if missing else line


def state_of(run: Run | Receipt) -> Text:
    """How a run ended, in the word that every door says."""
    state = run.result.state
    return Text(state, style="yellow" if state == "capped" else STYLES.get(run.status, "default"))


def outcomes(counters: Counters, *, nothing: str = "nothing new") -> Text:
    """`1 new · 1 updated · 1 removed · 1,997 unchanged`."""
    values = counters.as_dict()
    line = Text(" · ", style="dim").join(
        Text(f"{values[name]:,} {word}", style=COLOURS[name])
        for name, word in OUTCOMES.items()
        if values[name]
    )
    return line if line.plain else Text(nothing, style="dim")


def tiers(counters: Counters) -> list[tuple[str, str]]:
    """What each tier of the pipeline had to do, in their order."""
    c = counters
    retries = f", {count(c.retries, 'retry', 'retries')}" if c.retries else ""
    avoided = f", {size(c.bytes_avoided)} avoided" if c.bytes_avoided else ""
    answered = c.not_modified - c.not_asked
    passages = c.passages_new + c.passages_reused
    rows = [
        (c.left_out, "left out", "\n".join(sentences(c.left_out))),
        (c.why_ignored, "not taken", c.why_ignored),
        (c.kept, "kept", c.kept),
        (
            c.not_due,
            "schedule",
            f"{asked_of(c.processed, c.not_due)}; {count(c.not_due, 'page')} left for later runs",
        ),
        (
            c.requests,
            "network",
            f"{count(c.requests, 'request')}, {size(c.bytes_received)} received{retries}",
        ),
        (
            c.not_asked,
            "sitemap",
            f"{count(c.not_asked, 'page')} not asked for: their dates hold and are the same",
        ),
        (
            answered,
            "validators",
            f"{count(answered, 'item')} not modified: nothing downloaded or opened{avoided}",
        ),
        (
            c.resumed,
            "resumed",
            f"{c.resumed:,} of them stored by an earlier run, and new to readers",
        ),
        (
            c.claims_checked,
            "signals",
            f"{count(c.claims_checked, 'claim')} checked, {count(c.claims_broken, 'lie')} found",
        ),
        (c.same_body, "body hash", f"{count(c.same_body, 'page')} byte for byte the same: not parsed"),
        (
            c.same_content,
            "content hash",
            f"{count(c.same_content, 'page')} with the same text: not indexed again",
        ),
        (passages, "passages", f"{c.passages_reused:,} of {passages:,} known, {c.passages_new:,} stored"),
        (
            c.embeddings_computed or c.embeddings_reused,
            "embeddings",
            f"{c.embeddings_reused:,} reused, {c.embeddings_computed:,} computed",
        ),
        (other := _not_mentioned(c), "also", ", ".join(sorted(other))),
    ]
    return [(name, said) for shown, name, said in rows if shown]


def _not_mentioned(counters: Counters) -> list[str]:
    """Counters above zero that no other line of a receipt shows, one that was just added among them."""
    values = counters.as_dict()
    return [
        f"{values[name]:,} {name.replace('_', ' ')}" for name in values.keys() - MENTIONED if values[name]
    ]


SIDE_BY_SIDE: dict[str, Callable[[Counters], str]] = {
    "pages new": lambda c: f"{c.created:,}",
    "pages updated": lambda c: f"{c.updated:,}",
    "pages removed": lambda c: f"{c.deleted:,}",
    "pages unchanged": lambda c: f"{c.unchanged:,}",
    "requests": lambda c: f"{c.requests:,}",
    "not modified (304)": lambda c: f"{c.not_modified:,}",
    "bytes received": lambda c: size(c.bytes_received),
    "bytes avoided": lambda c: size(c.bytes_avoided),
    "pages parsed": lambda c: f"{c.parses:,}",
    "other bytes, same text": lambda c: f"{c.same_content + c.same_body:,}",
    "passages stored": lambda c: f"{c.passages_new:,}",
    "passages stored before": lambda c: f"{c.passages_reused:,}",
    "texts embedded": lambda c: f"{c.embeddings_computed:,}",
}


def side_by_side(receipts: Sequence[tuple[str, Receipt]]) -> Table:
    """Several runs as columns, so that what the later ones avoided can be seen."""
    columns = [Column(style="dim"), *(Column(title, justify="right") for title, _ in receipts)]
    table = Table(columns, gap=3, heading_style="bold")
    for name, read in SIDE_BY_SIDE.items():
        table.row(name, *(read(receipt.counters) for _, receipt in receipts))
    table.row("time", *(seconds(receipt.duration_s) for _, receipt in receipts))
    return table


def answers(receipts: Sequence[Receipt], could_not: Sequence[tuple[Source, str]]) -> Table:
    """Which of many sources answered how; those that did not come last."""
    columns = [Column("source"), Column("kind"), Column("answered"), Column("items", justify="right")]
    table = Table([*columns, Column("why", style="dim", wraps=True)], heading_style="bold")
    ranked = sorted(receipts, key=lambda one: (_RANK.get(one.status, 0), one.source.label))
    for one in ranked:
        why = one.error or one.result.missing or ""
        shown = Text(clean(one.source.label)), one.source.kind, state_of(one), f"{one.counters.processed:,}"
        table.row(*shown, clean(why))
    for source, said in could_not:
        table.row(clean(source.label), source.kind, Text("not run", style="red"), "0", clean(said))
    return table


def totals(receipts: Sequence[Receipt], *, sources: int) -> str:
    """One line for many sources."""
    total = Counters()
    for receipt in receipts:
        total.join(receipt.counters)
    said = outcomes(total).plain if receipts else "nothing to do"
    failed = sources - sum(receipt.good for receipt in receipts)
    ending = f", {failed:,} of them failed or held" if failed else ""
    return f"{count(sources, 'source')}{ending}: {said}"
