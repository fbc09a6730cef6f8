"""Which `Last-Modified` can be asked about later, and which would hide the next edit.

A date in the future answers `If-Modified-Since` with "not modified" until that date has passed, whatever is
edited meanwhile. It is not stored, and one that was stored before is not sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NUMBERS = {name: number for number, name in enumerate(_MONTHS, 1)}


def http_date(text: str) -> datetime | None:
    """`Sun, 06 Nov 1994 08:49:37 GMT`, or another date of mail and HTTP; None for what is no date."""
    try:
        if len(text) == 29 and text.endswith(" GMT"):
            day, month, year = int(text[5:7]), _NUMBERS[text[8:11]], int(text[12:16])
            return datetime(
                year, month, day, int(text[17:19]), int(text[20:22]), int(text[23:25]), tzinfo=UTC
            )
        from email.utils import parsedate_to_datetime  # pulls in sockets and calendars; rarely needed

        at = parsedate_to_datetime(text)
    except (KeyError, ValueError, OverflowError):
        return None
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def is_future(text: str, now: datetime) -> bool:
    at = http_date(text)
    return at is not None and at > now


def without_future(headers: Mapping[str, str], now: datetime) -> Mapping[str, str]:
    """The headers of an answer, without a `Last-Modified` later than its `Date`, or than now if it has none.

    Names in lower case.
    """
    said = headers.get("last-modified")
    if said is None or not is_future(said, http_date(headers.get("date", "")) or now):
        return headers
    return {name: value for name, value in headers.items() if name != "last-modified"}
