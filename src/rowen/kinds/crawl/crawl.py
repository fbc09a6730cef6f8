"""Crawling a site by its links: the engine of the `web` and `llms` kinds.

Says how to list (root, sitemaps, links), how to ask "changed?" (validators) and how to fetch. What differs
between kinds is in their `Rules`. Comparing, ingesting and the life of the run are elsewhere; which page
comes next is the frontier's decision. A run that names pages asks for those, and for new pages they link to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from rowen.core.document import Converted, Draft
from rowen.core.run import Mode, StopReason
from rowen.core.source import Source
from rowen.core.web import urls
from rowen.core.web.scope import Scope
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested
from rowen.engine.leases import host_lease_or_patience, other_workers
from rowen.engine.ports import Ports
from rowen.errors import PermanentError, RowenError, TransientError, Unfetchable
from rowen.fetching import credentials
from rowen.fetching.client import STOPS, Client, stop_reason
from rowen.fetching.redirects import REDIRECTS
from rowen.fetching.site_files import SiteFiles
from rowen.kinds.crawl.ask import DELIVERED, Pages
from rowen.kinds.crawl.end import tell
from rowen.kinds.crawl.frontier import Frontier
from rowen.kinds.crawl.named import pages_in_scope
from rowen.kinds.crawl.named_frontier import NamedPages
from rowen.kinds.crawl.question import Answer, Question
from rowen.kinds.crawl.settings import Rules
from rowen.kinds.crawl.spread import PAGES_OUT, NotAsked, Spread
from rowen.kinds.crawl.tasks import visit_all
from rowen.kinds.crawl.visits import Visit
from rowen.ports.fetcher import Response
from rowen.ports.store.documents import References

GONE = frozenset({404, 410})
FORBIDDEN = frozenset({401, 403})
LARGE = 256
"""So many bodies are to be fetched, and the workers join in."""


class Crawl:
    """One run over one site."""

    def __init__(
        self,
        ports: Ports,
        source: Source,
        params: Mapping[str, Any],
        intake: Intake,
        client: Client,
        rules: Rules,
    ) -> None:
        self._ports = ports
        self._source = source
        self._params = params
        self._intake = intake
        self._client = client
        self._rules = rules
        self._scope = Scope(
            source.location, params["scope"], tuple(params["include"]), tuple(params["exclude"])
        )
        self._stop: StopReason | None = None
        self._stop_error: RowenError | None = None
        self._aliases: dict[str, str | None] = {}
        self._ends: dict[str, asyncio.Event] = {}
        self._waiting: set[str] = set()
        self._foreign: set[str] = set()
        self._root = source.location
        self._site = urls.origin_of(source.location) + "/"
        self._root_answered = False
        self._spread: Spread | None = None
        self._frontier: Frontier | NamedPages
        # Before the first harvest there is nothing that a few pages could be news of.
        self._named = intake.only if source.active_generation else None
        self._files = SiteFiles(
            ports.store,
            client,
            intake,
            agent=ports.fetch.user_agent,
            obeys=params["robots"],
            from_memory=self._named is not None,
        )
        self._pages = Pages(ports, rules, intake.counters, robots=self._files.heard)
        self._urls: dict[int, str] = {}

    async def run(self) -> Harvested:
        store, source_id = self._ports.store, self._source.id
        references = await store.references(source_id)
        self._urls = {number: url for url, number in references.ids.items()}
        await self._files.load()
        async with AsyncExitStack() as here:
            if self._intake.dispatch:
                # A worker may still be there, for a run whose process was killed.
                host = urls.host_of(self._source.location)
                await here.enter_async_context(host_lease_or_patience(self._ports, host))
            try:
                listed = await self._hear_listings()
            except TransientError as exc:
                return Harvested.stopped(stop_reason(exc), exc, root_answered=False)
            self._frontier = await self._begin(references, listed)
            await self._visit_root()
            may_spread = self._rules.may_be_spread and self._intake.dispatch
            may_spread = may_spread and bool(await other_workers(self._ports))
            await self._visit_rest(at_a_time=self._params["concurrency"], while_small=may_spread)
            if self._intake.dispatch and self._stop is None:
                # Whoever comes next keeps the time between two requests, too.
                await self._client.rest()
        if may_spread and self._is_large() and self._stop is None:
            await self._visit_by_workers()
        self._aliases |= dict.fromkeys(self._frontier.released)
        if self._aliases:
            await store.save_aliases(self._intake.lease, source_id, self._aliases)
        return self._settle(complete=self._files.complete)

    async def _hear_listings(self) -> list[str]:
        """What the site says about itself: what it allows, and the pages its sitemaps name."""
        robots = await self._files.hear(self._source.location)
        if not self._params.get("sitemap") or self._named is not None:
            return []
        return await self._files.sitemaps(self._source.location, robots)

    async def _begin(self, references: References, listed: Sequence[str]) -> Frontier | NamedPages:
        leftovers = await self._ports.store.leftovers(self._source.id)
        if self._named is not None:
            self._root_answered = True
            return NamedPages(
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
                max_depth=self._params["max_depth"],
                max_pages=self._params["max_pages"],
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
            max_depth=self._params["max_depth"],
            max_pages=self._params["max_pages"],
            strict_depth=self._intake.unconditional,
        )

    def _settle(self, *, complete: bool) -> Harvested:
        intake = self._intake
        settled = self._frontier.settle(
            complete=complete and self._stop is None,
            keep_orphans=self._params["orphans"] == "keep",
        )
        finished = tell(intake, settled, self._frontier.ignored)
        return Harvested(
            stop_reason=self._stop or finished,
            error=self._stop_error,
            root_answered=self._root_answered,
            hint=self._rules.hint,
            # That nothing is new is an answer; that nothing answered is not.
            mode=Mode.INCREMENTAL if self._named is not None and not intake.counters.failed else None,
            complete=self._named is None,
        )

    async def _visit_root(self) -> None:
        """The root comes first, alone, with what it redirects to: it may say what the others mean, or that
        nobody is let in.
        """
        visit = self._frontier.next()
        while visit is not None:
            await self._visit(visit)
            visit = self._frontier.next() if visit.depth == 0 and self._stop is None else None

    async def _visit_by_workers(self) -> None:
        spread = Spread(
            self._ports,
            self._source,
            self._params,
            self._intake.lease,
            self._intake.run,
            delay_s=self._client.delay_s,
        )
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
        if isinstance(frontier, NamedPages):
            return False
        if self._intake.unconditional:
            return frontier.queued_new + frontier.queued_known >= LARGE
        return not frontier.queued_known and frontier.queued_new >= LARGE

    async def _visit(self, visit: Visit) -> None:
        ended = self._ends[visit.url] = asyncio.Event()
        self._intake.queued = self._frontier.queued + len(self._ends)
        try:
            await self._ask(visit)
        finally:
            ended.set()
            del self._ends[visit.url]
            self._intake.queued = self._frontier.queued + len(self._ends)

    async def _ask(self, visit: Visit) -> None:
        try:
            if not visit.url.startswith(self._site) and await self._forbidden(visit):
                return
            answer = await self._answer(visit, self._question(visit))
            await self._answered(visit, answer)
        except STOPS as exc:
            self._stop, self._stop_error = stop_reason(exc), exc
            self._failed(visit, exc)
            if self._spread is not None:
                self._spread.abandon()
        except NotAsked:
            self._frontier.failed(visit)
        except (TransientError, PermanentError) as exc:
            self._failed(visit, exc)

    def _question(self, visit: Visit) -> Question:
        known = visit.known
        if known is None:
            return Question(visit.url)
        has_document = bool(known.document_id)
        if not self._may_be_current(visit):
            return Question(visit.url, has_document=has_document)
        # Of what an interrupted run left, only its validators can be asked for.
        body_hash = known.body_hash if has_document else None
        return Question(visit.url, known.validators, body_hash, has_document)

    async def _answer(self, visit: Visit, question: Question) -> Answer:
        if self._spread is not None:
            return await self._spread.ask(question)
        response = await self._client.ask(self._pages.request(question))
        if visit.depth == 0:
            await self._root_said(visit, response)
        return await self._pages.read(question, response)

    async def _forbidden(self, visit: Visit) -> bool:
        """Does its host forbid it? Pages of other hosts than the root's are met before it is heard."""
        await self._files.hear(visit.url)
        if not self._files.forbid(visit.url):
            return False
        self._frontier.gone(visit)
        self._intake.gone(visit.url, "robots")
        self._intake.counters.ignored["robots"] += 1
        return True

    def _may_be_current(self, visit: Visit) -> bool:
        return not self._intake.unconditional and not self._rules.outdated(visit)

    async def _root_said(self, visit: Visit, response: Response) -> None:
        good = response.status < 400 and not response.refused
        if good and response.status not in REDIRECTS:
            good = await self._rules.root(visit, response)
        if visit.url == self._root:
            self._root_answered = good

    def _failed(self, visit: Visit, exc: TransientError | PermanentError) -> None:
        self._frontier.failed(visit)
        self._intake.failed(visit.url, exc)

    async def _answered(self, visit: Visit, answer: Answer) -> None:
        status, intake, frontier = answer.status, self._intake, self._frontier
        if status == 304 and visit.known is not None:
            if visit.known.document_id:
                intake.not_modified(visit.known)
            else:
                await intake.revived(visit.known)
            frontier.unchanged(visit)
        elif answer.refused:
            frontier.gone(visit)
            intake.counters.ignored[self._rules.refusal] += 1
            intake.gone(visit.url, self._rules.refusal, answer.content_type)
        elif status in DELIVERED:
            await self._received(visit, answer)
        elif status in REDIRECTS:
            self._redirected(visit, answer)
        elif status in GONE:
            frontier.gone(visit)
            intake.gone(visit.url, f"http_{status}")
            if visit.known is None:
                intake.counters.ignored["not_found"] += 1
            if visit.known is None and visit.url == self._source.location:
                intake.failed_because(visit.url, f"http_{status}", f"`{visit.url}`: {status}, nothing there")
        elif status in FORBIDDEN and visit.url == self._root:
            self._refused(visit, status)
        else:
            frontier.failed(visit)
            intake.failed_because(visit.url, f"http_{status}", f"`{visit.url}`: {status} from the server")

    def _refused(self, visit: Visit, status: int) -> None:
        """Nobody is let in at the root: asking at every other door would not be polite."""
        exc = Unfetchable(
            f"`{visit.url}`: {status} from the server",
            hint=credentials.hint(self._params),
            url=visit.url,
            status=status,
        )
        self._stop, self._stop_error = StopReason.ERROR, exc
        self._frontier.failed(visit)
        self._intake.failed_because(visit.url, f"http_{status}", exc.message)

    async def _received(self, visit: Visit, answer: Answer) -> None:
        intake, converted = self._intake, answer.converted
        if converted is None:
            assert visit.known is not None, visit.url
            intake.same_body(visit.known, answer.validators)
            self._frontier.unchanged(visit)
            return
        if answer.scripted:
            self._rules.notice_scripted(intake.counters)
        canonical = self._other_spelling(visit, converted)
        if canonical is not None and await self._answers(canonical, visit):
            self._aliases[visit.url] = canonical
            intake.gone(visit.url, "moved", f"canonical address is `{canonical}`", lost=False)
            self._frontier.duplicate(visit, canonical)
            return
        links = self._links_in_scope(visit, converted)
        before = [self._urls[link] for link in visit.known.links] if visit.known else []
        draft = Draft(
            reference=visit.url,
            url=visit.url,
            title=converted.title,
            text=converted.text,
            body_hash=answer.body_hash,
            validators=answer.validators,
            content_type=answer.content_type,
            depth=visit.depth,
            links=tuple(links),
            metadata=self._rules.metadata(visit, converted),
        )
        await intake.fetched(draft, links_changed=links != before)
        self._frontier.document(visit, links)

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
        if canonical in self._waiting:
            return False
        self._waiting.add(visit.url)
        try:
            if self._frontier.is_under_way(canonical):
                await self._ends[canonical].wait()
            elif claimed := self._frontier.claim(canonical, visit.depth):
                await self._visit(claimed)
        finally:
            self._waiting.discard(visit.url)
        return self._frontier.is_document(canonical)

    def _redirected(self, visit: Visit, answer: Answer) -> None:
        target = urls.normalise(answer.target, visit.url)
        self._intake.counters.redirects += 1
        if target is None:
            self._frontier.failed(visit)
            self._intake.failed_because(
                visit.url, "bad_redirect", f"`{visit.url}`: redirect without an address"
            )
            return
        if target == visit.url:
            self._frontier.failed(visit)
            self._intake.failed_because(visit.url, "redirect_loop", f"`{visit.url}`: redirects to itself")
            return
        if self._scope.why_not(target) is None:
            if visit.url == self._root:
                self._root = target
            self._frontier.moved(visit, target)
            return
        if visit.url == self._root:
            self._root_answered = False
            self._frontier.failed(visit)
            self._intake.failed_because(
                visit.url, "redirected_off_site", f"`{visit.url}`: redirects to `{target}`, out of scope"
            )
            return
        self._frontier.gone(visit)
        self._intake.gone(visit.url, "redirected_off_site", f"redirects to `{target}`")

    def _why_not(self, url: str) -> str | None:
        reason = self._scope.why_not(url)
        if reason is None and self._files.forbid(url):
            return "robots"
        return reason or self._rules.why_not(url)

    def _links_in_scope(self, visit: Visit, converted: Converted) -> list[str]:
        links: list[str] = []
        for url in converted.links:
            reason = self._scope.why_not(url)
            if reason is None:
                if url != visit.url:
                    links.append(url)
            elif url not in self._foreign:
                self._foreign.add(url)
                self._intake.counters.ignored[reason] += 1
        return links
