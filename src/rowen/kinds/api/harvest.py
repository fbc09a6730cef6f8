"""One run of an API: its whole list, or a stretch of time.

The whole list each time: an item that says the same costs no write, a list that comes as one answer is asked
for conditionally, and what a complete list does not name is gone. By date: what changed since the last run
first, then history, one day after the other; there, absence proves nothing.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from rowen.core.document import Validators
from rowen.core.rules.left_out import BEYOND_PAGES
from rowen.core.rules.words import count
from rowen.core.run import Mode, StopReason
from rowen.core.source import Source
from rowen.core.window import Window, Windows, backward, forward, reached_by
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested
from rowen.engine.ports import Ports
from rowen.errors import PermanentError, TransientError, Unparseable, Vanished
from rowen.fetching.client import stop_reason
from rowen.kinds.api import give_up, items, rules
from rowen.kinds.api.answers import parsed
from rowen.kinds.api.asking import ApiClient, ahead
from rowen.kinds.api.items import Listed, Reading
from rowen.kinds.api.receiver import READ_WITH, Receiver, read_with, refuse_emptiness
from rowen.kinds.api.rules import Definition
from rowen.kinds.api.tables import asked as tables
from rowen.kinds.api.walking.slices import SlicedWalk
from rowen.kinds.api.walking.walk import Remembered, Rows, Walk
from rowen.ports.fetcher import Response

VALIDATORS = "validators"
"""In a source's metadata: of a list that comes as one answer, with its number of rows."""
INCOMPLETE_DAYS = "incomplete_days"
"""In a source's metadata: days that a cap cut short, and days with an item that was given up (`DAY: ID`)."""
MAX_INCOMPLETE_DAYS = 100
FAILING = "failing"
"""In a source's metadata: items that failed when they were last asked for, with how many runs in a row."""
RECHECKED = "rechecked"
"""In a source's metadata: the last known item that was asked for again."""
GONE = (404, 410)
NOT_SHOWN = (403, *GONE)
"""Answers for a dataset that its portal's list does not name any more."""


def every_reference(source: Source, settings: Mapping[str, Any]) -> Callable[[str], bool]:
    """For `Kind.covers`: an id does not say what a dataset is about; the list of an edited source does."""
    return lambda reference: True


class _Harvest:
    def __init__(
        self,
        ports: Ports,
        source: Source,
        params: Mapping[str, Any],
        intake: Intake,
        client: ApiClient,
        api: Definition,
    ) -> None:
        self._ports = ports
        self._source = source
        self._params = params
        self._intake = intake
        self._client = client
        self._api = api
        self._tables = tables.of_portal(ports, source, params, intake, client, api.catalogue)
        self._receiver = Receiver(
            ports,
            intake,
            self._read,
            concurrency=params["concurrency"],
            details=bool(api.detail),
            windowed=api.windowed,
            fits=self._fits if api.choice else None,
            before=self._tables.before,
        )
        self._read_with, as_before = read_with(source, params)
        # A record with its detail is made of more than the list says.
        self._receiver.by_record = as_before and api.catalogue is not None and not api.detail

    def _walk(
        self, *, window: Window | None = None, remembered: Remembered | None = None, changes: bool = False
    ) -> Walk:
        catalogue = self._api.catalogue
        kind = SlicedWalk if catalogue is not None and catalogue.sliced and not changes else Walk
        return kind(
            self._client,
            self._api.of_changes() if changes else self._api,
            self._source.location,
            self._params,
            self._intake.counters,
            window=window,
            now=self._intake.run.started_at,
            remembered=remembered,
        )

    async def _take(self, walk: Walk, pages: AsyncGenerator[Rows, None]) -> None:
        async with aclosing(ahead(pages)) as found:
            async for page in found:
                self._intake.queued = max(0, (walk.announced or 0) - walk.taken)
                await self._receiver.take(page)

    async def _read(self, one: Listed) -> Reading:
        item = one.item
        if self._api.detail:
            item = items.with_detail(item, await self._detail(one.id))
        language = self._params.get("language", "")
        answers = self._tables.answers(one.id)
        asked = [field for answer in answers.values() for field in tables.fields_in(answer)]
        home = self._source.location
        reading = items.read(self._api, one, item, home=home, language=language, asked=asked)
        reading = replace(reading, item=item) if self._api.detail else reading
        return tables.with_answers(reading, one, answers)

    def _fits(self, one: Listed, reading: Reading) -> bool:
        catalogue = self._api.catalogue
        area = items.area_of(catalogue, one.item) if catalogue is not None else None
        searched = "query" in self._api.pushed_names
        return self._api.choice.fits(reading.metadata, reading.text, area, searched=searched)

    async def _detail(self, id: str) -> Any:  # noqa: A002
        url = rules.detail_url(self._api, self._source.location, id)
        response = await self._client.ask(url, accept=self._api.accept)
        if response.status in GONE:
            raise Vanished(f"`{url}`: {response.status}, it is gone", url=url)
        return await self._data(response, url)

    async def _data(self, response: Response, url: str) -> Any:
        return await parsed(self._ports.converter, self._api, response, url, self._params)

    def _cut_short(self, walk: Walk) -> str:
        limit = self._params[str(walk.cut)]
        return f"the list goes on behind `{walk.cut}={limit}`: raise it to have the rest"


class WholeList(_Harvest):
    async def run(self) -> Harvested:
        walk = self._walk(remembered=self._remembered())
        try:
            await self._take(walk, walk.pages())
            if walk.not_modified:
                self._intake.counters.not_modified += 1
                return Harvested(stop_reason=StopReason.EXHAUSTED, mode=Mode.INCREMENTAL)
            hint = await self._settle(walk)
            await self._tables.catch_up(self._receiver)
        except (TransientError, PermanentError) as exc:
            # What was taken in is newer than what the validators stand for.
            return Harvested(
                stop_reason=stop_reason(exc),
                error=exc,
                complete=False,
                metadata={VALIDATORS: None},
                remember=self._tables.remembered(),
            )
        if walk.beyond:
            self._intake.counters.ignored[BEYOND_PAGES] += walk.beyond
        return Harvested(
            stop_reason=self._why_it_ended(walk),
            # An empty list where there was nothing before is complete too.
            mode=Mode.FULL if walk.seen or walk.nameless else Mode.INCREMENTAL,
            hint=hint,
            complete=walk.cut is None and not walk.beyond and not self._is_cut(walk),
            metadata={VALIDATORS: self._to_remember(walk)}
            | ({READ_WITH: self._read_with} if walk.is_complete() else {}),
            remember=self._tables.remembered(),
        )

    def _why_it_ended(self, walk: Walk) -> StopReason:
        if walk.beyond:
            return StopReason.SERVICE_WINDOW
        return walk.cut or (StopReason.LISTING_CUT if self._is_cut(walk) else StopReason.EXHAUSTED)

    def _is_cut(self, walk: Walk) -> bool:
        """Did a portal's list break off, move, or end before what it announced?"""
        return self._api.catalogue is not None and not walk.is_complete() and not walk.not_modified

    async def _settle(self, walk: Walk) -> str | None:
        """Delete what is gone, if the list proves it; returns why it does not."""
        catalogue = self._api.catalogue
        if catalogue is not None and not walk.seen:
            refuse_emptiness(self._source)
        if walk.cut is not None:
            return self._cut_short(walk)
        if not walk.is_complete():
            return _doubt(walk)
        absent, _ = await self._receiver.compare(walk.seen)
        if catalogue is not None and catalogue.check:
            await self._receiver.delete_absent(absent, self._dataset)
            return None
        if absent and walk.nameless:
            nameless = count(walk.nameless, "item")
            return f"{nameless} without an id may be ones that seem gone: nothing was deleted"
        if absent and walk.may_slip and walk.passes == 1:
            # An item that goes while pages are read lets others slip through: two passes must miss it.
            await self._take(walk, walk.one_pass())
            if not walk.is_complete():
                return self._cut_short(walk) if walk.cut else _doubt(walk)
        await self._receiver.delete([one for one in absent if one not in walk.seen], "absent")
        return None

    async def _dataset(self, id: str) -> Listed | None:  # noqa: A002
        """One dataset of a catalogue by itself; None when it is gone."""
        api, catalogue = self._api, self._api.catalogue
        assert catalogue is not None
        url = rules.check_url(catalogue.check, self._source.location, id)
        response = await self._client.ask(url, accept=api.accept)
        if response.status in NOT_SHOWN:
            return None
        answer = await self._data(response, url)
        for item in items.items_of(api, answer) if catalogue.check_lists else [answer]:
            with suppress(Unparseable):
                if (one := items.listed(api, item)).id == id:
                    chosen = not one.gone and (not api.choice or self._fits(one, await self._read(one)))
                    return one if chosen else None
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
        if one is None or not one.validators or not walk.is_complete() or self._receiver.failures:
            return None
        return [one.validators.etag, one.validators.last_modified, one.rows]


class ByDate(_Harvest):
    """Forward first, then back into the past."""

    async def run(self) -> Harvested:
        window = self._window()
        if window is None:
            return Harvested(stop_reason=StopReason.WINDOW_EXHAUSTED, mode=Mode.INCREMENTAL)
        walk = self._walk(window=window)
        learnt: dict[str, Any] = {}
        failing = _counts(self._source.metadata.get(FAILING))
        self._receiver.watched = failing.keys()
        try:
            await self._take(walk, walk.pages())
            if not self._intake.part and self._params["recheck"]:
                learnt[RECHECKED] = await self._recheck(walk.seen)
        except (TransientError, PermanentError) as exc:
            return Harvested(
                stop_reason=stop_reason(exc), error=exc, complete=False, window=window, mode=Mode.INCREMENTAL
            )
        failures = self._receiver.failures
        failing = give_up.counted(failing, failed=failures, met=self._receiver.met)
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
        source, windows = self._source, windows_of(self._params)
        if not self._intake.part:
            return forward(windows, watermark=source.watermark, now=self._intake.run.started_at)
        return backward(
            windows,
            reached=source.last_processed_date,
            began=source.created_at,
            watermark=source.watermark,
        )

    def _is_more(self, window: Window) -> bool:
        """Is there history left, and may this sync still take it in?"""
        windows = windows_of(self._params)
        reached = reached_by(window, before=self._source.last_processed_date)
        left = backward(
            windows, reached=reached, began=self._source.created_at, watermark=self._intake.run.started_at
        )
        return left is not None and self._intake.part < windows.seed_windows

    def _incomplete_days(self, added: list[str]) -> list[str]:
        days = self._source.metadata.get(INCOMPLETE_DAYS)
        # An item that was asked for again has either come in or is among those that are added.
        met = self._receiver.met
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
        """Ask for known items, a few in each run, round and round; returns the last one."""
        number = self._params["recheck"]
        last = self._source.metadata.get(RECHECKED)
        last = last if isinstance(last, str) else ""
        store, source_id = self._ports.store, self._source.id
        asked = await store.visible_references(source_id, after=last, limit=number)
        if last and len(asked) < number:
            start = await store.visible_references(source_id, after="", limit=number - len(asked))
            asked += [one for one in start if one <= last]
        # An item that was listed a moment ago is there.
        waiting = [one for one in asked if one not in listed]
        _, gone = await self._receiver.look_for(waiting, self._still_there)
        await self._receiver.delete(gone, Vanished.reason)
        return asked[-1] if asked else ""

    async def _still_there(self, id: str) -> Listed | None:  # noqa: A002
        try:
            return Listed(id, await self._detail(id))
        except Vanished:
            return None


def windows_of(params: Mapping[str, Any]) -> Windows:
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


def _about(failed: Sequence[str], *, given_up: bool) -> str:
    """The hint about items that failed again and again."""
    shown = ", ".join(f"`{one}`" for one in failed[:3]) + (", ..." if len(failed) > 3 else "")
    number = count(len(failed), "item")
    said = f"{number} failed in {give_up.RUNS} runs in a row or more ({shown})"
    if not given_up:
        return f"{said}: too many to go on without them, so the same time is asked for again"
    return f"{said}: their days count without them (`incomplete_days`) until a run meets them again"


def _doubt(walk: Walk) -> str:
    if walk.beyond:
        elsewhere = walk.api.catalogue.elsewhere if walk.api.catalogue else ""
        said = (
            f"the portal pages to {len(walk.seen)} of {walk.announced} datasets and answers nothing behind:"
            f" {walk.beyond} are missing, and nothing was deleted"
        )
        return f"{said}; {elsewhere}" if elsewhere else said
    if walk.restarts:
        again = "once" if walk.restarts == 1 else f"{walk.restarts} times"
        return f"the API forgot {again} where its list stood: it was begun anew, and nothing was deleted"
    if walk.announced is not None and len(walk.seen) < walk.announced:
        return f"the API listed {len(walk.seen)} of {walk.announced} {walk.api.noun}: nothing was deleted"
    return "the list changed while it was read, or did not show its end: nothing was deleted"
