"""Columns that no list has: one request for each table, when it is new or has changed.

What a table answered is kept in the dataset's record with the mark of the table it was said of; as long as
the mark is the same, it is not asked again. So many tables are asked in one run (`columns`); later runs go on
with the rest, from what is stored, without asking for the datasets again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from rowen.core.params import how, whole
from rowen.core.rules.left_out import COLUMNS_NOT_ASKED
from rowen.core.source import Source
from rowen.engine.intake import Intake
from rowen.engine.ports import Ports
from rowen.engine.tasks import each
from rowen.errors import PermanentError, TransientError, Unfetchable, Unparseable
from rowen.kinds.api.asking import ApiClient
from rowen.kinds.api.items import Listed, Reading
from rowen.kinds.api.presets.preset import Catalogue, read_json
from rowen.kinds.api.receiver import Receiver, record_of
from rowen.kinds.api.tables.columns import Table

PARAMS = (
    how(
        "columns",
        1_000,
        "Tables asked for their columns in one run, a request each; 0 for none",
        whole(0, 1_000_000),
    ),
)
ASKED = "rowen:columns"
"""In a record: what its tables answered, by table."""
BEHIND = "columns_behind"
"""In a source's metadata: how far tables that were left out have been asked; None when none wait."""
REFUSED = "table_refused"
"""A table that says no columns: not there, not allowed, or something that is no description."""
MAX_PASSES = 3
"""So often all datasets are gone through for tables that fail each time."""
MAX_FAILURES = 5
"""In a row, after which no table is asked in this run."""
_AT_ONCE = 100

Entry = dict[str, Any]
Ask = Callable[[str], Awaitable[list[Any]]]
"""Asks an address for the columns of its table. Raises `PermanentError` when it says none."""


def without_answers(item: Mapping[str, Any]) -> dict[str, Any]:
    """A dataset as its list says it, from its record."""
    return {name: value for name, value in item.items() if name != ASKED}


def fields_in(entry: Any) -> list[Any]:
    found = entry.get("fields") if isinstance(entry, Mapping) else None
    return found if isinstance(found, list) else []


def with_answers(reading: Reading, one: Listed, answers: Mapping[str, Entry]) -> Reading:
    """A dataset that was read with these answers: its record has them too."""
    if not answers:
        return reading
    return replace(reading, item={**one.item, ASKED: dict(answers)}, listed=record_of(one.item))


def of_portal(
    ports: Ports,
    source: Source,
    params: Mapping[str, Any],
    intake: Intake,
    client: ApiClient,
    catalogue: Catalogue | None,
) -> Tables:
    """Those of a preset that says where the columns of a dataset are asked for; none of others."""
    table = catalogue.table if catalogue is not None else None

    async def ask(url: str) -> list[Any]:
        response = await client.ask(url)
        if response.status != 200:
            raise Unfetchable(f"`{url}`: {response.status}", url=url, status=response.status)
        return _fields(read_json(response.body, content_type="", url=url), url)

    def tables_of(item: Any) -> list[Table]:
        found = table(item) if table is not None else None
        return [found] if found is not None else []

    most = params.get("columns", 0) if table is not None else 0
    return Tables(ports, source, intake, ask, tables_of, most=most, concurrency=params["concurrency"])


def _fields(answer: Any, url: str) -> list[Any]:
    found = answer.get("fields") if isinstance(answer, Mapping) else None
    if isinstance(found, list):
        return found
    # A service that wants a token says so with status 200.
    error = answer.get("error") if isinstance(answer, Mapping) else None
    if isinstance(error, Mapping):
        raise Unfetchable(f"`{url}`: {error.get('message')}", url=url, status=error.get("code"))
    raise Unparseable(f"`{url}`: an answer without fields", url=url)


class Tables:
    def __init__(
        self,
        ports: Ports,
        source: Source,
        intake: Intake,
        ask: Ask,
        tables_of: Callable[[Any], Sequence[Table]],
        *,
        most: int,
        concurrency: int,
    ) -> None:
        self._store = ports.store
        self._source = source
        self._intake = intake
        self._ask = ask
        self._tables_of = tables_of
        self._most = most
        self._concurrency = concurrency
        self._answers: dict[str, dict[str, Entry]] = {}
        self._failures = 0
        before = source.metadata.get(BEHIND)
        self._state = dict(before) if isinstance(before, Mapping) and most else None
        self._left_out = False
        """Tables of datasets that came in this run wait for a later one."""
        self._catching_up = False
        self._left_again = False
        """The same, of tables that waited before."""

    def leave_out_stored(self) -> None:
        """What an interrupted run has stored may have tables that it left out."""
        self._left_out = bool(self._most)

    def answers(self, reference: str) -> dict[str, Entry]:
        """What the tables of a dataset said, now or when they were last asked; each is given out once."""
        return self._answers.pop(reference, {})

    async def before(self, items: Sequence[Listed]) -> None:
        """Ask the new and changed tables of datasets that will be read."""
        waiting: list[tuple[str, Table]] = []
        for one in items:
            tables = self._tables_of(one.item)
            if not tables:
                continue
            stored = await self._stored(one.id)
            self._answers[one.id] = {table.id: stored[table.id] for table in tables if table.id in stored}
            waiting += [(one.id, table) for table in tables if _is_new(table, stored)]
        if self._most and waiting:
            await each(waiting, self._look, self._concurrency)

    async def catch_up(self, receiver: Receiver) -> None:
        """Go on with the tables that earlier runs left out, as many as this run may still ask."""
        self._catching_up = True
        while self._state is not None and self._may_ask:
            self._state = await self._next(self._state, receiver)

    def remembered(self) -> dict[str, Any]:
        """What a source remembers of the tables that wait."""
        state = self._state
        if self._left_out:
            # They may lie anywhere: they are looked for from the start, behind those that waited before.
            state = {"after": "", "passes": 0} if state is None else {**state, "again": True, "passes": 0}
        return {BEHIND: state} if state != self._source.metadata.get(BEHIND) else {}

    async def _next(self, state: dict[str, Any], receiver: Receiver) -> dict[str, Any] | None:
        """Some datasets more; None behind the last."""
        after = str(state.get("after", ""))
        references = await self._store.visible_references(self._source.id, after=after, limit=_AT_ONCE)
        if not references:
            passes = int(state.get("passes", 0)) + 1
            return {"after": "", "passes": passes} if state.get("again") and passes < MAX_PASSES else None
        self._left_again = False
        unread = [one for one in references if one not in receiver.read]
        if waiting := await self._waiting(unread):
            await receiver.take_again(waiting)
        if self._failures >= MAX_FAILURES and (tries := int(state.get("tries", 0)) + 1) < MAX_PASSES:
            return {**state, "tries": tries}
        if self._failures < MAX_FAILURES and self._left_again and not self._may_ask:
            # The next run begins with these.
            return state
        again = {"again": True} if state.get("again") or self._left_again else {}
        return {"after": references[-1], "passes": state.get("passes", 0), **again}

    async def _waiting(self, references: Sequence[str]) -> list[Listed]:
        """Those of them that have tables which were not asked, as they are stored."""
        found: list[Listed] = []
        known = await self._store.known(self._source.id, references) if references else {}
        for reference, page in known.items():
            record = await self._store.record(page.document_id)
            item = orjson.loads(record) if record is not None else None
            if not isinstance(item, dict):
                continue
            stored, listed = _answers_in(item), without_answers(item)
            if any(_is_new(table, stored) for table in self._tables_of(listed)):
                found.append(Listed(reference, listed, page.validators.etag or ""))
        return found

    async def _stored(self, reference: str) -> dict[str, Entry]:
        known = self._intake.known.get(reference)
        record = await self._store.record(known.document_id) if known is not None else None
        item = orjson.loads(record) if record is not None else None
        return _answers_in(item) if isinstance(item, dict) else {}

    @property
    def _may_ask(self) -> bool:
        return self._intake.counters.tables_asked < self._most and self._failures < MAX_FAILURES

    async def _look(self, waiting: tuple[str, Table]) -> None:
        reference, table = waiting
        if not self._may_ask:
            self._leave_out()
            return
        counters = self._intake.counters
        counters.tables_asked += 1
        try:
            entry: Entry = {"of": table.mark, "fields": await self._ask(table.url)}
        except PermanentError as exc:
            counters.ignored[REFUSED] += 1
            entry = {"of": table.mark, "refused": exc.facts.get("status") or exc.reason}
        except TransientError:
            # Also when a host is away or limits us: the list itself says whether the run can go on.
            self._failures += 1
            self._leave_out()
            return
        self._failures = 0
        self._answers[reference][table.id] = entry

    def _leave_out(self) -> None:
        if self._catching_up:
            self._left_again = True
        else:
            self._left_out = True
        self._intake.counters.ignored[COLUMNS_NOT_ASKED] += 1


def _is_new(table: Table, stored: Mapping[str, Entry]) -> bool:
    return stored.get(table.id, {}).get("of") != table.mark


def _answers_in(item: Mapping[str, Any]) -> dict[str, Entry]:
    found = item.get(ASKED)
    return found if isinstance(found, dict) else {}
