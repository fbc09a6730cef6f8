"""A catalogue in DCAT, in the shape that `kinds/api/dcat.py` reads all of its forms into.

A property may hold one value or many, so expressions begin with lists: `[publisher][]` is the same for both.
"""

from __future__ import annotations

from rowen.kinds.api import dcat
from rowen.kinds.api.presets.preset import Catalogue, Preset

DCAT = Preset(
    kind="dcat",
    document="/data.json",
    accept="application/ld+json, application/json;q=0.9, application/rdf+xml;q=0.8, */*;q=0.1",
    decode=dcat.read,
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
        "meta.spatial": (
            '[[spatial][].prefLabel, [spatial][].label, [spatial][].name, [spatial][]."@id", spatial]'
        ),
        "meta.temporal_start": "[temporal][].startDate",
        "meta.temporal_end": "[temporal][].endDate",
        "meta.temporal": "temporal",
        "meta.tags": "keyword",
        "meta.themes": "theme",
    },
    catalogue=Catalogue(resources="[distribution][].[title, downloadURL || accessURL, format || mediaType]"),
)
