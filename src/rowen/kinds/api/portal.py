"""What all kinds of open-data portals share: their settings, and a polite way to ask them.

What a page of a portal is and how the next one is found is the kinds' business; `datasets` takes in what
they find.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from rowen.core.document import Validators
from rowen.core.params import Param, optional
from rowen.core.rules.duration import Duration
from rowen.core.run import Counters
from rowen.core.source import Source
from rowen.core.web import urls
from rowen.engine.ports import Ports
from rowen.errors import (
    BadLocation,
    BodyTooLarge,
    ConnectionFailed,
    FetchTimeout,
    RateLimited,
    ServerFailed,
    Unfetchable,
    Unparseable,
)
from rowen.fetching import credentials
from rowen.fetching.client import Client
from rowen.kinds.api.dataset import template
from rowen.kinds.settings import CONCURRENCY, DELAY_S, MAX_DELETED_SHARE
from rowen.ports.fetcher import FetcherOptions, Request, Response

MAX_PAGE_BYTES = 64_000_000
"""Of one page of a listing; a smaller page is asked for when there is more."""
MAX_REDIRECTS = 5
RATE_LIMIT_RETRIES = 3
TOO_MUCH = (FetchTimeout, ServerFailed, ConnectionFailed, BodyTooLarge, Unparseable)
"""Trouble that a smaller page may avoid."""
LISTED_AT = "listed_at"
"""In a source's metadata: when everything was last listed."""

duration_s = Duration(bare="d")


def _language(text: str) -> str:
    if not text.replace("-", "").replace("_", "").isalnum() or len(text) > 20:
        raise ValueError("expected a language such as `de` or `pt-BR`")
    return text.replace("_", "-")


PARAMS = (
    Param(
        name="language",
        default="",
        parse=_language,
        identity=True,
        help="The language to take where a portal has several; else English, else the first",
    ),
    Param(
        name="url_template",
        default="",
        parse=template,
        identity=False,
        help="The page of a dataset for people, with `{id}` or `{name}`; found out when left away",
    ),
    MAX_DELETED_SHARE,
    CONCURRENCY,
    DELAY_S,
    Param(
        name="timeout_s",
        default=None,
        parse=optional(Duration(1, 3600, bare="s")),
        identity=False,
        help="Seconds to wait for an answer; none for the general setting",
    ),
    *credentials.PARAMS,
)


def address(location: str) -> str:
    """The address of a portal as it is remembered. Raises `BadLocation`."""
    credentials.refuse_in_address(location)
    text = location.strip()
    normal = urls.normalise(text if "://" in text else f"https://{text}")
    if normal is None or not urls.host_of(normal):
        raise BadLocation(f"location `{location}`: not an http or https address", location=location)
    return normal


class Asker:
    """Asks one portal: redirects followed, short rate limits waited out."""

    def __init__(self, ports: Ports, client: Client, counters: Counters) -> None:
        self._ports = ports
        self._client = client
        self._counters = counters

    async def ask(
        self, url: str, *, accept: str = "application/json", validators: Validators | None = None
    ) -> Response:
        at = url
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._patiently(Request(at, validators or Validators(), {"Accept": accept}))
            target = urls.normalise(response.headers.get("location", ""), at)
            if response.status not in (301, 302, 303, 307, 308) or target is None:
                return response
            self._counters.redirects += 1
            at = target
        raise Unfetchable(f"`{urls.without_credentials(url)}`: more than {MAX_REDIRECTS} redirects")

    async def _patiently(self, request: Request) -> Response:
        for _ in range(RATE_LIMIT_RETRIES):
            try:
                return await self._client.ask(request)
            except RateLimited as exc:
                wait = exc.retry_after_s
                if wait is None or wait > self._ports.fetch.retry.max_wait_s:
                    raise
                await self._ports.clock.sleep(wait)
        return await self._client.ask(request)


@asynccontextmanager
async def open_asker(
    ports: Ports,
    location: str,
    params: Mapping[str, Any],
    counters: Counters,
    *,
    max_body_bytes: int = MAX_PAGE_BYTES,
) -> AsyncIterator[Asker]:
    options = FetcherOptions(
        typed_location=location,
        allow_private=ports.fetch.allow_private,
        credentials=credentials.resolve(ports, params, location),
        user_agent=ports.fetch.user_agent,
        connections=params["concurrency"],
        timeout_s=params["timeout_s"] or ports.fetch.timeout_s,
        max_body_bytes=max(max_body_bytes, ports.fetch.max_body_bytes),
    )
    async with ports.open_fetcher(options) as fetcher:
        client = Client(
            fetcher,
            ports.clock,
            counters,
            # A page that was too much for the portal is asked for again in smaller pieces, not as it was.
            retry=replace(ports.fetch.retry, retries=min(1, ports.fetch.retry.retries)),
            concurrency=params["concurrency"],
            delay_s=params["delay_s"],
        )
        yield Asker(ports, client, counters)


def is_due(ports: Ports, source: Source, every_s: float) -> bool:
    """Has it been long enough since everything was listed?"""
    last = source.metadata.get(LISTED_AT)
    if not isinstance(last, str):
        return True
    return ports.clock.now() - datetime.fromisoformat(last) >= timedelta(seconds=every_s)
