"""When a dataset was last changed, as portals write it.

A portal's search index and its records write the same moment differently (`...05.821Z`, `...05.821474`):
moments are compared, not their texts, at the precision that both have. Pure.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_PARTS = re.compile(r"\d{4}-?\d{2}-?\d{2}(?:[T ](\d{2}):?(\d{2})?(?::?(\d{2})(?:[.,](\d{1,9}))?)?)?")


def moment_of(text: str) -> datetime | None:
    """None for what is no date. CKAN's times are UTC and do not say so."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        return None


def is_same(one: str, other: str) -> bool:
    """Do both texts stand for the same moment, as far as the less precise of them says?"""
    if one == other:
        return True
    first, second = moment_of(one), moment_of(other)
    if first is None or second is None:
        return False
    # Less than one unit apart: the other digits may have been cut off or rounded.
    return abs(first - second) < max(_unit(one), _unit(other))


def _unit(text: str) -> timedelta:
    """The smallest difference that a text can tell."""
    found = _PARTS.match(text)
    hour, minute, second, fraction = found.groups() if found else (None, None, None, None)
    if fraction:
        return timedelta(microseconds=10 ** max(0, 6 - len(fraction)))
    if second:
        return timedelta(seconds=1)
    if minute:
        return timedelta(minutes=1)
    return timedelta(hours=1) if hour else timedelta(days=1)
