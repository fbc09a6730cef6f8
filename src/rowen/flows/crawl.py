"""Crawling a site by its links: the engine of the `web` and `llms` kinds.

Says how to list (root, sitemaps, links), how to ask "changed?" (validators) and how to fetch. What differs
between kinds is in their `Rules`. Comparing, ingesting and the life of the run are elsewhere; which page
comes next is the frontier's decision.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from rowen.core import hashing, urls
from rowen.core.document import Converted, Validators
from rowen.core.frontier import Frontier, Settlement, Visit
from rowen.core.params import Param, number, one_of, optional, switch, whole, words
from rowen.core.robots import Robots
from rowen.core.run import StopReason
from rowen.core.scope import Scope
from rowen.core.source import Source
from rowen.errors import PermanentError, RowenError, TransientError, Unfetchable
from rowen.flows import credentials
from rowen.flows.client import STOPS, Client, stop_reason
from rowen.flows.harvest import Harvested
from rowen.flows.intake import MOVED, Intake
from rowen.flows.listings import Listings
from rowen.flows.tools import Tools
from rowen.ports.fetcher import FetcherOptions, Request, Response

GONE = frozenset({404, 410})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
FORBIDDEN = frozenset({401, 403})


def crawl_params(*, scope: str, max_depth: int | None) -> tuple[Param, ...]:
    """The settings of every kind that crawls, with the defaults that differ."""
    return (
        Param(
            name="scope",
            default=scope,
            parse=one_of("subpages", "host", "domain"),
            identity=True,
            help="Which addresses belong to the source: below the root's folder, its host, or its domain",
        ),
        Param(
            name="max_depth",
            default=max_depth,
            parse=optional(whole(0, 1000)),
            identity=True,
            help="How many links away from the root a page may be; none for no limit",
        ),
        Param(
            name="max_pages",
            default=20_000,
            parse=whole(1, 10_000_000),
            identity=True,
            help="How many pages a generation may have",
        ),
        Param(
            name="include",
            default=[],
            parse=words,
            identity=True,
            help="Only paths that match one of these globs",
        ),
        Param(
            name="exclude",
            default=[],
            parse=words,
            identity=True,
            help="No paths that match one of these globs",
        ),
        Param(
            name="robots",
            default=True,
            parse=switch,
            identity=True,
            help="Keep to robots.txt; switch it off for a site of your own only",
        ),
        Param(
            name="orphans",
            default="drop",
            parse=one_of("drop", "keep"),
            identity=False,
            help="What happens to a page that nothing links to any more",
        ),
        Param(
            name="concurrency",
            default=3,
            parse=whole(1, 64),
            identity=False,
            help="Requests at a time per host",
        ),
        Param(
            name="delay_s",
            default=0.0,
            parse=number(0, 3600),
            identity=False,
            help="Seconds between requests to a host",
        ),
        Param(
            name="max_deleted_share",
            default=0.3,
            parse=number(0, 1),
            identity=False,
            help="A generation that would remove more than this share is held for approval",
        ),
    )


class Rules:
    """What a kind of crawl decides for itself. These are the plain ones; kinds say where they differ."""

    refusal = "unsupported_type"
    """Why a body that is not wanted is left alone, in one word."""
    headers: Mapping[str, str] = {}
    """Sent with every question about a page."""
    hint: str | None = None
    """What a person should know after the run."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def accepts(self, content_type: str, url: str) -> bool:
        """Is a body of this type worth reading?"""
        return self._tools.converter.handles(content_type, url)

    def why_not(self, url: str) -> str | None:
        """A reason not to ask for an address that is in scope."""
        return None

    def outdated(self, visit: Visit) -> bool:
        """Is the stored version not what we want, even if the server says that it has not changed?"""
        return False

    async def root(self, visit: Visit, response: Response) -> bool:
        """The root has answered, before any other page is asked for. Is it what it should be?"""
        return True

    async def page(self, visit: Visit, response: Response, robots: Robots | None) -> tuple[bytes, str]:
        """The body to convert, with its type: for a body that differs from the stored one."""
        return response.body, response.headers.get("content-type", "")

    def notice(self, response: Response, converted: Converted) -> None:
        """A page was converted."""

    def metadata(self, visit: Visit, converted: Converted) -> Mapping[str, Any]:
        return converted.metadata


@asynccontextmanager
async def open_client(
    tools: Tools, source: Source, params: Mapping[str, Any], intake: Intake
) -> AsyncIterator[Client]:
    """Whoever answers at the source's location, asked with its credentials."""
    options = FetcherOptions(
        typed_location=source.location,
        allow_private=tools.fetch.allow_private,
        credentials=credentials.resolve(tools, params, source.location),
        user_agent=tools.fetch.user_agent,
        connections=params["concurrency"],
        timeout_s=tools.fetch.timeout_s,
        max_body_bytes=tools.fetch.max_body_bytes,
    )
    async with tools.open_fetcher(options) as fetcher:
        yield Client(
            fetcher,
            tools.clock,
            intake.counters,
            retry=tools.fetch.retry,
            concurrency=params["concurrency"],
            delay_s=params["delay_s"],
        )


class Crawl:
    """One run over one site."""

    def __init__(
        self,
        tools: Tools,
        source: Source,
        params: Mapping[str, Any],
        intake: Intake,
        client: Client,
        rules: Rules,
    ) -> None:
        self._tools = tools
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
        self._news = asyncio.Event()
        self._aliases: dict[str, str] = {}
        self._foreign: set[str] = set()
        self._root = source.location
        self._root_answered = False
        self._robots: Robots | None = None
        self._frontier: Frontier
        self._urls: dict[int, str] = {}

    async def run(self) -> Harvested:
        store, source_id = self._tools.store, self._source.id
        leftovers = await store.leftovers(source_id)
        references = await store.references(source_id)
        self._urls = {number: url for url, number in references.ids.items()}
        listings = Listings(self._tools.store, self._client, self._intake)
        await listings.load()
        try:
            if self._params["robots"]:
                self._robots = await listings.robots(self._source.location)
                delay_s = self._robots.crawl_delay_s(self._tools.fetch.user_agent)
                if delay_s:
                    self._client.slow_down(delay_s)
            listed = []
            if self._params.get("sitemap"):
                listed = await listings.sitemaps(self._source.location, self._robots)
        except TransientError as exc:
            return Harvested.stopped(stop_reason(exc), exc, root_answered=False)
        self._frontier = Frontier(
            root=self._source.location,
            listed=[url for url in listed if self._scope.why_not(url) is None],
            known=self._intake.known,
            leftovers=leftovers,
            ids=references.ids,
            aliases={} if self._intake.unconditional else references.aliases,
            why_not=self._why_not,
            max_depth=self._params["max_depth"],
            max_pages=self._params["max_pages"],
        )
        await self._visit_root()
        async with asyncio.TaskGroup() as group:
            for _ in range(self._params["concurrency"]):
                group.create_task(self._visit_until_done())
        if self._aliases:
            await store.save_aliases(self._intake.lease, source_id, self._aliases)
        return self._settle(complete=listings.complete)

    def _settle(self, *, complete: bool) -> Harvested:
        settled: Settlement = self._frontier.settle(
            complete=complete and self._stop is None,
            keep_orphans=self._params["orphans"] == "keep",
        )
        for page in settled.orphaned:
            self._intake.gone(page.reference, "orphaned")
        for page in settled.displaced:
            self._intake.gone(page.reference, "over_max_pages")
        self._intake.counters.ignored.update(self._frontier.ignored)
        if settled.left_out:
            self._intake.counters.ignored["over_max_pages"] = settled.left_out
        if settled.unlinked_but_kept:
            self._intake.counters.ignored["unlinked_but_kept"] = settled.unlinked_but_kept
        finished = StopReason.MAX_PAGES if settled.left_out else StopReason.EXHAUSTED
        return Harvested(
            stop_reason=self._stop or finished,
            error=self._stop_error,
            root_answered=self._root_answered,
            hint=self._rules.hint,
        )

    async def _visit_root(self) -> None:
        """The root comes first, alone, with what it redirects to: it may say what the others mean, or that
        nobody is let in.
        """
        visit = self._frontier.next()
        while visit is not None:
            await self._visit(visit)
            visit = self._frontier.next() if visit.depth == 0 and self._stop is None else None

    async def _visit_until_done(self) -> None:
        while self._stop is None:
            visit = self._frontier.next()
            if visit is not None:
                self._intake.queued = self._frontier.queued
                await self._visit(visit)
                self._wake()
            elif self._frontier.idle:
                self._wake()
                return
            else:
                await self._news.wait()

    def _wake(self) -> None:
        """Whoever waits for pages to ask for looks again."""
        self._news.set()
        self._news = asyncio.Event()

    async def _visit(self, visit: Visit) -> None:
        known = visit.known
        validators = known.validators if known and self._may_be_current(visit) else Validators()

        def wanted(status: int, headers: Mapping[str, str]) -> bool:
            # Other answers have small bodies; reading them keeps the connection usable.
            return status != 200 or self._rules.accepts(headers.get("content-type", ""), visit.url)

        request = Request(visit.url, validators, headers=self._rules.headers, wanted=wanted)
        try:
            response = await self._client.ask(request)
            if visit.depth == 0:
                await self._root_said(visit, response)
            await self._answered(visit, response)
        except STOPS as exc:
            self._stop, self._stop_error = stop_reason(exc), exc
            self._failed(visit, exc)
        except (TransientError, PermanentError) as exc:
            self._failed(visit, exc)

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

    async def _answered(self, visit: Visit, response: Response) -> None:
        status, intake, frontier = response.status, self._intake, self._frontier
        if status == 304 and visit.known is not None:
            if visit.known.document_id:
                intake.not_modified(visit.known)
            else:
                await intake.revived(visit.known)
            frontier.unchanged(visit)
        elif response.refused:
            frontier.gone(visit)
            intake.counters.ignored[self._rules.refusal] += 1
            intake.gone(visit.url, self._rules.refusal, response.headers.get("content-type"))
        elif status == 200:
            await self._received(visit, response)
        elif status in REDIRECTS:
            self._redirected(visit, response)
        elif status in GONE:
            frontier.gone(visit)
            intake.gone(visit.url, f"http_{status}")
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

    async def _received(self, visit: Visit, response: Response) -> None:
        known, intake = visit.known, self._intake
        body_hash = hashing.of_bytes(response.body)
        same_body = known is not None and known.document_id and known.body_hash == body_hash
        if known is not None and same_body and self._may_be_current(visit):
            intake.same_body(known, response.validators)
            self._frontier.unchanged(visit)
            return
        body, content_type = await self._rules.page(visit, response, self._robots)
        converted = await intake.convert(body, content_type=content_type, url=visit.url)
        self._rules.notice(response, converted)
        visit = self._under_its_own_name(visit, converted)
        if visit.url in self._aliases:
            return
        links = self._links_in_scope(visit, converted)
        known = visit.known if visit.known and visit.known.document_id else None
        await intake.fetched(
            converted,
            reference=visit.url,
            url=visit.url,
            body_hash=body_hash,
            validators=response.validators,
            content_type=content_type,
            depth=visit.depth,
            links=links,
            stored_links=[self._urls[link] for link in known.links] if known else None,
            metadata=self._rules.metadata(visit, converted),
        )
        self._frontier.document(visit, links)

    def _under_its_own_name(self, visit: Visit, converted: Converted) -> Visit:
        """A canonical link is believed when it is another spelling of the same address.

        Sites that name one page as canonical for all of them exist; believing those would lose every page.
        """
        canonical = converted.canonical
        if (
            canonical is None
            or canonical == visit.url
            or self._why_not(canonical) is not None
            or not urls.is_variant_of_same_page(canonical, visit.url)
        ):
            return visit
        self._aliases[visit.url] = canonical
        self._intake.gone(visit.url, MOVED, f"canonical address is `{canonical}`")
        if self._frontier.moved(visit, canonical, alias=True):
            return self._frontier.adopt(canonical, visit.depth)
        return visit

    def _redirected(self, visit: Visit, response: Response) -> None:
        target = urls.normalise(response.headers.get("location", ""), visit.url)
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
            self._intake.gone(visit.url, MOVED, f"redirects to `{target}`")
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
        if reason is None and self._robots and not self._robots.allows(url, self._tools.fetch.user_agent):
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
