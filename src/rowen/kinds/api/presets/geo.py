"""Catalogues of spatial data: OGC's services, old and new, and STAC."""

from __future__ import annotations

from rowen.core.params import one_of, what
from rowen.kinds.api.datasets import csw
from rowen.kinds.api.presets.preset import Catalogue, Preset

_TEXT = 'not_null("@value", @)'
"""Of an element with or without attributes."""

OGC_RECORDS = Preset(
    kind="ogc_records",
    accept="application/geo+json, application/json;q=0.9",
    settings={
        "path": "/items",
        "param.limit": "{limit}",
        "paging": "next",
        "next": "links[?rel == 'next'].href | [0]",
        "items": "features",
        "total": "numberMatched",
        "id": "id",
        "title": "properties.title",
        "text": "properties.description",
        "url": "links[?(rel == 'canonical' || rel == 'alternate') && type == 'text/html'].href | [0]",
        "meta.publisher": "properties.contacts[].not_null(organization, name)",
        "meta.contacts": "properties.contacts[].not_null(name, organization)",
        "meta.license": "properties.license",
        "meta.type": "properties.type",
        "meta.created": "properties.created",
        "meta.language": "not_null(properties.language.code, properties.language)",
        "meta.temporal_start": "time.interval[0]",
        "meta.temporal_end": "time.interval[1]",
        "meta.tags": "properties.keywords",
        "meta.themes": "properties.themes[].concepts[].not_null(title, id)",
    },
    catalogue=Catalogue(
        lists=("tags", "themes", "contacts"),
        choices={
            "types": ("type", "{value}"),
            "query": ("q", "{value}"),
            "bbox": ("bbox", "{value}"),
        },
        area="geometry",
        landing="/items/{id}",
        resources=(
            "links[?rel == 'enclosure' || rel == 'item' || rel == 'data' || rel == 'service'"
            " || rel == 'download'].[title, href, type]"
        ),
        check="/items/{id}",
    ),
)
"""One collection of records by OGC API Records, part 1."""

CSW = Preset(
    kind="csw",
    accept="application/xml, text/xml;q=0.9, */*;q=0.1",
    decode=csw.read,
    own=(what("version", "2.0.2", "The version of the service", one_of("2.0.2", "3.0.0")),),
    variants={
        ("version", "3.0.0"): {
            "param.typeNames": "Record",
            "param.outputSchema": "http://www.opengis.net/cat/csw/3.0",
        }
    },
    settings={
        "param.service": "CSW",
        "param.version": "{version}",
        "param.request": "GetRecords",
        "param.typeNames": "csw:Record",
        "param.resultType": "results",
        "param.elementSetName": "full",
        "param.outputSchema": "http://www.opengis.net/cat/csw/2.0.2",
        "param.startPosition": "{position}",
        "param.maxRecords": "{limit}",
        "paging": "offset",
        "items": "records",
        "total": "total",
        "id": f"identifier[0].{_TEXT}",
        "title": "title",
        "text": "[abstract[], description[]][]",
        "url": f"[URI[].{_TEXT}, references[].{_TEXT}][] | [?starts_with(@, 'http')] | [0]",
        "meta.publisher": "[publisher[], creator[]][]",
        "meta.license": "rights",
        "meta.type": "type",
        "meta.issued": "date",
        "meta.language": "language",
        "meta.format": "format",
        "meta.spatial": f"BoundingBox[].[LowerCorner[0], UpperCorner[0]][].{_TEXT} | join(' ', @)",
        "meta.tags": "subject",
    },
    catalogue=Catalogue(
        lists=("tags",),
        resources=(
            f'[URI[].["@name", {_TEXT}, "@protocol"], references[].["@description", {_TEXT}, "@scheme"]][]'
        ),
        check=(
            "?service=CSW&version=2.0.2&request=GetRecordById&elementSetName=full"
            "&outputSchema=http://www.opengis.net/cat/csw/2.0.2&id={id}"
        ),
        check_lists=True,
    ),
)
"""OGC's Catalogue Service for the Web, 2.0.2 or 3.0, by its records in Dublin Core."""

_PAGES = "links[?rel == 'child' || rel == 'next'].href"

STAC = Preset(
    kind="stac",
    accept="application/json, application/geo+json;q=0.9",
    own=(
        what(
            "level",
            "collections",
            "What is a dataset: each collection, or each item",
            one_of("collections", "items"),
        ),
    ),
    variants={
        ("level", "items"): {
            "next": (
                "(links[?rel == 'search' && (method == 'GET' || !method)].href | [:1])"
                " || links[?rel == 'child' || rel == 'item' || rel == 'next'].href"
            ),
            "items": "not_null(features, [@][?type == 'Feature'])",
        }
    },
    settings={
        "paging": "links",
        # A service lists its collections; a static catalogue is a tree of files.
        "next": f"links[?rel == 'data'].href || {_PAGES}",
        "items": "not_null(collections, [@][?type == 'Collection'])",
        "total": "not_null(numberMatched, context.matched)",
        "id": "not_null(collection && join('/', [collection, id]), id)",
        "title": "not_null(title, properties.title, id)",
        "text": "not_null(description, properties.description)",
        "url": "links[?rel == 'self'].href | [0]",
        "meta.publisher": "not_null(providers, properties.providers)[].name",
        "meta.license": "not_null(license, properties.license)",
        "meta.type": "type",
        "meta.collection": "collection",
        "meta.issued": "properties.datetime",
        "meta.temporal_start": "extent.temporal.interval[0][0]",
        "meta.temporal_end": "extent.temporal.interval[0][1]",
        "meta.spatial": "not_null(extent.spatial.bbox[0], bbox)[].to_string(@) | join(' ', @)",
        "meta.tags": "not_null(keywords, properties.keywords)",
    },
    catalogue=Catalogue(
        lists=("tags",),
        resources='assets.*.[not_null(title, href), href, type, description, "table:columns"]',
        columns='not_null("table:columns", properties."table:columns")',
        area="not_null(extent.spatial.bbox[0], bbox)",
    ),
)
"""SpatioTemporal Asset Catalogs: the collections of a service or of a static catalogue; items if wanted."""
