"""APIs of lists for tests: a server in a background thread that pages in all the ways APIs do.

    with ApiServer([an_item(1), an_item(2)]) as api:
        api.quirks.rate_limit_at = 3
        api.before_page = lambda number: api.remove("1")
        ...
        assert api.count("list") == 2

`/items` is a made-up API: by `page`, `offset`, `cursor`, `next` or a `Link` header, filtered by date if asked
to, with `/items/{id}` for one of them. `InfoJobs`, `Greenhouse` and `Lever` answer as the real ones do.
"""

from __future__ import annotations

import hashlib
import html
import threading
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import orjson
from aiohttp import web

from tests.support.site import Site

START = datetime(2023, 12, 1, tzinfo=UTC)
Answer = tuple[int, Any, dict[str, str]]


@dataclass
class Quirks:
    total: bool = True
    """Announces how many there are."""
    announces: int = 0
    """By so many the total is wrong."""
    first_page: int = 1
    page_cap: int = 1000
    """No page is larger, whatever was asked for."""
    body: bytes | None = None
    """Every list answers with this."""
    body_at: tuple[int, bytes] | None = None
    """The list answers with this at that request, from 1."""
    status: int = 0
    """Every request gets this."""
    status_at: tuple[int, int] | None = None
    """The request with this number, from 1, gets this status."""
    rate_limit_at: int = 0
    """From the request with this number on: 429."""
    retry_after: str = "7200"
    detail_status: dict[str, int] = field(default_factory=dict)
    ignores_paging: bool = False
    clamps: bool = False
    """A page behind the last is the last."""
    not_found_behind: bool = False
    """A page behind the last is a 404."""
    same_cursor: bool = False
    next_url: Any = None
    """The next page is always there."""
    bare: bool = False
    """Says nothing of what is behind a page."""
    etag: bool = True
    token: str = ""
    """Wanted in the header `Authorization`."""


@dataclass(frozen=True)
class Asked:
    what: str
    """`list` or `detail`."""
    params: Mapping[str, list[str]]
    status: int

    def value(self, name: str) -> str | None:
        return self.params[name][-1] if name in self.params else None


class ApiServer(Site):
    def __init__(self, rows: Iterable[Mapping[str, Any]] = (), **options: Any) -> None:
        super().__init__(**options)
        self.quirks = Quirks()
        self.asked: list[Asked] = []
        self.before_page: Callable[[int], None] | None = None
        """Called with the number of the list request, from 1, before it is answered."""
        self.before_detail: Callable[[int], None] | None = None
        """The same for details."""
        self._lock = threading.RLock()
        self.rows = [dict(row) for row in rows]

    # what tests do with it

    def put(self, row: Mapping[str, Any], *, first: bool = False) -> None:
        with self._lock:
            self.rows = [one for one in self.rows if one["id"] != row["id"]]
            self.rows.insert(0 if first else len(self.rows), dict(row))

    def edit(self, id: Any, **changes: Any) -> None:  # noqa: A002
        with self._lock:
            self.rows = [{**one, **changes} if one["id"] == id else one for one in self.rows]

    def remove(self, id: Any) -> None:  # noqa: A002
        with self._lock:
            self.rows = [one for one in self.rows if one["id"] != id]

    def ids(self) -> set[str]:
        return {str(one["id"]) for one in self.rows}

    def count(self, what: str = "") -> int:
        return sum(not what or one.what == what for one in self.asked)

    def clear_log(self) -> None:
        super().clear_log()
        self.asked.clear()

    # the server

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        parts = urlsplit(request.raw_path)
        params = parse_qs(parts.query, keep_blank_values=True)
        what = "list" if self.is_list(parts.path) else "detail"
        with self._lock:
            status, body, headers = self._decide(request, what, parts.path, params)
        raw = body if isinstance(body, bytes) else orjson.dumps(body)
        if self.quirks.etag and what == "list" and status == 200:
            headers["ETag"] = f'"{hashlib.sha256(raw).hexdigest()[:16]}"'
            if request.headers.get("If-None-Match") == headers["ETag"]:
                status, raw = 304, b""
        self.asked.append(Asked(what, params, status))
        self._log(request, status)
        return web.Response(status=status, body=raw, headers={"Content-Type": "application/json", **headers})

    def _decide(self, request: web.BaseRequest, what: str, path: str, params: dict[str, list[str]]) -> Answer:
        quirks, number = self.quirks, len(self.asked) + 1
        if quirks.status:
            return quirks.status, {"error": "no"}, {}
        if quirks.status_at and quirks.status_at[0] == number:
            return quirks.status_at[1], {"error": "no"}, {}
        if quirks.rate_limit_at and number >= quirks.rate_limit_at:
            return 429, {"error": "too often"}, {"Retry-After": quirks.retry_after}
        if quirks.token and request.headers.get("Authorization") != quirks.token:
            return 401, {"error": "who are you?"}, {}
        flat = {name: values[-1] for name, values in params.items()}
        if what == "detail":
            if self.before_detail is not None:
                self.before_detail(self.count("detail") + 1)
            return self._one(unquote(path.rpartition("/")[2]))
        pages = self.count("list") + 1
        if self.before_page is not None:
            self.before_page(pages)
        if quirks.body is not None:
            return 200, quirks.body, {}
        if quirks.body_at and quirks.body_at[0] == pages:
            return 200, quirks.body_at[1], {}
        return self.listed(path, flat, params)

    def _one(self, id: str) -> Answer:  # noqa: A002
        if id in self.quirks.detail_status:
            return self.quirks.detail_status[id], {"error": "no"}, {}
        row = next((one for one in self.rows if str(one["id"]) == id), None)
        return (404, {"error": "not found"}, {}) if row is None else (200, self.detail(row), {})

    # what differs between APIs

    def is_list(self, path: str) -> bool:
        return path == "/items"

    def detail(self, row: dict[str, Any]) -> Any:
        return {"id": row["id"], "body": f"All about {row['title']}: {row.get('secret', 'nothing more')}."}

    def listed(self, path: str, flat: dict[str, str], params: dict[str, list[str]]) -> Answer:
        rows = self._between(flat.get("since"), flat.get("until"))
        if flat.get("sort") == "desc":
            rows = sorted(rows, key=lambda one: one["updated"], reverse=True)
        size = min(int(flat.get("limit", 1000)), self.quirks.page_cap)
        start = self._start(flat, size)
        if self.quirks.ignores_paging:
            start = 0
        elif self.quirks.clamps and rows:
            start = min(start, (len(rows) - 1) // size * size)
        if self.quirks.not_found_behind and start >= len(rows) and start:
            return 404, {"detail": "Invalid page."}, {}
        page = rows[start : start + size]
        behind = start + size if start + size < len(rows) else None
        body: dict[str, Any] = {"items": page}
        headers: dict[str, str] = {}
        if self.quirks.total:
            body["total"] = len(rows) + self.quirks.announces
        if not self.quirks.bare and (behind or self.quirks.next_url or self.quirks.same_cursor):
            rest = {name: value for name, value in flat.items() if name not in ("offset", "cursor", "page")}
            url = self.quirks.next_url or f"{path}?{urlencode({**rest, 'offset': behind or 0})}"
            # A cursor stands for a place in the order, whatever comes and goes before it.
            cursor = "same" if self.quirks.same_cursor else f"after:{page[-1]['id']}"
            body |= {"next": url, "cursor": cursor}
            headers["Link"] = f'<{path}?page=0>; rel="first", <{url}>; rel="next"; title="more"'
        return 200, body, headers

    def _start(self, flat: dict[str, str], size: int) -> int:
        if "offset" in flat:
            return int(flat["offset"])
        if flat.get("cursor", "").startswith("after:"):
            last = int(flat["cursor"].removeprefix("after:"))
            return sum(int(one["id"]) <= last for one in self.rows)
        return (int(flat.get("page", self.quirks.first_page)) - self.quirks.first_page) * size

    def _between(self, since: str | None, until: str | None) -> list[dict[str, Any]]:
        return [
            one
            for one in self.rows
            if (since is None or moment(one["updated"]) >= moment(since))
            and (until is None or moment(one["updated"]) < moment(until))
        ]


class InfoJobs(ApiServer):
    """Search and detail of offers, as version 9 and 7 of the API answer."""

    now = datetime(2024, 1, 1, tzinfo=UTC)
    client = "Basic " + b64encode(b"client-id:client-secret-value").decode()

    def __init__(self, rows: Iterable[Mapping[str, Any]] = (), **options: Any) -> None:
        super().__init__(rows, **options)
        self.quirks.token = self.client

    def is_list(self, path: str) -> bool:
        return path == "/api/9/offer"

    def listed(self, path: str, flat: dict[str, str], params: dict[str, list[str]]) -> Answer:
        spans = {"_24_HOURS": 1, "_7_DAYS": 7, "_15_DAYS": 15, "ANY": 10_000}
        oldest = self.now - timedelta(days=spans[flat.get("sinceDate", "ANY")])
        found = [one for one in self.rows if moment(one["updated"]) >= oldest]
        if "province" in params:
            found = [one for one in found if one["province"]["value"].lower() in params["province"]]
        assert flat["order"] == "updated-desc"
        found.sort(key=lambda one: moment(one["updated"]), reverse=True)
        size, number = int(flat["maxResults"]), int(flat["page"])
        assert size <= 50
        shown = [
            {key: value for key, value in one.items() if key != "description"}
            for one in found[(number - 1) * size : number * size]
        ]
        body = {
            "totalResults": len(found),
            "currentResults": len(shown),
            "totalPages": -(-len(found) // size),
            "currentPage": number,
            "pageSize": size,
            "items": shown,
            "availableSearches": [],
        }
        return 200, body, {}

    def detail(self, row: dict[str, Any]) -> Any:
        return {
            "id": row["id"],
            "title": row["title"],
            "link": row["link"],
            "description": row["description"],
            "minRequirements": row["requirementMin"],
            "country": {"id": 17, "value": "España"},
            "creationDate": row["published"],
            "updateDate": row["updated"],
            "applications": "44",
            "profile": {
                "id": row["author"]["id"],
                "name": row["author"]["name"],
                "websiteUrl": "https://acme.example",
                "numberWorkers": 50,
            },
        }


class Greenhouse(ApiServer):
    def is_list(self, path: str) -> bool:
        return path == "/v1/boards/acme/jobs"

    def listed(self, path: str, flat: dict[str, str], params: dict[str, list[str]]) -> Answer:
        assert flat["content"] == "true"
        return 200, {"jobs": self.rows, "meta": {"total": len(self.rows)}}, {}


class Lever(ApiServer):
    def is_list(self, path: str) -> bool:
        return path == "/v0/postings/acme"

    def listed(self, path: str, flat: dict[str, str], params: dict[str, list[str]]) -> Answer:
        assert flat["mode"] == "json"
        start = int(flat["skip"])
        return 200, self.rows[start : start + int(flat["limit"])], {}


def an_item(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": number,
        "title": f"Item {number}",
        "description": f"What there is to say about number {number}.",
        "updated": stamp(START + timedelta(hours=number)),
        "tags": ["b", "a"],
        "views": number * 7,
        **changes,
    }


def items(number: int) -> list[dict[str, Any]]:
    return [an_item(one) for one in range(1, number + 1)]


def an_infojobs_offer(number: int, at: datetime, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"offer{number:04}",
        "title": f"Developer {number}",
        "city": "Getafe",
        "province": {"id": 33, "value": "Madrid"},
        "link": f"https://www.infojobs.net/getafe/developer/of-i{number:04}",
        "category": {"id": 150, "value": "Informática y telecomunicaciones"},
        "contractType": {"id": 1, "value": "Indefinido"},
        "teleworking": {"id": 2, "value": "Solo teletrabajo"},
        "salaryDescription": "30.000€ - 36.000€ Bruto/año",
        "author": {"id": "c1", "name": "Acme S.L.", "uri": "https://acme.ofertas-trabajo.infojobs.net"},
        "published": stamp(at - timedelta(days=1)),
        "updated": stamp(at),
        "requirementMin": "Three years with Python",
        "applications": "12",
        "description": f"We look for developer number {number}.\n\nRemote, from anywhere.",
        **changes,
    }


def a_greenhouse_job(number: int, **changes: Any) -> dict[str, Any]:
    content = (
        f"<p>Work on &amp; with <strong>engine {number}</strong></p><h3>You</h3><ul><li>know C</li></ul>"
    )
    return {
        "id": 4_000_000 + number,
        "internal_job_id": number,
        "title": f"Engineer {number}",
        "updated_at": "2023-12-20T10:00:00-05:00",
        "first_published": "2023-12-01T09:00:00-05:00",
        "absolute_url": f"https://boards.greenhouse.io/acme/jobs/{4_000_000 + number}",
        "company_name": "Acme Corp",
        "location": {"name": "Berlin, Germany"},
        "departments": [{"id": 1, "name": "Engineering", "child_ids": [], "parent_id": None}],
        "offices": [{"id": 1, "name": "Berlin"}],
        "metadata": None,
        "content": html.escape(content),
        **changes,
    }


def a_lever_posting(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"0000-{number:04}",
        "text": f"Designer {number}",
        "categories": {
            "location": "Lisbon",
            "team": "Design",
            "commitment": "Full-time",
            "department": "Product",
        },
        "country": "PT",
        "description": f"<div>Draw things, number <b>{number}</b>.</div>",
        "descriptionPlain": f"Draw things, number {number}.",
        "lists": [{"text": "What you bring", "content": "<li>Taste</li><li>A pencil</li>"}],
        "additional": "<div>Apply soon.</div>",
        "additionalPlain": "Apply soon.",
        "createdAt": 1_701_424_800_000,
        "hostedUrl": f"https://jobs.lever.co/acme/0000-{number:04}",
        "applyUrl": f"https://jobs.lever.co/acme/0000-{number:04}/apply",
        "workplaceType": "hybrid",
        **changes,
    }


def stamp(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def moment(text: str) -> datetime:
    found = datetime.fromtimestamp(int(text), UTC) if text.isdigit() else datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
