"""One run of a CKAN portal: what changed since the last run, or everything, and what is gone.

The filter by date is used as long as the portal takes it and `trust` believes it. Everything is listed by
pages of whole datasets, or by ids and dates where most datasets are as they were.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from rowen.core.rules.clocks import is_ahead
from rowen.core.run import Mode
from rowen.core.source import Source
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested
from rowen.engine.ports import Ports
from rowen.errors import PermanentError, RowenError, TransientError, Unfetchable, Unparseable
from rowen.fetching import credentials
from rowen.fetching.client import STOPS, stop_reason
from rowen.kinds.api.asking import TOO_MUCH, PageSize, ahead
from rowen.kinds.api.datasets.choice import Choice
from rowen.kinds.api.items import Broken, Listed, Reading
from rowen.kinds.api.receiver import READ_WITH, Receiver, read_with, refuse_emptiness
from rowen.kinds.api.tables import asked as tables
from rowen.kinds.api.tables.asked import Tables
from rowen.kinds.ckan import dates, resume, trust
from rowen.kinds.ckan import rules as ckan
from rowen.kinds.ckan.api import ActionApi, DatasetPages
from rowen.kinds.ckan.rules import Refused
from rowen.kinds.ckan.single import SingleDatasets, listed
from rowen.kinds.listing.claims import ListingClaims

LISTED_AT = "listed_at"
"""In a source's metadata: when everything was last listed."""
DATASETS = "datasets"
"""In a source's metadata: how many datasets the portal had when everything was last listed."""
NAMES_AT_ONCE = 100
MANY = 500
MANY_SHARE = 0.05
"""When more datasets than both have another date, they are read by pages and not one by one."""
REFUSALS = frozenset({400, 401, 403, 404, 405, 409, 410, 501})
"""Statuses of a portal that does not answer searches."""


class Harvester:
    def __init__(
        self,
        ports: Ports,
        source: Source,
        params: Mapping[str, Any],
        intake: Intake,
        api: ActionApi,
        claims: ListingClaims,
    ) -> None:
        self._ports = ports
        self._source = source
        self._params = params
        self._intake = intake
        self._api = api
        self._choice = choice = Choice(params)
        self._tables = Tables(
            ports,
            source,
            intake,
            api.fields,
            lambda row: ckan.tables_in(row, api.portal),
            most=params["columns"],
            concurrency=params["concurrency"],
        )
        self._receiver = Receiver(
            ports,
            intake,
            self._read,
            concurrency=params["concurrency"],
            in_order=True,
            fits=self._fits if choice else None,
            before=self._tables.before,
            claims=claims,
        )
        self._claims = claims
        self._single = SingleDatasets(
            ports,
            source,
            params,
            api,
            self._receiver,
            claims,
            intake.run.started_at,
            self._is_chosen,
            datasets=DATASETS,
        )
        self._read_with, self._receiver.by_record = read_with(source, params)
        claims.judges = self._receiver.by_record
        self._searched = True
        """Datasets come from searches, which look for the words of the settings."""
        self._mode = Mode.FULL
        self._hint: str | None = None
        self._remember: dict[str, Any] = {}

    async def run(self) -> Harvested:
        if self._intake.within_s is not None and self._source.active_generation:
            # These alone, each by itself: what a search asks before it answers.
            self._receiver.by_validator = self._searched = False
            await self._single.named(list(self._intake.only or ()))
            # That nothing is new is an answer; that nothing answered is not.
            self._mode = Mode.FULL if self._intake.counters.failed else Mode.INCREMENTAL
            return replace(self.ended({}), complete=False, remember={})
        learnt = await self._listed_or_changed()
        await self._tables.catch_up(self._receiver)
        return self.ended(learnt)

    async def _listed_or_changed(self) -> dict[str, Any]:
        if self._may_ask_for_changes():
            learnt = await self._by_dates()
            if learnt is not None and not self._claims.lied:
                return learnt
        self._mode = Mode.FULL
        # All rows come anyway: they are compared by what they say, whatever their dates are.
        self._receiver.by_validator = False
        return await self._everything()

    async def _by_dates(self) -> dict[str, Any] | None:
        """What changed by the portal's dates, a few of which are checked; None when they cannot be used."""
        metadata, now = self._source.metadata, self._intake.run.started_at
        if not self._claims.may_skip:
            # The hint of the claims says why.
            self._intake.counters.ignored["changes_filter"] += 1
            return None
        if trust.is_distrusted(metadata, now):
            self._hint = "the portal's filter by date answered wrongly before: everything was listed"
            learnt = await self._ids()
            if not learnt:
                return None
        elif await self._changes():
            self._mode = Mode.INCREMENTAL
            learnt = await self._checked()
            must_list = self._is_listing_due() or self._mode is Mode.FULL
            learnt |= await self._ids() if must_list else {}
        else:
            return None
        return learnt | (await self._single.check_dates() if learnt else {})

    def ended(self, learnt: Mapping[str, Any], error: RowenError | None = None) -> Harvested:
        return Harvested(
            stop_reason=stop_reason(error),
            error=error,
            mode=self._mode,
            metadata=learnt,
            remember=self._remember | self._tables.remembered(),
            hint=self._hint,
        )

    def _may_ask_for_changes(self) -> bool:
        source = self._source
        # After a rollback readers see less than the watermark promises.
        shown = source.active_generation and source.active_generation == source.last_generation
        return bool(shown) and source.watermark is not None and not self._intake.unconditional

    def _is_listing_due(self) -> bool:
        last = self._source.metadata.get(LISTED_AT)
        if not isinstance(last, str):
            return True
        now, listed = self._ports.clock.now(), datetime.fromisoformat(last)
        return now - listed >= timedelta(seconds=self._params["full_sync_every"]) or is_ahead(listed, now)

    # what changed

    @property
    def _since(self) -> datetime:
        assert self._source.watermark is not None
        return self._source.watermark - timedelta(seconds=self._params["overlap"])

    async def _changes(self) -> bool:
        """False when the portal did not take the filter by date."""
        since = self._since
        listing = self._listing(where=ckan.modified_since(since))
        try:
            async with aclosing(ahead(listing.pages())) as pages:
                async for rows in pages:
                    moments = (ckan.modified_at(row) for row in rows)
                    if any(moment < since - timedelta(seconds=1) for moment in moments if moment):
                        return self._not_asked("ignores the question what changed")
                    if self._is_everything(listing.announced):
                        return self._not_asked("answers with everything when asked what changed")
                    await self._take(rows)
        except Refused as exc:
            if exc.status not in REFUSALS:
                raise
            return self._not_asked("refuses the question what changed")
        except TOO_MUCH:
            if self._receiver.taken:
                raise
            return self._not_asked("fails when asked what changed")
        return True

    async def _checked(self) -> dict[str, Any]:
        """Compare what the filter named with the newest date and the number of datasets, if that is due.

        The mode becomes that of a complete listing when they do not fit together.
        """
        metadata, now = self._source.metadata, self._intake.run.started_at
        if self._is_listing_due() or not trust.is_check_due(metadata, now):
            return {}
        try:
            page = await self._api.search(rows=1, sort=ckan.NEWEST_FIRST, fl=ckan.ID_AND_DATE)
            found = trust.finding(
                page, metadata, since=self._since, named=self._receiver.taken, created=self._receiver.unknown
            )
            if found.unnamed and await self._is_named_now(found.unnamed):
                found = found._replace(unnamed="")
        except STOPS:
            raise
        except (TransientError, PermanentError):
            # The portal has no such order: nothing speaks against its filter.
            return {trust.CHECKED_AT: now.isoformat()}
        if found.unnamed:
            self._not_asked(f"did not name `{found.unnamed}`, which changed")
            self._remember[trust.DISTRUSTED] = now.isoformat()
        if found.unnamed or found.moved:
            self._mode = Mode.FULL
        return {trust.CHECKED_AT: now.isoformat(), trust.ANNOUNCED: found.announced}

    async def _is_named_now(self, reference: str) -> bool:
        """It may have changed after the filter was asked."""
        where = ckan.modified_since(self._since)
        page = await self._api.search(rows=1, sort=ckan.NEWEST_FIRST, fl=ckan.ID_AND_DATE, fq=where)
        return any(ckan.id_of(row) == reference for row in page.rows)

    def _is_everything(self, announced: int | None) -> bool:
        before = self._source.metadata.get(DATASETS)
        return isinstance(before, int) and announced is not None and announced >= before > 1

    def _not_asked(self, why: str) -> bool:
        self._hint = f"the portal {why}: everything was listed"
        self._intake.counters.ignored["changes_filter"] += 1
        return False

    # everything

    async def _everything(self) -> dict[str, Any]:
        listing = self._listing()
        behind = await self._stored_before(listing)
        try:
            async with aclosing(ahead(listing.pages(behind=behind))) as pages:
                async for rows in pages:
                    self._intake.announced = listing.announced or 0
                    await self._take(rows)
        except Refused as exc:
            if listing.seen or exc.status not in REFUSALS:
                raise
            return await self._by_names(exc)
        absent, _ = await self._compared(listing)
        await self._receiver.delete_absent(absent, self._single.check)
        return {**self._listed(listing), READ_WITH: self._read_with} if listing.complete else {}

    async def _stored_before(self, listing: DatasetPages) -> str:
        """Take in what a killed first run has stored, if it still holds; returns the id it reaches to."""
        if self._source.active_generation or self._intake.unconditional:
            return ""
        stored = await self._ports.store.leftovers(self._source.id)
        known = [stored[reference] for reference in sorted(stored)]
        if not known or not await resume.still_holds(self._api, known, where=""):
            return ""
        for one in known:
            await self._intake.revived(one)
        self._tables.leave_out_stored()
        references = [one.reference for one in known]
        listing.seen.update(references)
        self._receiver.taken.update(references)
        return references[-1]

    async def _ids(self) -> dict[str, Any]:
        """Ids only: finds what is gone, and what the portal did not name as changed."""
        listing = self._listing(ids_only=True)
        changed: set[str] = set()
        try:
            async with aclosing(ahead(listing.pages())) as pages:
                async for rows in pages:
                    changed |= await self._stamped_otherwise(rows)
        except Refused as exc:
            if listing.seen or exc.status not in REFUSALS:
                raise
            return {}
        absent, unknown = await self._compared(listing)
        waiting = sorted((unknown | changed) - self._receiver.taken)
        if len(waiting) > max(MANY, len(listing.seen) * MANY_SHARE):
            return await self._everything()
        await self._receiver.delete_absent(absent, self._single.check)
        await self._single.fetch(waiting)
        return self._listed(listing) if listing.complete else {}

    async def _stamped_otherwise(self, rows: list[Any]) -> set[str]:
        """Datasets whose date is not the stored one: with a wrong clock, a portal does not name them."""
        stamps = {
            reference: stamp
            for row in rows
            if (reference := ckan.id_of(row)) and (stamp := ckan.validator_of(row))
        }
        known = await self._ports.store.known(self._intake.run.source_id, list(stamps))
        return {
            one for one, page in known.items() if not dates.is_same(page.validators.etag or "", stamps[one])
        }

    async def _compared(self, listing: DatasetPages) -> tuple[list[str], set[str]]:
        """What readers see and the portal does not list, and the other way round, where that is proven."""
        if not listing.seen:
            refuse_emptiness(self._source)
            return [], set()
        if not listing.complete:
            announced = f" of {listing.announced}" if listing.announced is not None else ""
            self._hint = (
                f"the portal listed {len(listing.seen)}{announced} datasets and no order of its pages"
                " proves that these are all: nothing was deleted"
            )
            return [], set()
        return await self._receiver.compare(listing.seen)

    def _listed(self, listing: DatasetPages) -> dict[str, Any]:
        now = self._intake.run.started_at.isoformat()
        return {
            LISTED_AT: now,
            DATASETS: len(listing.seen),
            trust.CHECKED_AT: now,
            trust.ANNOUNCED: listing.announced,
        }

    async def _by_names(self, refusal: Refused) -> dict[str, Any]:
        """The portal does not answer searches: list the names, then ask for each."""
        self._searched = False
        hint = credentials.hint(self._params) if refusal.status in ckan.NOT_ALLOWED else None
        try:
            names = await self._api.names()
        except (Refused, Unparseable) as exc:
            raise Unfetchable(f"{refusal.message}; {exc.message}", hint=hint, status=refusal.status) from exc
        if not names:
            refuse_emptiness(self._source)
            return {}
        self._intake.counters.ignored["search_refused"] += 1
        waiting = list(dict.fromkeys(names))
        for start in range(0, len(waiting), NAMES_AT_ONCE):
            self._intake.queued = len(waiting) - start
            await self._single.fetch(waiting[start : start + NAMES_AT_ONCE])
        if len(self._receiver.failures) >= len(self._receiver.taken):
            raise Unfetchable(
                f"{refusal.message}; none of its {len(waiting)} datasets can be asked for",
                hint=hint,
                status=refusal.status,
            )
        if self._receiver.failures:
            return {}
        absent, _ = await self._receiver.compare(self._receiver.taken)
        await self._receiver.delete_absent(absent, self._single.check)
        return {LISTED_AT: self._intake.run.started_at.isoformat(), DATASETS: len(self._receiver.taken)}

    # items

    async def _is_chosen(self, one: Listed) -> bool:
        return not self._choice or self._fits(one, await self._read(one))

    async def _take(self, rows: list[Any]) -> None:
        items: list[Listed | Broken] = []
        for row in rows:
            if isinstance(row, Broken):
                items.append(row)
            elif not ckan.is_deleted(row):
                items.append(listed(row) or Broken(_shown(row), Unparseable("a dataset without an id")))
        await self._receiver.take(items)

    async def _read(self, one: Listed) -> Reading:
        answers = self._tables.answers(one.id)
        reading = ckan.dataset_of(
            one.item,
            portal=self._api.portal,
            language=self._params["language"],
            template=self._params["url_template"],
            asked={table: tables.fields_in(answer) for table, answer in answers.items()},
        )
        return tables.with_answers(reading, one, answers)

    def _fits(self, one: Listed, reading: Reading) -> bool:
        facts = {**reading.metadata, **ckan.names_in(one.item)}
        return self._choice.fits(facts, reading.text, ckan.area_of(one.item), searched=self._searched)

    def _listing(self, *, where: str = "", ids_only: bool = False) -> DatasetPages:
        return DatasetPages(self._api, PageSize(self._params["page_size"]), where=where, ids_only=ids_only)


def _shown(row: Any) -> str:
    """A name for a row without an id, for messages."""
    title = row.get("title") if isinstance(row, dict) else row
    return f"without id: {str(title)[:80]}"
