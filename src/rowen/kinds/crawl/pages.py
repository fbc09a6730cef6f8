"""Asking for one page and reading what came: the part of a crawl that any process may do.

`Pages` has the plain rules; a kind that crawls overrides them where its pages differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rowen.core import hashing
from rowen.core.document import Converted, Validators
from rowen.core.run import Counters
from rowen.core.source import Source
from rowen.core.web.login import is_login_address, is_login_page
from rowen.engine.ports import Ports
from rowen.errors import Unfetchable
from rowen.fetching.client import Client
from rowen.fetching.site_files import SiteFiles
from rowen.kinds.crawl.visits import Visit
from rowen.ports.fetcher import Request, Response
from rowen.records import NamedTuple

DELIVERED = frozenset({200, 203})


class ReadPage(NamedTuple):
    """What was made of the body of a page that is not the stored version."""

    converted: Converted
    body_hash: bytes
    content_type: str
    """Of the body as it was read."""
    scripted: bool
    """It looks empty until its scripts have run."""
    asks_to_log_in: bool = False
    body_bytes: int = 0
    """As it came over the wire."""


class Pages:
    refusal = "unsupported_type"
    """Why a body that is not wanted is left alone, as a reason code."""
    headers: Mapping[str, str] = {}
    """Sent with every request for a page."""
    may_be_spread = False
    """Can a worker ask for a page with nothing but its source's settings?"""

    learns_wrapping = False
    """May pages have parts that the site repeats on most of them, and nothing marks as such?"""

    may_be_missing = False
    """Can a page that answers 200 be an error page all the same? An address that cannot exist is asked."""

    def __init__(self, ports: Ports, counters: Counters) -> None:
        self._ports = ports
        self._counters = counters

    async def open(
        self,
        source: Source,
        settings: Mapping[str, Any],
        client: Client,
        files: SiteFiles,
    ) -> None:
        """Called before the first page is asked for."""

    async def close(self) -> None:
        """Called after the last page."""

    # where kinds differ

    def accepts(self, content_type: str, url: str) -> bool:
        """Is a body of this type worth reading?"""
        return self._ports.converter.handles(content_type, url)

    def why_not(self, url: str) -> str | None:
        """A reason not to ask for an address that is in scope."""
        return None

    def outdated(self, visit: Visit) -> bool:
        """Must the body be fetched even if the server would answer that it has not changed?"""
        return False

    async def root(self, visit: Visit, response: Response) -> bool:
        """The root has answered, before any other page is asked for. Is it what it should be?"""
        return True

    async def body_of(self, url: str, response: Response) -> tuple[bytes, str]:
        """The body to convert, with its type: for a body that differs from the stored one."""
        return response.body, response.headers.get("content-type", "")

    def is_scripted(self, response: Response, converted: Converted) -> bool:
        """Does a page look empty until its scripts have run?"""
        return False

    def notice(self, *, scripted: bool) -> None:
        """A page was taken in that `is_scripted`, or is not."""

    @property
    def hint(self) -> str | None:
        """What a person should know after the run."""
        return None

    def metadata(self, visit: Visit, converted: Converted) -> Mapping[str, Any]:
        return converted.metadata

    # asking and reading

    def request(self, url: str, validators: Validators) -> Request:
        def wanted(status: int, headers: Mapping[str, str]) -> bool:
            # Other answers have small bodies; reading them keeps the connection usable.
            return status not in DELIVERED or self.accepts(headers.get("content-type", ""), url)

        return Request(url, validators, self.headers, wanted)

    async def read(
        self, url: str, response: Response, *, known_hash: bytes | None, has_document: bool
    ) -> ReadPage | None:
        """Convert a body that was delivered; None when its hash is the one of the stored version."""
        body_hash = hashing.of_bytes(response.body)
        if body_hash == known_hash:
            return None
        if not response.body.strip() and has_document:
            raise Unfetchable(f"`{url}`: an empty body where there was a page", url=url)
        body, content_type = await self.body_of(url, response)
        self._counters.parses += 1
        converted = await self._ports.converter.convert(body, content_type=content_type, url=url)
        scripted = self.is_scripted(response, converted)
        asks = is_login_page(response.body, converted.text) or (scripted and is_login_address(url))
        return ReadPage(converted, body_hash, content_type, scripted, asks, response.bytes_received)
