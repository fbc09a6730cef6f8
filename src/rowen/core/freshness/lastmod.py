"""The `lastmod` of a sitemap as a claim: "not changed since then".

A value is compared as it is written, not as a time: when a site is deployed after an edit, the date of the
edit may lie before our last look. It is a claim only once it is settled: a date without a time, in a zone
that is not named, covers every edit of that day, so a page that was read on that day may change under the
same date. A date in the future never settles. What is no date of the standard claims nothing. Pure.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from rowen.core import hashing
from rowen.core.rules.clocks import SKEW
from rowen.patterns import pattern

# W3C date and time: `2026`, `2026-11`, `2026-11-17`, `2026-11-17T09:30Z`, `2026-11-17T09:30:15.5+01:00`.
_DATE = pattern(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?\s*([Zz]|[+-]\d\d:?\d\d)?)?)?)?"
)
_WESTMOST = timezone(timedelta(hours=-12))
"""Where a day ends last: what stands for a zone that is not named."""
DIGEST_BYTES = 8


def ends_at(value: str) -> datetime | None:
    """The end of the stretch of time that a value names; None for what is no date."""
    found = _DATE.fullmatch(value.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part) if part else None for part in found.groups()[:6])
    assert year is not None
    try:
        start = datetime(year, month or 1, day or 1, hour or 0, minute or 0, second or 0, tzinfo=_WESTMOST)
        if month is None:
            return start.replace(year=year + 1).astimezone(UTC)
        if day is None:
            return (start.replace(day=28) + timedelta(days=4)).replace(day=1).astimezone(UTC)
        if hour is None:
            return (start + timedelta(days=1)).astimezone(UTC)
        zone = _zone(found[7]) if found[7] else _WESTMOST
        return (start.replace(tzinfo=zone) + timedelta(minutes=second is None, seconds=1)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def is_settled(value: str, now: datetime) -> bool:
    """Would an edit from now on be told by another value?"""
    end = ends_at(value)
    return end is not None and end + SKEW <= now


def digest(reference: str, value: str, payload_hash: bytes) -> bytes:
    """A value that was seen beside this version of a page: while all three are the same, it claims that."""
    return hashing.of_bytes(b"\0".join((reference.encode(), value.encode(), payload_hash)))[:DIGEST_BYTES]


def _zone(text: str) -> timezone:
    if text in "Zz":
        return UTC
    hours, minutes = int(text[1:3]), int(text[-2:])
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if text[0] == "-" else offset)
