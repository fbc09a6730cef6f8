"""Taking in the items of a run, and finding out which are gone.

An item with the known validator is not looked into; one that says the same as before costs no write. A set of
ids is the most that is kept of a list.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from importlib import metadata
from typing import Any

import orjson

from rowen.core import hashing
from rowen.core.document import Draft, Known, Validators, payload_hash
from rowen.core.rules.left_out import NOT_INDEXED
from rowen.core.search.copies import keys_of
from rowen.core.source import Source
from rowen.engine.intake import Intake
from rowen.engine.ports import Ports
from rowen.engine.tasks import each
from rowen.errors import PermanentError, RowenError, TransientError, Unfetchable, Unparseable, Vanished
from rowen.fetching.client import STOPS
from rowen.kinds.api import text as texts
from rowen.kinds.api.datasets.choice import NOT_CHOSEN
from rowen.kinds.api.items import Broken, Listed, Reading
from rowen.kinds.listing.claims import ListingClaims

TAKEN_AT_ONCE = 500
MAX_CHECKED = 500
"""So many absent items are asked for one by one before the list is believed about the rest."""
CHECKED_AT_ONCE = 50
DELETED_AT_ONCE = 1000
A_DAY_ANYWHERE = timedelta(hours=36)
"""A date without a time covers every edit of that day, in whatever zone."""
DELETED = "deleted"
"""The reason of a removal that the portal names itself."""
CONTENT_TYPE = "text/markdown"
HTML = "text/html; charset=utf-8"
REFUSED = (400, 405, 406, 409, 422, 451)
"""Statuses that are about the item that was asked for, not about who asks."""

Read = Callable[[Listed], Awaitable[Reading]]
Fits = Callable[[Listed, Reading], bool]
Before = Callable[[Sequence[Listed]], Awaitable[None]]
Check = Callable[[str], Awaitable[Listed | None]]
"""Asks for one item by its id: None when it is gone. Raises when that cannot be said."""


def record_of(item: Any) -> bytes | None:
    """An item as JSON that is the same for the same item; None for what JSON cannot say."""
    try:
        return orjson.dumps(item, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    except (TypeError, ValueError, RecursionError):
        return None


version = cache(metadata.version)
"""Of a package. Its files are read once: a process keeps the code it began with."""
READ_WITH = "read_with"
"""In a source's metadata: what decided how the records of its last complete list were read."""


def read_with(source: Source, params: Mapping[str, Any]) -> tuple[str, bool]:
    """What decides how records are read now, and whether all that readers see was read so.

    After a rollback readers see what earlier runs have read.
    """
    settings = {name: repr(value) for name, value in params.items()}
    now = hashing.of_mapping({"version": version("rowen"), "settings": settings}).hex()
    shown = source.active_generation and source.active_generation == source.last_generation
    return now, bool(shown) and source.metadata.get(READ_WITH) == now


def refuse_emptiness(source: Source) -> None:
    # invariant: a portal's empty answer wipes nothing.
    if source.active_generation:
        raise Unfetchable(
            f"portal `{source.location}`: answers with no datasets, where there were some",
            hint="nothing was deleted; look at the portal, and remove the source if it is gone for good",
        )


class Receiver:
    def __init__(
        self,
        ports: Ports,
        intake: Intake,
        read: Read,
        *,
        concurrency: int,
        details: bool = False,
        windowed: bool = False,
        in_order: bool = False,
        fits: Fits | None = None,
        before: Before | None = None,
        claims: ListingClaims | None = None,
    ) -> None:
        self._ports = ports
        self._intake = intake
        self._read = read
        self._concurrency = concurrency
        self._details = details
        """Reading an item is a request of its own."""
        self._windowed = windowed
        self._fits = fits
        """Says whether the settings choose an item; None when they choose all."""
        self._before = before
        """Called with items that will be read, many at a time, to ask for what their list does not have."""
        self._claims = claims
        """What the dates of the list claim, where items are left out by them."""
        self.unchanged_since: datetime | None = None
        """An item with an earlier date is claimed to be as it was."""
        self.checking: set[str] = set()
        """Ids that are compared by what they say, whatever date they have."""
        self._reads_at_once = 1 if in_order else concurrency
        """With one, items are stored in the order they came in: what is stored is a beginning of the list."""
        self.by_validator = not intake.unconditional
        """An item with the known validator is not looked into."""
        self.by_record = False
        """An item whose record is the stored one is not read: it would be read as before, see `read_with`."""
        self._records: Mapping[int, bytes] = {}
        self._again = False
        """Items are read once more, for what was asked for beside their list."""
        self._leftovers: Mapping[str, Known] = {}
        self.taken: set[str] = set()
        self.read: set[str] = set()
        """Of these, the ones that were looked into."""
        self.unknown = 0
        """Of these, how many readers did not see before."""
        self.failures: dict[str, datetime | None] = {}
        """Ids of what failed, with the time of its last change where that is known."""
        self.vanished: dict[str, datetime | None] = {}
        """Ids of what has no detail any more, with the same; the caller judges them at the end."""
        self.watched: Collection[str] = ()
        """Ids that a caller wants to see in `met`."""
        self.met: set[str] = set()
        """Of these, the ones that were asked for."""

    async def take(self, items: Sequence[Listed | Broken]) -> None:
        for start in range(0, len(items), TAKEN_AT_ONCE):
            await self._take(items[start : start + TAKEN_AT_ONCE])

    async def _take(self, items: Sequence[Listed | Broken]) -> None:
        page: dict[str, Listed] = {}
        for one in items:
            if isinstance(one, Listed):
                if one.id not in self.taken:
                    page[one.id] = one
            elif self._windowed:
                # It could never be stored; as a failure it would keep the window from ever moving on.
                self._intake.counters.ignored["without_id"] += 1
            else:
                self.fail(one.id, one.error)
        self.taken.update(page)
        self._meet(page)
        if not page:
            return
        await self._intake.look_up(list(page))
        for one in [one for one in page.values() if one.gone]:
            del page[one.id]
            self._intake.gone(one.id, DELETED)
        self.unknown += sum(one not in self._intake.known for one in page)
        if self.by_record:
            known = [one.document_id for one in self._intake.known.values()]
            self._records = await self._ports.store.record_hashes(known)
        if self._details:
            self._leftovers = await self._ports.store.leftovers(self._intake.run.source_id, list(page))
        await self._read_all([one for one in page.values() if not await self._is_known(one)])

    async def take_again(self, items: Sequence[Listed]) -> None:
        """Read known items once more: there is more to be said of them than when they were stored."""
        await self._intake.look_up([one.id for one in items])
        # They are counted by what comes of it, and not twice.
        self._intake.counters.unchanged -= sum(one.id in self.taken for one in items)
        # Their dates were judged when they were taken.
        self._again = True
        try:
            await self._read_all(items)
        finally:
            self._again = False

    async def _read_all(self, waiting: Sequence[Listed]) -> None:
        self.read.update(one.id for one in waiting)
        if self._before is not None and waiting:
            await self._before(waiting)
        await each(waiting, self._receive, self._reads_at_once)

    async def _is_known(self, one: Listed) -> bool:
        known = self._intake.known.get(one.id)
        by_validator = self.by_validator and bool(one.validator)
        if known is not None:
            same_date = by_validator and known.validators.etag == one.validator
            if same_date and not self._must_compare(known, one):
                self._intake.not_modified(known, sent=not self._details)
                return True
            if self._has_its_record(known, one):
                if self._is_claimed(known, one):
                    self._said(one, held=True)
                self._intake.same_body(known, Validators(one.validator or None))
                return True
            return False
        left = self._leftovers.get(one.id) if by_validator else None
        if left is None or left.validators.etag != one.validator:
            return False
        await self._intake.revived(left)
        return True

    def _must_compare(self, known: Known, one: Listed) -> bool:
        """Its date is the known one: is it read all the same?"""
        if self._claims is None:
            return False
        if one.id in self.checking or (self._details and self._claims.lied):
            return True
        if not self._details and self.by_record and known.document_id in self._records:
            # The list has all of it: comparing costs nothing.
            held = self._has_its_record(known, one)
            if held:
                self._said(one, held=True)
            return not held
        self._claims.skipped()
        return False

    def _is_claimed(self, known: Known, one: Listed) -> bool:
        """Does the list say by its date that the item is as it was?"""
        if one.validator:
            return known.validators.etag == one.validator
        if self.unchanged_since is None or one.at is None:
            return False
        return one.at + A_DAY_ANYWHERE <= self.unchanged_since

    def _said(self, one: Listed, *, held: bool) -> None:
        if self._claims is not None:
            self._claims.compared(one.id, held=held)

    def _judge(self, known: Known | None, one: Listed, reading: Reading, digest: bytes, draft: Draft) -> None:
        """What the date of an item claimed, beside what it says now."""
        if known is None or not self._is_claimed(known, one):
            return
        same = known.body_hash == digest or draft.payload_hash == known.payload_hash
        # What was asked for beside the list may differ though the list is true.
        if same or reading.listed is None:
            self._said(one, held=same)

    def _has_its_record(self, known: Known, one: Listed) -> bool:
        stored = self._records.get(known.document_id)
        if stored is None or one.gone:
            return False
        record = record_of(one.item)
        # A record that has more than the list says has the hash of what that said beside it.
        return record is not None and hashing.of_bytes(record) in (stored, known.body_hash)

    async def _receive(self, one: Listed) -> None:
        try:
            await self._store(one, await self._read(one))
        except STOPS:
            raise
        except Vanished:
            self.vanished[one.id] = one.at
        except RecursionError:
            self.fail(one.id, Unparseable("nested too deeply"))
        except (TransientError, PermanentError) as exc:
            if self._windowed and exc.facts.get("status") in REFUSED:
                # Tomorrow's answer will be the same, and must not keep the window from moving on.
                self._intake.counters.ignored["refused"] += 1
            else:
                self._fail_or_stop(one.id, exc, at=one.at)

    async def _store(self, one: Listed, reading: Reading) -> None:
        intake = self._intake
        known = intake.known.get(one.id)
        if self._fits is not None and not self._fits(one, reading):
            if known is None:
                intake.counters.ignored[NOT_CHOSEN] += 1
            else:
                intake.gone(one.id, NOT_CHOSEN)
            return
        validators = Validators(one.validator or None)
        content_hash = payload = b""
        if not reading.is_html:
            content_hash = hashing.of_text(reading.text)
            payload = payload_hash(content_hash, reading.title, reading.url, reading.metadata)
        digest = hashing.of_bytes(reading.listed) if reading.listed is not None else payload or reading.digest
        # What was asked for beside the list may be new though the list is not.
        says_all = reading.listed is None and not intake.unconditional
        if known is not None and known.body_hash == digest and says_all:
            if self._is_claimed(known, one):
                self._said(one, held=True)
            intake.same_body(known, validators)
            return
        if reading.left_out:
            intake.counters.ignored[NOT_INDEXED] += reading.left_out
        record = record_of(reading.item if reading.item is not None else one.item)
        draft = Draft(
            reference=one.id,
            url=reading.url,
            title=reading.title,
            text=await self._text(reading),
            content_hash=content_hash,
            body_hash=digest,
            body_bytes=len(record or b""),
            validators=validators,
            content_type=CONTENT_TYPE,
            metadata=reading.metadata,
            record=record,
            keys=keys_of(reading.signs(), reading.title, reading.text) if reading.signs else (),
        )
        if payload:
            draft.has_payload_hash(payload)
        if not self._again:
            self._judge(known, one, reading, digest, draft)
        await intake.fetched(draft)

    async def _text(self, reading: Reading) -> str:
        if not reading.is_html:
            self._intake.counters.parses += 1
            return reading.text
        body = reading.text.encode("utf-8", "replace")
        converted = await self._intake.convert(body, content_type=HTML, url=reading.url)
        return texts.under_its_title(converted.text)

    def fail(self, id: str, exc: RowenError, *, at: datetime | None = None) -> None:  # noqa: A002
        self.taken.add(id)
        self.failures[id] = at
        self._intake.failed(id, exc)

    def _fail_or_stop(self, id: str, exc: RowenError, *, at: datetime | None = None) -> None:  # noqa: A002
        if self._details and exc.facts.get("status") == 401:
            # The answer will be the same for every other item.
            raise exc
        self.fail(id, exc, at=at)

    def _meet(self, ids: Collection[str]) -> None:
        self.met.update(one for one in ids if one in self.watched)

    # what is gone

    async def compare(self, listed: set[str]) -> tuple[list[str], set[str]]:
        """What readers see and the list does not name; what the list names and readers do not see."""
        absent: list[str] = []
        unknown = set(listed)
        after = ""
        while references := await self._ports.store.visible_references(
            self._intake.run.source_id, after=after, limit=1000
        ):
            after = references[-1]
            unknown.difference_update(references)
            absent += [one for one in references if one not in listed]
        return absent, unknown

    async def look_for(self, ids: Sequence[str], check: Check) -> tuple[list[Listed], list[str]]:
        """Ask for each by itself: what is there, and what is gone. An error is a failure of its item."""
        found: list[Listed] = []
        gone: list[str] = []

        async def one(reference: str) -> None:
            try:
                item = await check(reference)
            except STOPS:
                raise
            except (TransientError, PermanentError) as exc:
                self._fail_or_stop(reference, exc)
                return
            if item is None:
                gone.append(reference)
            else:
                found.append(item)

        self._meet(ids)
        await each(ids, one, self._concurrency)
        return found, sorted(gone)

    async def delete_absent(self, absent: Sequence[str], check: Check) -> None:
        """Delete what is gone by the API's own answer; what is there after all is taken in."""
        missed = 0
        for start in range(0, len(absent), CHECKED_AT_ONCE):
            some = absent[start : start + CHECKED_AT_ONCE]
            if start >= MAX_CHECKED:
                # A list that missed items which are there is not believed about the others.
                await self.delete([] if missed else absent[start:], "absent")
                return
            found, gone = await self.look_for(some, check)
            if found:
                missed += len(found)
                self._intake.counters.ignored["not_listed_but_there"] += len(found)
                await self.take(found)
            await self.delete(gone, "absent")

    async def delete_vanished(self) -> None:
        """What readers do not see went between the list and the request for it."""
        ids = list(self.vanished)
        for start in range(0, len(ids), DELETED_AT_ONCE):
            some = ids[start : start + DELETED_AT_ONCE]
            await self.delete(some, Vanished.reason)
            self._intake.counters.ignored[Vanished.reason] += len(some) - len(self._intake.known)

    async def delete(self, ids: Sequence[str], reason: str) -> None:
        for start in range(0, len(ids), DELETED_AT_ONCE):
            some = ids[start : start + DELETED_AT_ONCE]
            await self._intake.look_up(some)
            for reference in some:
                self._intake.gone(reference, reason)
