"""Every family of portals that a local server plays."""

from __future__ import annotations

from tests.support.portals.catalogues import CatalogueList, Dkan, Sdmx, Udata
from tests.support.portals.geo import Csw, OgcRecords, StacApi, StaticStac
from tests.support.portals.hubs import ArcgisHub, PagedDcat, Socrata
from tests.support.portals.oai_pmh import Archive
from tests.support.portals.repositories import Dataverse, Invenio
from tests.support.portals.skeleton import Family
from tests.support.portals.sparql import Endpoint


class SdmxInXml(Sdmx):
    form = "xml"


class ListOfLines(CatalogueList):
    form = "lines"


FAMILIES: tuple[type[Family], ...] = (
    Archive,
    OgcRecords,
    StacApi,
    StaticStac,
    Udata,
    Dataverse,
    Invenio,
    Csw,
    Dkan,
    CatalogueList,
    ListOfLines,
    Endpoint,
    Sdmx,
    SdmxInXml,
)
PAGED = (Archive, OgcRecords, StacApi, StaticStac, Udata, Dataverse, Invenio, Csw, CatalogueList, Endpoint)
"""Families whose list comes in several answers."""
COUNTED = (OgcRecords, StacApi, Udata, Dataverse, Invenio, Csw)
"""Families that announce how many datasets there are, on every page."""
HUBS = (Socrata, ArcgisHub, PagedDcat)
"""Families of which only the list is played, not what a portal is recognised by."""
