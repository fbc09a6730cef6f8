"""Runs in sentences: how one ended, and its receipt, tier by tier."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rowen.core.rules.left_out import sentences
from rowen.core.run import Counters, Run, RunStatus, asked_of
from rowen.core.source import Source
from rowen.doors.words import count, size

OUTCOMES = ("created", "updated", "unchanged", "deleted", "failed", "skipped")
UPSTREAM_UNITS = {"files": "file", "git": "file", "github": "file", "ckan": "dataset"}


WHY_GONE = {
    "orphaned": "no page links to them any more",
    "moved": "moved to another address",
    "robots": "robots.txt forbids them now",
    "absent": "not there any more",
    "gone": "not there any more",
    "unsupported_type": "of a type that is not read",
    "deleted": "the source says they are deleted",
    "http_404": "404 Not Found",
    "http_410": "410 Gone: the site says so itself",
}
"""Why pages would go, by the reason of a run's items."""


def why_gone(reason: str) -> str:
    return WHY_GONE.get(reason) or reason.replace("_", " ")


def unit(kind: str) -> str:
    """What a source of this kind consists of."""
    return UPSTREAM_UNITS.get(kind, "page" if kind in ("web", "llms") else "item")


def done(counters: Mapping[str, Any]) -> int:
    """Items whose outcome is known."""
    return sum(int(counters.get(name) or 0) for name in OUTCOMES)


def outcome(run: Run, source: Source) -> str:
    """What a run did, in a sentence or two."""
    kind = source.kind
    counters = Counters.from_dict(run.counters)
    noun, every = unit(kind), done(run.counters)
    if run.status is RunStatus.RUNNING:
        return f"Under way: {count(every, noun)} so far."
    if run.status is RunStatus.HELD:
        why = source.held_reason if source.held_generation is not None else "the deletion guard stopped it"
        seen = f"Readers still see generation {source.active_generation}." if source.held_generation else ""
        return f"Held: {why}. {seen}".strip()
    said = []
    if run.status in (RunStatus.FAILED, RunStatus.LOST):
        ended = "Interrupted" if run.status is RunStatus.LOST else "Failed"
        said.append(f"{ended}: {run.error or 'no reason is known'}.")
        said.append("Readers see what they saw before.")
    elif run.status is RunStatus.CANCELLED:
        said.append("Cancelled. Readers see what they saw before; what was stored is not asked for again.")
    else:
        said.append(_changes(counters))
        if run.result.missing:
            stays = "; what readers saw of it stays" if run.status is RunStatus.PARTIAL else ""
            said.append(f"{run.result.missing.capitalize()}{stays}.")
    said += [f"Left out: {one}." for one in sentences(counters.left_out)]
    answered = counters.not_modified - counters.not_asked
    if answered and every:
        avoided = f", {size(counters.bytes_avoided)} avoided" if counters.bytes_avoided else ""
        said.append(f"{answered:,} of {count(every, noun)} answered ‘not modified’{avoided}.")
    if counters.not_asked:
        said.append(f"{counters.not_asked:,} were not asked for: the sitemap holds its word.")
    return " ".join(said)


def _changes(counters: Counters) -> str:
    told = [
        f"{number:,} {word}"
        for number, word in (
            (counters.created, "new"),
            (counters.updated, "updated"),
            (counters.deleted, "removed"),
        )
        if number
    ]
    return f"{', '.join(told)}." if told else "Nothing new."


def receipt(run_counters: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    """What was asked and what each tier avoided: rows of a name, a number, a sentence, and a share."""
    c = Counters.from_dict(run_counters)
    noun, every = unit(kind), max(1, done(run_counters))
    rows = []

    def row(tier: str, number: int, said: str, share: float) -> None:
        rows.append({"tier": tier, "number": number, "said": said, "share": min(1.0, share)})

    for reason, number in c.left_out.items():
        (words,) = sentences({reason: number})
        row("left out", number, words.partition(" ")[2], number / (every + number))
    if c.requests or not c.reads:
        row(
            "asked",
            c.requests,
            f"{'request' if c.requests == 1 else 'requests'}, {size(c.bytes_received)} received",
            1.0,
        )
    if c.reads:
        row("read", c.reads, f"{'file' if c.reads == 1 else 'files'} opened of {every:,}", c.reads / every)
    if c.not_due:
        words = f"left for later runs: {asked_of(c.processed, c.not_due)}"
        row("schedule", c.not_due, words, c.not_due / (every + c.not_due))
    if c.not_asked:
        row("sitemap", c.not_asked, "not asked for: their dates hold and are the same", c.not_asked / every)
    avoided = f", {size(c.bytes_avoided)} avoided" if c.bytes_avoided else ""
    answered = c.not_modified - c.not_asked
    row("validators", answered, f"not modified: no body sent{avoided}", answered / every)
    if c.resumed:
        row("resumed", c.resumed, "of them stored by an earlier run, and new to readers", c.resumed / every)
    if c.claims_checked:
        lies = count(c.claims_broken, "lie")
        row(
            "signals",
            c.claims_checked,
            f"claims of “unchanged” checked, {lies} found",
            c.claims_checked / every,
        )
    row("body hash", c.same_body, "byte for byte the same: not parsed", c.same_body / every)
    changed = c.created + c.updated
    row(
        "content hash",
        c.same_content,
        f"with the same text: not indexed; {count(changed, noun)} changed",
        c.same_content / every,
    )
    passages = c.passages_new + c.passages_reused
    row(
        "passages",
        c.passages_reused,
        f"of {passages:,} known, {c.passages_new:,} stored",
        _share(c.passages_reused, passages),
    )
    vectors = c.embeddings_computed + c.embeddings_reused
    row(
        "embeddings",
        c.embeddings_reused,
        f"reused, {c.embeddings_computed:,} computed",
        _share(c.embeddings_reused, vectors),
    )
    return rows


def progress(
    run: Run, counters: Mapping[str, Any], now: datetime, *, queued: int, expected: int
) -> dict[str, Any]:
    """How far a run has come: what is done, what is known of, how fast, and how long it may take."""
    so_far = done(counters)
    known = max(so_far + queued, so_far if queued else expected, so_far)
    took_s = max(0.0, ((run.finished_at or now) - run.started_at).total_seconds())
    rate = so_far / took_s if took_s >= 1 else 0.0
    left_s = (known - so_far) / rate if rate and known > so_far and run.status is RunStatus.RUNNING else None
    return {
        "status": run.status.value,
        "done": so_far,
        "known": known,
        "rate": round(rate, 1),
        "left_s": left_s,
        "took_s": took_s,
    }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
