"""Crawling a site by its links: the engine of the `web` and `llms` kinds.

Lists (root, sitemaps, links), asks whether a page changed (validators), and fetches. What differs between
kinds is in their `Pages`. Comparing, ingesting and the life of the run are elsewhere; the frontier decides
which page is next. A run that names pages asks for those, and for new pages they link to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from rowen.core import hashing
from rowen.core.document import NO_VALIDATORS, Converted, Draft, Known
from rowen.core.rules.left_out import TOO_MANY_LINKS
from rowen.core.run import Mode, StopReason
from rowen.core.source import Source
from rowen.core.web import urls
from rowen.core.web.login import is_login_address
from rowen.core.web.scope import Scope
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested, progress_of
from rowen.engine.leases import host_lease_or_patience, other_workers
from rowen.engine.ports import Ports
from rowen.errors import PermanentError, RowenError, TransientError, Unfetchable
from rowen.fetching import credentials
from rowen.fetching.client import STOPS, Client, open_client, stop_reason
from rowen.fetching.redirects import REDIRECTS, target_of
from rowen.fetching.site_files import SiteFiles
from rowen.kinds.crawl import refusals
from rowen.kinds.crawl.frontier import Frontier
from rowen.kinds.crawl.judging.missing import REMEMBERED, SAYS, SOFT_404, MissingPages
from rowen.kinds.crawl.judging.twins import REMEMBERED as TWINS
from rowen.kinds.crawl.judging.twins import TWIN, Twins, plainer
from rowen.kinds.crawl.named_frontier import NamedFrontier, pages_in_scope
from rowen.kinds.crawl.pages import DELIVERED, Pages, ReadPage
from rowen.kinds.crawl.question import PageQuestion
from rowen.kinds.crawl.spread import PAGES_OUT, NotAsked, Spread
from rowen.kinds.crawl.visits import Visit, visit_all
from rowen.ports.fetcher import Response
from rowen.ports.store.documents import Listing, References

GONE = frozenset({404, 410})
FORBIDDEN = frozenset({401, 403})
EMPTY = "empty"
LARGE = 256
"""So many bodies are to be fetched, and the workers join in."""


async def crawl(
    ports: Ports, source: Source, settings: Mapping[str, Any], intake: Intake, pages: Pages
) -> Harvested:
    """One run over one site."""
    async with open_client(ports, source.location, settings, intake.counters) as client:
        crawling = Crawl(ports, source, settings, intake, client, pages)
        try:
            return await crawling.run()
        except asyncio.CancelledError:
            if intake.out_of_time is None or not crawling.begun:
                raise
            return await crawling.cut_off()
        finally:
            await pages.close()


class Crawl:
    def __init__(
        self,
        ports: Ports,
        source: Source,
        settings: Mapping[str, Any],
        intake: Intake,
        client: Client,
        pages: Pages,
    ) -> None:
        self._ports = ports
        self._source = source
        self._settings = settings
        self._intake = intake
        self._client = client
        self._pages = pages
        self._scope = Scope.from_settings(source.location, settings)
        self._stop: StopReason | None = None
        self._stop_error: RowenError | None = None
        self._aliases: dict[str, str | None] = {}
        self._ends: dict[str, asyncio.Event] = {}
        self._waiting: dict[str, str] = {}
        self._linked: set[str] = set()
        self._foreign: set[str] = set()
        self._root = source.location
        self._site = urls.origin_of(source.location) + "/"
        self._root_answered = False
        self._moved_to: str | None = None
        """Where the root redirects to, out of scope."""
        self._refusal_hint: str | None = None
        self._spread: Spread | None = None
        self._frontier: Frontier | NamedFrontier
        # Before the first harvest there is no visible page that could have changed.
        self._named = intake.only if source.active_generation else None
        self.begun = False
        """The first page may be asked for."""
        self._files: SiteFiles
        self._missing: MissingPages
        self._twins: Twins
        self._done: dict[str, str | None] = {}
        """What runs before this one did of the same round, as `Frontier.progress` says it."""
        self._not_asked: set[str] = set()
        """Pages of these that count in this run with the answer they gave then."""
        self._urls: dict[int, str] = {}

    async def run(self) -> Harvested:
        store, source_id = self._ports.store, self._source.id
        references, listings, leftovers = await asyncio.gather(
            store.references(source_id), store.listings(source_id), store.leftovers(source_id)
        )
        self._urls = {number: url for url, number in references.ids.items()}
        if self._named is None and not self._intake.unconditional:
            self._done = progress_of(self._source, listings)
        self._files = SiteFiles(
            store,
            self._client,
            self._intake,
            listings,
            self._ports.clock,
            agent=self._ports.fetch.user_agent,
            obeys=self._settings["robots"],
            from_memory=self._named is not None,
            max_delay_s=self._settings["max_crawl_delay_s"],
        )
        remembered = listings.get(REMEMBERED)
        self._missing = MissingPages(
            self._ask,
            self._may_not_be_asked,
            location=self._source.location,
            remembered=remembered.payload if remembered else None,
            may_ask=self._named is None and self._pages.may_be_missing,
        )
        await self._pages.open(self._source, self._settings, self._client, self._files)
        async with AsyncExitStack() as here:
            if self._intake.dispatch:
                # A worker may still ask this host, for a run whose process was killed.
                host = urls.host_of(self._source.location)
                await here.enter_async_context(host_lease_or_patience(self._ports, host))
            try:
                listed = await self._listed_pages()
            except TransientError as exc:
                return Harvested.stopped(stop_reason(exc), exc, root_answered=False)
            if self._is_closed(listed):
                error = refusals.closed(self._source)
                return Harvested.stopped(StopReason.ERROR, error, root_answered=False)
            references = await self._recheck_twins(listings.get(TWINS), references)
            self._frontier = self._begin(references, leftovers, listed)
            self.begun = True
            await self._visit_root()
            may_spread = self._intake.dispatch and self._pages.may_be_spread
            may_spread = may_spread and bool(await other_workers(self._ports))
            await self._visit_rest(at_a_time=self._settings["concurrency"], while_small=may_spread)
            if self._intake.dispatch and self._stop is None:
                # The next process to ask this host keeps the time between two requests, too.
                await self._client.rest()
        if may_spread and self._is_large() and self._stop is None:
            await self._visit_by_workers()
        self._aliases |= dict.fromkeys(self._frontier.released)
        if self._aliases:
            await store.save_aliases(self._intake.lease, source_id, self._aliases)
        self._forget_unlinked_names()
        for name, payload in ((REMEMBERED, self._missing.payload), (TWINS, self._twins.names)):
            before = listings.get(name)
            if payload is not None and (before.payload if before else {}) != payload:
                listing = Listing(url=name, validators=NO_VALIDATORS, payload=payload)
                await store.save_listing(self._intake.lease, source_id, listing)
        return self._settle()

    async def _recheck_twins(self, remembered: Listing | None, references: References) -> References:
        """Ask whether other names still give what they gave; those that do not are pages again."""
        known = self._intake.known
        fresh = self._intake.unconditional
        self._twins = twins = Twins(known, remembered.payload if remembered and not fresh else {})
        aliases = dict(references.aliases)

        async def recheck(visit: Visit) -> None:
            try:
                response, page = await self._ask(visit)
            except (TransientError, PermanentError):
                return
            if not twins.is_still_name(visit, response, page):
                self._aliases[visit.url] = None
                del aliases[visit.url]

        asked = iter(twins.to_ask(aliases) if self._named is None else ())
        at_a_time = self._settings["concurrency"]
        await visit_all(lambda: next(asked, None), recheck, at_a_time=at_a_time, more=lambda: True)
        return References(ids=references.ids, aliases=aliases)

    def _forget_unlinked_names(self) -> None:
        """Names that no page links to any more, such as the session ids of earlier runs, are not kept."""
        if self._twins.names and self._named is None and self._stop is None:
            for page in self._intake.known.values():
                if self._frontier.is_document(page.reference):
                    self._linked.update(self._urls[link] for link in page.links)
            self._twins.keep(self._linked)

    async def _listed_pages(self) -> list[str]:
        """The pages that sitemaps name; before that, what robots.txt allows."""
        robots = await self._files.hear(self._source.location)
        if not self._settings.get("sitemap") or self._named is not None:
            return []
        return await self._files.sitemaps(self._source.location, robots, max_urls=self._settings["max_pages"])

    def _is_closed(self, listed: Sequence[str]) -> bool:
        """Does robots.txt forbid the root, and every page that is known or listed?"""
        forbid = self._files.forbid
        return forbid(self._source.location) and all(map(forbid, (*self._intake.known, *listed)))

    def _begin(
        self, references: References, leftovers: Mapping[str, Known], listed: Sequence[str]
    ) -> Frontier | NamedFrontier:
        if self._named is not None:
            self._root_answered = True
            return NamedFrontier(
                root=self._source.location,
                named=pages_in_scope(
                    self._named,
                    base=self._source.location,
                    aliases=references.aliases,
                    why_not=self._why_not,
                    ignored=self._intake.counters.ignored,
                ),
                known=self._intake.known,
                leftovers=leftovers,
                urls=self._urls,
                aliases=references.aliases,
                why_not=self._why_not,
                max_depth=self._settings["max_depth"],
                max_pages=self._settings["max_pages"],
            )
        return Frontier(
            root=self._source.location,
            listed=[url for url in listed if self._scope.why_not(url) is None],
            known=self._intake.known,
            leftovers=leftovers,
            ids=references.ids,
            aliases={} if self._intake.unconditional else references.aliases,
            why_not=self._why_not,
            closed=self._files.forbid,
            max_depth=self._settings["max_depth"],
            max_pages=self._settings["max_pages"],
            strict_depth=self._intake.unconditional,
            listed_all=self._files.complete,
        )

    async def cut_off(self) -> Harvested:
        """What there is when the time of the run is over: no verdict on what was not asked for."""
        aliases = {name: of for name, of in self._aliases.items() if name not in self._intake.known}
        if aliases:
            await self._ports.store.save_aliases(self._intake.lease, self._source.id, aliases)
        progress = self._progress()
        return Harvested(
            stop_reason=StopReason.TIME_LIMIT,
            root_answered=self._root_answered,
            hint=self._hint,
            complete=False,
            # A run that got no further has nothing new to remember.
            progress=progress if len(progress) > len(self._done) else None,
        )

    def _progress(self) -> dict[str, str | None]:
        frontier = self._frontier
        return self._done | frontier.progress() if isinstance(frontier, Frontier) else {}

    @property
    def _hint(self) -> str | None:
        said = (self._refusal_hint, self._pages.hint, self._files.hint)
        return "; ".join(filter(None, said)) or None

    def _settle(self) -> Harvested:
        intake = self._intake
        settled = self._frontier.settle(
            complete=self._files.complete and self._stop is None,
            keep_orphans=self._settings["orphans"] == "keep",
        )
        finished = settled.report(intake, self._frontier.ignored, uncounted=self._not_asked)
        ignored = intake.counters.ignored
        if not ignored[TOO_MANY_LINKS] and (intake.counters.not_modified or intake.counters.same_body):
            # A page that did not change was not read: it leaves out what it left out before.
            ignored[TOO_MANY_LINKS] = self._source.left_out.get(TOO_MANY_LINKS, 0)
        progress = self._progress() if self._stop is not None else {}
        return Harvested(
            progress=progress if self._done else None,
            stop_reason=self._stop or finished,
            error=self._stop_error,
            root_answered=self._root_answered,
            hint=self._hint,
            # That nothing is new is an answer; that no page answered is not.
            mode=Mode.INCREMENTAL if self._named is not None and not intake.counters.failed else None,
            complete=self._named is None,
        )

    async def _visit_root(self) -> None:
        """The root comes first, alone, with what it redirects to: it may say what the others mean, or refuse
        every request.
        """
        visit = self._frontier.next()
        while visit is not None:
            await self._visit(visit)
            visit = self._frontier.next() if visit.depth == 0 and self._stop is None else None

    async def _visit_by_workers(self) -> None:
        spread = Spread(self._ports, self._source, self._settings, self._intake, self._client.delay_s)
        async with spread as self._spread:
            await self._visit_rest(at_a_time=PAGES_OUT, while_small=False)

    async def _visit_rest(self, *, at_a_time: int, while_small: bool) -> None:
        """Ask for what the frontier names, until there is no more."""

        def next_visit() -> Visit | None:
            if self._stop is not None or (while_small and self._is_large()):
                return None
            return self._frontier.next()

        await visit_all(
            next_visit, self._visit, at_a_time=at_a_time, more=lambda: bool(self._frontier.queued)
        )

    def _is_large(self) -> bool:
        """Are there enough bodies to fetch for many? Asking whether known pages changed is quickly done."""
        frontier = self._frontier
        if isinstance(frontier, NamedFrontier):
            return False
        if self._intake.unconditional:
            return frontier.queued_new + frontier.queued_known >= LARGE
        return not frontier.queued_known and frontier.queued_new >= LARGE

    async def _visit(self, visit: Visit) -> None:
        ended = self._ends[visit.url] = asyncio.Event()
        self._intake.queued = self._frontier.queued + len(self._ends)
        try:
            if self._is_done(visit):
                self._intake.counters.ignored["answered_in_an_earlier_run"] += 1
            elif self._differs_by_nothing(visit):
                self._intake.counters.ignored[TWIN] += 1
            elif visit.url.startswith(self._site) or not await self._forbidden(visit):
                response, page = await self._ask(visit)
                await self._answered(visit, response, page)
        except STOPS as exc:
            self._stop, self._stop_error = stop_reason(exc), exc
            self._failed(visit, exc)
            if self._spread is not None:
                self._spread.abandon()
        except NotAsked:
            self._frontier.failed(visit)
        except (TransientError, PermanentError) as exc:
            self._failed(visit, exc)
        finally:
            ended.set()
            del self._ends[visit.url]
            self._intake.queued = self._frontier.queued + len(self._ends)

    def _is_done(self, visit: Visit) -> bool:
        """Did a run before this one, which was cut off, get the answer? The root is asked in every run."""
        if visit.url not in self._done or visit.depth == 0:
            return False
        answer, is_document = self._done[visit.url], bool(visit.known and visit.known.document_id)
        if (answer == "") != is_document:
            return False
        self._not_asked.add(visit.url)
        if answer == "":
            self._frontier.unchanged(visit)
        elif answer is None:
            self._frontier.gone(visit)
        else:
            self._frontier.moved(visit, answer)
        return True

    async def _ask(self, visit: Visit) -> tuple[Response, ReadPage | None]:
        """The answer, and what was made of its body if that is not the stored version."""
        validators, known_hash, has_document = NO_VALIDATORS, None, False
        if visit.known is not None:
            has_document = bool(visit.known.document_id)
            if not self._intake.unconditional and not self._pages.outdated(visit):
                validators = visit.known.validators
                # Of what an interrupted run left, only its validators can be asked for.
                known_hash = visit.known.body_hash if has_document else None
        if self._spread is not None:
            return await self._spread.ask(PageQuestion(visit.url, validators, known_hash, has_document))
        response = await self._client.ask(self._pages.request(visit.url, validators))
        if visit.depth == 0:
            await self._root_said(visit, response)
        if response.refused or response.status not in DELIVERED:
            return response, None
        page = await self._pages.read(visit.url, response, known_hash=known_hash, has_document=has_document)
        return response, page

    async def _forbidden(self, visit: Visit) -> bool:
        """Does its host forbid it? Pages of other hosts than the root's are met before their robots.txt."""
        await self._files.hear(visit.url)
        if not self._files.forbid(visit.url):
            return False
        self._frontier.gone(visit)
        self._intake.gone(visit.url, "robots")
        self._intake.counters.ignored["robots"] += 1
        return True

    async def _root_said(self, visit: Visit, response: Response) -> None:
        good = response.status < 400 and not response.refused
        if good and response.status not in REDIRECTS:
            good = await self._pages.root(visit, response)
        if visit.url == self._root:
            self._root_answered = good

    def _failed(self, visit: Visit, exc: TransientError | PermanentError) -> None:
        self._frontier.failed(visit, for_now=isinstance(exc, TransientError))
        self._intake.failed(visit.url, exc)

    async def _answered(self, visit: Visit, response: Response, page: ReadPage | None) -> None:
        status, intake, frontier = response.status, self._intake, self._frontier
        if status == 304 and visit.known is not None:
            if visit.known.document_id:
                intake.not_modified(visit.known, response.validators)
            else:
                await intake.revived(visit.known)
            frontier.unchanged(visit)
        elif response.refused:
            frontier.gone(visit)
            intake.counters.ignored[self._pages.refusal] += 1
            intake.gone(visit.url, self._pages.refusal, response.headers.get("content-type", ""))
        elif page is not None:
            await self._received(visit, response, page)
        elif status in DELIVERED:
            assert visit.known is not None, visit.url
            intake.same_body(visit.known, response.validators)
            frontier.unchanged(visit)
        elif status in REDIRECTS:
            self._redirected(visit, response)
        elif status in GONE:
            frontier.gone(visit)
            intake.gone(visit.url, f"http_{status}")
            if visit.known is None:
                intake.counters.ignored["not_found"] += 1
            if visit.known is None and visit.url == self._source.location:
                intake.failed_because(visit.url, f"http_{status}", f"`{visit.url}`: {status}, nothing there")
        else:
            frontier.failed(visit, for_now=status >= 500)
            problem = f"`{visit.url}`: {status} from the server"
            intake.failed_because(visit.url, f"http_{status}", problem)
            if status in FORBIDDEN and visit.url == self._root:
                # A server that refuses the root is not asked for every other page.
                hint = credentials.hint(self._settings)
                self._stop = StopReason.ERROR
                self._stop_error = Unfetchable(problem, hint=hint, url=visit.url, status=status)

    async def _received(self, visit: Visit, response: Response, page: ReadPage) -> None:
        intake, converted = self._intake, page.converted
        if page.asks_to_log_in and self._is_behind_login(visit, converted):
            return
        if page.scripted:
            self._pages.notice_scripted()
        canonical = self._other_spelling(visit, converted)
        if canonical is not None and await self._answers(canonical, visit):
            self._aliases[visit.url] = canonical
            intake.gone(visit.url, "moved", f"canonical address is `{canonical}`", lost=False)
            self._frontier.duplicate(visit, canonical)
            return
        text = hashing.of_text(converted.text)
        twin = await self._twin_of(visit, text) if visit.depth and converted.text.strip() else None
        shown = intake.known.get(visit.url)
        if twin is not None and self._twins.may_join(shown, twin, text):
            self._aliases[visit.url] = twin
            self._twins.is_twin(visit.url, text, response.validators, page.body_hash)
            intake.counters.ignored[TWIN] += 1
            intake.gone(
                visit.url, TWIN, f"the same page as `{twin}`", lost=bool(shown and shown.content_hash != text)
            )
            self._frontier.duplicate(visit, twin)
            return
        if await self._is_no_document(visit, page):
            return
        self._twins.is_page(visit.url, text)
        links = self._links_in_scope(visit, converted)
        intake.counters.ignored[TOO_MANY_LINKS] += converted.links_left_out
        before = [self._urls[link] for link in visit.known.links] if visit.known else []
        draft = Draft(
            reference=visit.url,
            url=visit.url,
            title=converted.title,
            text=converted.text,
            body_hash=page.body_hash,
            validators=response.validators,
            content_type=page.content_type,
            depth=visit.depth,
            links=tuple(links),
            metadata=self._pages.metadata(visit, converted),
        )
        await intake.fetched(draft, links_changed=links != before)
        self._frontier.document(visit, links)

    def _differs_by_nothing(self, visit: Visit) -> bool:
        """Is it the address of a document, but for parameters that change the text of no page?"""
        plain = self._twins.without_idle_parameters(visit.url)
        if plain == visit.url or visit.known is not None or not self._frontier.is_document(plain):
            return False
        self._aliases[visit.url] = plain
        self._frontier.duplicate(visit, plain)
        return True

    async def _twin_of(self, visit: Visit, text: bytes) -> str | None:
        """The address that this page has already, or a plainer one that the site links to."""
        for url in plainer(visit.url):
            met = self._frontier.is_met(url)
            if met and await self._answers(url, visit) and self._twins.text_of(url) == text:
                return url
        found = self._twins.same_page(visit.url, text)
        return found if found is not None and self._frontier.is_document(found) else None

    async def _is_no_document(self, visit: Visit, page: ReadPage) -> bool:
        """Is there nothing on the page, or only what the site says at addresses that do not exist?"""
        converted, root = page.converted, visit.depth == 0
        if root:
            self._missing.root_says(visit.url, converted.text)
        reason, detail = EMPTY, f"`{visit.url}`: an empty page"
        if converted.text.strip() or converted.links or (root and page.scripted):
            # What another host says tells nothing about this one.
            judged = not root and visit.url.startswith(self._site)
            shown = self._intake.known.get(self._root)
            if not judged or not await self._missing.has(visit, converted.text, root=shown):
                return False
            reason, detail = SOFT_404, SAYS
        self._frontier.gone(visit)
        if visit.known is None or not visit.known.document_id:
            self._intake.counters.ignored[reason] += 1
            if root:
                self._intake.failed_because(visit.url, reason, detail)
        self._intake.gone(visit.url, reason, detail)
        return True

    def _may_not_be_asked(self, url: str) -> bool:
        return not url.startswith(self._site) or self._files.forbid(url)

    def _other_spelling(self, visit: Visit, converted: Converted) -> str | None:
        """A canonical link that is another spelling of the same address.

        Sites that name one page as canonical for all of them exist; believing those would lose every page.
        """
        canonical = converted.canonical
        if (
            canonical is None
            or canonical == visit.url
            or self._why_not(canonical) is not None
            or not urls.is_variant_of_same_page(canonical, visit.url)
        ):
            return None
        if visit.depth == 0:
            # The root keeps the name it was given; the other spelling is this page.
            if self._frontier.is_also(visit, canonical):
                self._aliases[canonical] = visit.url
            return None
        return canonical

    async def _answers(self, canonical: str, visit: Visit) -> bool:
        """Is the canonical address a page itself? One that fails, or leads back to us, is not believed."""
        ahead: str | None = canonical
        while ahead is not None:
            if ahead == visit.url:
                return False
            ahead = self._waiting.get(ahead)
        self._waiting[visit.url] = canonical
        try:
            if self._frontier.is_under_way(canonical):
                await self._ends[canonical].wait()
            elif claimed := self._frontier.claim(canonical, visit.depth):
                await self._visit(claimed)
        finally:
            del self._waiting[visit.url]
        return self._frontier.is_document(canonical)

    def _is_behind_login(self, visit: Visit, converted: Converted) -> bool:
        """A login page is no document, and does not replace one; one that was taken for a document stays."""
        known = visit.known if visit.known and visit.known.document_id else None
        if known is not None and known.content_hash == hashing.of_text(converted.text):
            return False
        if known is None and visit.url != self._root:
            self._frontier.asks_to_log_in(visit)
            self._intake.counters.ignored[refusals.LOGIN_PAGE] += 1
        else:
            self._ask_to_log_in(visit, "is a login page now" if known else "is a login page")
        return True

    def _ask_to_log_in(self, visit: Visit, fact: str) -> None:
        hint, problem = credentials.hint(self._settings), f"`{visit.url}`: {fact}"
        self._refusal_hint = f"what asks for a login keeps its text; {hint}"
        self._frontier.failed(visit)
        self._intake.failed_because(visit.url, refusals.LOGIN_PAGE, problem)
        if visit.url == self._root:
            self._root_answered = False
            self._stop, self._stop_error = StopReason.ERROR, Unfetchable(problem, hint=hint, url=visit.url)

    def _redirected(self, visit: Visit, response: Response) -> None:
        url, target = visit.url, target_of(response, visit.url)
        self._intake.counters.redirects += 1
        away = target is not None and urls.origin_of(target) != urls.origin_of(url)
        if target is not None and away and is_login_address(target) and (visit.known or url == self._root):
            self._ask_to_log_in(visit, f"redirects to the login page `{target.partition('?')[0]}`")
        elif target is not None and target != url and self._scope.why_not(target) is None:
            if url == self._root:
                self._root = target
            self._frontier.moved(visit, target)
        elif target and self._moved_to and urls.origin_of(self._moved_to) == urls.origin_of(target):
            # The root leads to that site, and so does this page: the others would, too.
            self._stop, self._stop_error = StopReason.ERROR, refusals.moved(self._source, self._moved_to)
            self._frontier.failed(visit)
            self._intake.failed_because(url, "redirected_off_site", f"`{url}`: redirects to `{target}`")
        elif target is not None and target != url and url != self._root:
            self._frontier.gone(visit)
            self._intake.gone(url, "redirected_off_site", f"redirects to `{target}`")
        else:
            reason, problem = "redirected_off_site", f"redirects to `{target}`, which is another site"
            if target is None:
                reason, problem = "bad_redirect", "redirect without an address"
            elif target == url:
                reason, problem = "redirect_loop", "redirects to itself"
            else:
                self._root_answered = False
                self._moved_to = target
                self._refusal_hint = refusals.moved_hint(self._source, target)
            self._frontier.failed(visit, for_now=False)
            self._intake.failed_because(url, reason, f"`{url}`: {problem}")

    def _why_not(self, url: str) -> str | None:
        reason = self._scope.why_not(url)
        if reason is None and self._files.forbid(url):
            return "robots"
        return reason or self._pages.why_not(url)

    def _links_in_scope(self, visit: Visit, converted: Converted) -> list[str]:
        links: list[str] = []
        for url in converted.links:
            reason = self._scope.why_not(url)
            if reason is None:
                self._linked.add(url)
                url = self._twins.without_idle_parameters(url)
                if url != visit.url and url not in links:
                    links.append(url)
            elif url not in self._foreign:
                self._foreign.add(url)
                self._intake.counters.ignored[reason] += 1
        return links
