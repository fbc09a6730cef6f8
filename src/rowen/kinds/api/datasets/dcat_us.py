"""Catalogues in the shape of DCAT-US: the flat lists of 1.1, and 3.0 with catalogues and series in them.

An identifier may be an object, and may be missing: then one is derived from what stays the same. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rowen.core import hashing

_MAX_DEPTH = 10
LISTS = ("dataset", "datasetSeries", "catalog")
_NAMES_OF_IDENTIFIER = ("@id", "identifier", "notation", "@value", "value", "name")
DERIVED = "derived:"


def is_catalogue(answer: Mapping[str, Any]) -> bool:
    return isinstance(answer.get("dataset"), list) or isinstance(answer.get("catalog"), list)


def datasets(catalogue: Mapping[str, Any]) -> list[Any]:
    """Those of the catalogue and of the catalogues in it, and series of datasets, each with an identifier."""
    return [_identified(one) for one in _listed(catalogue, 0)]


def _listed(catalogue: Mapping[str, Any], depth: int) -> Iterator[Any]:
    for name in LISTS[:2]:
        found = catalogue.get(name)
        yield from found if isinstance(found, list) else ()
    below = catalogue.get("catalog")
    for one in below if isinstance(below, list) and depth < _MAX_DEPTH else ():
        if isinstance(one, Mapping):
            yield from _listed(one, depth + 1)


def _identified(dataset: Any) -> Any:
    if not isinstance(dataset, dict):
        return dataset
    given = dataset.get("identifier")
    if isinstance(given, str) and given:
        return dataset
    found = _identifier(given)
    return {**dataset, "identifier": found} if found else with_a_name(dataset)


def with_a_name(dataset: dict[str, Any]) -> dict[str, Any]:
    """The same with a derived identifier, if it has nothing that it can be known by."""
    named = ("identifier", "@id", "landingPage")
    if any(dataset.get(name) for name in named) or not (found := _derived(dataset)):
        return dataset
    return {**dataset, "identifier": found}


def _identifier(value: Any) -> str:
    """The text of an identifier: itself, one of an object's, or that of the first of a list."""
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, dict):
        return next((text for name in _NAMES_OF_IDENTIFIER if (text := _identifier(value.get(name)))), "")
    return next((text for one in value if (text := _identifier(one))), "") if isinstance(value, list) else ""


def _derived(dataset: Mapping[str, Any]) -> str:
    """From the title and who publishes it; empty for a dataset without a title, which is nothing."""
    if not dataset.get("title"):
        return ""
    publisher = dataset.get("publisher")
    by = publisher.get("name") if isinstance(publisher, dict) else publisher
    return DERIVED + hashing.of_mapping({"title": str(dataset["title"]), "publisher": str(by)}).hex()[:32]
