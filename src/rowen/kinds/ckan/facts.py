"""The facts about a dataset of CKAN: in its fields, in extras, and in fields that a portal adds. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from rowen.kinds.api.datasets import dataset

_EXTRAS = {
    "publisher": ("publisher_name", "publisher"),
    "frequency": ("frequency", "accrual_periodicity"),
    "temporal_start": ("temporal_start", "temporal_coverage_from"),
    "temporal_end": ("temporal_end", "temporal_coverage_to"),
    "issued": ("issued",),
    "spatial": ("spatial_text", "spatial_uri", "geographic_coverage", "spatial"),
    "contact": ("contact_name", "contact", "maintainer", "author", "contact_point", "contact_points"),
    "contact_email": ("contact_email", "maintainer_email", "author_email"),
}
_INSIDE = {
    "contact": ("contact", "name"),
    "contact_email": ("contact", "email"),
    "temporal_start": ("temporal_coverage", "start"),
    "temporal_end": ("temporal_coverage", "end"),
    "spatial": ("spatial_coverage", "text"),
}
"""The same in the lists of objects that schemas of DCAT have: the field, and the name in its objects."""
_KNOWN = frozenset(
    source
    for sources in (*_EXTRAS.values(), ("theme", "temporal_coverage", "spatial_coverage"))
    for source in sources
)
_FIELDS = frozenset((
    "id", "name", "title", "title_translated", "notes", "notes_translated", "description", "url", "version",
    "state", "type", "private", "isopen", "num_resources", "num_tags", "owner_org", "creator_user_id",
    "license_id", "license_title", "license_url", "metadata_created", "metadata_modified", "resources",
    "tags", "tags_translated", "keywords", "groups", "organization", "extras", "relationships_as_object",
    "relationships_as_subject", "tracking_summary", "users", "config", "plugin_data", "score", "site_id",
    "index_id", "_version_", "display_name", "archiver", "qa", "ratings_count", "ratings_average",
    "rating", "dataset_type", "modified",
))  # fmt: skip
"""Of every dataset: they have places of their own, or say nothing of what it is about."""
_VOLATILE = re.compile(
    r"harvest|timestamp|last_?(?:update|modif)|(?:^|_)guid$|revision|tracking|(?:^|_)(?:views?|downloads?)(?:_|$)",
    re.IGNORECASE,
)
"""Fields and extras that the portal's software changes by itself; they are in the record."""


def facts_of(row: Mapping[str, Any], name: str, language: str, extras: Mapping[str, Any]) -> dict[str, Any]:
    organization = row.get("organization") if isinstance(row.get("organization"), dict) else {}
    assert isinstance(organization, dict)
    found: dict[str, Any] = {
        "name": name,
        "organization": _title_or_name(organization, language),
        "organization_name": dataset.in_language(organization.get("name"), language),
        "license": dataset.in_language(row.get("license_title") or row.get("license_id"), language),
        "license_id": dataset.in_language(row.get("license_id")),
        "tags": _tags(row, language),
        "groups": sorted(
            {text for one in dicts(row.get("groups")) if (text := _title_or_name(one, language))}
        ),
        "themes": dataset.every_text(row.get("theme") or extras.get("theme"), language),
        "created": dataset.in_language(row.get("metadata_created")),
        "type": dataset.in_language(row.get("type")),
    }
    places = _places(tuple(row), tuple(extras))
    for field, place, name_inside in places.inside:
        listed = row.get(place) or extras.get(place)
        if listed and (text := _inside(listed, name_inside, language)):
            found[field] = text
    for field, sources in places.named:
        for source in () if field in found else sources:
            value = row.get(source) or extras.get(source)
            if value and (text := dataset.in_language(value, language)):
                found[field] = text
                break
    found["extras"] = {
        key: texts if len(texts) > 1 else texts[0]
        for key in places.extras
        if (texts := dataset.every_text(extras[key] if key in extras else row[key], language))
    }
    return found


class _Places(NamedTuple):
    """Where a dataset with some fields and extras may say what."""

    inside: list[tuple[str, str, str]]
    """Facts in lists of objects: the fact, the field, and the name in its objects."""
    named: list[tuple[str, list[str]]]
    """The other facts with a name, and what may say each."""
    extras: list[str]
    """What a portal adds, sorted."""


@lru_cache(maxsize=256)
def _places(fields: tuple[str, ...], extras: tuple[str, ...]) -> _Places:
    """Of the many names that portals use, a dataset has few, and those of a portal have mostly the same."""
    there = {*fields, *extras}
    named = ((fact, [one for one in sources if one in there]) for fact, sources in _EXTRAS.items())
    others = {*extras, *(one for one in fields if one not in _FIELDS)}
    return _Places(
        [(fact, place, name) for fact, (place, name) in _INSIDE.items() if place in there],
        [(fact, sources) for fact, sources in named if sources],
        sorted(filter(_is_fact, others)),
    )


def _is_fact(key: str) -> bool:
    """Is an extra, or a field that a portal adds, about the data, and no fact that is known by a name?"""
    return key not in _KNOWN and not _VOLATILE.search(key)


def _inside(value: Any, name: str, language: str) -> str:
    """Of the first that says it: portals with schemas of their own have lists of objects for some facts."""
    said = (dataset.in_language(one.get(name), language) for one in dicts(dataset.unwrapped(value)))
    return next(filter(None, said), "")


def _tags(row: Mapping[str, Any], language: str) -> list[str]:
    tags = row.get("tags")
    if isinstance(tags, list) and tags:
        return dataset.every_text(tags, language)
    return dataset.every_text(row.get("keywords") or row.get("tags_translated"), language)


def extras_of(row: Mapping[str, Any]) -> dict[str, Any]:
    extras = row.get("extras")
    if isinstance(extras, dict):
        return extras
    return {key: one.get("value") for one in dicts(extras) if isinstance(key := one.get("key"), str)}


def _title_or_name(one: Mapping[str, Any], language: str) -> str:
    for field in ("title_translated", "title", "display_name", "name"):
        if (value := one.get(field)) is not None and (text := dataset.in_language(value, language)):
            return text
    return ""


def dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
