"""May a portal be believed when it says what changed? One small question answers that, once in a day.

Large portals are known to answer "nothing" to the filter by date although datasets changed: their index is
behind, or compares dates as texts. The newest dataset by order of date, and how many there are, must fit what
the filter said. What is remembered of a portal is in its source's metadata.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from rowen.core.rules.clocks import is_ahead
from rowen.kinds.ckan import rules as ckan
from rowen.kinds.ckan.rules import Page

CHECKED_AT = "changes_checked_at"
"""When the filter by date was last compared with the newest date and the number of datasets."""
ANNOUNCED = "datasets_announced"
"""How many datasets the portal said it has, then."""
DISTRUSTED = "changes_filter_distrusted"
"""Since when the filter is not used, because it had answered wrongly."""
CHECK_EVERY = timedelta(days=1)
DISTRUST_FOR = timedelta(days=30)
SLACK = timedelta(seconds=1)


class Finding(NamedTuple):
    """What the check found."""

    unnamed: str
    """A dataset that changed and was not named; empty for none."""
    announced: int | None
    moved: bool
    """There are more or fewer datasets than the last time and the changes explain."""


def is_distrusted(metadata: Mapping[str, Any], now: datetime) -> bool:
    since = _moment(metadata.get(DISTRUSTED))
    return since is not None and now - since < DISTRUST_FOR and not is_ahead(since, now)


def is_check_due(metadata: Mapping[str, Any], now: datetime) -> bool:
    last = _moment(metadata.get(CHECKED_AT))
    return last is None or now - last > CHECK_EVERY or is_ahead(last, now)


def finding(
    page: Page, metadata: Mapping[str, Any], *, since: datetime, named: Collection[str], created: int
) -> Finding:
    """`page` has the newest dataset of all; `named` are those that the filter by date found."""
    newest = page.rows[0] if page.rows else None
    changed_at, reference = ckan.modified_at(newest), ckan.id_of(newest)
    unnamed = changed_at is not None and changed_at >= since + SLACK and reference not in named
    before = metadata.get(ANNOUNCED)
    moved = isinstance(before, int) and page.count is not None and page.count != before + created
    return Finding(reference if unnamed else "", page.count, moved)


def _moment(value: Any) -> datetime | None:
    return datetime.fromisoformat(value) if isinstance(value, str) else None
