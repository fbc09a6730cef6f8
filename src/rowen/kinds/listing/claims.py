"""The dates of a listing as claims: "this item is as it was when it bore this date".

Where a listing has the whole item, comparing costs nothing: every item that is read is a check. Where an item
is left out by its date, a few have their turn in each run and are asked for all the same. From a lie on
nothing is left out by dates, in the rest of that run and later, until they have proven themselves again. The
rules and the record are those of `core/freshness/claims.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rowen.core.freshness import claims
from rowen.core.freshness.claims import NOTHING, Record, Seen, Signal, Standing
from rowen.engine.intake import Intake
from rowen.ports.store.documents import Documents
from rowen.ports.store.store import Store


class ListingClaims:
    def __init__(self, intake: Intake, records: Mapping[Signal, Record]) -> None:
        self._intake = intake
        self._records = records
        self._record = records.get(Signal.LISTING, NOTHING)
        self._seen = Seen()
        self.judges = True
        """What is read now would have been read the same before: if not, a difference is not a lie."""

    @property
    def standing(self) -> Standing:
        return self._record.standing

    @property
    def may_skip(self) -> bool:
        """Is a date good enough to leave an item out? Until it lies, as the API means it."""
        return self.standing is not Standing.DISTRUSTED

    @property
    def lied(self) -> bool:
        """Was a date of this run's list found to be untrue?"""
        return self._seen.lies > 0

    def number(self, items: int) -> int:
        """How many of so many items a run asks for though their dates are the known ones."""
        return claims.bodies(items, proven=self.standing is Standing.TRUSTED)

    def skipped(self, number: int = 1) -> None:
        """So many items were left out on the word of their dates."""
        self._seen.claims += number

    def compared(self, reference: str, *, held: bool) -> None:
        """An item with the known date was compared by what it says."""
        if not self.judges:
            return
        self._seen.claims += 1
        self._seen.check(reference, held=held)
        self._intake.counters.claims_checked += 1
        self._intake.counters.claims_broken += not held

    async def save(self, store: Store) -> str | None:
        """One row at most, of a run that checked something; returns what a person should know."""
        if not self._seen.checked and (self._record is NOTHING or not self._seen.claims):
            return None
        at = self._intake.run.started_at
        after = {Signal.LISTING: claims.after_run(self._record, self._seen, at)}
        await store.save_claims(self._intake.lease, self._intake.run.source_id, after)
        return claims.hint(self._records, after, at)


async def in_turn(store: Documents, source_id: int, last: Any, number: int) -> list[str]:
    """The references that readers see behind `last`, so many, and from the first on behind the last one."""
    after = last if isinstance(last, str) else ""
    found = await store.visible_references(source_id, after=after, limit=number)
    if after and len(found) < number:
        start = await store.visible_references(source_id, after="", limit=number - len(found))
        found += [one for one in start if one <= after]
    return found
