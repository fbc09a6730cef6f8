"""Read a `Retry-After` header: seconds, or a date."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from rowen.core.web.last_modified import http_date

LONGEST_S = 999_999_999.0
"""Thirty years: more adds nothing."""


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait; None when the header is absent or makes no sense. Names in lower case.

    A date is by the server's clock, so it is compared with the server's `Date`, or with `now` without one.
    """
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    if value.isascii() and value.isdigit():
        # Endless digits are not worth converting.
        return float(value) if len(value) <= 9 else LONGEST_S
    at = http_date(value)
    if at is None:
        return None
    # An offset may carry a date beyond the end of the calendar, where it can be told from others and no more.
    return min(max(0.0, (at - (http_date(headers.get("date", "")) or now)).total_seconds()), LONGEST_S)
