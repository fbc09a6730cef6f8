"""Asking one outside party politely: pace, retries, pauses, and knowing when to stop.

A client is who answers a source's requests. `ask` sends one question and answers with what came back, or
raises once it has been tried often enough. It has no opinion about redirects or 404s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

from rowen.core.rules.retry import RetryPolicy
from rowen.core.run import Counters, StopReason
from rowen.core.web import urls
from rowen.core.web.retry_after import retry_after_s
from rowen.errors import HostUnavailable, RateLimited, ServerFailed, TransientError
from rowen.ports.clock import Clock
from rowen.ports.fetcher import Fetcher, Request, Response

RETRIED_STATUSES = frozenset({429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
UNREACHABLE_AFTER = 8
"""Failures in a row, of connections or time-outs, that mean the host is away."""
BROKEN_AFTER = 25
"""The same for answers with a server error: a broken corner of a site is not an outage."""
MAX_SHOWN_S = 1e9
OVERSLEPT_S = 5.0
"""Whoever wakes so late had a process that was stopped: what it had booked has gone by, for all who wait."""


Limits = Callable[[Response, datetime], float | None]
"""For how many seconds does an answer ask us to stay away, if it does? For parties that say so in their own
way; a 429 with `Retry-After` needs no help."""

STOPS = (HostUnavailable, RateLimited)
"""After these, asking on makes no sense: the run ends with its listing incomplete."""


def stop_reason(exc: TransientError) -> StopReason:
    return StopReason.RATE_LIMITED if isinstance(exc, RateLimited) else StopReason.HOST_UNAVAILABLE


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

    def slow_down(self, host: str, delay_s: float) -> None:
        """A robots.txt asks for more time between requests to its host than we would take."""
        if delay_s > self._delay_s:
            self._host_delays[host] = delay_s

    def delay_s(self, host: str) -> float:
        """The time between two requests to a host."""
        return self._host_delays.get(host, self._delay_s)

    async def rest(self) -> None:
        """Until somebody else may ask: the time between two requests does not end with a visitor."""
        wait_s = max(self._paused_until, *self._next_at.values(), 0.0) - self._clock.monotonic()
        if wait_s > 0:
            await self._clock.sleep(wait_s)

    async def ask(self, request: Request) -> Response:
        attempt = 1
        while True:
            try:
                response = await self._once(request)
            except TransientError as exc:
                await self._wait_or_raise(exc, attempt)
            else:
                complaint = self._complaint(request, response)
                if complaint is None:
                    self._failures.end()
                    return response
                await self._wait_or_raise(complaint, attempt)
            attempt += 1
            self._counters.retries += 1

    async def _once(self, request: Request) -> Response:
        async with self._slots:
            if self._delay_s or self._host_delays or self._paused_until:
                await self._pace(urls.host_of(request.url))
            self._counters.requests += 1
            response = await self._fetcher.fetch(request)
            if response.status == 200:
                self._counters.bytes_received += response.bytes_received
            return response

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

    def _complaint(self, request: Request, response: Response) -> TransientError | None:
        if self._limits is None and response.status not in RETRIED_STATUSES:
            return None
        now = self._clock.now()
        limited_s = self._limits(response, now) if self._limits else None
        if limited_s is None and response.status not in RETRIED_STATUSES:
            return None
        url = urls.without_credentials(request.url)
        wait = retry_after_s(response.headers, now) if limited_s is None else limited_s
        if response.status == 429 or limited_s is not None:
            self._counters.rate_limited += 1
            until = f"; it may be asked again at {_minute(now, wait)}" if wait else ""
            return RateLimited(
                f"`{url}`: {response.status}, asked too often{until}", retry_after_s=wait, url=url
            )
        return ServerFailed(
            f"`{url}`: {response.status} from the server",
            retry_after_s=wait,
            url=url,
            status=response.status,
        )

    async def _wait_or_raise(self, exc: TransientError, attempt: int) -> None:
        # In an outage the first pages have shown that trying again does not help.
        patient = self._failures.length < 3
        wait = self._retry.wait_s(attempt, jitter=self._clock.jitter(), retry_after_s=exc.retry_after_s)
        if wait is None or not patient:
            away = self._failures.add(exc)
            if away is not None:
                raise away from exc
            raise exc
        if exc.retry_after_s is not None:
            # The server spoke to the client, not to this request: everybody waits.
            self._paused_until = max(self._paused_until, self._clock.monotonic() + exc.retry_after_s)
        await self._clock.sleep(wait)


def _minute(now: datetime, wait_s: float) -> str:
    # A server may ask for more years than a calendar has.
    at = now + timedelta(seconds=min(wait_s, MAX_SHOWN_S) + 59)
    return f"{at:%Y-%m-%d %H:%M} UTC"
