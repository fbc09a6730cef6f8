"""Job boards: the public listings of one company, or of a country."""

from __future__ import annotations

from rowen.kinds.api.presets.preset import Preset

INFOJOBS = Preset(
    kind="infojobs",
    home="https://api.infojobs.net",
    hosts=dict.fromkeys(("api.infojobs.net", "www.infojobs.net", "infojobs.net"), "https://api.infojobs.net"),
    offered=(
        "param",
        "meta",
        "max_pages",
        "max_items",
        "page_size",
        "seed_days",
        "seed_windows",
        "overlap",
        "recheck",
    ),
    most={"page_size": 50},
    settings={
        "path": "/api/9/offer",
        "param.order": "updated-desc",
        "param.page": "{page}",
        "param.maxResults": "{limit}",
        # It has no dates to ask by, only ages.
        "param.sinceDate": "{bucket}",
        "bucket._24_HOURS": "1d",
        "bucket._7_DAYS": "7d",
        "bucket._15_DAYS": "15d",
        "bucket.ANY": "any",
        "repeat": "province,category,subcategory,contractType,workday,study,experienceMin,teleworking",
        "paging": "page",
        "page_first": "1",
        "page_size": "50",
        # Versions of the API differ in what they call the list.
        "items": "not_null(items, offers)",
        "total": "totalResults",
        "window": "date",
        "order": "desc",
        "seed_days": "15",
        "updated": "not_null(updated, updateDate)",
        "detail": "/api/7/offer/{id}",
        "id": "id",
        "title": "title",
        "url": "not_null(link, detail.link)",
        "text": (
            "[detail.description, {heading: 'Requirements', text: detail.minRequirements || requirementMin},"
            " {heading: 'Desired', text: detail.desiredRequirements}]"
        ),
        "meta.province": "not_null(province.value, detail.province.value)",
        "meta.country": "not_null(country.value, detail.country.value)",
        "meta.contract": "not_null(contractType.value, detail.contractType.value)",
        "meta.remote": "teleworking.value",
        "meta.category": "not_null(category.value, detail.category.value)",
        "meta.salary": (
            "salaryDescription || detail.salaryDescription"
            " || join(' - ', [salaryMin.value, salaryMax.value][?@].to_string(@))"
        ),
        "offer.provider": "infojobs",
        "offer.company_id": "author.id || detail.profile.id",
        "offer.company_name": "author.name || detail.profile.name",
        "offer.company_website": "detail.profile.websiteUrl || detail.profile.web",
        "offer.place": "city || detail.city || province.value",
        "offer.posted": "not_null(published, detail.creationDate)",
    },
)
"""InfoJobs, Spain: newest first, asked by age, with the details of each job listing."""

_GREENHOUSE = "https://boards-api.greenhouse.io/v1/boards/{site}"

GREENHOUSE = Preset(
    kind="greenhouse",
    home=_GREENHOUSE,
    hosts=dict.fromkeys(
        ("boards.greenhouse.io", "job-boards.greenhouse.io", "boards-api.greenhouse.io"), _GREENHOUSE
    ),
    offered=("param", "meta", "max_pages", "max_items"),
    settings={
        "path": "/jobs",
        "param.content": "true",
        "items": "jobs",
        "total": "meta.total",
        "id": "id",
        "title": "title",
        "text": "content",
        "updated": "updated_at",
        "url": "absolute_url",
        "meta.category": "departments[0].name",
        "offer.provider": "greenhouse",
        "offer.company_id": "'{site}'",
        "offer.company_name": "company_name || '{site}'",
        "offer.place": "location.name || offices[0].name",
        "offer.posted": "first_published",
    },
)
"""Greenhouse's public job board of one company: the whole list as one answer."""

_LEVER = "https://api.lever.co/v0/postings/{site}"
_LEVER_EU = "https://api.eu.lever.co/v0/postings/{site}"

LEVER = Preset(
    kind="lever",
    home=_LEVER,
    hosts={
        "jobs.lever.co": _LEVER,
        "api.lever.co": _LEVER,
        "jobs.eu.lever.co": _LEVER_EU,
        "api.eu.lever.co": _LEVER_EU,
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
"""Lever's public postings of one company."""
