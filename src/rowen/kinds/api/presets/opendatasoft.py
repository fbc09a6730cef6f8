"""Opendatasoft's Explore API, version 2.1."""

from __future__ import annotations

from rowen.kinds.api.presets.preset import Catalogue, Preset

OPENDATASOFT = Preset(
    kind="opendatasoft",
    settings={
        "path": "/api/explore/v2.1/catalog/datasets",
        "param.offset": "{offset}",
        "param.limit": "{limit}",
        "paging": "offset",
        "items": "results",
        "total": "total_count",
        "id": "dataset_id",
        "title": "metas.default.title",
        "text": "metas.default.description",
        "meta.publisher": "metas.default.publisher",
        "meta.license": "metas.default.license",
        "meta.language": "metas.default.language",
        "meta.tags": "metas.default.keyword",
        "meta.themes": "metas.default.theme",
        "meta.columns": "fields[].label",
    },
    catalogue=Catalogue(
        lists=("tags", "themes", "columns"),
        landing="/explore/dataset/{id}/",
        check="/api/explore/v2.1/catalog/datasets/{id}",
        offset_end=10_000,
    ),
)
