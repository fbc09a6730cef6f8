"""What the answer of a page means: a document, another name of one, moved, gone, refused or failed.

Each answer is told to the frontier, which decides what it means for other pages, and to the intake.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from rowen.core import hashing
from rowen.core.document import Converted, Draft
from rowen.core.rules.left_out import TOO_MANY_LINKS
from rowen.core.run import StopReason
from rowen.core.web import urls
from rowen.core.web.login import is_login_address
from rowen.core.web.verified import NOT_MODIFIED
from rowen.errors import Unfetchable
from rowen.fetching import credentials
from rowen.fetching.redirects import REDIRECTS, target_of
from rowen.kinds.crawl import refusals
from rowen.kinds.crawl.judging.missing import SAYS, SOFT_404
from rowen.kinds.crawl.judging.twins import TWIN, plainer
from rowen.kinds.crawl.pages import DELIVERED, ReadPage
from rowen.kinds.crawl.state import CrawlState
from rowen.kinds.crawl.visits import Visit
from rowen.ports.fetcher import Response

GONE = frozenset({404, 410})
EMPTY = "empty"


class Verdicts:
    def __init__(self, state: CrawlState, answers: Callable[[str, Visit], Awaitable[bool]]) -> None:
        """`answers` asks for another address of a page first, and says whether it is a document."""
        self._state = state
        self._answers = answers

    async def answered(self, visit: Visit, response: Response, page: ReadPage | None) -> None:
        state = self._state
        status, intake, frontier = response.status, state.intake, state.frontier
        if status == 304 and visit.known is not None:
            if visit.known.document_id:
                sent = state.claims.not_modified(visit)
                intake.not_modified(visit.known, response.validators, by=NOT_MODIFIED, sent=sent)
            else:
                await intake.revived(visit.known)
                # Other addresses of the page may give the text that the interrupted run stored.
                state.twins.is_page(visit.url, visit.known.content_hash)
            frontier.unchanged(visit)
        elif response.refused:
            frontier.gone(visit)
            intake.counters.ignored[state.pages.refusal] += 1
            intake.gone(visit.url, state.pages.refusal, response.headers.get("content-type", ""))
        elif page is not None:
            await self._received(visit, response, page)
        elif status in DELIVERED:
            assert visit.known is not None, visit.url
            state.claims.same_body(visit, response.validators)
            intake.same_body(visit.known, response.validators)
            frontier.unchanged(visit)
        elif status in REDIRECTS:
            self._redirected(visit, response)
        elif status in GONE:
            state.claims.gone(visit)
            frontier.gone(visit)
            intake.gone(visit.url, f"http_{status}")
            if visit.known is None:
                intake.counters.ignored["not_found"] += 1
            if visit.known is None and visit.url == state.source.location:
                intake.failed_because(visit.url, f"http_{status}", f"`{visit.url}`: {status}, nothing there")
        else:
            frontier.failed(visit, for_now=status >= 500)
            problem = f"`{visit.url}`: {status} from the server"
            intake.failed_because(visit.url, f"http_{status}", problem)
            if status in refusals.FORBIDDEN and visit.url == state.root:
                # A server that refuses the root is not asked for every other page.
                hint = credentials.hint(state.settings)
                error = Unfetchable(problem, hint=hint, url=visit.url, status=status)
                state.stops(StopReason.ERROR, error)

    async def _received(self, visit: Visit, response: Response, page: ReadPage) -> None:
        state = self._state
        intake, converted = state.intake, page.converted
        if page.asks_to_log_in and self._is_behind_login(visit, converted):
            return
        state.pages.notice(scripted=page.scripted)
        canonical = self._other_spelling(visit, converted)
        if canonical is not None and await self._answers(canonical, visit):
            state.aliases[visit.url] = canonical
            intake.gone(visit.url, "moved", f"canonical address is `{canonical}`", lost=False)
            state.frontier.duplicate(visit, canonical)
            return
        text = hashing.of_text(converted.text)
        twin = await self._twin_of(visit, text) if visit.depth and converted.text.strip() else None
        shown = intake.known.get(visit.url)
        if twin is not None and state.twins.may_join(shown, twin, text):
            state.aliases[visit.url] = twin
            state.twins.is_twin(visit.url, text, response.validators, page.body_hash)
            intake.counters.ignored[TWIN] += 1
            intake.gone(
                visit.url, TWIN, f"the same page as `{twin}`", lost=bool(shown and shown.content_hash != text)
            )
            state.frontier.duplicate(visit, twin)
            return
        if await self._is_no_document(visit, page):
            return
        state.twins.is_page(visit.url, text)
        links = self._links_in_scope(visit, converted)
        intake.counters.ignored[TOO_MANY_LINKS] += converted.links_left_out
        before = [state.urls[link] for link in visit.known.links] if visit.known else []
        draft = Draft(
            reference=visit.url,
            url=visit.url,
            title=converted.title,
            text=converted.text,
            body_hash=page.body_hash,
            body_bytes=page.body_bytes,
            validators=response.validators,
            content_type=page.content_type,
            depth=visit.depth,
            links=tuple(links),
            metadata=state.pages.metadata(visit, converted),
        )
        hid_links = links != before and any(self._is_news(url) for url in links)
        state.claims.received(visit, draft, hid_links=hid_links, outdated=state.pages.outdated(visit))
        await state.wrapping.fetched(draft, links_changed=links != before)
        state.frontier.document(visit, links)

    def _is_news(self, url: str) -> bool:
        """Was an address never met, by a link or in a sitemap?"""
        return url not in self._state.files.listed and not self._state.frontier.is_met(url)

    async def _twin_of(self, visit: Visit, text: bytes) -> str | None:
        """The address that this page has already, or a plainer one that the site links to."""
        state = self._state
        for url in plainer(visit.url, urls.origin_of(state.root)):
            met = state.frontier.is_met(url)
            if met and await self._answers(url, visit) and state.twins.text_of(url) == text:
                return url
        found = state.twins.same_page(visit.url, text)
        return found if found is not None and state.frontier.is_document(found) else None

    async def _is_no_document(self, visit: Visit, page: ReadPage) -> bool:
        """Is there nothing on the page, or only what the site says at addresses that do not exist?"""
        state = self._state
        converted, root = page.converted, visit.depth == 0
        if root:
            state.missing.root_says(visit.url, converted.text)
        reason, detail = EMPTY, f"`{visit.url}`: an empty page"
        if converted.text.strip() or converted.links or (root and page.scripted):
            # What another host says tells nothing about this one.
            judged = not root and visit.url.startswith(state.site)
            shown = state.intake.known.get(state.root)
            if not judged or not await state.missing.has(visit, converted.text, root=shown):
                return False
            reason, detail = SOFT_404, SAYS
        state.claims.gone(visit)
        state.frontier.gone(visit)
        if visit.known is None or not visit.known.document_id:
            state.intake.counters.ignored[reason] += 1
            if root:
                state.intake.failed_because(visit.url, reason, detail)
        state.intake.gone(visit.url, reason, detail)
        return True

    def _other_spelling(self, visit: Visit, converted: Converted) -> str | None:
        """A canonical link that is another spelling of the same address.

        Sites that name one page as canonical for all of them exist; believing those would lose every page.
        """
        canonical = converted.canonical
        if (
            canonical is None
            or canonical == visit.url
            or self._state.why_not(canonical) is not None
            or not urls.is_variant_of_same_page(canonical, visit.url)
        ):
            return None
        if visit.depth == 0:
            # The root keeps the name it was given; the other spelling is this page.
            if self._state.frontier.is_also(visit, canonical):
                self._state.aliases[canonical] = visit.url
            return None
        return canonical

    def _is_behind_login(self, visit: Visit, converted: Converted) -> bool:
        """A login page is no document, and does not replace one; one that was taken for a document stays."""
        known = visit.known if visit.known and visit.known.document_id else None
        if known is not None and known.content_hash == hashing.of_text(converted.text):
            return False
        if known is None and visit.url != self._state.root:
            self._state.frontier.asks_to_log_in(visit)
            self._state.intake.counters.ignored[refusals.LOGIN_PAGE] += 1
        else:
            self._ask_to_log_in(visit, "is a login page now" if known else "is a login page")
        return True

    def _ask_to_log_in(self, visit: Visit, fact: str) -> None:
        state = self._state
        hint, problem = credentials.hint(state.settings), f"`{visit.url}`: {fact}"
        state.refusal_hint = f"what asks for a login keeps its text; {hint}"
        state.frontier.failed(visit)
        state.intake.failed_because(visit.url, refusals.LOGIN_PAGE, problem)
        if visit.url == state.root:
            state.root_answered = False
            state.stops(StopReason.ERROR, Unfetchable(problem, hint=hint, url=visit.url))

    def _redirected(self, visit: Visit, response: Response) -> None:
        state = self._state
        url, target = visit.url, target_of(response, visit.url)
        state.intake.counters.redirects += 1
        # A login page in the scope of the source is asked for: it may be a page about logging in.
        away = target is not None and (
            urls.origin_of(target) != urls.origin_of(url) or state.scope.why_not(target) is not None
        )
        if target is not None and away and is_login_address(target) and (visit.known or url == state.root):
            self._ask_to_log_in(visit, f"redirects to the login page `{target.partition('?')[0]}`")
        elif target is not None and target != url and state.scope.why_not(target) is None:
            if url == state.root:
                state.root = target
            state.claims.gone(visit)
            state.frontier.moved(visit, target)
        elif target and state.moved_to and urls.origin_of(state.moved_to) == urls.origin_of(target):
            # The root leads to that site, and so does this page: the others would, too.
            state.stops(StopReason.ERROR, refusals.moved(state.source, state.moved_to))
            state.frontier.failed(visit)
            state.intake.failed_because(url, "redirected_off_site", f"`{url}`: redirects to `{target}`")
        elif target is not None and target != url and url != state.root:
            state.frontier.gone(visit)
            state.intake.gone(url, "redirected_off_site", f"redirects to `{target}`")
        else:
            reason, problem = "redirected_off_site", f"redirects to `{target}`, which is another site"
            if target is None:
                reason, problem = "bad_redirect", "redirect without an address"
            elif target == url:
                reason, problem = "redirect_loop", "redirects to itself"
            else:
                state.root_answered = False
                state.moved_to = target
                state.refusal_hint = refusals.moved_hint(state.source, target)
            state.frontier.failed(visit, for_now=False)
            state.intake.failed_because(url, reason, f"`{url}`: {problem}")

    def _links_in_scope(self, visit: Visit, converted: Converted) -> list[str]:
        state = self._state
        links: list[str] = []
        for url in converted.links:
            reason = state.scope.why_not(url)
            if reason is None:
                state.linked.add(url)
                url = state.twins.without_idle_parameters(url)
                if url != visit.url and url not in links:
                    links.append(url)
            elif url not in state.foreign:
                state.foreign.add(url)
                state.intake.counters.ignored[reason] += 1
        return links
