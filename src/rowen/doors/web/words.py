"""How templates say things: numbers, sizes, ages, moments, and what became of documents.

Everything a template shows of a source goes through autoescaping; what is `Markup` here is built of numbers
and of escaped text alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from markupsafe import Markup, escape

from rowen.doors.words import OUTCOMES as OUTCOME_WORDS
from rowen.doors.words import count, nothing, seconds, size

STATES: dict[str, tuple[str, str]] = {
    "up_to_date": ("ok", "Up to date"),
    "running": ("run", "Running"),
    "partial": ("part", "Partial"),
    "waiting": ("wait", "Waiting"),
    "paused": ("pause", "Paused"),
    "held": ("held", "Held"),
    "stopped": ("fail", "Stopped"),
    "failed": ("fail", "Failed"),
    "never_run": ("idle", "Never run"),
}
"""A state of a source: the shape of its badge, and its word."""

OUTCOMES: dict[str, tuple[str, str]] = {
    "running": ("run", "Running"),
    "completed": ("ok", "Completed"),
    "capped": ("ok", "Capped"),
    "partial": ("part", "Partial"),
    "held": ("held", "Held"),
    "failed": ("fail", "Failed"),
    "cancelled": ("idle", "Cancelled"),
    "interrupted": ("fail", "Interrupted"),
}
"""How a run ended."""

SIGNS: tuple[tuple[str, str, str, str], ...] = (
    ("created", "new", "+", "new"),
    ("updated", "upd", "~", "updated"),
    ("deleted", "gone", "−", "removed"),
    ("failed", "fail", "!", "failed"),
)
"""Counter, colour, sign and word: always in this order."""
CHANGES = {
    "added": ("new", "+", "new"),
    "changed": ("upd", "~", "updated"),
    "moved": ("upd", "~", "moved"),
    "removed": ("gone", "−", "removed"),
}

# Put together of pieces where there are many: `Markup.format` reads its template anew for each.
MARK, MARK_END = Markup("<mark>"), Markup("</mark>")


def num(value: float) -> str:
    return f"{value:,.0f}"


def badge(state: str, *, runs: bool = False, word: str = "") -> Markup:
    shape, said = (OUTCOMES if runs else STATES).get(state, ("idle", state.replace("_", " ").capitalize()))
    return Markup('<span class="st st-{}">{}</span>').format(shape, word or said)


def signs(counters: Mapping[str, Any], ended: str = "completed") -> Markup:
    """`+3 ~12 −1 !2`, each with its word for those who do not see the sign; `ended` is how the run did."""
    told = [
        Markup('<b class="{}">{}{}<i> {} </i></b>').format(colour, sign, num(counters[name]), word)
        for name, colour, sign, word in SIGNS
        if counters.get(name)
    ]
    return Markup("").join(told) or Markup('<span class="soft nb">{}</span>').format(nothing(ended))


def span(value: float) -> str:
    """A stretch of time as people say it: `1 h 20 min`, `2 days`."""
    value = max(0.0, value)
    if value < 60:
        return f"{value:.0f} s"
    minutes = int(value // 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 48 * 60:
        hours, rest = divmod(minutes, 60)
        return f"{hours} h {rest} min" if rest and hours < 6 else f"{hours} h"
    return f"{minutes // 1440} days"


def age(moment: datetime | None, now: datetime, *, none: str = "never") -> Markup:
    """How long ago, in an element that says when."""
    if moment is None:
        return escape(none)
    passed = (now - moment).total_seconds()
    said = "just now" if -300 < passed < 5 else f"{span(passed)} ago" if passed > 0 else f"in {span(-passed)}"
    return Markup('<time datetime="{0}" title="{0}" data-age>{1}</time>').format(_iso(moment), said)


def moment(when: datetime | None, now: datetime, *, none: str = "–") -> Markup:
    """`18:00` today, `16 Nov 12:00` this year; a script shows it in the reader's zone."""
    if when is None:
        return escape(none)
    return Markup('<time datetime="{0}" data-at>{1}</time>').format(_iso(when), said_at(when, now))


def said_at(when: datetime, now: datetime) -> str:
    if when.date() == now.date():
        return f"{when:%H:%M}"
    day = f"{when.day} {when:%b}"
    return f"{day} {when:%H:%M}" if when.year == now.year else f"{day} {when:%Y}"


def marked(snippet: str, matches: Iterable[tuple[int, int]]) -> Markup:
    """A snippet with its matched words as `<mark>`: nothing of the text itself becomes an element."""
    made: list[Markup] = []
    done = 0
    for start, end in matches:
        made += (escape(snippet[done:start]), MARK, escape(snippet[start:end]), MARK_END)
        done = end
    return Markup("").join((*made, escape(snippet[done:])))


def outside(url: str, text: str, *, css: str = "") -> Markup:
    """A link that leaves this page; text only when the address is not one of the web."""
    if not is_web(url):
        return Markup('<span class="{}">{}</span>').format(css, text)
    return Markup('<a class="{}" href="{}" rel="noreferrer noopener">{}</a>').format(css, url, text)


def is_web(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))


def percent(share: float | None) -> str:
    """`97.4 %`, and never 100 for what is not all of it."""
    if share is None:
        return "–"
    value = share * 100
    if 99.9 <= value < 100:
        return "99.9 %"
    return f"{value:.0f} %" if value in (0, 100) or value < 90 else f"{value:.1f} %"


def coded(text: str | None) -> Markup:
    """A message of ours: what stands between backticks is code."""
    parts = re.split(r"`([^`]*)`", text or "")
    made = Markup("")
    for index, part in enumerate(parts):
        made += Markup("<code>{}</code>").format(part) if index % 2 else escape(part)
    return made


def sentence(text: str) -> str:
    """With a capital at its beginning; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def said(text: str | None) -> Markup:
    """A message of ours as a sentence: with a capital, and with a full stop where it asks nothing."""
    return coded(sentence(text) + ("" if text.endswith("?") else ".")) if text else Markup("")


def short(url: str, keep: int = 60) -> str:
    """An address without its scheme, cut in the middle where it is long."""
    text = re.sub(r"^https?://", "", url).removesuffix("/")
    return text if len(text) <= keep else f"{text[: keep // 2]}…{text[-(keep // 2) + 1 :]}"


def _iso(when: datetime) -> str:
    return when.isoformat(timespec="seconds")


FILTERS = {
    "num": num,
    "size": size,
    "seconds": seconds,
    "span": span,
    "signs": signs,
    "badge": badge,
    "marked": marked,
    "percent": percent,
    "coded": coded,
    "short": short,
    "said": said,
    "sentence": sentence,
    "is_web": is_web,
}
GLOBALS = {
    "count": count,
    "outside": outside,
    "CHANGES": CHANGES,
    "SIGN": {name: (colour, sign) for name, colour, sign, _ in SIGNS},
    "WORD": OUTCOME_WORDS,
}
