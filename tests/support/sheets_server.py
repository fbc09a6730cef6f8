"""Google Sheets for tests: a server in a background thread that answers as the documentation of API v4 says.

    with SheetsServer(clock.now) as google:
        google.book.add("Companies")
        ...
        assert google.count("write") == 1

It checks the signed statement of a service account, hands out tokens that end, keeps grids of typed cells and
carries out a batch as a whole or not at all. What people do to a sheet (sort, insert, delete, rename) are
methods of a tab, and may happen in the middle of things through `before`. Faults are scripted.
"""

from __future__ import annotations

import base64
import copy
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlsplit

from aiohttp import web
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.support.site import Site, cut_connection

EMAIL = "rowen@test-project.iam.gserviceaccount.com"
SCOPE = "https://www.googleapis.com/auth/spreadsheets"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
BOOK = "1aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789_-test"
MAX_TEXT = 50_000


class ApiError(Exception):
    def __init__(self, code: int, status: str, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.code, self.status, self.message, self.reason = code, status, message, reason

    def answer(self, headers: Mapping[str, str] | None = None) -> web.Response:
        error: dict[str, Any] = {"code": self.code, "message": self.message, "status": self.status}
        if self.reason:
            kind = "type.googleapis.com/google.rpc.ErrorInfo"
            error["details"] = [{"@type": kind, "reason": self.reason, "domain": "googleapis.com"}]
        return web.json_response({"error": error}, status=self.code, headers=headers)


class Tab:
    """A grid; None is an empty cell. `kinds` remembers how each cell was entered."""

    def __init__(self, sheet_id: int, title: str, *, rows: int = 100, columns: int = 26) -> None:
        self.id, self.title, self.columns = sheet_id, title, columns
        self.grid: list[list[Any]] = [[None] * columns for _ in range(rows)]
        self.protected = False

    # what people do

    def table(self) -> list[list[Any]]:
        """What a person sees: the filled part, empty cells as empty text."""
        last = max((n for n, row in enumerate(self.grid) if any(c is not None for c in row)), default=-1)
        rows = [["" if cell is None else cell for cell in row] for row in self.grid[: last + 1]]
        width = max(
            (max((n + 1 for n, c in enumerate(row) if c != ""), default=0) for row in rows), default=0
        )
        return [row[:width] for row in rows]

    def header(self) -> list[str]:
        names = ["" if cell is None else str(cell) for cell in self.grid[0]]
        while names and not names[-1]:
            names.pop()
        return names

    def column(self, name: str) -> list[Any]:
        at = self.header().index(name)
        return [row[at] for row in self.table()[1:]]

    def at(self, row: int, name: str) -> Any:
        """A cell by its row, from 1 below the header, and the name of its column."""
        return self.table()[row][self.header().index(name)]

    def type(self, row: int, name: str, value: Any) -> None:
        self.grid[row][self.header().index(name)] = value

    def insert_column(self, at: int, *cells: Any) -> None:
        for number, row in enumerate(self.grid):
            row.insert(at, cells[number] if number < len(cells) else None)
        self.columns += 1

    def delete_column(self, name: str) -> None:
        at = self.header().index(name)
        for row in self.grid:
            del row[at]
        self.columns -= 1

    def move_column(self, name: str, to: int) -> None:
        at = self.header().index(name)
        for row in self.grid:
            row.insert(to, row.pop(at))

    def insert_row(self, at: int, *cells: Any) -> None:
        self.grid.insert(at, [*cells, *[None] * (self.columns - len(cells))])

    def delete_row(self, at: int) -> None:
        del self.grid[at]

    def duplicate_row(self, at: int) -> None:
        self.grid.insert(at + 1, list(self.grid[at]))

    def sort(self, name: str, *, reverse: bool = False) -> None:
        at = self.header().index(name)
        filled = [row for row in self.grid[1:] if any(cell is not None for cell in row)]
        empty = [row for row in self.grid[1:] if all(cell is None for cell in row)]
        filled.sort(key=lambda row: (row[at] is None, str(row[at])), reverse=reverse)
        self.grid[1:] = filled + empty

    # what the service does

    @property
    def properties(self) -> dict[str, Any]:
        size = {"rowCount": len(self.grid), "columnCount": self.columns}
        return {"sheetId": self.id, "title": self.title, "sheetType": "GRID", "gridProperties": size}

    def set(self, row: int, column: int, cell: Mapping[str, Any]) -> None:
        if row >= len(self.grid) or column >= self.columns:
            raise ApiError(
                400,
                "INVALID_ARGUMENT",
                f"Range exceeds grid limits. Max rows: {len(self.grid)}, max columns: {self.columns}",
            )
        entered = cell.get("userEnteredValue", {})
        value = next(iter(entered.values()), None)
        if "formulaValue" in entered:
            raise AssertionError("a formula was written")
        if isinstance(value, str) and len(value) > MAX_TEXT:
            raise ApiError(400, "INVALID_ARGUMENT", "Your input contains more than the maximum of 50000")
        self.grid[row][column] = value

    def append(self, rows: Sequence[Mapping[str, Any]]) -> None:
        at = max((n + 1 for n, row in enumerate(self.grid) if any(c is not None for c in row)), default=0)
        for number, row in enumerate(rows):
            if at + number >= len(self.grid):
                self.grid.append([None] * self.columns)
            for column, cell in enumerate(row.get("values", [])):
                self.set(at + number, column, cell)


class Book:
    def __init__(self) -> None:
        self.tabs: list[Tab] = []
        self.editors = {EMAIL}
        self._next_id = 1_234_567

    def add(self, title: str, **size: int) -> Tab:
        if any(tab.title.lower() == title.lower() for tab in self.tabs):
            message = f'A sheet with the name "{title}" already exists. Please enter another name.'
            raise ApiError(400, "INVALID_ARGUMENT", f"Invalid requests[0].addSheet: {message}")
        self._next_id += 1
        self.tabs.append(Tab(self._next_id, title, **size))
        return self.tabs[-1]

    def copy(self) -> Book:
        staged = copy.copy(self)
        staged.tabs = [copy.copy(tab) for tab in self.tabs]
        for tab in staged.tabs:
            tab.grid = [list(row) for row in tab.grid]
        return staged

    def tab(self, sheet_id: int, where: str) -> Tab:
        for tab in self.tabs:
            if tab.id == sheet_id:
                return tab
        raise ApiError(400, "INVALID_ARGUMENT", f"Invalid {where}: No grid with id: {sheet_id}")


@dataclass(frozen=True)
class Call:
    kind: str
    """`token`, `get`, `read` or `write`."""
    status: int
    ranges: int = 0
    cells: int = 0
    rows: int = 0


@dataclass
class Fault:
    kind: str
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = ""
    reason: str = ""
    after: bool = False
    """Do what was asked first: the answer is what gets lost."""


@cache
def private_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def pem(key: rsa.RSAPrivateKey) -> str:
    plain = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain).decode()


class SheetsServer(Site):
    def __init__(self, now: Callable[[], datetime], **options: Any) -> None:
        super().__init__(**options)
        self.now = now
        self.books = {BOOK: Book()}
        self.calls: list[Call] = []
        self.faults: list[Fault] = []
        self.before: Callable[[str, int], None] | None = None
        """Called with the kind of a call and its number of that kind, from 1, before it is carried out."""
        self.quota_per_minute = 1_000_000
        self.babbles = ""
        """Calls of this kind are answered with a web page."""
        self.silent_about_missing_tabs = False
        """A tab that is not there is no error, but no range either."""
        self.token_lifetime_s = 3600
        self._tokens: dict[str, datetime] = {}
        self._recent: list[datetime] = []
        self._lock = threading.RLock()

    # what tests do with it

    @property
    def book(self) -> Book:
        return self.books[BOOK]

    @property
    def tab(self) -> Tab:
        return self.book.tabs[0]

    def key(self, **changes: Any) -> str:
        """The JSON key of the service account, with line breaks as Google has them."""
        values = {
            "type": "service_account",
            "project_id": "test-project",
            "private_key_id": "0123456789abcdef",
            "private_key": pem(private_key()),
            "client_email": EMAIL,
            "token_uri": f"{self.url}/token",
            **changes,
        }
        return json.dumps({name: value for name, value in values.items() if value is not None}, indent=2)

    def count(self, kind: str) -> int:
        return sum(call.kind == kind for call in self.calls)

    def kinds(self) -> list[str]:
        return [call.kind for call in self.calls]

    def fail(self, kind: str, status: int, *, times: int = 1, **options: Any) -> None:
        self.faults += [Fault(kind, status, **options) for _ in range(times)]

    def end_tokens(self) -> None:
        self._tokens.clear()

    # the service

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        with self._lock:
            kind = self._kind(request)
            fault = next((one for one in self.faults if one.kind == kind), None)
            if self.before is not None:
                self.before(kind, self.count(kind) + 1)
            try:
                if fault is not None:
                    self.faults.remove(fault)
                    if fault.after:
                        self._do(kind, request, body)
                    if fault.status == 0:
                        self.calls.append(Call(kind, 0))
                        return cut_connection(request)
                    error = ApiError(fault.status, "FAULT", fault.message or "a fault", fault.reason)
                    response: web.StreamResponse = error.answer(fault.headers)
                else:
                    response = self._do(kind, request, body)
            except ApiError as exc:
                response = exc.answer()
            self.calls.append(Call(kind, response.status, *self._counted(kind, body)))
            return response

    def _kind(self, request: web.BaseRequest) -> str:
        path = urlsplit(request.raw_path).path
        if path == "/token":
            return "token"
        if request.method == "GET":
            return "get"
        return "read" if path.endswith(":batchGetByDataFilter") else "write"

    def _counted(self, kind: str, body: bytes) -> tuple[int, int, int]:
        if kind != "write":
            return 0, 0, 0
        requests = json.loads(body).get("requests", [])
        blocks = [one["updateCells"] for one in requests if "updateCells" in one]
        added = [row for one in requests if "appendCells" in one for row in one["appendCells"]["rows"]]
        written = [row for block in blocks for row in block["rows"]] + added
        return len(blocks), sum(bool(cell) for row in written for cell in row["values"]), len(added)

    def _do(self, kind: str, request: web.BaseRequest, body: bytes) -> web.Response:
        if kind == self.babbles:
            return web.Response(text="<h1>Back soon</h1>", content_type="text/html")
        if kind == "token":
            return self._token(body)
        book = self._admitted(request)
        if kind == "get":
            return web.json_response({"sheets": [{"properties": tab.properties} for tab in book.tabs]})
        content = json.loads(body)
        if kind == "read":
            return self._read(book, content)
        # All or nothing: carried out on a copy, which then takes the place of the book.
        staged = book.copy()
        replies = [self._update(staged, one, number) for number, one in enumerate(content["requests"])]
        book.tabs, book._next_id = staged.tabs, staged._next_id
        return web.json_response({"spreadsheetId": BOOK, "replies": replies})

    def _token(self, body: bytes) -> web.Response:
        form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        problem = self._refusal(form)
        if problem:
            return web.json_response({"error": "invalid_grant", "error_description": problem}, status=400)
        token = f"ya29.test-token-{len(self._tokens) + 1}-{self.count('token')}"
        self._tokens[token] = self.now() + timedelta(seconds=self.token_lifetime_s)
        return web.json_response(
            {"access_token": token, "expires_in": self.token_lifetime_s, "token_type": "Bearer"}
        )

    def _refusal(self, form: Mapping[str, str]) -> str:
        if form.get("grant_type") != GRANT:
            return "Unsupported grant type"
        head, claims, signature = form["assertion"].split(".")
        try:
            private_key().public_key().verify(
                _unpacked(signature), f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256()
            )
        except InvalidSignature:
            return "Invalid JWT Signature."
        if json.loads(_unpacked(head))["alg"] != "RS256":
            return "Invalid JWT: wrong algorithm"
        said = json.loads(_unpacked(claims))
        now = self.now().timestamp()
        if said["iss"] != EMAIL:
            return "Invalid grant: account not found"
        if said["aud"] != f"{self.url}/token" or said["scope"] != SCOPE:
            return "Invalid JWT: audience or scope"
        if said["exp"] - said["iat"] > 3600 or said["iat"] > now + 300 or said["exp"] < now:
            return (
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe."
                " Check your iat and exp values in the JWT claim."
            )
        return ""

    def _admitted(self, request: web.BaseRequest) -> Book:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if self._tokens.get(token, self.now()) <= self.now():
            raise ApiError(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
        self._recent = [at for at in self._recent if self.now() - at < timedelta(minutes=1)]
        if len(self._recent) >= self.quota_per_minute:
            message = "Quota exceeded for quota metric 'Write requests' of service 'sheets.googleapis.com'"
            raise ApiError(429, "RESOURCE_EXHAUSTED", message, "RATE_LIMIT_EXCEEDED")
        self._recent.append(self.now())
        name = urlsplit(request.raw_path).path.removeprefix("/v4/spreadsheets/")
        book = self.books.get(name.partition(":")[0].partition("/")[0])
        if book is None:
            raise ApiError(404, "NOT_FOUND", "Requested entity was not found.")
        if EMAIL not in book.editors:
            raise ApiError(403, "PERMISSION_DENIED", "The caller does not have permission")
        return book

    def _read(self, book: Book, content: Mapping[str, Any]) -> web.Response:
        assert content["valueRenderOption"] == "UNFORMATTED_VALUE"
        (wanted,) = content["dataFilters"]
        sheet_id = wanted["gridRange"]["sheetId"]
        if self.silent_about_missing_tabs and sheet_id not in {tab.id for tab in book.tabs}:
            return web.json_response({"spreadsheetId": BOOK})
        tab = book.tab(sheet_id, "dataFilters[0].gridRange")
        rows = [[("" if c is None else c) for c in row] for row in tab.grid]
        for row in rows:
            while row and row[-1] == "":
                row.pop()
        while rows and not rows[-1]:
            rows.pop()
        values = {"range": f"'{tab.title}'!A1:Z{len(tab.grid)}", "majorDimension": "ROWS"}
        found = {"valueRange": values | ({"values": rows} if rows else {}), "dataFilters": [wanted]}
        return web.json_response({"spreadsheetId": BOOK, "valueRanges": [found]})

    def _update(self, book: Book, request: Mapping[str, Any], number: int) -> dict[str, Any]:
        ((name, spec),) = request.items()
        if name == "addSheet":
            return {"addSheet": {"properties": book.add(spec["properties"]["title"]).properties}}
        start = spec.get("start", spec)
        tab = book.tab(start["sheetId"], f"requests[{number}].{name}")
        if tab.protected:
            message = "You are trying to edit a protected cell or object."
            raise ApiError(400, "INVALID_ARGUMENT", f"Invalid requests[{number}].{name}: {message}")
        if name == "appendDimension":
            assert spec["dimension"] == "COLUMNS"
            for row in tab.grid:
                row += [None] * spec["length"]
            tab.columns += spec["length"]
            return {}
        assert spec["fields"] == "userEnteredValue"
        if name == "appendCells":
            tab.append(spec["rows"])
        elif name == "updateCells":
            for down, row in enumerate(spec["rows"]):
                for right, cell in enumerate(row["values"]):
                    tab.set(start["rowIndex"] + down, start["columnIndex"] + right, cell)
        else:
            raise ApiError(400, "INVALID_ARGUMENT", f"Invalid requests[{number}]: no kind of request set")
        return {}


def _unpacked(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
