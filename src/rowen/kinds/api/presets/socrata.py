"""Socrata's catalogue of one domain, in the order of ids: by offset it ends at 10,000."""

from __future__ import annotations

from rowen.kinds.api.presets.preset import Catalogue, Preset

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
        "meta.columns": "resource.columns_name",
    },
    catalogue=Catalogue(
        lists=("tags", "themes", "columns"),
        landing="/d/{id}",
        check="/api/catalog/v1?ids={id}&domains={host}",
        check_lists=True,
    ),
)
