"""Asking for one page: by this process or by a worker, once a run, and after the pages it depends on.

What the answer means is decided in `verdicts.py`.
"""

from __future__ import annotations

import asyncio

from rowen.core.document import NO_VALIDATORS
from rowen.core.web.verified import LISTING
from rowen.errors import PermanentError, TransientError
from rowen.fetching.client import STOPS, stop_reason
from rowen.fetching.redirects import REDIRECTS
from rowen.kinds.crawl.judging.twins import TWIN
from rowen.kinds.crawl.pages import DELIVERED, ReadPage
from rowen.kinds.crawl.question import PageQuestion
from rowen.kinds.crawl.spread import NotAsked
from rowen.kinds.crawl.state import CrawlState
from rowen.kinds.crawl.verdicts import GONE, Verdicts
from rowen.kinds.crawl.visits import Visit
from rowen.ports.fetcher import Response


class Asking:
    def __init__(self, state: CrawlState) -> None:
        self._state = state
        self._verdicts = Verdicts(state, self.answers)
        self._ends: dict[str, asyncio.Event] = {}
        """Pages under way."""
        self._waiting: dict[str, str] = {}
        """Pages that wait for the answer of another one."""

    async def visit(self, visit: Visit) -> None:
        state = self._state
        ended = self._ends[visit.url] = asyncio.Event()
        state.intake.queued = state.frontier.queued + len(self._ends)
        try:
            if self._is_done(visit):
                state.intake.counters.ignored["answered_in_an_earlier_run"] += 1
            elif self._differs_by_nothing(visit):
                state.intake.counters.ignored[TWIN] += 1
            elif state.claims.may_skip(visit) and visit.known is not None and not state.pages.outdated(visit):
                state.claims.skipped(visit)
                state.intake.not_modified(visit.known, by=LISTING)
                state.frontier.unchanged(visit)
            elif visit.url.startswith(state.site) or not await self._forbidden(visit):
                response, page = await self.ask(visit)
                if response.status == 304 and state.claims.must_check(visit):
                    response, page = await self._checked(visit, response)
                await self._verdicts.answered(visit, response, page)
        except STOPS as exc:
            state.stops(stop_reason(exc), exc)
            self._failed(visit, exc)
            if state.spread is not None:
                state.spread.abandon()
        except NotAsked:
            state.frontier.failed(visit)
        except (TransientError, PermanentError) as exc:
            self._failed(visit, exc)
        finally:
            ended.set()
            del self._ends[visit.url]
            state.intake.queued = state.frontier.queued + len(self._ends)

    def _is_done(self, visit: Visit) -> bool:
        """Did a run before this one, which was cut off, get the answer? The root is asked in every run."""
        state = self._state
        if visit.url not in state.done or visit.depth == 0:
            return False
        answer, is_document = state.done[visit.url], bool(visit.known and visit.known.document_id)
        if (answer == "") != is_document:
            return False
        state.not_asked.add(visit.url)
        if answer == "":
            state.frontier.unchanged(visit)
        elif answer is None:
            state.frontier.gone(visit)
        else:
            state.frontier.moved(visit, answer)
        return True

    def _differs_by_nothing(self, visit: Visit) -> bool:
        """Is it the address of a document, but for parameters that change the text of no page?"""
        state = self._state
        plain = state.twins.without_idle_parameters(visit.url)
        if plain == visit.url or visit.known is not None or not state.frontier.is_document(plain):
            return False
        state.aliases[visit.url] = plain
        state.frontier.duplicate(visit, plain)
        return True

    async def ask(self, visit: Visit, *, whole: bool = False) -> tuple[Response, ReadPage | None]:
        """The answer, and what was made of its body if that is not the stored version.

        With `whole` the body is asked for, without validators.
        """
        state = self._state
        validators, known_hash, has_document = NO_VALIDATORS, None, False
        if visit.known is not None:
            has_document = bool(visit.known.document_id)
            if not state.intake.unconditional and not state.pages.outdated(visit):
                if not whole:
                    validators = state.claims.usable(visit.known.validators)
                # Of what an interrupted run left, only its validators can be asked for.
                known_hash = visit.known.body_hash if has_document else None
        if state.spread is not None:
            question = PageQuestion(visit.url, validators, known_hash, has_document)
            response, page = await state.spread.ask(question)
            return response, state.wrapping.cut(page)
        response = await state.client.ask(state.pages.request(visit.url, validators))
        if visit.depth == 0:
            await self._root_said(visit, response)
        if response.refused or response.status not in DELIVERED:
            return response, None
        page = await state.pages.read(visit.url, response, known_hash=known_hash, has_document=has_document)
        return response, state.wrapping.cut(page)

    async def _checked(self, visit: Visit, said: Response) -> tuple[Response, ReadPage | None]:
        """Fetch a page that says it has not changed; its answer stands unless there is another text."""
        state = self._state
        try:
            response, page = await self.ask(visit, whole=True)
            if response.status in DELIVERED and page is None and not response.refused:
                state.claims.same_body(visit, response.validators)
                return said, None
            if response.status == 304 or (response.status >= 400 and response.status not in GONE):
                return said, None
            if visit.known is not None and response.validators != visit.known.validators:
                again, _ = await self.ask(visit)
                if again.status != 304:
                    state.claims.changed_meanwhile(visit)
        except (TransientError, PermanentError):
            return said, None
        return response, page

    async def answers(self, canonical: str, visit: Visit) -> bool:
        """Is the canonical address a page itself? One that fails, or leads back to us, is not believed."""
        ahead: str | None = canonical
        while ahead is not None:
            if ahead == visit.url:
                return False
            ahead = self._waiting.get(ahead)
        self._waiting[visit.url] = canonical
        try:
            if self._state.frontier.is_under_way(canonical):
                await self._ends[canonical].wait()
            elif claimed := self._state.frontier.claim(canonical, visit.depth):
                await self.visit(claimed)
        finally:
            del self._waiting[visit.url]
        return self._state.frontier.is_document(canonical)

    async def _forbidden(self, visit: Visit) -> bool:
        """Does its host forbid it? Pages of other hosts than the root's are met before their robots.txt."""
        state = self._state
        await state.files.hear(visit.url)
        if not state.files.forbid(visit.url):
            return False
        state.frontier.gone(visit)
        state.intake.gone(visit.url, "robots")
        state.intake.counters.ignored["robots"] += 1
        return True

    async def _root_said(self, visit: Visit, response: Response) -> None:
        good = response.status < 400 and not response.refused
        if good and response.status not in REDIRECTS:
            good = await self._state.pages.root(visit, response)
        if visit.url == self._state.root:
            self._state.root_answered = good

    def _failed(self, visit: Visit, exc: TransientError | PermanentError) -> None:
        self._state.frontier.failed(visit, for_now=isinstance(exc, TransientError))
        self._state.intake.failed(visit.url, exc)
