"""The `ckan` kind: an open-data portal by CKAN's action API (also DKAN's).

The first run and `--full-sync` list everything. Later runs ask for what changed since the last run without
failures began, less an overlap for clocks that differ; a portal that rejects or ignores that filter is listed
as a whole. What is gone is found by listing the ids only, once in `full_sync_every`. The steps are in
`harvest`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rowen.core.params import how, whole
from rowen.core.rules import words
from rowen.core.run import Counters
from rowen.core.source import Source
from rowen.core.web import urls
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested, Kind, Prepared
from rowen.engine.ports import Ports
from rowen.errors import PermanentError, TransientError
from rowen.fetching import credentials
from rowen.kinds.api import asking
from rowen.kinds.api.datasets.choice import Choice
from rowen.kinds.api.harvest import every_reference
from rowen.kinds.api.settings import CATALOGUE, duration_s
from rowen.kinds.api.tables import asked as tables
from rowen.kinds.ckan import rules as ckan
from rowen.kinds.ckan.api import ActionApi
from rowen.kinds.ckan.harvest import Harvester
from rowen.kinds.ckan.rules import Refused
from rowen.kinds.listing.claims import ListingClaims

WEEK_S, HOUR_S = 604_800.0, 3_600.0

PARAMS = (
    *CATALOGUE,
    *tables.PARAMS,
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
            page = await ActionApi(client, home, ckan.chosen(Choice(settings))).search(rows=0)
    except (TransientError, PermanentError) as exc:
        not_allowed = isinstance(exc, Refused) and exc.status in ckan.NOT_ALLOWED
        hint = credentials.hint(settings) if not_allowed else None
        raise asking.bad_location(home, exc, hint) from exc
    number = "datasets" if page.count is None else words.count(page.count, "dataset")
    return Prepared(kind="ckan", location=home, findings=(f"a CKAN portal with {number}: kind `ckan`",))


async def count(ports: Ports, source: Source, params: Mapping[str, Any]) -> int:
    """How many datasets the portal has."""
    async with asking.open_api(ports, source.location, params, Counters()) as client:
        page = await ActionApi(client, source.location, ckan.chosen(Choice(params))).search(rows=0)
    return page.count or 0


async def harvest(ports: Ports, source: Source, params: Mapping[str, Any], intake: Intake) -> Harvested:
    async with asking.open_api(ports, source.location, params, intake.counters) as client:
        api = ActionApi(client, source.location, ckan.chosen(Choice(params)))
        claims = ListingClaims(intake, await ports.store.claims(source.id))
        harvester = Harvester(ports, source, params, intake, api, claims)
        try:
            harvested = await harvester.run()
        except (TransientError, PermanentError) as exc:
            harvested = harvester.ended({}, exc)
        hint = "; ".join(filter(None, (harvested.hint, await claims.save(ports.store)))) or None
        return replace(harvested, hint=hint, server_time=client.server_time)


KIND = Kind(
    name="ckan",
    params=PARAMS,
    claims=claims,
    prepare=prepare,
    preload=False,
    count=count,
    covers=every_reference,
    asks_named=True,
    harvest=harvest,
)
