"""`rowen add URL` asks what is there, says why it is a portal of a family, and leaves other sites alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowen.errors import ConfigError
from rowen.kinds.api.kind import PRESETS
from rowen.kinds.recognise import rules
from rowen.managing import sources
from tests.support.ckan_server import CkanServer, a_dataset
from tests.support.portals.every import FAMILIES
from tests.support.portals.geo import OgcRecords, StaticStac
from tests.support.portals.skeleton import Family, Portals
from tests.support.site import Site, html
from tests.support.world import a_world

pytestmark = pytest.mark.anyio

ITS_FILES = {"/llms.txt", "/llms-full.txt", "/robots.txt", "/sitemap.xml"}
WHY = {
    "oai_pmh": "answers Identify as OAI-PMH 2.0",
    "csw": "answers GetCapabilities as CSW 2.0.2",
    "sparql": "answers SPARQL and has datasets in DCAT",
    "stac": "is a catalogue of STAC 1.0.0",
    "ogc_records": "is the collection `main` of OGC API Records",
    "sdmx": "answers with 12 dataflows of SDMX",
    "dcat_list": "is a list of 2 catalogues",
    "dkan": "has DKAN's metastore",
    "udata": "answers udata's API: 12 datasets",
    "dataverse": "is Dataverse 6.2",
    "invenio": "answers InvenioRDM's API: 12 records",
}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda one: one.__name__)
async def test_a_portal_is_recognised_by_asking_and_the_reason_is_said(
    tmp_path: Path, family: type[Family]
) -> None:
    portal = family(12)
    with Portals(data=portal) as portals:
        async with a_world(tmp_path, portals) as world:
            added = await sources.add(world.ports, portals.at("data"), name="data")
            assert (added.source.kind, added.source.location) == (portal.kind, portals.at("data"))
            assert WHY[portal.kind] in added.findings[0]
            assert len(portal.asked) <= 5
            receipt = await world.sync("data")
            assert receipt.counters.created == 12


async def test_the_landing_page_of_ogc_leads_to_its_collection_of_records(tmp_path: Path) -> None:
    with Portals(data=OgcRecords(3)) as portals:
        async with a_world(tmp_path, portals) as world:
            added = await sources.add(world.ports, f"{portals.url}/data/", name="data")
            assert added.source.location == f"{portals.url}/data/collections/main"
            assert "has the collection `main` of OGC API Records" in added.findings[0]


async def test_a_ckan_portal_below_an_address_with_its_name_is_recognised(tmp_path: Path) -> None:
    with CkanServer([a_dataset(1), a_dataset(2)]) as server:
        async with a_world(tmp_path, server) as world:
            added = await sources.add(world.ports, f"{server.url}/ckan", name="data")
            assert (added.source.kind, added.source.location) == ("ckan", server.url)
            assert "answers CKAN's search: 2 datasets" in added.findings[0]


async def test_a_site_without_marks_is_asked_nothing_more(tmp_path: Path) -> None:
    with Site({"/": html("Home", "A manual")}) as site:
        async with a_world(tmp_path, site) as world:
            added = await sources.add(world.ports, site.url, name="docs")
            assert added.source.kind == "web"
            assert {one.path for one in site.requests} <= {"/", *ITS_FILES}


async def test_a_site_that_only_speaks_of_portals_stays_a_site(tmp_path: Path) -> None:
    words = "ckan dkan udata dataverse invenio opendatasoft socrata sdmx stac_version data.json"
    with Site({"/": html("Manual", f"How to install {words}")}) as site:
        async with a_world(tmp_path, site) as world:
            added = await sources.add(world.ports, site.url, name="docs")
            assert added.source.kind == "web"
            assert sum(one.path not in ITS_FILES for one in site.requests) <= 1 + rules.MAX_ASKED


async def test_a_setting_that_only_the_family_has_is_no_mistake(tmp_path: Path) -> None:
    with Portals(data=StaticStac(3)) as portals:
        async with a_world(tmp_path, portals) as world:
            at, given = portals.at("data"), {"level": "items"}
            added = await sources.add(world.ports, at, name="data", settings=given)
            assert (added.source.kind, added.source.params) == ("stac", given)
            with pytest.raises(ConfigError, match="`levle`: no such setting"):
                await sources.add(world.ports, at, name="b", settings={"levle": "items"})


async def test_a_setting_of_portals_is_refused_where_there_is_none(tmp_path: Path) -> None:
    with Site({"/": html("Home", "A manual")}) as site:
        async with a_world(tmp_path, site) as world:
            with pytest.raises(ConfigError, match="`level`: no such setting"):
                await sources.add(world.ports, site.url, name="docs", settings={"level": "items"})


async def test_who_sets_what_only_a_crawl_has_gets_a_crawl(tmp_path: Path) -> None:
    portal = next(one for one in FAMILIES if one.kind == "udata")(3)
    with Portals(data=portal) as portals:
        async with a_world(tmp_path, portals) as world:
            added = await sources.add(
                world.ports, portals.at("data"), name="data", settings={"max_depth": "2"}
            )
            assert added.source.kind == "web"


def test_every_family_has_a_sign() -> None:
    families = {preset.kind for preset in PRESETS if preset.catalogue is not None} | {"ckan"}
    assert {sign.kind for sign in rules.SIGNS} == families
