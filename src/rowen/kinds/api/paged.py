"""Kinds of source that are an API of pages: one reader for all, told by a definition where things stand.

Everything is listed each time and compared; what says the same costs no write. A catalogue that comes as one
answer is asked for conditionally. What is gone is what a complete listing does not name, and what, asked for
by itself, is not there.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any

from rowen.core.document import Validators
from rowen.core.run import Counters, Mode, StopReason
from rowen.core.source import Source
from rowen.core.web import json_body, urls
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested, Prepared
from rowen.engine.ports import Ports
from rowen.errors import BadLocation, PermanentError, TransientError, Unfetchable, Unparseable
from rowen.fetching import credentials
from rowen.fetching.client import stop_reason
from rowen.kinds.api import dcat, paged_rules, portal, portals
from rowen.kinds.api.datasets import Absences, Broken, Taking, Unseen, ahead
from rowen.kinds.api.paged_rules import After, Api, NextLink, Offset, PageSize
from rowen.kinds.api.portal import LISTED_AT, TOO_MUCH, Asker
from rowen.ports.fetcher import Response

ACCEPT = "application/json"
ACCEPT_DCAT = "application/ld+json, application/json;q=0.9, application/rdf+xml;q=0.8, */*;q=0.1"
MAX_DOCUMENT_BYTES = 200_000_000
"""Of a catalogue that comes as one document."""
TAKEN_AT_ONCE = 500
VALIDATORS = "validators"
"""In a source's metadata: of a catalogue that comes as one answer."""

PARAMS = portal.PARAMS

Read = Callable[[Response, str], Any]
"""An answer's body as data; by its address in messages."""


def no_claims(ports: Ports, location: str) -> bool:
    """From outside these look like any other site: somebody has to name the kind."""
    return False


def _json(response: Response, url: str) -> Any:
    try:
        return json_body.read(response.body)
    except ValueError as exc:
        what = "a web page" if response.body.lstrip()[:1] == b"<" else "no JSON"
        raise Unparseable(f"`{url}`: answers with {what}", url=url) from exc


def _dcat(response: Response, url: str) -> Any:
    return dcat.read(response.body, content_type=response.headers.get("content-type", ""), url=url)


class PagedKind:
    """`prepare`, `count` and `harvest` of a kind, by its definition."""

    def __init__(self, api: Api, *, read: Read = _json, accept: str = ACCEPT) -> None:
        self.api = api
        self.params = PARAMS
        self._read = read
        self._accept = accept

    async def prepare(
        self, ports: Ports, location: str, *, settings: Mapping[str, Any], check: bool
    ) -> Prepared:
        home = self.address(location)
        if not check:
            return Prepared(kind=self.api.kind, location=home)
        try:
            number = await self._number(ports, home, settings)
        except (TransientError, PermanentError) as exc:
            hint = exc.hint or "check the address, or use `--no-check` to add it all the same"
            raise BadLocation(f"location `{home}`: {exc.message}", hint=hint, location=home) from exc
        finding = f"a catalogue with {number} datasets: kind `{self.api.kind}`"
        return Prepared(kind=self.api.kind, location=home, findings=(finding,))

    async def count(self, ports: Ports, source: Source, params: Mapping[str, Any]) -> int:
        """How many datasets there are, by the first page."""
        return await self._number(ports, source.location, params)

    async def _number(self, ports: Ports, home: str, params: Mapping[str, Any]) -> int:
        async with portal.open_asker(
            ports, home, params, Counters(), max_body_bytes=MAX_DOCUMENT_BYTES
        ) as asker:
            walk = self._walk(asker, home, params)
            async with aclosing(walk.pages()) as pages:
                found: list[Any] = await anext(pages, [])
        return walk.announced if walk.announced is not None else len(found)

    def address(self, location: str) -> str:
        normal = portal.address(location)
        if self.api.path:
            return normal.partition("?")[0].partition(self.api.path)[0].rstrip("/")
        last = normal.partition("?")[0].rpartition("/")[2]
        named = "." in last or "?" in normal or "catalog" in last or "dcat" in last
        return normal if named else normal.rstrip("/") + "/data.json"

    async def harvest(
        self, ports: Ports, source: Source, params: Mapping[str, Any], intake: Intake
    ) -> Harvested:
        async with portal.open_asker(
            ports, source.location, params, intake.counters, max_body_bytes=MAX_DOCUMENT_BYTES
        ) as asker:
            walk = self._walk(asker, source.location, params)
            try:
                return await _Harvester(ports, source, params, intake, walk).run()
            except TransientError as exc:
                return Harvested(stop_reason=stop_reason(exc), error=exc)
            except PermanentError as exc:
                return Harvested(stop_reason=StopReason.ERROR, error=exc)

    def _walk(self, asker: Asker, location: str, params: Mapping[str, Any]) -> Walk:
        return Walk(asker, self.api, location, params, read=self._read, accept=self._accept)


class Walk:
    """Once through all items, each once."""

    def __init__(
        self,
        asker: Asker,
        api: Api,
        portal_url: str,
        params: Mapping[str, Any],
        *,
        read: Read,
        accept: str,
    ) -> None:
        self.api = api
        self.portal = portal_url
        self._asker = asker
        self._host = urls.host_of(portal_url)
        self._params = params
        self._read = read
        self._accept = accept
        self._size = PageSize(api.page_size)
        self.known = Validators()
        """Of the whole catalogue, when it came as one answer and is known."""
        self.answered = Validators()
        self.not_modified = False
        self.single = True
        """Everything came as one answer: its validators speak for the whole catalogue."""
        self._nameless = 0
        self.seen: set[str] = set()
        self.announced: int | None = None
        self.complete = False
        self._again = False
        self._moved = False
        """Something came or went while this pass was under way."""
        self._cut_off = False
        """The portal has more than it answers."""

    async def pages(self) -> AsyncGenerator[list[Any], None]:
        paging = self.api.paging
        for again in (False, True):
            self._begin(again=again)
            match paging:
                case After():
                    one_pass = self._after(paging)
                case Offset():
                    one_pass = self._by_offset(paging)
                case NextLink():
                    one_pass = self._by_links(paging)
                case _:
                    one_pass = self._by_links(NextLink(path=""))
            async for items in one_pass:
                yield items
            enough = self.announced is None or len(self.seen) + self._nameless >= self.announced
            if not isinstance(paging, After) and (self._moved or not enough):
                # By offset a removal makes others slip through; a second pass meets them.
                self.complete = False
            if self.complete or again or self.not_modified or self._cut_off:
                return

    def _begin(self, *, again: bool) -> None:
        self.announced = None
        self._moved = False
        self._again = again
        self._nameless = 0

    async def _after(self, paging: After) -> AsyncGenerator[list[Any], None]:
        last = ""
        while True:
            _, items = await self._sized({paging.last: last} if last else {}, paging.size)
            fresh = self._fresh(items)
            if fresh:
                yield fresh
            if not items or (self.announced is not None and len(self.seen) >= self.announced):
                self.complete = True
                return
            newest = next((ref for item in reversed(items) if (ref := paged_rules.id_of(item, self.api))), "")
            if not fresh or not newest:
                return
            last = newest

    async def _by_offset(self, paging: Offset) -> AsyncGenerator[list[Any], None]:
        start = paging.first
        while True:
            within = paging.window - start if paging.window is not None else self._size.current
            if within <= 0:
                self._cut_off = True
                return
            _, items = await self._sized({paging.start: start}, paging.size, at_most=within)
            if fresh := self._fresh(items):
                yield fresh
            start += len(items)
            if not items or (self.announced is not None and start - paging.first >= self.announced):
                self.complete = True
                return

    async def _by_links(self, paging: NextLink) -> AsyncGenerator[list[Any], None]:
        visited: set[str] = set()
        answer, items = await self._sized({}, paging.size)
        while not self.not_modified:
            if fresh := self._fresh(items):
                yield fresh
            target = paged_rules.first(answer, paging.path)
            url = urls.normalise(target, self.portal) if isinstance(target, str) else None
            if url is None:
                self.complete = True
                return
            if url in visited:
                return
            visited.add(url)
            self.single = False
            answer, items = await self._ask(url)

    def _fresh(self, items: list[Any]) -> list[Any]:
        fresh: list[Any] = []
        for item in items:
            reference = paged_rules.id_of(item, self.api)
            if reference in self.seen:
                continue
            if reference:
                self.seen.add(reference)
            else:
                # Without a name it cannot be told from itself: it is reported in the first pass only.
                self._nameless += 1
                if self._again:
                    continue
            fresh.append(item)
        return fresh

    async def _sized(
        self, params: Mapping[str, str | int], size: str, *, at_most: int | None = None
    ) -> tuple[Any, list[Any]]:
        while True:
            number = min(self._size.current, at_most or self._size.current)
            asked = {**self.api.params, **params, **({size: number} if size else {})}
            url = paged_rules.request_url(self.portal, self._host, self.api.path, asked)
            try:
                answer = await self._ask(url)
            except TOO_MUCH:
                if not size or not self._size.shrink():
                    raise
                continue
            self._size.went_well()
            return answer

    async def _ask(self, url: str) -> tuple[Any, list[Any]]:
        response = await self._asker.ask(url, accept=self._accept, validators=self.known)
        if response.status == 304 and self.known:
            self.not_modified = True
            return {}, []
        self.known = Validators()
        answer = self.readable(response, url)
        self.answered = response.validators
        before, self.announced = self.announced, paged_rules.total_of(answer, self.api)
        self._moved = self._moved or (before is not None and before != self.announced)
        return answer, paged_rules.find(answer, self.api.items)

    def readable(self, response: Response, url: str) -> Any:
        shown = urls.without_credentials(url)
        if response.status != 200:
            hint = credentials.hint(self._params) if response.status in (401, 403) else None
            raise Unfetchable(
                f"`{shown}`: {response.status} from the portal", hint=hint, url=shown, status=response.status
            )
        return self._read(response, shown)

    async def check(self, reference: str) -> Unseen | None:
        """One item by itself; None when it is gone."""
        url = paged_rules.item_url(self.api, self.portal, self._host, reference)
        response = await self._asker.ask(url, accept=self._accept)
        if response.status in (403, 404, 410):
            return None
        answer = self.readable(response, url)
        items = paged_rules.find(answer, self.api.items) if self.api.item_listed else [answer]
        found = [item for item in items if paged_rules.id_of(item, self.api) == reference]
        return self.unseen(found[0]) if found else None

    def unseen(self, item: Any) -> Unseen | None:
        reference = paged_rules.id_of(item, self.api)
        if not reference:
            return None
        read = partial(
            paged_rules.dataset_of,
            item,
            self.api,
            portal=urls.origin_of(self.portal) if not self.api.path else self.portal,
            language=self._params["language"],
            template=self._params["url_template"],
        )
        return Unseen(reference, "", read)


class _Harvester:
    def __init__(
        self, ports: Ports, source: Source, params: Mapping[str, Any], intake: Intake, walk: Walk
    ) -> None:
        self._ports = ports
        self._source = source
        self._params = params
        self._intake = intake
        self._walk = walk
        self._taking = Taking(intake, by_validator=False)

    async def run(self) -> Harvested:
        walk, intake = self._walk, self._intake
        walk.known = self._remembered()
        async with aclosing(ahead(walk.pages())) as pages:
            async for items in pages:
                intake.queued = max(0, (walk.announced or 0) - len(self._taking.taken))
                for start in range(0, len(items), TAKEN_AT_ONCE):
                    await self._take(items[start : start + TAKEN_AT_ONCE])
        if walk.not_modified:
            intake.counters.not_modified += 1
            return Harvested(stop_reason=StopReason.EXHAUSTED, mode=Mode.INCREMENTAL)
        if not walk.seen and self._source.active_generation:
            # invariant: an empty answer wipes nothing.
            raise Unfetchable(
                f"portal `{walk.portal}`: answers with no datasets, where there were some",
                hint="nothing was deleted; look at the portal, and remove the source if it is gone for good",
            )
        hint = None
        learnt: dict[str, Any] = {VALIDATORS: None}
        check = walk.check if walk.api.item else None
        # An item that could not be read may be the one that seems absent, unless it can be asked for.
        if walk.complete and (check is not None or not self._taking.failed):
            absences = Absences(
                self._ports, intake, self._taking, check, concurrency=self._params["concurrency"]
            )
            await absences.settle(walk.seen)
            learnt = {
                LISTED_AT: intake.run.started_at.isoformat(),
                VALIDATORS: [walk.answered.etag, walk.answered.last_modified] if self._is_one() else None,
            }
        elif not walk.complete:
            hint = (
                f"the portal listed {len(walk.seen)} of {walk.announced} datasets: nothing was deleted"
                if walk.announced is not None
                else "the listing did not come to an end: nothing was deleted"
            )
        return Harvested(stop_reason=StopReason.EXHAUSTED, mode=Mode.FULL, metadata=learnt, hint=hint)

    def _is_one(self) -> bool:
        return self._walk.single and not self._walk.api.path and not self._taking.failed

    def _remembered(self) -> Validators:
        source = self._source
        found = source.metadata.get(VALIDATORS)
        # After a rollback readers see less than was taken in.
        current = source.active_generation and source.active_generation == source.last_generation
        if not isinstance(found, list) or not current or self._intake.unconditional:
            return Validators()
        return Validators(*found)

    async def _take(self, items: list[Any]) -> None:
        taken: list[Unseen | Broken] = []
        for item in items:
            unseen = self._walk.unseen(item)
            taken.append(unseen or Broken("without id", Unparseable("a dataset without an id")))
        await self._taking.take(taken)


SOCRATA = PagedKind(portals.SOCRATA)
OPENDATASOFT = PagedKind(portals.OPENDATASOFT)
ARCGIS = PagedKind(portals.ARCGIS)
DCAT = PagedKind(portals.DCAT, read=_dcat, accept=ACCEPT_DCAT)
