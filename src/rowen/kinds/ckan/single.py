"""Single datasets of a CKAN portal, asked for by id.

They are new or gone, a search wants them current, or their dates are checked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from rowen.core.rules.clocks import is_ahead
from rowen.core.source import Source
from rowen.engine.ports import Ports
from rowen.engine.tasks import each
from rowen.errors import PermanentError, TransientError, Vanished
from rowen.fetching.client import STOPS
from rowen.kinds.api.items import Listed
from rowen.kinds.api.receiver import Receiver
from rowen.kinds.ckan import rules as ckan
from rowen.kinds.ckan.api import ActionApi
from rowen.kinds.ckan.rules import Refused
from rowen.kinds.listing.claims import ListingClaims, in_turn

DATES_CHECKED = "dates_checked"
"""In a source's metadata: when datasets were last asked for though their dates were the known ones, and the
last of them.
"""
CHECK_EVERY = timedelta(hours=20)
"""At most once a day, by a schedule that is not exact."""


class SingleDatasets:
    def __init__(
        self,
        ports: Ports,
        source: Source,
        params: Mapping[str, Any],
        api: ActionApi,
        receiver: Receiver,
        claims: ListingClaims,
        now: datetime,
        is_chosen: Callable[[Listed], Awaitable[bool]],
        *,
        datasets: str,
    ) -> None:
        """`datasets` is where the source's metadata has how many there are."""
        self._ports = ports
        self._source = source
        self._concurrency: int = params["concurrency"]
        self._api = api
        self._receiver = receiver
        self._claims = claims
        self._now = now
        self._is_chosen = is_chosen
        self._datasets = datasets

    async def fetch(self, references: Sequence[str]) -> None:
        """Those that the portal lists and readers do not see as they are."""
        found, _ = await self._receiver.look_for(references, partial(self.check, is_listed=True))
        await self._receiver.take(found)

    async def named(self, references: Sequence[str]) -> None:
        """These and no others; one that is not there any more goes."""
        found, gone = await self._receiver.look_for(references, partial(self.check, is_listed=True))
        await self._receiver.take([one for one in found if one.id in references])
        await self._receiver.delete(gone, Vanished.reason)

    async def check(self, reference: str, *, is_listed: bool = False) -> Listed | None:
        """None for one that is gone. Raises when that cannot be said."""
        try:
            row = await self._api.show(reference)
        except Refused as exc:
            # A dataset that is not listed and not shown is gone for other readers too. One that the portal
            # lists and does not show proves nothing: perhaps only these credentials do not suffice.
            if exc.status in ckan.NOT_THERE or (exc.status in ckan.NOT_ALLOWED and not is_listed):
                return None
            raise
        found = None if ckan.is_deleted(row) else listed(row)
        # What the settings do not choose is gone as far as this source is concerned.
        return found if found is not None and await self._is_chosen(found) else None

    async def check_dates(self) -> dict[str, Any]:
        """Of the datasets whose dates say that they are as they were, a few are asked for, in turn.

        Returns what the source remembers of it.
        """
        now, last = self._now, ""
        match self._source.metadata.get(DATES_CHECKED):
            case [str(at), str(last)]:
                checked_at = datetime.fromisoformat(at)
                if now - checked_at < CHECK_EVERY and not is_ahead(checked_at, now):
                    return {}
            case _:
                # Nothing was left out by a date yet: the first check is that of a later run.
                return {DATES_CHECKED: [now.isoformat(), ""]}
        total = self._source.metadata.get(self._datasets)
        number = self._claims.number(total) if isinstance(total, int) else 0
        ids = await in_turn(self._ports.store, self._source.id, last, number) if number else []
        found: list[Listed] = []

        async def ask(reference: str) -> None:
            try:
                one = await self.check(reference, is_listed=True)
            except STOPS:
                raise
            except (TransientError, PermanentError):
                # It says nothing about the date, and what readers see stays.
                return
            if one is not None and one.id == reference:
                found.append(one)

        # One that came in this run was not left out by its date.
        await each([one for one in ids if one not in self._receiver.taken], ask, self._concurrency)
        self._claims.skipped(max(0, (total or 0) - len(self._receiver.taken) - len(found)))
        self._receiver.checking.update(one.id for one in found)
        await self._receiver.take(found)
        return {DATES_CHECKED: [now.isoformat(), ids[-1] if ids else ""]}


def listed(row: Any) -> Listed | None:
    """None for what has no id."""
    reference = ckan.id_of(row)
    return Listed(reference, row, ckan.validator_of(row)) if reference else None
