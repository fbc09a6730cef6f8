"""InfoJobs, Spain: newest first, asked by age, with the details of each job listing."""

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
