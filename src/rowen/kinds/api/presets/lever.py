"""Lever's public postings of one company."""

from __future__ import annotations

from rowen.kinds.api.presets.preset import Preset

_API = "https://api.lever.co/v0/postings/{site}"
_API_EU = "https://api.eu.lever.co/v0/postings/{site}"

LEVER = Preset(
    kind="lever",
    home=_API,
    hosts={
        "jobs.lever.co": _API,
        "api.lever.co": _API,
        "jobs.eu.lever.co": _API_EU,
        "api.eu.lever.co": _API_EU,
    },
    offered=("param", "meta", "max_pages", "max_items", "page_size"),
    most={"page_size": 100},
    settings={
        "param.mode": "json",
        "param.skip": "{offset}",
        "param.limit": "{limit}",
        "repeat": "location,commitment,team,department,level",
        "paging": "offset",
        "page_size": "100",
        "items": "@",
        "id": "id",
        "title": "text",
        "text": (
            "[description || descriptionPlain, lists[].{heading: text, content: content},"
            " additional || additionalPlain]"
        ),
        "url": "hostedUrl",
        "meta.country": "country",
        "meta.contract": "categories.commitment",
        "meta.category": "categories.team || categories.department",
        "meta.remote": "[workplaceType][?@ != 'unspecified'] | [0]",
        "meta.salary": (
            "salaryRange.min && join(' ', [salaryRange.min, '-', salaryRange.max, salaryRange.currency,"
            " salaryRange.interval][?@].to_string(@))"
        ),
        "offer.provider": "lever",
        "offer.company_id": "'{site}'",
        # A posting does not name who it is from.
        "offer.company_name": "'{site}'",
        "offer.place": "categories.location",
        "offer.posted": "createdAt",
    },
)
