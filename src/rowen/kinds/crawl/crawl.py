"""Crawling a site by its links: the engine of the `web` and `llms` kinds.

A crawl lists (root, sitemaps, links), asks whether a page changed (validators), and fetches. Here is its way
from start to end; `asking.py` asks for one page, `verdicts.py` says what its answer means, and the frontier
decides which page is next. What differs between kinds is in their `Pages`. A run that names pages asks for
those, and for new pages they link to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from rowen.core.document import NO_VALIDATORS, Known
from rowen.core.rules.left_out import TOO_MANY_LINKS
from rowen.core.run import Mode, StopReason
from rowen.core.source import SWEEP, Source
from rowen.core.web import urls
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested, progress_of
from rowen.engine.learning.turns import Turn, turn_of
from rowen.engine.leases import host_lease_or_patience, other_workers
from rowen.engine.ports import Ports
from rowen.errors import PermanentError, TransientError
from rowen.fetching.client import open_client, stop_reason
from rowen.fetching.site_files import SiteFiles
from rowen.kinds.crawl import refusals
from rowen.kinds.crawl.asking import Asking
from rowen.kinds.crawl.claims import REMEMBERED as CLAIMS
from rowen.kinds.crawl.claims import PageClaims
from rowen.kinds.crawl.frontier.frontier import Frontier
from rowen.kinds.crawl.frontier.named import NamedFrontier, pages_in_scope
from rowen.kinds.crawl.judging.missing import REMEMBERED, MissingPages
from rowen.kinds.crawl.judging.twins import REMEMBERED as TWINS
from rowen.kinds.crawl.judging.twins import Twins
from rowen.kinds.crawl.judging.wrapping import REMEMBERED as WRAPPING
from rowen.kinds.crawl.judging.wrapping import Wrapping
from rowen.kinds.crawl.pages import Pages
from rowen.kinds.crawl.spread import PAGES_OUT, Spread
from rowen.kinds.crawl.state import CrawlState
from rowen.kinds.crawl.visits import Visit, visit_all
from rowen.ports.store.documents import Listing, References

LARGE = 256
"""So many bodies are to be fetched, and the workers join in."""


async def crawl(
    ports: Ports, source: Source, settings: Mapping[str, Any], intake: Intake, pages: Pages
) -> Harvested:
    """One run over one site."""
    async with open_client(ports, source.location, settings, intake.counters) as client:
        crawling = Crawl(CrawlState(ports, source, settings, intake, client, pages))
        try:
            return await crawling.run()
        except asyncio.CancelledError:
            if intake.out_of_time is None or not crawling.begun:
                raise
            return await crawling.cut_off()
        finally:
            await pages.close()


class Crawl:
    def __init__(self, state: CrawlState) -> None:
        self._state = state
        self._asking = Asking(state)
        self.begun = False
        """The first page may be asked for."""

    async def run(self) -> Harvested:
        state = self._state
        store, source_id = state.ports.store, state.source.id
        references, listings, leftovers = await asyncio.gather(
            store.references(source_id), store.listings(source_id), store.leftovers(source_id)
        )
        state.urls = {number: url for url, number in references.ids.items()}
        if state.named is None and not state.intake.unconditional:
            now = state.intake.run.started_at
            state.turn = await turn_of(store, state.source, state.settings, now=now)
            state.intake.asks_some = state.turn is not None
        if state.is_whole and not state.intake.unconditional:
            state.done = progress_of(state.source, listings)
        state.files = SiteFiles(
            store,
            state.client,
            state.intake,
            listings,
            state.ports.clock,
            agent=state.ports.fetch.user_agent,
            obeys=state.settings["robots"],
            from_memory=state.named is not None,
            max_delay_s=state.settings["max_crawl_delay_s"],
        )
        remembered = listings.get(REMEMBERED)
        state.missing = MissingPages(
            self._asking.ask,
            state.may_not_be_asked,
            location=state.source.location,
            remembered=remembered.payload if remembered else None,
            may_ask=state.named is None and state.pages.may_be_missing,
        )
        wrapping = listings.get(WRAPPING)
        state.wrapping = Wrapping(
            state.intake,
            wrapping.payload if wrapping else None,
            active=state.source.active_generation,
            learns=state.pages.learns_wrapping and state.is_whole,
        )
        await state.pages.open(state.source, state.settings, state.client, state.files)
        async with AsyncExitStack() as here:
            if state.intake.dispatch:
                # A worker may still ask this host, for a run whose process was killed.
                host = urls.host_of(state.source.location)
                await here.enter_async_context(host_lease_or_patience(state.ports, host))
            try:
                listed = await self._listed_pages()
            except TransientError as exc:
                return Harvested.stopped(stop_reason(exc), exc, root_answered=False)
            if self._is_closed(listed):
                error = refusals.closed(state.source)
                return Harvested.stopped(StopReason.ERROR, error, root_answered=False)
            await self._hear_claims(listings.get(CLAIMS))
            references = await self._recheck_twins(listings.get(TWINS), references)
            state.frontier = self._begin(references, leftovers, listed)
            self.begun = True
            await self._visit_root()
            await self._visit_sooner()
            may_spread = state.intake.dispatch and state.pages.may_be_spread
            may_spread = may_spread and bool(await other_workers(state.ports))
            await self._visit_rest(at_a_time=state.settings["concurrency"], while_small=may_spread)
            if state.intake.dispatch and state.stop is None:
                # The next process to ask this host keeps the time between two requests, too.
                await state.client.rest()
        if may_spread and self._is_large() and state.stop is None:
            await self._visit_by_workers()
        await state.wrapping.release()
        state.aliases |= dict.fromkeys(state.frontier.released)
        if state.aliases:
            await store.save_aliases(state.intake.lease, source_id, state.aliases)
        self._forget_unlinked_names()
        await state.claims.save(store)
        for name, payload in ((REMEMBERED, state.missing.payload), (TWINS, state.twins.names)):
            before = listings.get(name)
            if payload is not None and (before.payload if before else {}) != payload:
                listing = Listing(url=name, validators=NO_VALIDATORS, payload=payload)
                await store.save_listing(state.intake.lease, source_id, listing)
        return self._settle()

    async def _recheck_twins(self, remembered: Listing | None, references: References) -> References:
        """Ask whether other names still give what they gave; those that do not are pages again."""
        state = self._state
        fresh = state.intake.unconditional
        state.twins = twins = Twins(
            state.intake.known, remembered.payload if remembered and not fresh else {}
        )
        aliases = dict(references.aliases)

        async def recheck(visit: Visit) -> None:
            try:
                response, page = await self._asking.ask(visit)
            except (TransientError, PermanentError):
                return
            if not twins.is_still_name(visit, response, page):
                state.aliases[visit.url] = None
                del aliases[visit.url]

        asked = iter(twins.to_ask(aliases) if state.is_whole else ())
        at_a_time = state.settings["concurrency"]
        await visit_all(lambda: next(asked, None), recheck, at_a_time=at_a_time, more=lambda: True)
        return References(ids=references.ids, aliases=aliases)

    def _forget_unlinked_names(self) -> None:
        """Names that no page links to any more, such as the session ids of earlier runs, are not kept."""
        state = self._state
        if state.twins.names and state.is_whole and state.stop is None:
            links: set[int] = set()
            for page in state.intake.known.values():
                if state.frontier.is_document(page.reference):
                    links.update(page.links)
            state.linked.update(map(state.urls.__getitem__, links))
            state.twins.keep(state.linked)

    async def _listed_pages(self) -> list[str]:
        """The pages that sitemaps name; before that, what robots.txt allows."""
        state = self._state
        robots = await state.files.hear(state.source.location)
        if not state.settings.get("sitemap") or state.named is not None:
            return []
        return await state.files.sitemaps(state.source.location, robots, max_urls=state.settings["max_pages"])

    def _is_closed(self, listed: Sequence[str]) -> bool:
        """Does robots.txt forbid the root, and every page that is known or listed?"""
        forbid = self._state.files.forbid
        return forbid(self._state.source.location) and all(map(forbid, (*self._state.intake.known, *listed)))

    def _begin(
        self, references: References, leftovers: Mapping[str, Known], listed: Sequence[str]
    ) -> Frontier | NamedFrontier:
        state = self._state
        if not state.is_whole:
            # A run with a budget asks for the root like any; one for named pages does not.
            state.root_answered = state.turn is None
            return NamedFrontier(
                root=state.source.location,
                named=pages_in_scope(
                    self._in_turn(state.turn, listed) if state.turn else state.named or (),
                    base=state.source.location,
                    aliases=references.aliases,
                    why_not=state.why_not,
                    ignored=state.intake.counters.ignored,
                ),
                known=state.intake.known,
                leftovers=leftovers,
                urls=state.urls,
                aliases=references.aliases,
                why_not=state.why_not,
                max_depth=state.settings["max_depth"],
                max_pages=state.settings["max_pages"],
                follows=state.intake.within_s is None,
                far=state.turn is not None,
            )
        return Frontier(
            root=state.source.location,
            listed=[url for url in listed if state.scope.why_not(url) is None],
            known=state.intake.known,
            leftovers=leftovers,
            ids=references.ids,
            aliases={} if state.intake.unconditional else references.aliases,
            why_not=state.why_not,
            closed=state.files.forbid,
            max_depth=state.settings["max_depth"],
            max_pages=state.settings["max_pages"],
            max_endless=state.settings["max_endless"],
            strict_depth=state.intake.unconditional,
            listed_all=state.files.complete,
            sooner=state.claims.sooner,
        )

    def _in_turn(self, turn: Turn, listed: Sequence[str]) -> list[str]:
        """The root, the pages whose turn it is, and new ones that the sitemap names."""
        state = self._state
        known = state.intake.known
        new = [url for url in listed if url not in known and state.scope.why_not(url) is None]
        asked = [url for url in turn.asked if url in known]
        root = state.source.location
        state.intake.counters.not_due = len(known) - len(asked) - (root in known and root not in asked)
        return [root, *(url for url in asked if url != root), *new]

    async def _hear_claims(self, remembered: Listing | None) -> None:
        """What the sitemaps and the validators of known pages say, and how far that was true so far."""
        state = self._state
        store, source_id = state.ports.store, state.source.id
        records = await store.claims(source_id)
        before = [run for run in await store.runs(source_id, limit=2) if run.id != state.intake.run.id]
        state.claims = PageClaims(
            state.intake,
            records,
            remembered.payload if remembered else None,
            lastmods=state.files.lastmods,
            lastmods_before=state.files.lastmods_before,
            previous=before[0] if before else None,
            whole=state.is_whole,
            done=state.done,
        )

    async def cut_off(self) -> Harvested:
        """What there is when the time of the run is over: no verdict on what was not asked for."""
        state = self._state
        await state.wrapping.release()
        aliases = {name: of for name, of in state.aliases.items() if name not in state.intake.known}
        if aliases:
            await state.ports.store.save_aliases(state.intake.lease, state.source.id, aliases)
        await state.claims.save(state.ports.store)
        progress = self._progress()
        return Harvested(
            stop_reason=StopReason.TIME_LIMIT,
            root_answered=state.root_answered,
            hint=state.hint,
            complete=False,
            # A run that got no further has nothing new to remember.
            progress=progress if len(progress) > len(state.done) else None,
        )

    def _progress(self) -> dict[str, str | None]:
        frontier = self._state.frontier
        return self._state.done | frontier.progress() if isinstance(frontier, Frontier) else {}

    def _settle(self) -> Harvested:
        state, intake = self._state, self._state.intake
        settled = state.frontier.settle(
            complete=state.files.complete and state.stop is None,
            keep_orphans=state.settings["orphans"] == "keep",
        )
        finished = settled.report(intake, state.frontier.ignored, uncounted=state.not_asked)
        ignored = intake.counters.ignored
        if not ignored[TOO_MANY_LINKS] and (intake.counters.not_modified or intake.counters.same_body):
            # A page that did not change was not read: it leaves out what it left out before.
            ignored[TOO_MANY_LINKS] = state.source.left_out.get(TOO_MANY_LINKS, 0)
        progress = self._progress() if state.stop is not None else {}
        return Harvested(
            progress=progress if state.done else None,
            stop_reason=state.stop or finished,
            error=state.stop_error,
            root_answered=state.root_answered,
            hint=state.hint,
            # That nothing is new is an answer; that no page answered is not.
            mode=Mode.INCREMENTAL if not state.is_whole and not intake.counters.failed else None,
            complete=state.is_whole,
            remember=self._remembered(),
            settle=partial(state.wrapping.settle, state.ports) if state.stop is None else None,
        )

    def _remembered(self) -> dict[str, Any]:
        """How far the first sweeps are; a run that asks for everything is one."""
        state = self._state
        sweep = state.turn.sweep.as_dict() if state.turn else None
        return {SWEEP: sweep} if state.named is None and state.source.metadata.get(SWEEP) != sweep else {}

    async def _visit_root(self) -> None:
        """The root comes first, alone, with what it redirects to: it may say what the others mean, or refuse
        every request.
        """
        visit = self._state.frontier.next()
        while visit is not None:
            await self._asking.visit(visit)
            visit = self._state.frontier.next() if visit.depth == 0 and self._state.stop is None else None

    async def _visit_sooner(self) -> None:
        """All pages whose claims are checked: what they show decides how the others are asked."""
        frontier = self._state.frontier
        if isinstance(frontier, Frontier):
            await visit_all(
                lambda: frontier.next_sooner() if self._state.stop is None else None,
                self._asking.visit,
                at_a_time=self._state.settings["concurrency"],
                more=lambda: bool(frontier.queued_known),
            )

    async def _visit_by_workers(self) -> None:
        state = self._state
        spread = Spread(state.ports, state.source, state.settings, state.intake, state.client.delay_s)
        async with spread as state.spread:
            await self._visit_rest(at_a_time=PAGES_OUT, while_small=False)

    async def _visit_rest(self, *, at_a_time: int, while_small: bool) -> None:
        """Ask for what the frontier names, until there is no more."""

        def next_visit() -> Visit | None:
            if self._state.stop is not None or (while_small and self._is_large()):
                return None
            return self._state.frontier.next()

        await visit_all(
            next_visit,
            self._asking.visit,
            at_a_time=at_a_time,
            more=lambda: bool(self._state.frontier.queued),
        )

    def _is_large(self) -> bool:
        """Are there enough bodies to fetch for many? Asking whether known pages changed is quickly done."""
        frontier = self._state.frontier
        if isinstance(frontier, NamedFrontier):
            return False
        if self._state.intake.unconditional:
            return frontier.queued_new + frontier.queued_known >= LARGE
        return not frontier.queued_known and frontier.queued_new >= LARGE
