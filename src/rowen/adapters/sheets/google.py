"""Google Sheets API v4, by the ids of tabs: a tab that people rename is still the same tab.

Reading is one call with the tab's id for a range. Writing is one `batchUpdate`, which Google carries out as a
whole or not at all. Text goes in as `stringValue`, which no sheet reads as a formula, a number or a date. It
retries nothing, but for a token that ended early.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import quote

import orjson

from rowen.adapters.sheets.account import Account, Tokens, read_account
from rowen.adapters.sheets.failures import failure, json_of, no_such_tab
from rowen.core.exchange.sheet import Block, Cell
from rowen.core.safety.secrets import Credentials, Secret
from rowen.core.web import urls
from rowen.errors import ServerFailed
from rowen.ports.clock import Clock
from rowen.ports.fetcher import Fetcher, FetcherOptions, OpenFetcher, Request, Response
from rowen.ports.sheets import SpreadsheetOptions

MAX_BODY_BYTES = 200_000_000
"""A sheet may have ten million cells; a table of companies has far fewer."""
_VALUE = "userEnteredValue"


@asynccontextmanager
async def open_spreadsheet(
    options: SpreadsheetOptions, *, open_fetcher: OpenFetcher, clock: Clock
) -> AsyncIterator[GoogleSpreadsheet]:
    account = read_account(options)
    async with AsyncExitStack() as stack:
        spreadsheet = GoogleSpreadsheet(options, account, open_fetcher, clock)
        stack.push_async_callback(spreadsheet.close)
        yield spreadsheet


class GoogleSpreadsheet:
    def __init__(
        self, options: SpreadsheetOptions, account: Account, open_fetcher: OpenFetcher, clock: Clock
    ) -> None:
        self._options = options
        self._account = account
        self._open_fetcher = open_fetcher
        self._clock = clock
        self._tokens = Tokens(account, open_fetcher, clock, user_agent=options.user_agent)
        self._connection = AsyncExitStack()
        self._fetcher: tuple[Secret, Fetcher] | None = None
        base = options.base_url.rstrip("/")
        self._url = f"{base}/v4/spreadsheets/{quote(options.spreadsheet_id, safe='')}"

    async def close(self) -> None:
        self._fetcher = None
        await self._connection.aclose()

    async def find(self, title: str) -> int | None:
        wanted = title.casefold()
        for tab in await self._tabs():
            if str(tab.get("title", "")).casefold() == wanted and tab.get("sheetType", "GRID") == "GRID":
                return int(tab.get("sheetId", 0))
        return None

    async def create(self, title: str) -> int:
        answer = await self._post(
            ":batchUpdate", {"requests": [{"addSheet": {"properties": {"title": title}}}]}
        )
        return int(answer["replies"][0]["addSheet"]["properties"].get("sheetId", 0))

    async def read(self, sheet_id: int) -> list[list[Cell]] | None:
        body = {
            "dataFilters": [{"gridRange": {"sheetId": sheet_id}}],
            "majorDimension": "ROWS",
            "valueRenderOption": "UNFORMATTED_VALUE",
            # A date that people typed reads as they see it, not as a count of days.
            "dateTimeRenderOption": "FORMATTED_STRING",
        }
        response = await self._exchange("POST", "/values:batchGetByDataFilter", body)
        if no_such_tab(response):
            return None
        ranges = self._checked(response).get("valueRanges")
        if not ranges:
            return None
        values: list[list[Cell]] = ranges[0].get("valueRange", {}).get("values", [])
        return values

    async def write(
        self,
        sheet_id: int,
        *,
        blocks: Sequence[Block] = (),
        rows: Sequence[Sequence[Cell | None]] = (),
        columns: int = 0,
    ) -> None:
        requests: list[dict[str, Any]] = []
        if columns:
            requests += await self._widened(sheet_id, columns)
        for block in blocks:
            start = {"sheetId": sheet_id, "rowIndex": block.row, "columnIndex": block.column}
            requests.append({"updateCells": {"start": start, "rows": _rows(block.values), "fields": _VALUE}})
        if rows:
            requests.append({"appendCells": {"sheetId": sheet_id, "rows": _rows(rows), "fields": _VALUE}})
        if requests:
            await self._post(":batchUpdate", {"requests": requests})

    async def _widened(self, sheet_id: int, columns: int) -> list[dict[str, Any]]:
        for tab in await self._tabs():
            if int(tab.get("sheetId", 0)) == sheet_id:
                lacking = columns - int(tab.get("gridProperties", {}).get("columnCount", 0))
                if lacking > 0:
                    wider = {"sheetId": sheet_id, "dimension": "COLUMNS", "length": lacking}
                    return [{"appendDimension": wider}]
        return []

    async def _tabs(self) -> list[dict[str, Any]]:
        answer = self._checked(await self._exchange("GET", "?fields=sheets.properties", None))
        return [sheet["properties"] for sheet in answer.get("sheets", [])]

    async def _post(self, path: str, body: object) -> dict[str, Any]:
        return self._checked(await self._exchange("POST", path, body))

    async def _exchange(self, method: str, path: str, body: object) -> Response:
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        packed = None if body is None else orjson.dumps(body)
        request = Request(self._url + path, headers=headers, method=method, body=packed)
        response = await (await self._open()).fetch(request)
        if response.status == 401:
            # Tokens may be taken back before their time; an answer of 401 means that nothing was done.
            self._tokens.forget()
            response = await (await self._open()).fetch(request)
        return response

    def _checked(self, response: Response) -> dict[str, Any]:
        if response.status != 200:
            raise failure(response, self._options.spreadsheet_id, self._account.email, self._clock.now())
        answer = json_of(response.body)
        if not isinstance(answer, dict):
            raise ServerFailed(
                f"spreadsheet `{self._options.spreadsheet_id}`: an answer from Google that is not JSON"
            )
        return answer

    async def _open(self) -> Fetcher:
        """A fetcher that sends the token, and sends it to the service only."""
        token = await self._tokens.token()
        if self._fetcher is None or self._fetcher[0] is not token:
            await self.close()
            base_url = self._options.base_url
            bearer = Secret(f"Bearer {token.reveal()}")
            options = FetcherOptions(
                typed_location=base_url,
                credentials=Credentials(urls.origin_of(base_url), {"Authorization": bearer}),
                user_agent=self._options.user_agent,
                connections=1,
                timeout_s=self._options.timeout_s,
                max_body_bytes=MAX_BODY_BYTES,
            )
            self._fetcher = token, await self._connection.enter_async_context(self._open_fetcher(options))
        return self._fetcher[1]


def _rows(values: Sequence[Sequence[Cell | None]]) -> list[dict[str, Any]]:
    return [{"values": [_cell(value) for value in row]} for row in values]


def _cell(value: Cell | None) -> dict[str, Any]:
    if value is None or value == "":
        return {}
    kind = (
        "boolValue" if isinstance(value, bool) else "stringValue" if isinstance(value, str) else "numberValue"
    )
    return {_VALUE: {kind: value}}
