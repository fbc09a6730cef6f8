"""The portals that the paged-API reader reads, as data: where to ask, and where in an answer things stand.

A new portal software with a search API is a new definition here, not a new program.
"""

from __future__ import annotations

from rowen.kinds.api.paged_rules import After, Api, NextLink, Offset

SOCRATA = Api(
    kind="socrata",
    path="/api/catalog/v1",
    # By id, so that the id of the last item leads on: by offset the catalogue ends at 10,000.
    params={"domains": "{host}", "search_context": "{host}", "only": "datasets", "order": "dataset_id"},
    paging=After(last="scroll_id"),
    page_size=1000,
    items="results",
    total="resultSetSize",
    id="resource.id",
    title="resource.name",
    description="resource.description",
    modified="resource.updatedAt",
    url="permalink|link",
    landing="/d/{id}",
    one={
        "publisher": "resource.attribution",
        "organization": "metadata.domain",
        "license": "metadata.license",
        "category": "classification.domain_category",
        "type": "resource.type",
        "created": "resource.createdAt",
    },
    many={
        "tags": "classification.domain_tags|classification.tags",
        "themes": "classification.categories",
        "columns": "resource.columns_name",
    },
    item="/api/catalog/v1?ids={id}&domains={host}",
    item_listed=True,
)

OPENDATASOFT = Api(
    kind="opendatasoft",
    path="/api/explore/v2.1/catalog/datasets",
    paging=Offset(window=10_000),
    page_size=100,
    items="results",
    total="total_count",
    id="dataset_id",
    title="metas.default.title",
    description="metas.default.description",
    modified="metas.default.modified",
    landing="/explore/dataset/{id}/",
    one={
        "publisher": "metas.default.publisher",
        "license": "metas.default.license",
        "language": "metas.default.language",
    },
    many={
        "tags": "metas.default.keyword",
        "themes": "metas.default.theme",
        "columns": "fields.label",
    },
    item="/api/explore/v2.1/catalog/datasets/{id}",
)

ARCGIS = Api(
    kind="arcgis",
    path="/api/search/v1/collections/dataset/items",
    paging=NextLink(path="links[rel=next].href", size="limit"),
    page_size=100,
    items="features",
    total="numberMatched",
    id="properties.id|id",
    name="properties.slug",
    title="properties.title|properties.name",
    description="properties.description|properties.snippet",
    modified="properties.modified",
    landing="/datasets/{id}",
    one={
        "organization": "properties.orgName|properties.source",
        "publisher": "properties.owner",
        "license": "properties.license",
        "type": "properties.type",
        "created": "properties.created",
        "service": "properties.url",
    },
    many={"tags": "properties.tags", "themes": "properties.categories"},
    item="/api/search/v1/collections/dataset/items/{id}",
)

DCAT = Api(
    kind="dcat",
    path="",
    paging=NextLink(path="next"),
    items="dataset",
    total="total",
    id="identifier|@id|landingPage",
    title="title",
    description="description",
    modified="modified",
    url="landingPage|page|@id",
    one={
        "publisher": "publisher.name|publisher.fn|publisher.prefLabel|creator.name",
        "license": "license|distribution.license",
        "access": "accessLevel|accessRights",
        "frequency": "accrualPeriodicity",
        "issued": "issued",
        "spatial": "spatial.prefLabel|spatial.label|spatial.name|spatial.@id|spatial",
        "temporal_start": "temporal.startDate",
        "temporal_end": "temporal.endDate",
        "temporal": "temporal",
    },
    many={"tags": "keyword", "themes": "theme"},
    resources="distribution",
    resource=("title", "downloadURL|accessURL", "format|mediaType"),
)
