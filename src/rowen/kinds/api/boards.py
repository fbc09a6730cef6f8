"""Job boards as data: each is a handful of settings, the same that anybody could give for kind `rest`.

`{site}` in a setting is the name a company has at the board. Only what says who they are and where they
answer is more than settings. What the boards say of an offer that changes by itself, such as the number of
applicants, is not asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from rowen.core.web import urls
from rowen.errors import BadLocation

_SITE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Board:
    kind: str
    settings: Mapping[str, str]
    """As `--set` would be given for kind `rest`."""
    offered: tuple[str, ...]
    """The settings of `rest` that make sense to change."""
    most: Mapping[str, int]
    """What the board answers at most, by setting."""
    hosts: Mapping[str, str]
    """Where people and programs know it, with the address of the API that stands behind it."""
    home: str
    """The API of whoever is named by a bare word."""

    @property
    def has_sites(self) -> bool:
        return "{site}" in self.home


_ALWAYS = ("param", "meta", "max_pages", "max_items")

INFOJOBS = Board(
    kind="infojobs",
    home="https://api.infojobs.net",
    hosts=dict.fromkeys(("api.infojobs.net", "www.infojobs.net", "infojobs.net"), "https://api.infojobs.net"),
    offered=(*_ALWAYS, "page_size", "seed_days", "seed_windows", "overlap", "recheck"),
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

_GREENHOUSE = "https://boards-api.greenhouse.io/v1/boards/{site}"
GREENHOUSE = Board(
    kind="greenhouse",
    home=_GREENHOUSE,
    hosts=dict.fromkeys(
        ("boards.greenhouse.io", "job-boards.greenhouse.io", "boards-api.greenhouse.io"), _GREENHOUSE
    ),
    offered=_ALWAYS,
    most={},
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

_LEVER = "https://api.lever.co/v0/postings/{site}"
_LEVER_EU = "https://api.eu.lever.co/v0/postings/{site}"
LEVER = Board(
    kind="lever",
    home=_LEVER,
    hosts={
        "jobs.lever.co": _LEVER,
        "api.lever.co": _LEVER,
        "jobs.eu.lever.co": _LEVER_EU,
        "api.eu.lever.co": _LEVER_EU,
    },
    offered=(*_ALWAYS, "page_size"),
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


def claims(board: Board, location: str) -> bool:
    return urls.host_of(_with_scheme(location)) in board.hosts


def address(board: Board, location: str) -> str:
    """The API behind what somebody gave: a page of the board, the API itself, a bare name.

    Another host is taken as it is. Raises `BadLocation`.
    """
    text = location.strip()
    url = _with_scheme(text)
    home = board.hosts.get(urls.host_of(url))
    if not board.has_sites:
        return board.home if text == board.kind else home or url.rstrip("/")
    if _SITE.fullmatch(text) and text not in board.hosts:
        return board.home.replace("{site}", text)
    site = _site_in(url)
    if not _SITE.fullmatch(site):
        raise BadLocation(
            f"location `{location}`: names nobody at `{board.kind}`",
            hint=f"give a company's page there, as in `https://{next(iter(board.hosts))}/acme`, or its name",
            location=location,
        )
    return home.replace("{site}", site) if home else url.rstrip("/")


def settings_for(board: Board, location: str) -> dict[str, str]:
    """The board's settings for one address of its API."""
    site = location.partition("?")[0].rstrip("/").rpartition("/")[2]
    shown = site if _SITE.fullmatch(site) else ""
    return {name: text.replace("{site}", shown) for name, text in board.settings.items()}


def _with_scheme(location: str) -> str:
    return location if "://" in location else f"https://{location}"


def _site_in(url: str) -> str:
    parts = urlsplit(urls.normalise(url) or "")
    words = [word for word in parts.path.split("/") if word]
    for before in ("boards", "postings"):
        if before in words[:-1]:
            return words[words.index(before) + 1]
    named = parse_qs(parts.query).get("for", [""])[0]
    return named or (words[0] if words else "")
