"""Asking one upstream politely: pace, retries, pauses, and knowing when to stop.

`Client.ask` sends one request and answers with what came back, or raises once it has been tried often enough.
It follows no redirect, and a 404 is an answer like any other.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from rowen.core.document import Validators
from rowen.core.rules.retry import RetryPolicy
from rowen.core.rules.words import minute
from rowen.core.run import Counters, StopReason
from rowen.core.safety.secrets import Credentials
from rowen.core.web import last_modified, urls
from rowen.core.web.last_modified import http_date
from rowen.core.web.retry_after import retry_after_s
from rowen.engine.patience import retried
from rowen.engine.ports import Ports
from rowen.errors import (
    CertificateRefused,
    HostUnavailable,
    RateLimited,
    RowenError,
    ServerFailed,
    TransientError,
)
from rowen.fetching import credentials
from rowen.ports.clock import Clock
from rowen.ports.fetcher import Fetcher, FetcherOptions, Request, Response

RETRIED_STATUSES = frozenset({429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
UNREACHABLE_AFTER = 8
"""Failures in a row, of connections or time-outs, that mean the host is away."""
BROKEN_AFTER = 25
"""The same for answers with a server error: a broken corner of a site is not an outage."""
MAX_SHOWN_S = 1e9
OVERSLEPT_S = 5.0
"""A request that wakes so late was in a process that was suspended: the time it had reserved has passed."""
IMPATIENT_AFTER = 3
"""Failures in a row after which a failing request is not retried: retries of the ones before did not help."""

Limits = Callable[[Response, datetime], float | None]
"""For how many seconds does an answer ask us to stay away, if it does? For upstreams that say so in their own
way; a 429 with `Retry-After` needs no help."""

STOPS = (CertificateRefused, HostUnavailable, RateLimited)
"""After these, asking on makes no sense: the run ends with its listing incomplete."""


def stop_reason(exc: RowenError | None) -> StopReason:
    """Why a harvest ended: because of an error, or without one because there was no more."""
    if exc is None:
        return StopReason.EXHAUSTED
    if isinstance(exc, RateLimited):
        return StopReason.RATE_LIMITED
    return StopReason.HOST_UNAVAILABLE if isinstance(exc, TransientError) else StopReason.ERROR


class Streak:
    """Failures in a row, and when they mean that a host is away."""

    def __init__(self) -> None:
        self.length = 0

    def end(self) -> None:
        self.length = 0

    def add(self, exc: TransientError) -> HostUnavailable | None:
        self.length += 1
        limit = BROKEN_AFTER if isinstance(exc, ServerFailed) else UNREACHABLE_AFTER
        if self.length < limit or isinstance(exc, RateLimited):
            return None
        return HostUnavailable(f"{exc.message}; {self.length} failures in a row, the rest was not asked")


class Client:
    def __init__(
        self,
        fetcher: Fetcher,
        clock: Clock,
        counters: Counters,
        *,
        retry: RetryPolicy,
        concurrency: int,
        delay_s: float,
        limits: Limits | None = None,
    ) -> None:
        self._fetcher = fetcher
        self._clock = clock
        self._counters = counters
        self._retry = retry
        self._delay_s = delay_s
        self._limits = limits
        self._slots = asyncio.Semaphore(concurrency)
        self._host_delays: dict[str, float] = {}
        self._next_at: dict[str, float] = {}
        self._paused_until = 0.0
        self._failures = Streak()
        self._server_date = ""
        self._first_date: str | None = None

    @property
    def server_time(self) -> datetime | None:
        """What the server's clock said with its first answer; servers need not say."""
        return http_date(self._first_date or "")

    def slow_down(self, host: str, delay_s: float) -> None:
        """A robots.txt asks for more time between requests to its host than the settings do."""
        if delay_s > self._delay_s:
            self._host_delays[host] = delay_s

    def delay_s(self, host: str) -> float:
        """The time between two requests to a host."""
        return self._host_delays.get(host, self._delay_s)

    async def rest(self) -> None:
        """Wait until another process may ask: the time between two requests also lies between two clients."""
        wait_s = max(self._paused_until, *self._next_at.values(), 0.0) - self._clock.monotonic()
        if wait_s > 0:
            await self._clock.sleep(wait_s)

    async def ask(self, request: Request) -> Response:
        try:
            try:
                response = await self._once(request)
            except CertificateRefused:
                # It will be the same one in a second.
                raise
            except TransientError as exc:
                response = await retried(
                    partial(self._once, request),
                    exc,
                    self._clock,
                    self._retry,
                    before_wait=self._before_wait,
                )
        except TransientError as exc:
            away = self._failures.add(exc)
            if away is not None:
                raise away from exc
            raise
        self._failures.end()
        return response

    async def _once(self, request: Request) -> Response:
        async with self._slots:
            if self._delay_s or self._host_delays or self._paused_until:
                await self._pace(urls.host_of(request.url))
            self._counters.requests += 1
            response = await self._fetcher.fetch(self._sound(request))
        self._server_date = response.headers.get("date", "")
        if self._first_date is None:
            self._first_date = self._server_date
        if "last-modified" in response.headers:
            response = replace(
                response, headers=last_modified.without_future(response.headers, self._clock.now())
            )
        if response.status == 200:
            self._counters.bytes_received += response.bytes_received
        if self._limits is not None or response.status in RETRIED_STATUSES:
            self._complain(request, response)
        return response

    def _sound(self, request: Request) -> Request:
        """A date that was stored while it lay in the future is not sent: it would hide every edit."""
        said = request.validators.last_modified
        if said is None or not last_modified.is_future(said, self._clock.now()):
            return request
        # Our own clock may be behind: the server's last answer has a date, too.
        server_now = last_modified.http_date(self._server_date)
        if server_now is not None and not last_modified.is_future(said, server_now):
            return request
        return replace(request, validators=Validators(request.validators.etag))

    async def _pace(self, host: str) -> None:
        while True:
            now = self._clock.monotonic()
            due = max(now, self._next_at.get(host, 0.0), self._paused_until)
            # Booked before waiting, so that two that wait do not go together.
            self._next_at[host] = due + self.delay_s(host)
            if due > now:
                await self._clock.sleep(due - now)
            if self._clock.monotonic() - due < OVERSLEPT_S:
                return

    def _complain(self, request: Request, response: Response) -> None:
        """Raises `RateLimited` or `ServerFailed` for an answer that may be another one later."""
        now = self._clock.now()
        limited_s = self._limits(response, now) if self._limits else None
        if limited_s is None and response.status not in RETRIED_STATUSES:
            return
        url = urls.without_credentials(request.url)
        wait = retry_after_s(response.headers, now) if limited_s is None else limited_s
        if response.status == 429 or limited_s is not None:
            self._counters.rate_limited += 1
            until = f"; it may be asked again at {_minute(now, wait)}" if wait else ""
            raise RateLimited(
                f"`{url}`: {response.status}, asked too often{until}", retry_after_s=wait, url=url
            )
        raise ServerFailed(
            f"`{url}`: {response.status} from the server",
            retry_after_s=wait,
            url=url,
            status=response.status,
        )

    def _before_wait(self, failure: TransientError) -> None:
        if self._failures.length >= IMPATIENT_AFTER:
            raise failure
        self._counters.retries += 1
        if failure.retry_after_s is not None:
            # The server limits the client, not this one request: all requests wait.
            self._paused_until = max(self._paused_until, self._clock.monotonic() + failure.retry_after_s)


def open_fetcher(
    ports: Ports,
    location: str,
    settings: Mapping[str, Any],
    *,
    own_credentials: Credentials | None = None,
    max_body_bytes: int = 0,
) -> AbstractAsyncContextManager[Fetcher]:
    """A fetcher for the source at this location, by the settings of its kind.

    Credentials are those of `credentials.PARAMS`, or the kind's own.
    """
    return ports.open_fetcher(
        FetcherOptions(
            typed_location=location,
            allow_private=ports.fetch.allow_private,
            credentials=own_credentials or credentials.resolve(ports.secrets, settings, location),
            user_agent=ports.fetch.user_agent,
            connections=settings.get("concurrency", 3),
            timeout_s=settings.get("timeout_s") or ports.fetch.timeout_s,
            max_body_bytes=max(max_body_bytes, ports.fetch.max_body_bytes),
            ca_file=settings.get("ca_file") or None,
            max_body_setting="fetch.max_body_bytes" if max_body_bytes <= ports.fetch.max_body_bytes else "",
        )
    )


@asynccontextmanager
async def open_client(
    ports: Ports,
    location: str,
    settings: Mapping[str, Any],
    counters: Counters,
    *,
    own_credentials: Credentials | None = None,
    max_body_bytes: int = 0,
    retry: RetryPolicy | None = None,
    limits: Limits | None = None,
) -> AsyncIterator[Client]:
    """A client for the source at this location, at the pace of its settings `concurrency` and `delay_s`."""
    opened = open_fetcher(
        ports, location, settings, own_credentials=own_credentials, max_body_bytes=max_body_bytes
    )
    async with opened as fetcher:
        yield Client(
            fetcher,
            ports.clock,
            counters,
            retry=retry or ports.fetch.retry,
            concurrency=settings["concurrency"],
            delay_s=settings.get("delay_s", 0.0),
            limits=limits,
        )


def _minute(now: datetime, wait_s: float) -> str:
    # A server may ask for more years than a calendar has.
    return minute(now + timedelta(seconds=min(wait_s, MAX_SHOWN_S)))
