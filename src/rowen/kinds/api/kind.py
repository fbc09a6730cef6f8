"""The kinds that are APIs of pages: one that settings describe (`rest`), and those that presets describe."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

from rowen.core import params as parameters
from rowen.core.params import Param, whole
from rowen.core.run import Counters
from rowen.core.source import Source
from rowen.core.window import forward
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested, Kind, Prepared
from rowen.engine.ports import Ports
from rowen.errors import PermanentError, TransientError
from rowen.fetching import credentials
from rowen.kinds.api import asking, changes, items
from rowen.kinds.api.asking import ApiClient
from rowen.kinds.api.by_date import ByDate, windows_of
from rowen.kinds.api.changes import ChangesOrAll
from rowen.kinds.api.harvest import WholeList, every_reference
from rowen.kinds.api.items import Broken, Listed
from rowen.kinds.api.named import NamedItems, can_ask
from rowen.kinds.api.presets import preset as presets
from rowen.kinds.api.presets.catalogues import DCAT_LIST, DKAN, SDMX, SPARQL, UDATA
from rowen.kinds.api.presets.geo import CSW, OGC_RECORDS, STAC
from rowen.kinds.api.presets.job_boards import GREENHOUSE, INFOJOBS, LEVER
from rowen.kinds.api.presets.portals import ARCGIS, DCAT, OPENDATASOFT, SOCRATA
from rowen.kinds.api.presets.preset import Preset
from rowen.kinds.api.presets.repositories import DATAVERSE, INVENIO, OAI_PMH
from rowen.kinds.api.rules import Definition
from rowen.kinds.api.settings import CATALOGUE, PARAMS, SHARED
from rowen.kinds.api.tables import asked as tables
from rowen.kinds.api.walking.walk import Walk
from rowen.kinds.listing.claims import ListingClaims

MAX_LIST_BYTES = 200_000_000
"""Of a list that comes as one answer."""
REST = Preset(kind="rest", offered=tuple(spec.name for spec in PARAMS if spec not in SHARED))
PORTALS = (DCAT, SOCRATA, OPENDATASOFT, ARCGIS, UDATA, DKAN, DCAT_LIST, SPARQL, SDMX)
ARCHIVES = (OAI_PMH, DATAVERSE, INVENIO, OGC_RECORDS, CSW, STAC)
PRESETS = (*PORTALS, *ARCHIVES, REST, INFOJOBS, GREENHOUSE, LEVER)


class ApiKind:
    """`claims`, `prepare`, `count` and `harvest` of one preset."""

    def __init__(self, preset: Preset) -> None:
        self.name = preset.kind
        self.preset = preset
        self.params = params_of(preset)
        self.kind = Kind(
            name=self.name,
            params=self.params,
            claims=self.claims,
            prepare=self.prepare,
            preload=False,
            count=self.count,
            covers=every_reference if preset.catalogue is not None else None,
            asks_named_if=self.asks_named,
            harvest=self.harvest,
        )

    def claims(self, ports: Ports, location: str) -> bool:
        return presets.claims(self.preset, location)

    async def prepare(
        self, ports: Ports, location: str, *, settings: Mapping[str, Any], check: bool
    ) -> Prepared:
        credentials.refuse_in_address(location)
        home = presets.completed(self.preset, asking.address(presets.api_behind(self.preset, location)))
        # Also without `check`, settings that cannot work are refused.
        values, api = self._defined(home, settings)
        if not check:
            return Prepared(kind=self.name, location=home)
        try:
            number, first = await self._look(ports, home, values, api)
        except (TransientError, PermanentError) as exc:
            raise asking.bad_location(home, exc) from exc
        finding = f"a list with {number} {api.noun}: kind `{self.name}`"
        shown = () if first is None else (f"the first is `{first}`",)
        return Prepared(kind=self.name, location=home, findings=(finding, *shown))

    async def count(self, ports: Ports, source: Source, params: Mapping[str, Any]) -> int:
        values, api = self._defined(source.location, params)
        return (await self._look(ports, source.location, values, api))[0]

    async def harvest(
        self, ports: Ports, source: Source, params: Mapping[str, Any], intake: Intake
    ) -> Harvested:
        values, api = self._defined(source.location, params)
        way = ByDate if api.windowed else WholeList
        if api.catalogue is not None and api.catalogue.changes:
            way = ChangesOrAll
        if intake.within_s is not None and source.active_generation:
            way = NamedItems
        claims = ListingClaims(intake, await ports.store.claims(source.id))
        async with _client(ports, source.location, values, intake.counters) as client:
            harvested = await way(ports, source, values, intake, client, api, claims).run()
        hint = "; ".join(filter(None, (harvested.hint, await claims.save(ports.store)))) or None
        return replace(harvested, hint=hint, server_time=client.server_time)

    def asks_named(self, source: Source, params: Mapping[str, Any]) -> bool:
        return can_ask(self._defined(source.location, params)[1], source)

    def _defined(self, home: str, params: Mapping[str, Any]) -> tuple[dict[str, Any], Definition]:
        """All settings of `rest`: those of the source, over the preset's, over the defaults."""
        said = parameters.read(PARAMS, presets.settings_for(self.preset, home, params))
        values = parameters.complete(PARAMS, said)
        for spec in self.params:
            given = params[spec.name]
            values[spec.name] = {**values[spec.name], **given} if spec.key else given
        return values, Definition(values, self.preset)

    async def _look(
        self, ports: Ports, home: str, params: Mapping[str, Any], api: Definition
    ) -> tuple[int, str | None]:
        """How many items there are by the first page, and the title of the first."""
        now = ports.clock.now()
        window = forward(windows_of(params), watermark=None, now=now) if api.windowed else None
        one_page = {**params, "max_pages": 1}
        async with _client(ports, home, params, Counters()) as client:
            walk = Walk(client, api, home, one_page, Counters(), window=window, now=now)
            page = [one async for some in walk.one_pass() for one in some]
        broken = [one for one in page if isinstance(one, Broken)]
        if broken and not walk.seen:
            raise broken[0].error
        number = walk.announced if walk.announced is not None else len(walk.seen) + walk.nameless
        first = next((one for one in page if isinstance(one, Listed)), None)
        if first is None:
            return number, None
        reading = items.read(api, first, first.item, home=home, language=params.get("language", ""))
        return number, reading.title


def _client(
    ports: Ports, home: str, params: Mapping[str, Any], counters: Counters
) -> AbstractAsyncContextManager[ApiClient]:
    return asking.open_api(ports, home, params, counters, max_body_bytes=MAX_LIST_BYTES)


def params_of(preset: Preset) -> tuple[Param, ...]:
    """The settings that a source of this kind takes, with the preset's own defaults."""
    if preset.catalogue is not None:
        asked = tables.PARAMS if preset.catalogue.table else ()
        return CATALOGUE + preset.own + asked + (changes.PARAMS if preset.catalogue.changes else ())
    said = parameters.read(PARAMS, presets.settings_for(preset, ""))
    own = tuple(
        replace(
            spec,
            default={} if spec.key else said.get(spec.name, spec.default),
            parse=whole(1, preset.most[spec.name]) if spec.name in preset.most else spec.parse,
        )
        for spec in PARAMS
        if spec.name in preset.offered
    )
    return own + SHARED


KINDS = {preset.kind: ApiKind(preset) for preset in PRESETS}
