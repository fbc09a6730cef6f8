"""ArcGIS Hub's search API, an OGC API of records."""

from __future__ import annotations

from rowen.kinds.api.presets.preset import Catalogue, Preset

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
        landing="/datasets/{id}",
        check="/api/search/v1/collections/dataset/items/{id}",
    ),
)
