"""A Frictionless data package (`datapackage.json`) as a catalogue with one dataset, in the shape of DCAT-US.

Its resources keep their table schemas, so that their columns are found. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin

from rowen.core.web.json_body import dicts


def is_package(answer: Any) -> bool:
    """A list of resources that say where their data is, and neither a catalogue nor a graph around it."""
    if not isinstance(answer, dict) or "dataset" in answer or "@graph" in answer or "@type" in answer:
        return False
    resources = answer.get("resources")
    return (
        isinstance(resources, list)
        and bool(resources)
        and all(isinstance(one, dict) and ("path" in one or "data" in one) for one in resources)
    )


def catalogue_of(package: Mapping[str, Any], url: str) -> dict[str, Any]:
    licences = dicts(package.get("licenses"))
    people = [*dicts(package.get("contributors")), *dicts(package.get("sources"))]
    dataset = {
        **package,
        "identifier": package.get("id") or package.get("name") or url,
        "title": package.get("title") or package.get("name") or url,
        "description": package.get("description", ""),
        "landingPage": package.get("homepage") or url,
        "keyword": package.get("keywords", []),
        "license": next((one.get("title") or one.get("name") for one in licences), None),
        "publisher": next(({"name": one["title"]} for one in people if one.get("title")), None),
        "issued": package.get("created"),
        "distribution": [_file(one, url) for one in dicts(package.get("resources"))],
    }
    return {"dataset": [dataset]}


def _file(resource: Mapping[str, Any], url: str) -> dict[str, Any]:
    path = resource.get("path")
    first = path[0] if isinstance(path, list) and path else path
    return {
        "title": resource.get("title") or resource.get("name"),
        "downloadURL": urljoin(url, first) if isinstance(first, str) else None,
        "format": resource.get("format"),
        "mediaType": resource.get("mediatype"),
        "description": resource.get("description"),
        "schema": resource.get("schema"),
    }
