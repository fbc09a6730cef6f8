"""The `llms` kind: the Markdown a site lists in llms.txt, or the whole of it in llms-full.txt.

The list is crawled like any site, with llms.txt as its root, by rules of its own: Markdown and text only, and
what the list says of a page is the page's metadata. The whole file is one listing with the documents inside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rowen.core import hashing
from rowen.core.document import Converted, Validators
from rowen.core.params import switch, what
from rowen.core.run import Counters, StopReason
from rowen.core.source import Source
from rowen.core.web.scope import EXCLUDED, NOT_INCLUDED, Scope
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested, Kind, Sample
from rowen.engine.ports import Ports
from rowen.errors import PermanentError, TransientError, Unfetchable
from rowen.fetching import credentials
from rowen.fetching.client import Client, open_client, stop_reason
from rowen.fetching.redirects import follow
from rowen.fetching.site_files import SiteFiles
from rowen.kinds import sampling
from rowen.kinds.crawl.crawl import crawl
from rowen.kinds.crawl.pages import Pages
from rowen.kinds.crawl.refusals import FORBIDDEN
from rowen.kinds.crawl.sample import sample as sampled
from rowen.kinds.crawl.settings import crawl_params
from rowen.kinds.crawl.visits import Visit
from rowen.kinds.listing.listing import Fetched, Item, take_in
from rowen.kinds.llms import rules
from rowen.kinds.llms.prepare import prepare
from rowen.kinds.llms.rules import Entry, Part
from rowen.ports.fetcher import Request, Response
from rowen.ports.store.documents import Listing

PARAMS = (
    *crawl_params(scope="host", max_depth=2),
    what(
        "full", False, "Take llms-full.txt, all documents in one file, instead of following llms.txt", switch
    ),
    *credentials.PARAMS,
)

ENTRIES = "rowen:llms"
"""The remembered listing of what llms.txt says of pages."""
MARKDOWN = "text/markdown; charset=utf-8"


def claims(ports: Ports, location: str) -> bool:
    return location.strip().lower().endswith((f"/{rules.FILE}", f"/{rules.FULL_FILE}"))


def covers(source: Source, settings: Mapping[str, Any]) -> Callable[[str], bool]:
    scope = Scope.from_settings(source.location, settings)
    # The documents of one file are all its own, wherever their addresses lead.
    left_out = (EXCLUDED, NOT_INCLUDED) if _is_one_file(source, settings) else None
    return lambda url: (why := scope.why_not(url)) is None or (left_out is not None and why not in left_out)


def _is_one_file(source: Source, settings: Mapping[str, Any]) -> bool:
    return settings["full"] or source.location.endswith(f"/{rules.FULL_FILE}")


async def harvest(ports: Ports, source: Source, settings: Mapping[str, Any], intake: Intake) -> Harvested:
    if _is_one_file(source, settings):
        async with open_client(ports, source.location, settings, intake.counters) as client:
            return await _FullFile(ports, source, settings, intake, client).run()
    return await crawl(ports, source, settings, intake, _ListedPages(ports, intake))


async def sample(ports: Ports, source: Source, settings: Mapping[str, Any]) -> Sample:
    counters = Counters()
    if not _is_one_file(source, settings):
        return await sampled(ports, source, settings, _MarkdownPages(ports, counters))
    async with open_client(ports, source.location, settings, counters) as client:
        url, answer = await follow(client.ask, Request(source.location, headers=rules.ACCEPT))
    if answer.status != 200:
        raise Unfetchable(f"`{url}`: {answer.status} from the server", url=url)
    parts = rules.parts(answer.body.decode("utf-8", "replace"), url)
    return Sample(
        items=len(parts),
        exact=True,
        whence="one file has them all",
        read=tuple(
            sampling.item(part.text, body_bytes=len(part.text.encode("utf-8", "replace"))) for part in parts
        ),
        tried=len(parts),
        requests=counters.requests,
    )


class _MarkdownPages(Pages):
    refusal = "not_markdown"
    headers = rules.ACCEPT

    def accepts(self, content_type: str, url: str) -> bool:
        return rules.is_markdown(content_type, url) and super().accepts(content_type, url)

    def why_not(self, url: str) -> str | None:
        return self.refusal if rules.named_otherwise(url) else None


class _ListedPages(_MarkdownPages):
    """The pages of a crawl that starts at llms.txt."""

    def __init__(self, ports: Ports, intake: Intake) -> None:
        super().__init__(ports, intake.counters)
        self._intake = intake
        self._stored: Mapping[str, Mapping[str, Any]] = {}
        self._payload: dict[str, Any] | None = None
        self._entries: dict[str, Entry] | None = None

    async def open(
        self,
        source: Source,
        settings: Mapping[str, Any],
        client: Client,
        files: SiteFiles,
    ) -> None:
        self._stored = await self._ports.store.metadata(source.id)
        remembered = files.remembered.get(ENTRIES)
        if remembered is not None:
            self._payload = remembered.payload
            self._entries = {url: Entry(url, *said) for url, *said in remembered.payload["entries"]}

    def why_not(self, url: str) -> str | None:
        if (why := super().why_not(url)) is not None:
            return why
        entries = self._entries or {}
        return "has_markdown_twin" if any(twin in entries for twin in rules.twins(url)) else None

    def outdated(self, visit: Visit) -> bool:
        known = visit.known
        if known is None:
            return False
        if visit.depth == 0:
            # What is remembered of the list must be of the version the server is asked about.
            return self._payload is None or self._payload["of"] != (known.body_hash or b"").hex()
        # A new note in the list changes the metadata of a page that did not change itself.
        return bool(known.document_id) and self._said_of(visit.url) != self._stored_of(visit.url)

    async def root(self, visit: Visit, response: Response) -> bool:
        if response.status == 304:
            return True
        text = response.body.decode("utf-8", "replace")
        if not rules.looks_like(text):
            return False
        entries = rules.parse(text, visit.url)
        self._entries = {entry.url: entry for entry in entries}
        payload = {
            "of": hashing.of_bytes(response.body).hex(),
            "entries": [[entry.url, entry.section, entry.note, entry.optional] for entry in entries],
        }
        if payload != self._payload:
            self._payload = payload
            listing = Listing(url=ENTRIES, validators=Validators(), payload=payload)
            await self._ports.store.save_listing(self._intake.lease, self._intake.run.source_id, listing)
        return True

    def metadata(self, visit: Visit, converted: Converted) -> Mapping[str, Any]:
        own = {name: value for name, value in converted.metadata.items() if name not in rules.METADATA}
        return own | self._said_of(visit.url)

    def _said_of(self, url: str) -> dict[str, Any]:
        if self._entries is None:
            # The list could not be had in any run: what is stored stands.
            return self._stored_of(url)
        entry = self._entries.get(url)
        return entry.metadata if entry else {}

    def _stored_of(self, url: str) -> dict[str, Any]:
        stored = self._stored.get(url, {})
        return {name: stored[name] for name in rules.METADATA if name in stored}


class _FullFile:
    """One run over an llms-full.txt: one request, and as many documents as the file has."""

    def __init__(
        self, ports: Ports, source: Source, settings: Mapping[str, Any], intake: Intake, client: Client
    ) -> None:
        self._ports = ports
        self._url = source.location
        self._settings = settings
        self._intake = intake
        self._client = client
        self._parts: dict[str, Part] = {}

    async def run(self) -> Harvested:
        try:
            return await self._run()
        except (TransientError, PermanentError) as exc:
            return Harvested.stopped(stop_reason(exc), exc, root_answered=False)

    async def _run(self) -> Harvested:
        intake, store = self._intake, self._ports.store
        listings = await store.listings(intake.run.source_id)
        await self._obey_robots(listings)
        remembered = listings.get(self._url)
        if remembered is not None and not intake.unconditional and self._is_shown(remembered.payload):
            response = await self._ask(remembered.validators)
            if response.status == 304:
                for known in intake.known.values():
                    intake.not_modified(known)
                return Harvested(stop_reason=StopReason.EXHAUSTED)
        else:
            response = await self._ask(Validators())
        items = self._items(response)
        if not items:
            raise Unfetchable(f"`{self._url}`: no document in it", url=self._url)
        stopped = await take_in(self._ports, intake, items, self._fetch, complete=True, sent=True)
        listing = Listing(
            url=self._url,
            validators=response.validators,
            payload={item.reference: item.validators.etag for item in items},
        )
        if listing != remembered:
            await store.save_listing(intake.lease, intake.run.source_id, listing)
        over = "over_max_pages" in intake.counters.ignored
        return Harvested(stop_reason=StopReason.MAX_PAGES if over else StopReason.EXHAUSTED, error=stopped)

    async def _obey_robots(self, listings: Mapping[str, Listing]) -> None:
        if self._settings["robots"]:
            agent = self._ports.fetch.user_agent
            site = SiteFiles(
                self._ports.store,
                self._client,
                self._intake,
                listings,
                self._ports.clock,
                agent=agent,
                max_delay_s=self._settings["max_crawl_delay_s"],
            )
            await site.hear(self._url)
            if site.forbid(self._url):
                raise Unfetchable(f"`{self._url}`: robots.txt forbids it", url=self._url)

    def _is_shown(self, payload: Mapping[str, str]) -> bool:
        """Do readers see what the file held when it was last read? If not, its text is needed again."""
        known = self._intake.known
        return len(known) == len(payload) and all(
            reference in known and known[reference].validators.etag == tag
            for reference, tag in payload.items()
        )

    async def _ask(self, validators: Validators) -> Response:
        def wanted(status: int, headers: Mapping[str, str]) -> bool:
            return status != 200 or rules.is_markdown(headers.get("content-type", ""), self._url)

        response = await self._client.ask(Request(self._url, validators, headers=rules.ACCEPT, wanted=wanted))
        if response.status not in (200, 304):
            forbidden = response.status in FORBIDDEN
            raise Unfetchable(
                f"`{self._url}`: {response.status} from the server",
                hint=credentials.hint(self._settings) if forbidden else None,
                url=self._url,
                status=response.status,
            )
        if response.refused:
            said = response.headers.get("content-type", "no type")
            raise Unfetchable(f"`{self._url}`: answers with `{said}`, not with text", url=self._url)
        return response

    def _items(self, response: Response) -> list[Item]:
        scope = Scope.from_settings(self._url, self._settings)
        ignored = self._intake.counters.ignored
        for part in rules.parts(response.body.decode("utf-8", "replace"), self._url):
            reason = scope.why_not(part.reference)
            if reason in (EXCLUDED, NOT_INCLUDED):
                ignored[reason] += 1
            elif len(self._parts) >= self._settings["max_pages"]:
                ignored["over_max_pages"] += 1
            else:
                self._parts[part.reference] = part
        return [
            Item(
                reference=part.reference,
                url=part.reference,
                validators=Validators(hashing.of_text(part.text).hex()),
                content_type=MARKDOWN,
            )
            for part in self._parts.values()
        ]

    async def _fetch(self, item: Item) -> Fetched:
        return Fetched(self._parts[item.reference].text.encode("utf-8", "replace"), MARKDOWN, item.url)


KIND = Kind(
    name="llms",
    params=PARAMS,
    claims=claims,
    prepare=prepare,
    sample=sample,
    covers=covers,
    asks_named=True,
    harvest=harvest,
)
