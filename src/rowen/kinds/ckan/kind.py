"""The `ckan` kind: an open-data portal by CKAN's action API (also DKAN's).

The first run and `--full-sync` list everything. Later runs ask for what changed since the last run without
failures began, less an overlap for clocks that differ; a portal that rejects or ignores that filter is listed
as a whole. What is gone is found by listing the ids only, once in `full_sync_every`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from rowen.core.params import how, whole
from rowen.core.rules import words
from rowen.core.rules.clocks import is_ahead
from rowen.core.run import Counters, Mode
from rowen.core.source import Source
from rowen.core.web import urls
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested, Kind, Prepared
from rowen.engine.ports import Ports
from rowen.errors import PermanentError, RowenError, TransientError, Unfetchable, Unparseable
from rowen.fetching import credentials
from rowen.fetching.client import stop_reason
from rowen.kinds.api import asking
from rowen.kinds.api.asking import TOO_MUCH, PageSize, ahead
from rowen.kinds.api.items import Broken, Listed, Reading
from rowen.kinds.api.receiver import Receiver, refuse_emptiness
from rowen.kinds.api.settings import CATALOGUE, duration_s
from rowen.kinds.ckan import rules as ckan
from rowen.kinds.ckan.api import ActionApi, DatasetPages
from rowen.kinds.ckan.rules import Refused

LISTED_AT = "listed_at"
"""In a source's metadata: when everything was last listed."""
DATASETS = "datasets"
"""In a source's metadata: how many datasets the portal had when everything was last listed."""
NAMES_AT_ONCE = 100
REFUSALS = frozenset({400, 401, 403, 404, 405, 409, 410, 501})
"""Statuses of a portal that does not answer searches."""

WEEK_S, HOUR_S = 604_800.0, 3_600.0

PARAMS = (
    *CATALOGUE,
    how("page_size", 1000, "Datasets to ask for at a time; fewer after an error", whole(1, 10_000)),
    how("full_sync_every", WEEK_S, "How often to list all ids to find what is gone: 7d, 12h", duration_s),
    how("overlap", HOUR_S, "How much further back to ask than the last run began: 1h", duration_s),
)


def claims(ports: Ports, location: str) -> bool:
    """A portal looks like any other site from outside; an address of its API does not."""
    return "/api/3/action" in location and urls.normalise(location) is not None


async def prepare(ports: Ports, location: str, *, settings: Mapping[str, Any], check: bool) -> Prepared:
    home = ckan.home(asking.address(location))
    if not check:
        return Prepared(kind="ckan", location=home)
    try:
        async with asking.open_api(ports, home, settings, Counters()) as client:
            page = await ActionApi(client, home).search(rows=0)
    except (TransientError, PermanentError) as exc:
        not_allowed = isinstance(exc, Refused) and exc.status in ckan.NOT_ALLOWED
        hint = credentials.hint(settings) if not_allowed else None
        raise asking.bad_location(home, exc, hint) from exc
    number = "datasets" if page.count is None else words.count(page.count, "dataset")
    return Prepared(kind="ckan", location=home, findings=(f"a CKAN portal with {number}: kind `ckan`",))


async def count(ports: Ports, source: Source, params: Mapping[str, Any]) -> int:
    """How many datasets the portal has."""
    async with asking.open_api(ports, source.location, params, Counters()) as client:
        page = await ActionApi(client, source.location).search(rows=0)
    return page.count or 0


async def harvest(ports: Ports, source: Source, params: Mapping[str, Any], intake: Intake) -> Harvested:
    async with asking.open_api(ports, source.location, params, intake.counters) as client:
        harvester = _Harvester(ports, source, params, intake, ActionApi(client, source.location))
        try:
            harvested = await harvester.run()
        except (TransientError, PermanentError) as exc:
            harvested = harvester.ended({}, exc)
        return replace(harvested, server_time=client.server_time)


class _Harvester:
    def __init__(
        self, ports: Ports, source: Source, params: Mapping[str, Any], intake: Intake, api: ActionApi
    ) -> None:
        self._ports = ports
        self._source = source
        self._params = params
        self._intake = intake
        self._api = api
        self._receiver = Receiver(ports, intake, self._read, concurrency=params["concurrency"])
        self._mode = Mode.FULL
        self._hint: str | None = None

    async def run(self) -> Harvested:
        if self._may_ask_for_changes() and await self._changes():
            self._mode = Mode.INCREMENTAL
            return self.ended(await self._ids() if self._is_listing_due() else {})
        self._mode = Mode.FULL
        # All rows come anyway: a portal whose dates do not move is compared by what it says.
        self._receiver.by_validator = False
        return self.ended(await self._everything())

    def ended(self, learnt: Mapping[str, Any], error: RowenError | None = None) -> Harvested:
        return Harvested(
            stop_reason=stop_reason(error), error=error, mode=self._mode, metadata=learnt, hint=self._hint
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

    async def _changes(self) -> bool:
        """False when the portal did not take the filter by date."""
        assert self._source.watermark is not None
        since = self._source.watermark - timedelta(seconds=self._params["overlap"])
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
        try:
            async with aclosing(ahead(listing.pages())) as pages:
                async for rows in pages:
                    self._intake.queued = max(0, (listing.announced or 0) - len(self._receiver.taken))
                    await self._take(rows)
        except Refused as exc:
            if listing.seen or exc.status not in REFUSALS:
                raise
            return await self._by_names(exc)
        await self._settle(listing)
        return self._listed(listing.seen) if listing.complete else {}

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
        unknown = await self._settle(listing)
        await self._fetch(sorted((unknown | changed) - self._receiver.taken))
        return self._listed(listing.seen) if listing.complete else {}

    async def _stamped_otherwise(self, rows: list[Any]) -> set[str]:
        """Datasets whose date is not the stored one: with a wrong clock, a portal does not name them."""
        stamps = {
            reference: stamp
            for row in rows
            if (reference := ckan.id_of(row)) and (stamp := ckan.validator_of(row))
        }
        known = await self._ports.store.known(self._intake.run.source_id, list(stamps))
        return {one for one, page in known.items() if page.validators.etag != stamps[one]}

    async def _settle(self, listing: DatasetPages) -> set[str]:
        if not listing.seen:
            refuse_emptiness(self._source)
            return set()
        if not listing.complete:
            announced = f" of {listing.announced}" if listing.announced is not None else ""
            self._hint = (
                f"the portal listed {len(listing.seen)}{announced} datasets and no order of its pages"
                " proves that these are all: nothing was deleted"
            )
            return set()
        absent, unknown = await self._receiver.compare(listing.seen)
        await self._receiver.delete_absent(absent, self._check)
        return unknown

    def _listed(self, ids: set[str]) -> dict[str, Any]:
        return {LISTED_AT: self._intake.run.started_at.isoformat(), DATASETS: len(ids)}

    async def _by_names(self, refusal: Refused) -> dict[str, Any]:
        """The portal does not answer searches: list the names, then ask for each."""
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
            await self._fetch(waiting[start : start + NAMES_AT_ONCE])
        if len(self._receiver.failures) >= len(self._receiver.taken):
            raise Unfetchable(
                f"{refusal.message}; none of its {len(waiting)} datasets can be asked for",
                hint=hint,
                status=refusal.status,
            )
        if self._receiver.failures:
            return {}
        absent, _ = await self._receiver.compare(self._receiver.taken)
        await self._receiver.delete_absent(absent, self._check)
        return self._listed(self._receiver.taken)

    # single datasets

    async def _fetch(self, references: list[str]) -> None:
        found, _ = await self._receiver.look_for(references, partial(self._check, listed=True))
        await self._receiver.take(found)

    async def _check(self, reference: str, *, listed: bool = False) -> Listed | None:
        try:
            row = await self._api.show(reference)
        except Refused as exc:
            # A dataset that is not listed and not shown is gone for other readers too. One that the portal
            # lists and does not show proves nothing: perhaps only these credentials do not suffice.
            if exc.status in ckan.NOT_THERE or (exc.status in ckan.NOT_ALLOWED and not listed):
                return None
            raise
        return None if ckan.is_deleted(row) else _listed(row)

    async def _take(self, rows: list[Any]) -> None:
        items: list[Listed | Broken] = []
        for row in rows:
            if isinstance(row, Broken):
                items.append(row)
            elif not ckan.is_deleted(row):
                items.append(_listed(row) or Broken(_shown(row), Unparseable("a dataset without an id")))
        await self._receiver.take(items)

    async def _read(self, one: Listed) -> Reading:
        return ckan.dataset_of(
            one.item,
            portal=self._api.portal,
            language=self._params["language"],
            template=self._params["url_template"],
        )

    def _listing(self, *, where: str = "", ids_only: bool = False) -> DatasetPages:
        return DatasetPages(self._api, PageSize(self._params["page_size"]), where=where, ids_only=ids_only)


def _listed(row: Any) -> Listed | None:
    reference = ckan.id_of(row)
    return Listed(reference, row, ckan.validator_of(row)) if reference else None


def _shown(row: Any) -> str:
    """A name for a row without an id, for messages."""
    title = row.get("title") if isinstance(row, dict) else row
    return f"without id: {str(title)[:80]}"


KIND = Kind(
    name="ckan", params=PARAMS, claims=claims, prepare=prepare, preload=False, count=count, harvest=harvest
)
