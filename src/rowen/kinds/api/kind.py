"""APIs of pages that somebody describes: by settings (kind `rest`), or here for everybody (the job boards).

Two ways to keep in step. The whole list each time: what says the same costs no write, a list that comes as
one answer is asked for conditionally, and what a complete list does not name is gone. Or by date: what
changed since the last time first, then history, one day after the other; there, absence proves nothing.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from rowen.core import params as parameters
from rowen.core.document import Validators
from rowen.core.params import Param, whole
from rowen.core.run import Counters, Mode, StopReason
from rowen.core.source import Source
from rowen.core.window import Window, Windows, backward, forward, reached_by
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested, Prepared
from rowen.engine.ports import Ports
from rowen.errors import BadLocation, PermanentError, RowenError, TransientError
from rowen.fetching import credentials
from rowen.fetching.client import stop_reason
from rowen.kinds.api import boards, give_up, portal
from rowen.kinds.api import items as rest_items
from rowen.kinds.api import rules as rest
from rowen.kinds.api.boards import Board
from rowen.kinds.api.datasets import Broken, ahead
from rowen.kinds.api.intake import Taking
from rowen.kinds.api.items import Listed
from rowen.kinds.api.portal import Asker
from rowen.kinds.api.rules import Api
from rowen.kinds.api.settings import PARAMS, SHARED
from rowen.kinds.api.walk import Remembered, Walk

MAX_LIST_BYTES = 200_000_000
"""Of a list that comes as one answer."""
VALIDATORS = "validators"
"""In a source's metadata: of a list that comes as one answer, with its number of rows."""
INCOMPLETE_DAYS = "incomplete_days"
"""In a source's metadata: days that a cap cut short, and days with an item that was given up (`DAY: ID`)."""
MAX_INCOMPLETE_DAYS = 100
FAILING = "failing"
"""In a source's metadata: items that failed when they were last asked for, with how many runs in a row."""
RECHECKED = "rechecked"
"""In a source's metadata: the last known item that was asked for again."""


class RestKind:
    """`prepare`, `count` and `harvest` of a kind."""

    def __init__(self, board: Board | None = None) -> None:
        self.name = board.kind if board else "rest"
        self._board = board
        self.params = PARAMS if board is None else _offered(board)

    def claims(self, ports: Ports, location: str) -> bool:
        """From outside an API looks like any other site; a board is known by its host."""
        return self._board is not None and boards.claims(self._board, location)

    async def prepare(
        self, ports: Ports, location: str, *, settings: Mapping[str, Any], check: bool
    ) -> Prepared:
        home = self._home(location)
        # Before anybody is asked, and also when nobody is.
        values = self._settings(home, settings)
        api = rest.definition(values)
        if not check:
            return Prepared(kind=self.name, location=home)
        try:
            number, first = await self._look(ports, home, values, api)
        except (TransientError, PermanentError) as exc:
            hint = exc.hint or "check the address, or use `--no-check` to add it all the same"
            raise BadLocation(f"location `{home}`: {exc.message}", hint=hint, location=home) from exc
        finding = f"a list with {number} items: kind `{self.name}`"
        shown = () if first is None else (f"the first is `{first}`",)
        return Prepared(kind=self.name, location=home, findings=(finding, *shown))

    async def count(self, ports: Ports, source: Source, params: Mapping[str, Any]) -> int:
        values = self._settings(source.location, params)
        return (await self._look(ports, source.location, values, rest.definition(values)))[0]

    async def harvest(
        self, ports: Ports, source: Source, params: Mapping[str, Any], intake: Intake
    ) -> Harvested:
        values = self._settings(source.location, params)
        api = rest.definition(values)
        harvest = _Windowed if api.windowed else _Whole
        async with self._asker(ports, source.location, values, intake.counters) as asker:
            return await harvest(ports, source, values, intake, asker, api).run()

    def _home(self, location: str) -> str:
        if self._board is None:
            return portal.address(location)
        credentials.refuse_in_address(location)
        return portal.address(boards.address(self._board, location))

    def _settings(self, home: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """All settings of `rest`: what was given, over what the board says, over the defaults."""
        if self._board is None:
            return dict(params)
        said = parameters.read(PARAMS, boards.settings_for(self._board, home))
        values = parameters.complete(PARAMS, said)
        for spec in self.params:
            given = params[spec.name]
            values[spec.name] = {**values[spec.name], **given} if spec.key else given
        return values

    def _asker(
        self, ports: Ports, home: str, params: Mapping[str, Any], counters: Counters
    ) -> AbstractAsyncContextManager[Asker]:
        return portal.open_asker(ports, home, params, counters, max_body_bytes=MAX_LIST_BYTES)

    async def _look(
        self, ports: Ports, home: str, params: Mapping[str, Any], api: Api
    ) -> tuple[int, str | None]:
        """How many items there are by the first page, and the title of the first."""
        now = ports.clock.now()
        window = forward(_windows(params), watermark=None, now=now) if api.windowed else None
        one_page = {**params, "max_pages": 1}
        async with self._asker(ports, home, params, Counters()) as asker:
            walk = Walk(asker, api, home, one_page, Counters(), window=window, now=now)
            page = [one async for some in walk.one_pass() for one in some]
        broken = [one for one in page if isinstance(one, Broken)]
        if broken and not walk.seen:
            raise broken[0].error
        number = walk.announced if walk.announced is not None else len(walk.seen) + walk.nameless
        first = next((one for one in page if isinstance(one, Listed)), None)
        if first is None:
            return number, None
        return number, rest_items.read(api, first, first.item, home=home).title


class _Harvester:
    def __init__(
        self,
        ports: Ports,
        source: Source,
        params: Mapping[str, Any],
        intake: Intake,
        asker: Asker,
        api: Api,
    ) -> None:
        self._ports = ports
        self._source = source
        self._params = params
        self._intake = intake
        self._asker = asker
        self._api = api
        self._taking = Taking(ports, intake, asker, api, source.location, params)

    def _walk(self, *, window: Window | None = None, remembered: Remembered | None = None) -> Walk:
        return Walk(
            self._asker,
            self._api,
            self._source.location,
            self._params,
            self._intake.counters,
            window=window,
            now=self._intake.run.started_at,
            remembered=remembered,
        )

    async def _take(self, walk: Walk, pages: AsyncGenerator[list[Listed | Broken], None]) -> None:
        async with aclosing(ahead(pages)) as found:
            async for page in found:
                self._intake.queued = max(0, (walk.announced or 0) - walk.taken)
                await self._taking.take(page)

    def _cut_short(self, walk: Walk) -> str:
        limit = self._params[str(walk.cut)]
        return f"the list goes on behind `{walk.cut}={limit}`: raise it to have the rest"


class _Whole(_Harvester):
    """The whole list each time."""

    async def run(self) -> Harvested:
        walk = self._walk(remembered=self._remembered())
        try:
            await self._take(walk, walk.pages())
            if walk.not_modified:
                self._intake.counters.not_modified += 1
                return Harvested(stop_reason=StopReason.EXHAUSTED, mode=Mode.INCREMENTAL)
            hint = await self._settle(walk)
        except (TransientError, PermanentError) as exc:
            # What was taken in is newer than what the validators speak of.
            return Harvested(stop_reason=_why(exc), error=exc, complete=False, metadata={VALIDATORS: None})
        return Harvested(
            stop_reason=walk.cut or StopReason.EXHAUSTED,
            # That there is nothing, and was nothing, is an answer too.
            mode=Mode.FULL if walk.seen or walk.nameless else Mode.INCREMENTAL,
            hint=hint,
            complete=walk.cut is None,
            metadata={VALIDATORS: self._to_remember(walk)},
        )

    async def _settle(self, walk: Walk) -> str | None:
        """Delete what is gone, if the list proves it; answers why it does not."""
        if walk.cut is not None:
            return self._cut_short(walk)
        if not walk.is_complete():
            return _doubt(walk)
        absent = await self._taking.absent(walk.seen)
        if absent and walk.nameless:
            return f"{walk.nameless} items have no id and may be ones that seem gone: nothing was deleted"
        if absent and walk.may_slip and walk.passes == 1:
            # What goes while pages are read makes others slip through: gone is what two passes do not meet.
            await self._take(walk, walk.one_pass())
            if not walk.is_complete():
                return self._cut_short(walk) if walk.cut else _doubt(walk)
        await self._taking.delete([one for one in absent if one not in walk.seen], "absent")
        return None

    def _remembered(self) -> Remembered | None:
        source = self._source
        # After a rollback readers see less than was taken in.
        current = source.active_generation and source.active_generation == source.last_generation
        match source.metadata.get(VALIDATORS):
            case [etag, last_modified, int(rows)] if current and not self._intake.unconditional:
                return Remembered(Validators(etag, last_modified), rows)
        return None

    def _to_remember(self, walk: Walk) -> list[Any] | None:
        one = walk.answered
        if one is None or not one.validators or not walk.is_complete() or self._taking.failed:
            return None
        return [one.validators.etag, one.validators.last_modified, one.rows]


class _Windowed(_Harvester):
    """By date: forward first, then back into the past."""

    async def run(self) -> Harvested:
        intake = self._intake
        window = self._window()
        if window is None:
            return Harvested(stop_reason=StopReason.WINDOW_EXHAUSTED, mode=Mode.INCREMENTAL)
        walk = self._walk(window=window)
        learnt: dict[str, Any] = {}
        failing = _counts(self._source.metadata.get(FAILING))
        self._taking.watched = failing.keys()
        try:
            await self._take(walk, walk.pages())
            if not intake.part and self._params["recheck"]:
                learnt[RECHECKED] = await self._recheck(walk.seen)
        except (TransientError, PermanentError) as exc:
            return Harvested(
                stop_reason=_why(exc), error=exc, complete=False, window=window, mode=Mode.INCREMENTAL
            )
        failures = self._taking.failures
        failing = give_up.counted(failing, failed=failures, met=self._taking.met)
        given_up = lasting = give_up.lasting(failing, failures)
        if not give_up.are_few(lasting, asked=walk.taken + self._params["recheck"]):
            given_up = []
        hints = [_about(lasting, given_up=bool(given_up))] if lasting else []
        settled = len(given_up) == len(failures)
        complete = walk.cut is None
        incomplete = [f"{_day(failures[one], window)}: {one}" for one in given_up]
        if walk.cut is not None:
            hint = self._cut_short(walk)
            if window.seeding and settled:
                # A day that is always too much would keep all days before it from ever being reached.
                day = window.since.date().isoformat()
                incomplete.append(day)
                hint = f"{day} is not complete: {hint}"
                complete = True
            hints.append(hint)
        return Harvested(
            stop_reason=walk.cut or StopReason.WINDOW_EXHAUSTED,
            mode=Mode.INCREMENTAL,
            window=window,
            complete=complete,
            more=complete and settled and self._is_more(window),
            hint="; ".join(hints) or None,
            metadata=learnt,
            remember=self._news({FAILING: failing, INCOMPLETE_DAYS: self._incomplete_days(incomplete)}),
            given_up=len(given_up),
        )

    def _window(self) -> Window | None:
        source, windows = self._source, _windows(self._params)
        if not self._intake.part:
            return forward(windows, watermark=source.watermark, now=self._intake.run.started_at)
        return backward(
            windows,
            reached=source.last_processed_date,
            began=source.created_at,
            watermark=source.watermark,
        )

    def _is_more(self, window: Window) -> bool:
        """Is there history left, and may this turn still take it in?"""
        windows = _windows(self._params)
        reached = reached_by(window, before=self._source.last_processed_date)
        left = backward(
            windows, reached=reached, began=self._source.created_at, watermark=self._intake.run.started_at
        )
        return left is not None and self._intake.part < windows.seed_windows

    def _incomplete_days(self, added: list[str]) -> list[str]:
        days = self._source.metadata.get(INCOMPLETE_DAYS)
        # What was asked for again either answered or is among what is added.
        met = self._taking.met
        known = [one for one in days if one.partition(": ")[2] not in met] if isinstance(days, list) else []
        return [*(one for one in known if one not in added), *added][-MAX_INCOMPLETE_DAYS:]

    def _news(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """What differs from what is remembered; None for nothing."""
        before = self._source.metadata
        return {
            name: value or None
            for name, value in values.items()
            if value != (before.get(name) or type(value)())
        }

    async def _recheck(self, listed: set[str]) -> str:
        """Ask for known items, a few each time, round and round; answers how far it came."""
        number = self._params["recheck"]
        last = self._source.metadata.get(RECHECKED)
        last = last if isinstance(last, str) else ""
        store, source_id = self._ports.store, self._source.id
        asked = await store.visible_references(source_id, after=last, limit=number)
        if last and len(asked) < number:
            start = await store.visible_references(source_id, after="", limit=number - len(asked))
            asked += [one for one in start if one <= last]
        # What was listed a moment ago is there.
        await self._taking.recheck([one for one in asked if one not in listed])
        return asked[-1] if asked else ""


def _windows(params: Mapping[str, Any]) -> Windows:
    return Windows(
        overlap=timedelta(seconds=params["overlap"]),
        seed_days=params["seed_days"],
        seed_windows=params["seed_windows"],
    )


def _counts(remembered: Any) -> dict[str, int]:
    return dict(remembered) if isinstance(remembered, dict) else {}


def _day(at: datetime | None, window: Window) -> str:
    """The day an item is missing from, as well as it is known."""
    return (at or (window.since if window.seeding else window.until)).date().isoformat()


def _about(items: Sequence[str], *, given_up: bool) -> str:
    """What to say of items that failed again and again."""
    shown = ", ".join(f"`{one}`" for one in items[:3]) + (", ..." if len(items) > 3 else "")
    number = "1 item" if len(items) == 1 else f"{len(items)} items"
    failed = f"{number} failed in {give_up.RUNS} runs in a row or more ({shown})"
    if not given_up:
        return f"{failed}: too many to go on without them, so the same time is asked for again"
    return f"{failed}: their days count without them (`incomplete_days`) until a run meets them again"


def _why(exc: RowenError) -> StopReason:
    return stop_reason(exc) if isinstance(exc, TransientError) else StopReason.ERROR


def _doubt(walk: Walk) -> str:
    if walk.announced is not None and len(walk.seen) < walk.announced:
        return f"the API listed {len(walk.seen)} of {walk.announced} items: nothing was deleted"
    return "the list changed while it was read, or did not show its end: nothing was deleted"


def _offered(board: Board) -> tuple[Param, ...]:
    """The settings of `rest` that a board's sources take, with the board's own defaults."""
    said = parameters.read(PARAMS, boards.settings_for(board, ""))
    own = tuple(
        replace(
            spec,
            default={} if spec.key else said.get(spec.name, spec.default),
            parse=whole(1, board.most[spec.name]) if spec.name in board.most else spec.parse,
        )
        for spec in PARAMS
        if spec.name in board.offered
    )
    return own + SHARED


REST = RestKind()
INFOJOBS = RestKind(boards.INFOJOBS)
GREENHOUSE = RestKind(boards.GREENHOUSE)
LEVER = RestKind(boards.LEVER)
