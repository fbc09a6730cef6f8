"""One run of an API by its whole list, and what runs by date have in common with it.

An item that says the same costs no write, a list that comes as one answer is asked for conditionally, and
what a complete list does not name is gone. A first run that was killed goes on behind what it has stored,
where the list is in the order of ids or its place in the list was kept.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from heapq import nsmallest
from typing import Any

from rowen.core.document import Validators
from rowen.core.freshness.claims import Standing
from rowen.core.rules.left_out import BEYOND_PAGES
from rowen.core.rules.words import count
from rowen.core.run import Mode, StopReason
from rowen.core.source import Source
from rowen.core.window import Window
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested
from rowen.engine.ports import Ports
from rowen.errors import PermanentError, TransientError, Unfetchable, Unparseable, Vanished
from rowen.fetching.client import STOPS, stop_reason
from rowen.kinds.api import items, rules
from rowen.kinds.api.answers import parsed
from rowen.kinds.api.asking import ApiClient, ahead
from rowen.kinds.api.items import Listed, Reading
from rowen.kinds.api.receiver import READ_WITH, Receiver, read_with, refuse_emptiness
from rowen.kinds.api.rules import Definition, Paging
from rowen.kinds.api.tables import asked as tables
from rowen.kinds.api.walking.checkpoint import Checkpoint
from rowen.kinds.api.walking.slices import SlicedWalk
from rowen.kinds.api.walking.walk import Remembered, Rows, Walk
from rowen.kinds.listing.claims import ListingClaims, in_turn
from rowen.ports.fetcher import Response

VALIDATORS = "validators"
"""In a source's metadata: of a list that comes as one answer, with its number of rows."""
DATES_CHECKED = "dates_checked"
"""In a source's metadata: the last item that was asked for though its date was the known one."""
GONE = (404, 410)
WITNESSES = 3
"""So many other items are asked for before a 404 for each one that was asked for is about the API."""
BY_PLACE = (Paging.PAGE, Paging.OFFSET, Paging.CURSOR, Paging.TOKEN, Paging.NEXT)
"""Ways of paging whose place in the list is kept for the run after a kill."""
NOT_SHOWN = (403, *GONE)
"""Answers for a dataset that its portal's list does not name any more."""


def every_reference(source: Source, settings: Mapping[str, Any]) -> Callable[[str], bool]:
    """For `Kind.covers`: an id does not say what a dataset is about; the list of an edited source does."""
    return lambda reference: True


class Harvest:
    def __init__(
        self,
        ports: Ports,
        source: Source,
        params: Mapping[str, Any],
        intake: Intake,
        client: ApiClient,
        api: Definition,
        claims: ListingClaims,
    ) -> None:
        self._ports = ports
        self._source = source
        self._params = params
        self._intake = intake
        self._client = client
        self._api = api
        self._claims = claims
        self._remembered_checks: dict[str, Any] = {}
        self._tables = tables.of_portal(ports, source, params, intake, client, api.catalogue)
        self._receiver = Receiver(
            ports,
            intake,
            self._read,
            concurrency=params["concurrency"],
            details=bool(api.detail),
            windowed=api.windowed,
            fits=self._fits if api.choice else None,
            before=self._tables.before,
            claims=claims if self._uses_dates else None,
        )
        self._checkpoint = Checkpoint(ports, source.id, intake)
        self._shows_details = False
        """The API has answered with the detail of an item in this run."""
        self.resumed = False
        """The list was read from the place on that a killed run had left."""
        self._read_with, as_before = read_with(source, params)
        claims.judges = as_before
        self._receiver.by_validator = self._receiver.by_validator and claims.may_skip
        # A record with its detail is made of more than the list says.
        self._receiver.by_record = as_before and api.catalogue is not None and not api.detail

    @property
    def _uses_dates(self) -> bool:
        """Are items left out by the dates of their list? In windows of time, only those that overlap."""
        changes = self._api.catalogue is not None and bool(self._api.catalogue.changes)
        return (bool(self._api.detail) and not self._api.windowed) or changes

    def _walk(
        self, *, window: Window | None = None, remembered: Remembered | None = None, changes: bool = False
    ) -> Walk:
        catalogue = self._api.catalogue
        kind = SlicedWalk if catalogue is not None and catalogue.sliced and not changes else Walk
        return kind(
            self._client,
            self._api.of_changes() if changes else self._api,
            self._source.location,
            self._params,
            self._intake.counters,
            window=window,
            now=self._intake.run.started_at,
            remembered=remembered,
        )

    async def _take(self, walk: Walk, pages: AsyncGenerator[Rows, None]) -> None:
        async with aclosing(ahead(pages)) as found:
            async for page in found:
                self._intake.announced = walk.announced or 0
                await self._receiver.take(page)
                if walk.places is not None and not walk.nameless and not self._receiver.failures:
                    # What failed is asked for again, so no place behind it is kept.
                    await self._checkpoint.taken()

    async def _read(self, one: Listed) -> Reading:
        item = one.item
        if self._api.detail:
            item = items.with_detail(item, await self._detail(one.id))
        language = self._params.get("language", "")
        answers = self._tables.answers(one.id)
        asked = [field for answer in answers.values() for field in tables.fields_in(answer)]
        home = self._source.location
        reading = items.read(self._api, one, item, home=home, language=language, asked=asked)
        reading = replace(reading, item=item) if self._api.detail else reading
        return tables.with_answers(reading, one, answers)

    def _fits(self, one: Listed, reading: Reading) -> bool:
        catalogue = self._api.catalogue
        area = items.area_of(catalogue, one.item) if catalogue is not None else None
        searched = "query" in self._api.pushed_names
        return self._api.choice.fits(reading.metadata, reading.text, area, searched=searched)

    async def _detail(self, id: str) -> Any:  # noqa: A002
        url = rules.detail_url(self._api, self._source.location, id)
        response = await self._client.ask(url, accept=self._api.accept)
        if response.status in GONE:
            raise Vanished(f"`{url}`: {response.status}, it is gone", url=url)
        data = await self._data(response, url)
        self._shows_details = True
        return data

    async def _settle_vanished(self, listed: Collection[str]) -> None:
        """Items whose detail is not there are gone, if the details of others are."""
        gone = self._receiver.vanished
        if not gone or await self._shows_others(listed):
            await self._receiver.delete_vanished()
            return
        for one, at in gone.items():
            url = rules.detail_url(self._api, self._source.location, one)
            error = Unfetchable(
                f"`{url}`: not there, as every other item that was asked for: that proves nothing"
            )
            self._receiver.fail(one, error, at=at)

    async def _shows_others(self, listed: Collection[str]) -> bool:
        # invariant: details that are away for an hour delete nothing. In windows of time no later run would
        # ask for the items again.
        receiver = self._receiver
        others = nsmallest(WITNESSES, (one for one in listed if one not in receiver.read))
        if not others and not self._shows_details:
            known = await in_turn(self._ports.store, self._source.id, max(receiver.vanished), WITNESSES)
            others = [one for one in known if one not in receiver.vanished]
        for one in others:
            if self._shows_details:
                break
            try:
                await self._detail(one)
            except STOPS:
                raise
            except (TransientError, PermanentError):
                continue
        return self._shows_details

    async def _data(self, response: Response, url: str) -> Any:
        return await parsed(self._ports.converter, self._api, response, url, self._params)

    def _cut_short(self, walk: Walk) -> str:
        limit = self._params[str(walk.cut)]
        return f"the list goes on behind `{walk.cut}={limit}`: raise it to have the rest"


class WholeList(Harvest):
    async def run(self) -> Harvested:
        if self._api.detail and self._receiver.by_validator:
            await self._choose_checks()
        # A list that is as it was says of its details what its dates say: they are checked beside it.
        doubts = bool(self._api.detail) and (bool(self._receiver.checking) or not self._claims.may_skip)
        walk = self._walk(remembered=None if doubts else self._remembered())
        try:
            await self._take_what_is_stored(walk)
            await self._take(walk, walk.pages())
            if walk.not_modified:
                self._intake.counters.not_modified += 1
                return Harvested(stop_reason=StopReason.EXHAUSTED, mode=Mode.INCREMENTAL)
            await self._checkpoint.forget()
            hint = await self._settle(walk)
            await self._settle_vanished(walk.seen)
            await self._tables.catch_up(self._receiver)
        except (TransientError, PermanentError) as exc:
            # What was taken in is newer than what the validators stand for.
            return Harvested(
                stop_reason=stop_reason(exc),
                error=exc,
                complete=False,
                metadata={VALIDATORS: None},
                remember=self._tables.remembered() | self._remembered_checks,
            )
        if walk.beyond:
            self._intake.counters.ignored[BEYOND_PAGES] += walk.beyond
        return Harvested(
            stop_reason=self._why_it_ended(walk),
            # An empty list where there was nothing before is complete too.
            mode=Mode.FULL if walk.seen or walk.nameless else Mode.INCREMENTAL,
            hint=hint,
            complete=walk.cut is None and not walk.beyond and not self._is_cut(walk),
            metadata={VALIDATORS: self._to_remember(walk)}
            | ({READ_WITH: self._read_with} if walk.is_complete() else {}),
            remember=self._tables.remembered() | self._remembered_checks,
        )

    async def _choose_checks(self) -> None:
        """Once a run left items out by their dates, the runs after it check some, round and round."""
        store, run = self._ports.store, self._intake.run
        earlier = [one for one in await store.runs(self._source.id, limit=2) if one.id != run.id]
        if not earlier or earlier[0].started_at >= run.started_at:
            return
        if earlier[0].counters.get("not_modified") or self._claims.standing is not Standing.UNPROVEN:
            shown = next((one for one in await store.generations(self._source.id) if one.active), None)
            number = self._claims.number(shown.documents) if shown else 0
            last = self._source.metadata.get(DATES_CHECKED)
            ids = await in_turn(store, self._source.id, last, number) if number else []
            self._receiver.checking.update(ids)
            self._remembered_checks = {DATES_CHECKED: ids[-1]} if ids else {}

    async def _take_what_is_stored(self, walk: Walk) -> None:
        """Of a first run that was killed: the list goes on behind what that run has stored."""
        if not self._may_resume():
            return
        by_id = self._api.paging is Paging.LAST_ID
        place = None if by_id else await self._checkpoint.load()
        stored = await self._ports.store.leftovers(self._source.id) if by_id or place else {}
        references = sorted(stored)
        if by_id and references:
            walk.go_on_behind(references)
        elif place is not None and references and await walk.go_on_at(place, references):
            self.resumed = True
        elif not by_id:
            references = []
        for reference in references:
            await self._intake.revived(stored[reference])
        self._receiver.taken.update(references)
        if not by_id and not self.resumed:
            walk.places = self._checkpoint.places

    def _may_resume(self) -> bool:
        first = not self._source.active_generation and not self._intake.unconditional
        # What is stored says nothing of the settings by which it was chosen.
        catalogue = self._api.catalogue
        by_place = catalogue is not None and not catalogue.sliced and self._api.paging in BY_PLACE
        return first and (self._api.paging is Paging.LAST_ID or by_place) and not self._api.choice

    def _why_it_ended(self, walk: Walk) -> StopReason:
        if walk.beyond:
            return StopReason.SERVICE_WINDOW
        return walk.cut or (StopReason.LISTING_CUT if self._is_cut(walk) else StopReason.EXHAUSTED)

    def _is_cut(self, walk: Walk) -> bool:
        """Did a portal's list break off, move, or end before what it announced?"""
        return self._api.catalogue is not None and not walk.is_complete() and not walk.not_modified

    async def _settle(self, walk: Walk) -> str | None:
        """Delete what is gone, if the list proves it; returns why it does not."""
        catalogue = self._api.catalogue
        if catalogue is not None and not walk.seen:
            refuse_emptiness(self._source)
            if walk.announced and not walk.nameless:
                # Nothing of it came: that is no list with some datasets missing.
                raise Unfetchable(
                    f"the API announces {count(walk.announced, 'dataset')} and lists none of them"
                )
        if walk.cut is not None:
            return self._cut_short(walk)
        if not walk.is_complete():
            return _doubt(walk)
        absent, _ = await self._receiver.compare(walk.seen)
        if catalogue is not None and catalogue.check:
            await self._receiver.delete_absent(absent, self._dataset)
            return None
        if absent and walk.nameless:
            nameless = count(walk.nameless, "item")
            return f"{nameless} without an id may be ones that seem gone: nothing was deleted"
        if absent and walk.may_slip and walk.passes == 1:
            # An item that goes while pages are read lets others slip through: two passes must miss it.
            await self._take(walk, walk.one_pass())
            if not walk.is_complete():
                return self._cut_short(walk) if walk.cut else _doubt(walk)
        await self._receiver.delete([one for one in absent if one not in walk.seen], "absent")
        return None

    async def _dataset(self, id: str) -> Listed | None:  # noqa: A002
        """One dataset of a catalogue by itself; None when it is gone."""
        api, catalogue = self._api, self._api.catalogue
        assert catalogue is not None
        url = rules.check_url(catalogue.check, self._source.location, id, self._params)
        response = await self._client.ask(url, accept=api.accept)
        if response.status in NOT_SHOWN:
            return None
        answer = await self._data(response, url)
        for item in items.items_of(api, answer) if catalogue.check_lists else [answer]:
            with suppress(Unparseable):
                if (one := items.listed(api, item)).id == id:
                    chosen = not one.gone and (not api.choice or self._fits(one, await self._read(one)))
                    return one if chosen else None
        return None

    def _remembered(self) -> Remembered | None:
        source = self._source
        # After a rollback readers see less than was taken in.
        current = source.active_generation and source.active_generation == source.last_generation
        match source.metadata.get(VALIDATORS):
            case [etag, last_modified, int(rows)] if current and not self._intake.unconditional:
                return Remembered(Validators(etag, last_modified), rows)
        return None

    def _to_remember(self, walk: Walk) -> list[Any] | None:
        one = walk.answered
        if one is None or not one.validators or not walk.is_complete() or self._receiver.failures:
            return None
        return [one.validators.etag, one.validators.last_modified, one.rows]


def _doubt(walk: Walk) -> str:
    if walk.beyond:
        elsewhere = walk.api.catalogue.elsewhere if walk.api.catalogue else ""
        said = (
            f"the portal pages to {len(walk.seen)} of {walk.announced} datasets and answers nothing behind:"
            f" {walk.beyond} are missing, and nothing was deleted"
        )
        return f"{said}; {elsewhere}" if elsewhere else said
    if walk.restarts:
        again = "once" if walk.restarts == 1 else f"{walk.restarts} times"
        return f"the API forgot {again} where its list stood: it was begun anew, and nothing was deleted"
    if walk.announced is not None and len(walk.seen) < walk.announced:
        return f"the API listed {len(walk.seen)} of {walk.announced} {walk.api.noun}: nothing was deleted"
    return "the list changed while it was read, or did not show its end: nothing was deleted"
