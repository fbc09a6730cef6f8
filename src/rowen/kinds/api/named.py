"""One run of an API for some items alone, each asked for by itself: what a search does before it answers.

Where an item has an address, that is asked. A list that came as one answer with validators is asked for once,
and counts for all its items. Of an API with details the detail is asked, beside what the list said before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rowen.core.document import Known
from rowen.core.run import Mode
from rowen.core.source import Source
from rowen.engine.kind import Harvested
from rowen.errors import PermanentError, TransientError, Unparseable, Vanished
from rowen.fetching.client import stop_reason
from rowen.kinds.api.harvest import VALIDATORS, WholeList
from rowen.kinds.api.items import Listed
from rowen.kinds.api.rules import Definition

DETAIL, ITEM = "detail", "item"
"""Where `items.with_detail` puts what was said of an item alone, and a listed item that is no object."""


def can_ask(api: Definition, source: Source) -> bool:
    """Can a source be asked for single items, at the price of these?"""
    has_address = bool(api.detail) or (api.catalogue is not None and bool(api.catalogue.check))
    return has_address or source.metadata.get(VALIDATORS) is not None


class NamedItems(WholeList):
    @property
    def _uses_dates(self) -> bool:
        """No list is read: what it would say of these items now is not known."""
        return False

    async def run(self) -> Harvested:
        """Nothing of the list is remembered: the next run compares what it would have compared."""
        self._details: dict[str, Any] = {}
        """What was said in this run of items alone."""
        references = list(dict.fromkeys(self._intake.only or ()))
        # The text of an item is compared also when its date is the stored one.
        self._receiver.by_validator = False
        error = None
        try:
            if self._api.detail or (self._api.catalogue is not None and self._api.catalogue.check):
                await self._by_address(references)
            else:
                await self._by_list(references)
        except (TransientError, PermanentError) as exc:
            error = exc
        return Harvested(
            stop_reason=stop_reason(error),
            error=error,
            # That nothing is new is an answer; that nothing answered is not.
            mode=None if self._intake.counters.failed else Mode.INCREMENTAL,
            complete=False,
        )

    async def _by_address(self, references: Sequence[str]) -> None:
        known = await self._ports.store.known(self._source.id, references)

        async def with_detail(reference: str) -> Listed | None:
            try:
                self._details[reference] = await self._detail(reference)
            except Vanished:
                return None
            stored = known.get(reference)
            record = await self._ports.store.record(stored.document_id) if stored else None
            if stored is None or record is None:
                raise Unparseable(f"`{reference}`: what its list said of it is not stored")
            return Listed(reference, _listed_part(json.loads(record)), stored.validators.etag or "")

        check = with_detail if self._api.detail else self._dataset
        found, gone = await self._receiver.look_for(references, check)
        await self._receiver.take(found)
        if self._api.detail:
            self._receiver.vanished.update(dict.fromkeys(gone))
            await self._settle_vanished(())
        else:
            await self._receiver.delete(gone, Vanished.reason)

    async def _detail(self, id: str) -> Any:  # noqa: A002
        """The answer that came for it in this run, or a request."""
        return self._details[id] if id in self._details else await super()._detail(id)

    async def _by_list(self, references: Sequence[str]) -> None:
        walk, wanted = self._walk(remembered=self._remembered()), set(references)
        async for page in walk.pages():
            await self._receiver.take([one for one in page if one.id in wanted])
        if walk.not_modified:
            self._intake.counters.not_modified += 1
            self._confirm(await self._ports.store.known(self._source.id, references))
        elif walk.is_complete() and not walk.nameless:
            await self._receiver.delete([one for one in references if one not in walk.seen], "absent")

    def _confirm(self, known: Mapping[str, Known]) -> None:
        self._intake.all_not_modified(list(known.values()))


def _listed_part(record: Any) -> Any:
    """What the list said, in a record that has the detail beside it: the reverse of `items.with_detail`."""
    if not isinstance(record, dict):
        return record
    if record.keys() == {ITEM, DETAIL}:
        return record[ITEM]
    return {name: value for name, value in record.items() if name != DETAIL}
