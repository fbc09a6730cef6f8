"""Portals and catalogues whose list is one document, a list of documents, or pages of their own making."""

from __future__ import annotations

from rowen.kinds.api.datasets import catalogue_list, sdmx, sparql
from rowen.kinds.api.presets.portals import DCAT
from rowen.kinds.api.presets.preset import Catalogue, Preset

UDATA = Preset(
    kind="udata",
    settings={
        "path": "/api/1/datasets/",
        "param.page": "{page}",
        "param.page_size": "{limit}",
        "param.sort": "created",
        "paging": "page",
        "items": "data",
        "total": "total",
        "id": "id",
        "title": "title",
        "text": "description",
        "url": "page",
        "meta.organization": "organization.name",
        "meta.publisher": "organization.name || owner && join(' ', [owner.first_name, owner.last_name])",
        "meta.license": "license",
        "meta.frequency": "frequency",
        "meta.created": "created_at",
        "meta.spatial": "spatial.zones",
        "meta.granularity": "spatial.granularity",
        "meta.temporal_start": "temporal_coverage.start",
        "meta.temporal_end": "temporal_coverage.end",
        "meta.tags": "tags",
    },
    catalogue=Catalogue(
        lists=("tags", "spatial"),
        choices={"tags": ("tag", "{value}"), "query": ("q", "{value}")},
        name="slug",
        landing="/datasets/{id}/",
        resources="resources[].[title, url, format, description]",
        check="/api/1/datasets/{id}/",
        deleted="deleted",
    ),
)
"""udata, the software of data.gouv.fr, by version 1 of its API."""

DKAN = Preset(
    kind="dkan",
    settings={
        "path": "/api/1/metastore/schemas/dataset/items",
        "items": "@",
        "id": "identifier",
        "title": "title",
        "text": "description",
        "url": "landingPage",
        "meta.publisher": "publisher.name",
        "meta.contacts": "contactPoint.fn",
        "meta.license": "license",
        "meta.access": "accessLevel",
        "meta.frequency": "accrualPeriodicity",
        "meta.issued": "issued",
        "meta.spatial": "spatial",
        "meta.temporal": "temporal",
        "meta.tags": "keyword",
        "meta.themes": "theme",
    },
    catalogue=Catalogue(
        landing="/dataset/{id}",
        resources=(
            "distribution[].[title, downloadURL || accessURL, format || mediaType, description, schema]"
        ),
        check="/api/1/metastore/schemas/dataset/items/{id}",
    ),
)
"""DKAN 2 by its metastore: the whole list as one answer."""

DCAT_LIST = Preset(
    kind="dcat_list",
    accept=DCAT.accept,
    decode=catalogue_list.read,
    graph_in=DCAT.graph_in,
    settings={
        **DCAT.settings,
        "paging": "links",
        "id": "join('#', [catalogue, [identifier, \"@id\", landingPage][] | [?@] | [0]])",
    },
    catalogue=DCAT.catalogue,
)
"""Many catalogues in DCAT as one source: a list of the addresses of their `data.json`."""

SPARQL = Preset(
    kind="sparql",
    accept="application/sparql-results+json, application/json;q=0.5",
    decode=sparql.read,
    settings={
        **{name: text for name, text in DCAT.settings.items() if name not in ("next", "total")},
        "param.query": sparql.QUERY,
        "param.format": "application/sparql-results+json",
        "paging": "last_id",
        "page_size": "50",
        "id": '"@id"',
        "url": '[landingPage, page, "@id"][] | [?@] | [0]',
    },
    catalogue=Catalogue(
        resources="[distribution][].[title, downloadURL || accessURL, format || mediaType]", first_cursor=""
    ),
)
"""The datasets of a SPARQL endpoint, by DCAT, in the order of their addresses."""

SDMX = Preset(
    kind="sdmx",
    accept=(
        "application/vnd.sdmx.structure+json;version=1.0,"
        " application/vnd.sdmx.structure+xml;version=2.1;q=0.9, application/xml;q=0.5"
    ),
    decode=sdmx.read,
    settings={
        "path": "/dataflow/all/all/latest",
        "items": "dataflows",
        "id": "join(':', [agencyID, id])",
        "title": "names || name || id",
        "text": "descriptions || description",
        "meta.publisher": "agencyID",
        "meta.version": "version",
        "meta.structure": "structure",
    },
    catalogue=Catalogue(lists=(), landing="/dataflow/all/{id}"),
)
"""The dataflows of an SDMX service, each a dataset: one structure message, as JSON or XML."""
