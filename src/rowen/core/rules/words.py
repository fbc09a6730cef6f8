"""Numbers with their nouns, and times, as every message says them."""

from __future__ import annotations

from datetime import datetime, timedelta


def count(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def size(number_bytes: int) -> str:
    value = float(number_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def ago(moment: datetime | None, now: datetime) -> str:
    if moment is None:
        return "never"
    passed = (now - moment).total_seconds()
    if passed < -300:
        return "in the future"
    if passed < 5:
        return "just now"
    for unit, length, limit in (("s", 1, 60), ("min", 60, 3600), ("h", 3600, 48 * 3600)):
        if passed < limit:
            return f"{passed // length:.0f} {unit} ago"
    return f"{passed // 86_400:.0f} days ago"


def ahead(moment: datetime, now: datetime) -> str:
    """`in 12 min`; `now` for a moment that has come."""
    left = (moment - now).total_seconds()
    if left < 1:
        return "now"
    for unit, length, limit in (("s", 1, 60), ("min", 60, 3600), ("h", 3600, 48 * 3600)):
        if left < limit:
            return f"in {left // length:.0f} {unit}"
    return f"in {left // 86_400:.0f} days"


def day(moment: datetime, now: datetime) -> str:
    """`12 Nov`, with the year where it is another one."""
    return f"{moment.day} {moment:%b}" + ("" if moment.year == now.year else f" {moment.year}")


def time_of_day(moment: datetime, now: datetime) -> str:
    """`16:40 UTC`, with the day where it is another one."""
    return f"{moment:%H:%M} UTC" if moment.date() == now.date() else f"{day(moment, now)} {moment:%H:%M} UTC"


def minute(moment: datetime) -> str:
    """The first minute that begins at this moment or after it: what was to last until then is over."""
    return f"{moment + timedelta(seconds=59, microseconds=999_999):%Y-%m-%d %H:%M} UTC"


def shortened(text: str, limit: int) -> str:
    """The beginning of a text on one line, cut where a word ends."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[:limit].rsplit(" ", 1)[0] + " …"
