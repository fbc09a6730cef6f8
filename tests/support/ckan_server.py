"""A CKAN portal for tests: a server in a background thread that answers as the documentation of CKAN says.

    with CkanServer(datasets(1000)) as portal:
        portal.quirks.rows_max = 100
        portal.before_search = lambda number: portal.remove("id-000003")
        ...
        assert portal.count("package_search") == 10

Each quirk of the portals in the wild is a switch. Datasets may be changed between requests, from hooks or
from any thread. Answers are made from JSON that is kept per dataset, so that 50,000 of them cost little.
"""

from __future__ import annotations

import bisect
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
from aiohttp import web

from tests.support.site import Site

START = datetime(2023, 1, 1, tzinfo=UTC)
HTML_ERROR = "<!DOCTYPE html><html><body><h1>Sorry, something went wrong</h1></body></html>"
_RANGE = re.compile(
    r'(?P<field>\w+):(?P<open>[\[{])(?P<low>"(?:[^"\\]|\\.)*"|\S+) TO (?P<high>\S+?)(?P<close>[\]}])'
)
_ANY_OF = re.compile(r'(?P<field>\w+):\((?P<values>"(?:[^"\\]|\\.)*"(?: OR "(?:[^"\\]|\\.)*")*)\)')
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


@dataclass
class Quirks:
    rows_max: int = 1000
    """`ckan.search.rows_max`: no page is larger, whatever was asked for."""
    ignores_changes_filter: bool = False
    misses_changes: bool = False
    """Takes the filter by date and answers that nothing changed, whatever did."""
    index_dates: bool = False
    """The search index writes dates as Solr does, records as Python does."""
    ignores_choice: bool = False
    """Answers with everything, whatever filter or words were sent."""
    rejects_changes_filter: int = 0
    """With this status; 200 for `success: false`."""
    ignores_id_filter: bool = False
    rejects_id_filter: int = 0
    misreads_id_filter: bool = False
    """Takes it and finds nothing, as with a field of another type."""
    ignores_sort: bool = False
    ignores_fl: bool = False
    refuses_fl: int = 0
    refuses_search: int = 0
    refusal_body: str | bytes | None = None
    search_empty: bool = False
    fails_above_rows: int | None = None
    """Larger pages are more than it can do."""
    failure: str = "500"
    """How: `500`, `502`, `html` (an error page with 200), `cut` (JSON that ends early), `false`, `string`."""
    fail_times: int = 0
    """Fail this many requests, then work."""
    lists: bool = False
    """DKAN: `result` is a list."""
    count: Callable[[int], Any] | None = None
    """Announces another number."""
    breaks_on: set[str] = field(default_factory=set)
    """A page with one of these fails; so does the dataset itself."""
    refuses_show: int = 0
    prefix: str = ""
    """Lives below this path."""
    redirect_to: str = ""
    redirects_always: bool = False
    rate_limits: int = 0
    """429, this many times."""
    retry_after: str = "2"
    token: str = ""
    """Wanted in the header `Authorization`."""


@dataclass(frozen=True)
class Asked:
    action: str
    params: Mapping[str, str]
    status: int


class CkanServer(Site):
    def __init__(self, rows: Iterable[Mapping[str, Any]] = (), **options: Any) -> None:
        super().__init__(**options)
        self.quirks = Quirks()
        self.asked: list[Asked] = []
        self.before_search: Callable[[int], None] | None = None
        """Called with the number of the search, from 1, before it is answered."""
        self.tables: dict[str, list[dict[str, Any]] | int | str] = {}
        """The datastore, by resource: fields, the status of a refusal, or a body that is no answer."""
        self._lock = threading.RLock()
        self._rows: dict[str, dict[str, Any]] = {}
        self._ids: list[str] = []
        self._json: dict[str, bytes] = {}
        self._searches = 0
        for row in rows:
            self.put(row)

    # what tests do with it

    def put(self, row: Mapping[str, Any]) -> None:
        with self._lock:
            reference = str(row["id"])
            if reference not in self._rows:
                bisect.insort(self._ids, reference)
            self._rows[reference] = dict(row)
            self._json.pop(reference, None)

    def edit(self, reference: str, *, modified: datetime, **changes: Any) -> None:
        with self._lock:
            self.put({**self._rows[reference], **changes, "metadata_modified": stamp(modified)})

    def row(self, reference: str) -> dict[str, Any]:
        with self._lock:
            return dict(self._rows[reference])

    def remove(self, reference: str) -> None:
        with self._lock:
            del self._rows[reference]
            self._ids.remove(reference)
            self._json.pop(reference, None)

    def ids(self) -> list[str]:
        return list(self._ids)

    def count(self, action: str = "") -> int:
        return sum(not action or asked.action == action for asked in self.asked)

    def clear_log(self) -> None:
        super().clear_log()
        self.asked.clear()
        self._searches = 0

    @property
    def portal(self) -> str:
        return self.url + self.quirks.prefix

    # the server

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        parts = urlsplit(request.raw_path)
        params = {key: values[-1] for key, values in parse_qs(parts.query, keep_blank_values=True).items()}
        action = parts.path.rpartition("/")[2]
        with self._lock:
            status, body, headers = self._decide(request, parts.path, action, params)
        self.asked.append(Asked(action, params, status))
        self._log(request, status)
        content_type = "text/html" if body[:1] == b"<" else "application/json"
        return web.Response(status=status, body=body, headers={"Content-Type": content_type, **headers})

    def _decide(
        self, request: web.BaseRequest, path: str, action: str, params: dict[str, str]
    ) -> tuple[int, bytes, dict[str, str]]:
        quirks = self.quirks
        if quirks.redirect_to and (quirks.redirects_always or not path.startswith(quirks.redirect_to)):
            return 301, b"", {"Location": quirks.redirect_to + request.raw_path}
        if not path.startswith(f"{quirks.prefix}{quirks.redirect_to}/api/3/action/"):
            return 404, HTML_ERROR.encode(), {}
        if quirks.rate_limits:
            quirks.rate_limits -= 1
            return 429, b'"Too many requests"', {"Retry-After": quirks.retry_after}
        if quirks.token and request.headers.get("Authorization") != quirks.token:
            return *refusal(403, "Authorization Error", "Access denied"), {}
        answer = {
            "package_search": self._search,
            "package_list": self._list,
            "package_show": self._show,
            "datastore_search": self._datastore,
            "status_show": lambda params: (200, wrapped(b'{"ckan_version": "2.10.4"}')),
        }.get(action)
        if answer is None:
            return 400, b'"Bad request - Action name not known: ' + action.encode() + b'"', {}
        return *answer(params), {}

    def _search(self, params: dict[str, str]) -> tuple[int, bytes]:
        quirks = self.quirks
        self._searches += 1
        if self.before_search is not None:
            self.before_search(self._searches)
        if quirks.refuses_search:
            return self._refused(quirks.refuses_search)
        rows = int(params.get("rows", 10))
        if quirks.fail_times:
            quirks.fail_times -= 1
            return self._failed()
        if quirks.fails_above_rows is not None and rows > quirks.fails_above_rows:
            return self._failed()
        if "fl" in params and quirks.refuses_fl:
            return self._refused(quirks.refuses_fl)
        filters = params.get("fq", "")
        if "metadata_modified:" in filters and quirks.rejects_changes_filter:
            return self._refused(quirks.rejects_changes_filter)
        if "id:" in filters and quirks.rejects_id_filter:
            return self._refused(quirks.rejects_id_filter)
        found = [] if quirks.search_empty else self._filtered(filters)
        if not quirks.ignores_choice:
            found = self._with_words(self._chosen(found, filters), params.get("q", ""))
        found = self._sorted(found, params.get("sort", "score desc, metadata_modified desc"))
        start = int(params.get("start", 0))
        page = found[start : start + min(rows, quirks.rows_max)]
        only = params.get("fl", "") if not quirks.ignores_fl else ""
        if not only and quirks.breaks_on.intersection(page):
            return self._failed()
        shown = b",".join(self._row(reference, only) for reference in page)
        if quirks.lists:
            return 200, wrapped(b"[" + shown + b"]")
        total = quirks.count(len(found)) if quirks.count else len(found)
        body = b'{"count":' + orjson.dumps(total) + b',"sort":"","facets":{},"results":[' + shown + b"]}"
        return 200, wrapped(body)

    def _list(self, params: dict[str, str]) -> tuple[int, bytes]:
        names = sorted(str(row.get("name") or row["id"]) for row in self._rows.values())
        start = int(params.get("offset", 0))
        end = start + int(params["limit"]) if "limit" in params else None
        return 200, wrapped(orjson.dumps(names[start:end]))

    def _show(self, params: dict[str, str]) -> tuple[int, bytes]:
        wanted = params.get("id", "")
        if self.quirks.refuses_show:
            return self._refused(self.quirks.refuses_show)
        reference = (
            wanted
            if wanted in self._rows
            else next((one for one, row in self._rows.items() if row.get("name") == wanted), None)
        )
        if reference is None:
            return refusal(404, "Not Found Error", "Not found")
        if reference in self.quirks.breaks_on:
            return self._failed()
        row = self._row(reference, "")
        return 200, wrapped(b"[" + row + b"]" if self.quirks.lists else row)

    def _datastore(self, params: dict[str, str]) -> tuple[int, bytes]:
        table = self.tables.get(params.get("resource_id", ""))
        if isinstance(table, int):
            if table == 500:
                return 500, HTML_ERROR.encode()
            kinds = {403: "Authorization Error"}
            return refusal(table, kinds.get(table, "Not Found Error"), "Access denied")
        if isinstance(table, str):
            return 200, table.encode()
        if table is None:
            return refusal(404, "Not Found Error", f'Resource "{params.get("resource_id")}" was not found.')
        own = [{"id": "_id", "type": "int"}]
        answer = {"resource_id": params["resource_id"], "fields": own + table, "records": [], "limit": 0}
        return 200, wrapped(orjson.dumps(answer))

    def _filtered(self, filters: str) -> list[str]:
        found = self._ids
        for match in _RANGE.finditer(filters):
            low, high = _unquoted(match["low"]), _unquoted(match["high"])
            if match["field"] == "id":
                if self.quirks.misreads_id_filter:
                    return []
                if not self.quirks.ignores_id_filter:
                    cut = bisect.bisect_right if match["open"] == "{" else bisect.bisect_left
                    begin = 0 if low == "*" else cut(found, low)
                    found = found[begin : None if high == "*" else bisect.bisect_right(found, high)]
            elif match["field"] == "metadata_modified" and not self.quirks.ignores_changes_filter:
                if self.quirks.misses_changes:
                    return []
                moment = datetime.fromisoformat(low)
                assert high == "*"
                found = [one for one in found if modified_at(self._rows[one]) >= moment]
        return found

    def _chosen(self, found: list[str], filters: str) -> list[str]:
        for match in _ANY_OF.finditer(filters):
            wanted = {_unquoted(one) for one in _QUOTED.findall(match["values"])}
            found = [one for one in found if wanted & indexed(self._rows[one], match["field"])]
        return found

    def _with_words(self, found: list[str], query: str) -> list[str]:
        words = query.lower().split()
        return [one for one in found if all(word in str(self._rows[one]).lower() for word in words)]

    def _sorted(self, found: list[str], order: str) -> list[str]:
        if self.quirks.ignores_sort:
            # By relevance, which means nothing here: some order that is not that of ids.
            return sorted(found, key=lambda one: (hash_of(one), one))
        if order.startswith("id asc"):
            return found
        newest_first = order == "metadata_modified desc"
        return sorted(found, key=lambda one: (modified_at(self._rows[one]), one), reverse=newest_first)

    def _row(self, reference: str, only: str) -> bytes:
        if only:
            row = self._rows[reference]
            if self.quirks.index_dates:
                row = {**row, "metadata_modified": f"{str(row['metadata_modified'])[:-3]}Z"}
            return orjson.dumps({key: row.get(key) for key in only.split(",")})
        if reference not in self._json:
            self._json[reference] = orjson.dumps(self._rows[reference])
        return self._json[reference]

    def _refused(self, status: int) -> tuple[int, bytes]:
        body = self.quirks.refusal_body
        if body is not None:
            return status, body.encode() if isinstance(body, str) else body
        kinds = {403: "Authorization Error", 404: "Not Found Error"}
        return refusal(status, kinds.get(status, "Search Query Error"), "Search query is invalid")

    def _failed(self) -> tuple[int, bytes]:
        match self.quirks.failure:
            case "html":
                return 200, HTML_ERROR.encode()
            case "cut":
                return 200, b'{"help": "...", "success": true, "result": {"count": 3, "results": [{"id": "a'
            case "false":
                return (
                    200,
                    b'{"success": false, "error": {"__type": "Internal Server Error", "message": "oops"}}',
                )
            case "string":
                return 200, b'"Internal server error"'
        return int(self.quirks.failure), HTML_ERROR.encode()


def refusal(status: int, kind: str, message: str) -> tuple[int, bytes]:
    return status, orjson.dumps(
        {"help": "...", "success": False, "error": {"__type": kind, "message": message}}
    )


def wrapped(result: bytes) -> bytes:
    return b'{"help":"...","success":true,"result":' + result + b"}"


def stamp(moment: datetime) -> str:
    """As CKAN writes times: UTC, and it does not say so."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")


def modified_at(row: Mapping[str, Any]) -> datetime:
    text = row.get("metadata_modified")
    return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else START


def hash_of(text: str) -> int:
    return sum((place + 7) * ord(letter) for place, letter in enumerate(text)) * 2_654_435_761 % 4_294_967_296


def indexed(row: Mapping[str, Any], field: str) -> set[str]:
    """What the search index has of a dataset in a field."""
    match field:
        case "organization":
            return {row["organization"]["name"]}
        case "groups" | "tags":
            return {one["name"] for one in row[field]}
        case "res_format":
            return {one["format"] for one in row["resources"]}
        case "dataset_type":
            return {row["type"]}
    return set()


def a_dataset(number: int, **changes: Any) -> dict[str, Any]:
    """As `package_search` shows one, less the fields nobody looks at."""
    return {
        "id": f"id-{number:06}",
        "name": f"dataset-{number}",
        "title": f"Dataset {number}",
        "notes": f"What was measured at place {number}, written down for everybody.",
        "metadata_created": stamp(START),
        "metadata_modified": stamp(START + timedelta(seconds=number)),
        "state": "active",
        "type": "dataset",
        "license_id": "cc-by",
        "license_title": "Creative Commons Attribution",
        "organization": {"id": "o1", "name": "agency", "title": "The Agency", "type": "organization"},
        "tags": [{"name": "weather", "display_name": "weather", "state": "active"}],
        "groups": [],
        "extras": [],
        "num_resources": 1,
        "resources": [
            {"id": "r", "name": "Table", "format": "CSV", "url": f"https://example.org/{number}.csv"}
        ],
        **changes,
    }


def datasets(number: int) -> list[dict[str, Any]]:
    return [a_dataset(one) for one in range(number)]


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text
