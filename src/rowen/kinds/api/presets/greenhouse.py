"""Greenhouse's public job board of one company: the whole list as one answer."""

from __future__ import annotations

from rowen.kinds.api.presets.preset import Preset

_API = "https://boards-api.greenhouse.io/v1/boards/{site}"

GREENHOUSE = Preset(
    kind="greenhouse",
    home=_API,
    hosts=dict.fromkeys(
        ("boards.greenhouse.io", "job-boards.greenhouse.io", "boards-api.greenhouse.io"), _API
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
