"""A first harvest that was killed goes on behind what it had stored.

Datasets come in the order of their ids, so that what is stored are the first of them. One small question asks
the portal how many there are up to the last of these, and which date is their newest: while both are what is
stored, their pages are not asked for again.
"""

from __future__ import annotations

from rowen.core.document import Known
from rowen.errors import PermanentError, TransientError
from rowen.fetching.client import STOPS
from rowen.kinds.ckan import dates
from rowen.kinds.ckan import rules as ckan
from rowen.kinds.ckan.api import ActionApi


async def still_holds(api: ActionApi, known: list[Known], *, where: str) -> bool:
    """Does the portal have as many datasets up to the last of these, none of them newer?"""
    last = known[-1].reference
    filters = " AND ".join(filter(None, (where, ckan.up_to(last))))
    try:
        page = await api.search(rows=1, sort=ckan.NEWEST_FIRST, fl=ckan.ID_AND_DATE, fq=filters)
    except STOPS:
        raise
    except (TransientError, PermanentError):
        return False
    if page.count != len(known) or len(page.rows) != 1 or ckan.id_of(page.rows[0]) > last:
        return False
    moments = [moment for one in known if (moment := dates.moment_of(one.validators.etag or ""))]
    return len(moments) == len(known) and dates.is_same(
        max(moments).isoformat(timespec="microseconds"), ckan.validator_of(page.rows[0])
    )
