"""The Google Sheets sink: once a night, make a sheet say what is known about companies.

Reading comes first: what people wrote in `resolution` goes into the store. Then the cells that differ are
written, call by call, and the sheet is read again before each: people may sort it meanwhile. A night on which
nothing changed costs one reading. What the night does not finish, the next one does.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from rowen.core.exchange import sheet as sheets
from rowen.core.exchange.sink import Sink, SinkEntry
from rowen.core.lease import LEASE_TTL_S, Lease
from rowen.core.offers.company import Company
from rowen.core.rules.schedule import ATTEMPTS
from rowen.engine.ports import Ports
from rowen.engine.sink_kind import Sent
from rowen.errors import (
    ConfigError,
    LeaseLost,
    NotFound,
    PermanentError,
    RowenError,
    TransientError,
    UserError,
)
from rowen.ports.sheets import Spreadsheet
from rowen.records import dataclass
from rowen.sinks import declared as sinks
from rowen.sinks.sheets import settings as sheet_settings
from rowen.sinks.sheets.settings import SheetSettings

RETRY_BASE_S = 5.0
MAX_WAIT_S = 900.0
"""When the service asks for a longer wait, the next night tries again."""
PAGE = 1000
SPARE_ROUNDS = 2
"""Calls beyond the planned ones, for what people changed meanwhile; then the rest has to wait."""

SHEET_ID, SEEN, DONE, FAILED = "sheet_id", "seen", "done", "failed"
"""In the sink's state: the tab, what people had said, the night that is done, the night that failed."""
FORGOTTEN = "forgotten"
"""And the companies in the sheet that the store has forgotten: their rows are not touched any more."""

_log = logging.getLogger("rowen.sheets")


def check(ports: Ports, entry: SinkEntry) -> dict[str, Any]:
    """The settings of such a sink. Raises `ConfigError`."""
    values = sinks.checked(sheet_settings.PARAMS, entry)
    sheet_settings.read(values)
    return values


def not_before(sink: Sink, now: datetime) -> datetime | None:
    """When the next night begins; None while the sheet may be sent to. So waiting costs no lease."""
    try:
        window = sheet_settings.read(sink.settings).window
    except ConfigError:
        # Sending meets the same, and there it is written down.
        return None
    night = window.at(now)
    done = night and night[0].isoformat() in (sink.state.get(DONE), sink.state.get(FAILED))
    return window.next_opening(now) if night is None or done else None


async def send(ports: Ports, sink: Sink, lease: Lease, *, force: bool) -> Sent:
    """Once a night, inside the window; `force` does it now."""
    settings = sheet_settings.read(sink.settings)
    now = ports.clock.now()
    window = settings.window.at(now)
    night = window[0].isoformat() if window else None
    later = settings.window.next_opening(now)
    if not force and (night is None or night in (sink.state.get(DONE), sink.state.get(FAILED))):
        return Sent(sent=0, waiting_until=later)
    closes = None if force or window is None else window[1]
    sync = _Sync(ports, sink, settings, lease, closes)
    try:
        async with ports.open_spreadsheet(sheet_settings.options(ports, settings)) as spreadsheet:
            finished = await _attempts(ports, sync, spreadsheet)
    except LeaseLost:
        raise
    except RowenError as exc:
        failed = {FAILED: night} if night else {}
        return Sent(sent=sync.sent, state=sync.state | failed, waiting_until=later, error=exc)
    if not finished:
        return Sent(sent=sync.sent, state=sync.state, waiting_until=later)
    return Sent(sent=sync.sent, state=sync.state | ({DONE: night} if night else {}))


async def _attempts(ports: Ports, sync: _Sync, spreadsheet: Spreadsheet) -> bool:
    failures, writes = 0, 0
    while True:
        try:
            return await sync.run(spreadsheet)
        except TransientError as exc:
            # Quotas are by the minute: a large sheet may meet them more often than three times.
            failures = 1 if sync.writes > writes else failures + 1
            writes = sync.writes
            wait_s = max(RETRY_BASE_S * 2 ** (failures - 1), exc.retry_after_s or 0.0)
            if failures >= ATTEMPTS or wait_s > MAX_WAIT_S or sync.closed(in_s=wait_s):
                raise
            await ports.clock.sleep(wait_s)


@dataclass(frozen=True, slots=True)
class _Known:
    rows: Mapping[str, sheets.Row]
    wanted: Collection[str]
    """The ones that get a row if they have none."""
    merged: Mapping[str, str]
    """Ids in the sheet of companies that turned out to be another one."""
    forgotten: Collection[str]
    """Ids in the sheet of companies that the store has forgotten."""


class _Sync:
    def __init__(
        self,
        ports: Ports,
        sink: Sink,
        settings: SheetSettings,
        lease: Lease,
        closes: datetime | None,
    ) -> None:
        self._ports = ports
        self._sink = sink
        self._settings = settings
        self._lease = lease
        self._closes = closes
        self._store = ports.store
        self.state = {key: value for key, value in sink.state.items() if key != FAILED}
        self.sent = 0
        """Cells."""
        self.writes = 0
        """Calls."""

    def closed(self, *, in_s: float = 0.0) -> bool:
        return self._closes is not None and self._ports.clock.now() + timedelta(seconds=in_s) >= self._closes

    async def run(self, spreadsheet: Spreadsheet) -> bool:
        """True when the sheet says everything; False when the night was too short."""
        columns = self._settings.columns
        known: _Known | None = None
        rounds: int | None = None
        widened = 0
        while True:
            cells = await self._read(spreadsheet)
            if known is None:
                known = await self._known(sheets.read(cells, columns))
            sheet = sheets.read(cells, columns, merged=known.merged)
            self._check_header(sheet)
            await self._take_in(sheet, known.rows)
            batches = sheets.plan(sheet, known.rows, columns=columns, add=known.wanted)
            if not batches:
                self.state[FORGOTTEN] = sorted(known.forgotten)
                return True
            batch = batches[0]
            if batch.columns:
                widened += 1
                if widened > SPARE_ROUNDS:
                    raise PermanentError(
                        f"spreadsheet `{self._settings.spreadsheet}`: our columns do not stay in its header",
                        hint="is a formula or a filter in the way?",
                    )
            else:
                rounds = len(batches) + SPARE_ROUNDS if rounds is None else rounds - 1
                if rounds == 0:
                    _log.warning("sheet_keeps_changing cells=%d", sum(one.size for one in batches))
                    return True
            if self.closed():
                return False
            await self._write(spreadsheet, batch)

    def _check_header(self, sheet: sheets.Sheet) -> None:
        """Without its header a sheet of ours would look like another one, and get everything again."""
        ours = DONE in self._sink.state and self._sink.state.get(SHEET_ID) == self.state[SHEET_ID]
        if ours and sheet.width and not sheet.columns:
            raise UserError(
                f"spreadsheet `{self._settings.spreadsheet}`: the row with the names of our columns is gone",
                hint="undo that in the sheet, or delete the tab to have it made again",
            )

    async def _read(self, spreadsheet: Spreadsheet) -> list[list[sheets.Cell]]:
        known = self.state.get(SHEET_ID)
        if isinstance(known, int):
            cells = await spreadsheet.read(known)
            if cells is not None:
                return cells
        title = self._settings.sheet
        found = await spreadsheet.find(title)
        self.state[SHEET_ID] = found if found is not None else await spreadsheet.create(title)
        return await spreadsheet.read(self.state[SHEET_ID]) or []

    async def _write(self, spreadsheet: Spreadsheet, batch: sheets.Batch) -> None:
        # invariant: who lost the lease writes nothing; another process may be at it.
        now = self._ports.clock.now()
        self._lease = await self._store.renew_lease(self._lease, now=now, ttl_s=LEASE_TTL_S)
        await spreadsheet.write(
            self.state[SHEET_ID], blocks=batch.blocks, rows=batch.rows, columns=batch.columns
        )
        self.writes += 1
        self.sent += batch.size

    async def _take_in(self, sheet: sheets.Sheet, rows: Mapping[str, sheets.Row]) -> None:
        anew, seen = sheets.said_anew(sheet, self.state.get(SEEN, {}), rows)
        for company, said in anew.items():
            # A run may have merged or dropped it since it was read.
            with suppress(NotFound):
                await self._store.set_resolution(int(company), said, now=self._ports.clock.now())
        self.state[SEEN] = seen

    async def _known(self, sheet: sheets.Sheet) -> _Known:
        """The cells of all companies that have a row or should have one."""
        wanted = await self._wanted()
        rows = dict(wanted)
        asked = sorted(int(id_) for id_ in sheet.rows if id_ not in wanted and _is_id(id_))
        for start in range(0, len(asked), PAGE):
            found = await self._store.companies(ids=asked[start : start + PAGE], limit=PAGE)
            rows |= {str(company.id): self._row(company) for company in found}
        merged: dict[str, str] = {}
        forgotten: list[str] = []
        for id_ in asked:
            if str(id_) not in rows:
                company = await self._store.company(id_)
                if company is not None:
                    merged[str(id_)] = str(company.id)
                else:
                    forgotten.append(str(id_))
        told = self.state.get(FORGOTTEN, ())
        rows |= sheets.farewell(sheet, (id_ for id_ in forgotten if id_ not in told))
        return _Known(rows, wanted.keys(), merged, forgotten)

    async def _wanted(self) -> dict[str, sheets.Row]:
        source_ids = sinks.matching_ids(self._sink.settings, await self._store.sources())
        rows: dict[str, sheets.Row] = {}
        after = 0
        while True:
            page = await self._store.companies(
                min_open=self._settings.min_open, source_ids=source_ids, after=after, limit=PAGE
            )
            rows |= {str(company.id): self._row(company) for company in page}
            if len(page) < PAGE:
                return rows
            after = page[-1].id

    def _row(self, company: Company) -> sheets.Row:
        return {
            sheets.ID: company.id,
            "company": sheets.text(company.name),
            "website": sheets.text(company.website or ""),
            "open_offers": company.open_offers,
            "offers": company.offers,
            "reposts": company.reposts,
            "posting_rate": company.posting_rate,
            "places": sheets.text(", ".join(company.places)),
            "first_seen": self._day(company.first_seen_at),
            "last_seen": self._day(company.last_seen_at),
            # Only for a row that is added: in one that is there, this is people's.
            sheets.RESOLUTION: company.resolution[: sheets.MAX_TEXT],
        }

    def _day(self, at: datetime | None) -> str:
        return at.astimezone(self._settings.window.zone).date().isoformat() if at else ""


def _is_id(text: str) -> bool:
    # People write things into our column too; and a number has an end in a database.
    return text.isascii() and text.isdigit() and len(text) <= 18
