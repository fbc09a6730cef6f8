"""Software of open-data portals: what each says of its datasets, and where."""

from __future__ import annotations

from rowen.kinds.api.datasets import dcat
from rowen.kinds.api.presets.preset import Catalogue, Preset
from rowen.kinds.api.tables.columns import layer_of

DCAT = Preset(
    kind="dcat",
    document="/data.json",
    accept=(
        "application/ld+json, application/json;q=0.9, application/rdf+xml;q=0.8, text/turtle;q=0.7,"
        " application/n-triples;q=0.6, */*;q=0.1"
    ),
    decode=dcat.read,
    graph_in=dcat.syntax_of,
    settings={
        "paging": "next",
        "next": "next",
        "items": "dataset",
        "total": "total",
        "id": '[identifier, "@id", landingPage][] | [?@] | [0]',
        "title": "title",
        "text": "description",
        "url": '[landingPage, page, "@id"][] | [?@] | [0]',
        "meta.publisher": (
            "[[publisher][].name, [publisher][].fn, [publisher][].prefLabel, [creator][].name]"
        ),
        "meta.license": "license || [distribution][].license",
        "meta.access": "accessLevel || accessRights",
        "meta.frequency": "accrualPeriodicity",
        "meta.issued": "issued",
        "meta.language": "language",
        "meta.spatial": (
            '[[spatial][].prefLabel, [spatial][].label, [spatial][].name, [spatial][]."@id", spatial]'
        ),
        "meta.temporal_start": "[temporal][].startDate",
        "meta.temporal_end": "[temporal][].endDate",
        "meta.temporal": "temporal",
        "meta.tags": "keyword",
        "meta.themes": "theme",
    },
    catalogue=Catalogue(
        area="[[spatial][].bbox, [spatial][].geometry, [spatial][]][] | [?@] | [0]",
        resources=(
            "[distribution][].[title, downloadURL || accessURL, format || mediaType, description,"
            ' schema || tableSchema || "csvw:tableSchema"]'
        ),
        columns="variableMeasured",
    ),
)
"""A catalogue in DCAT, in the shape that `kinds/api/datasets/dcat.py` reads all of its forms into.

A property may hold one value or many, so expressions begin with lists: `[publisher][]` is the same for both.
"""

SOCRATA = Preset(
    kind="socrata",
    settings={
        "path": "/api/catalog/v1",
        "param.domains": "{host}",
        "param.search_context": "{host}",
        "param.only": "datasets",
        "param.order": "dataset_id",
        "param.scroll_id": "{cursor}",
        "param.limit": "{limit}",
        "paging": "last_id",
        "page_size": "1000",
        "items": "results",
        "total": "resultSetSize",
        "id": "resource.id",
        "title": "resource.name",
        "text": "resource.description",
        "url": "permalink || link",
        "meta.publisher": "resource.attribution",
        "meta.organization": "metadata.domain",
        "meta.license": "metadata.license",
        "meta.category": "classification.domain_category",
        "meta.type": "resource.type",
        "meta.created": "resource.createdAt",
        "meta.tags": "classification.domain_tags || classification.tags",
        "meta.themes": "classification.categories",
    },
    catalogue=Catalogue(
        columns=(
            "resource.{name: columns_field_name, label: columns_name, type: columns_datatype,"
            " description: columns_description}"
        ),
        choices={
            "themes": ("categories", "{value}"),
            "tags": ("tags", "{value}"),
            "query": ("q", "{value}"),
        },
        landing="/d/{id}",
        check="/api/catalog/v1?ids={id}&domains={host}",
        check_lists=True,
        whole_pages=True,
    ),
)
"""Socrata's catalogue of one domain, in the order of ids: by offset it ends at 10,000."""

OPENDATASOFT = Preset(
    kind="opendatasoft",
    settings={
        "path": "/api/explore/v2.1/catalog/datasets",
        "param.where": "modified >= date'{since}' and modified < date'{until}'",
        "param.offset": "{offset}",
        "param.limit": "{limit}",
        "date_format": "date",
        "paging": "offset",
        "items": "results",
        "total": "total_count",
        "id": "dataset_id",
        "title": "metas.default.title",
        "text": "metas.default.description",
        "meta.publisher": "metas.default.publisher",
        "meta.license": "metas.default.license",
        "meta.language": "[metas.default.language, metas.default.metadata_languages][]",
        "meta.tags": "metas.default.keyword",
        "meta.themes": "metas.default.theme",
    },
    catalogue=Catalogue(
        columns="fields",
        choices={
            "organizations": ("refine", "publisher:{value}"),
            "themes": ("refine", "theme:{value}"),
            "tags": ("refine", "keyword:{value}"),
        },
        area="metas.default.geographic_reference_bbox || metas.default.bbox",
        landing="/explore/dataset/{id}/",
        check="/api/explore/v2.1/catalog/datasets/{id}",
        offset_end=10_000,
        sliced=True,
        whole_pages=True,
    ),
)
"""Opendatasoft's Explore API, version 2.1. A list of more than 10,000 is read by dates of change."""

ARCGIS = Preset(
    kind="arcgis",
    settings={
        "path": "/api/search/v1/collections/dataset/items",
        "param.limit": "{limit}",
        "paging": "next",
        "next": "links[?rel == 'next'].href | [0]",
        "items": "features",
        "total": "numberMatched",
        "id": "properties.id || id",
        "title": "properties.title || properties.name",
        "text": "properties.description || properties.snippet",
        "meta.organization": "properties.orgName || properties.source",
        "meta.publisher": "properties.owner",
        "meta.license": "properties.license",
        "meta.type": "properties.type",
        "meta.created": "properties.created",
        "meta.service": "properties.url",
        "meta.tags": "properties.tags",
        "meta.themes": "properties.categories",
    },
    catalogue=Catalogue(
        name="properties.slug",
        choices={
            "types": ("type", "{value}"),
            "tags": ("tags", "{value}"),
            "query": ("q", "{value}"),
            "bbox": ("bbox", "{value}"),
        },
        area="geometry",
        columns="properties.fields",
        table=layer_of,
        landing="/datasets/{id}",
        check="/api/search/v1/collections/dataset/items/{id}",
        most=100_000,
        elsewhere="its catalogue in DCAT has all of them: add `/api/feed/dcat-us/1.1.json` as kind `dcat`",
    ),
)
"""ArcGIS Hub's search API, an OGC API of records. A site without a scope lists the datasets of all sites."""
