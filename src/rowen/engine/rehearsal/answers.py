"""Answers of a source, kept so that what one rehearsal fetched is not fetched again.

`Keeping` asks; an answer it has already it asks for conditionally, and a 304 gives the kept body. `Replaying`
gives what was answered before and asks only what it has no answer to. Bodies lie in the store, for a day at
most and up to `MAX_BYTES` a source; an answer without validators can only be checked by asking again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import datetime

from rowen.core import hashing
from rowen.engine.ports import Ports
from rowen.ports.clock import Clock
from rowen.ports.fetcher import Fetcher, FetcherOptions, Request, Response
from rowen.ports.store.learning.plans import KeptAnswer, Plans

MAX_BYTES = 256_000_000
"""Of the bodies kept for a source, as they lie in the store."""
BATCH_BYTES = 4_000_000
_NEVER = frozenset({"set-cookie", "www-authenticate", "authorization"})


def key_of(request: Request) -> bytes:
    """What is asked for, without the credentials and validators it is asked with."""
    body = hashing.of_bytes(request.body).hex() if request.body else ""
    accept = next((value for name, value in request.headers.items() if name.lower() == "accept"), "")
    return hashing.of_mapping(
        {
            "method": request.method,
            "url": request.url,
            "body": body,
            "accept": accept,
            "first_bytes": request.first_bytes or 0,
        }
    )


class Answers:
    """Those of one plan: bodies in the store, the rest in memory while this process needs it."""

    def __init__(self, store: Plans, clock: Clock, *, plan: str, source_id: int) -> None:
        self._store = store
        self._clock = clock
        self._plan = plan
        self._source_id = source_id
        self._plain: dict[bytes, Response] = {}
        """Answers without a body worth keeping in the store: 304, 404, redirects."""
        self._unsaved: dict[bytes, KeptAnswer] = {}
        self._kept_bytes = 0
        self._saving = asyncio.Lock()
        self.not_kept = 0
        """Bodies for which there was no room."""

    async def find(self, key: bytes) -> Response | None:
        """What is kept with its body."""
        kept = self._unsaved.get(key) or await self._store.kept_answer(self._plan, key)
        if kept is None:
            return None
        return Response(kept.status, kept.url, kept.headers, kept.body, bytes_received=0)

    def plain(self, key: bytes) -> Response | None:
        return self._plain.get(key)

    async def keep(self, key: bytes, response: Response) -> None:
        if response.status != 200 or response.refused:
            self._plain[key] = response
            return
        self._plain.pop(key, None)
        if self._kept_bytes + len(response.body) > MAX_BYTES:
            self.not_kept += 1
            return
        self._kept_bytes += len(response.body)
        headers = {name: value for name, value in response.headers.items() if name not in _NEVER}
        self._unsaved[key] = KeptAnswer(
            status=response.status, url=response.url, headers=headers, body=response.body
        )
        if sum(len(one.body) for one in self._unsaved.values()) >= BATCH_BYTES:
            await self.save()

    async def save(self) -> None:
        async with self._saving:
            batch = dict(self._unsaved)
            if batch:
                await self._store.keep_answers(self._plan, self._source_id, batch, now=self._clock.now())
                for key in batch:
                    self._unsaved.pop(key, None)


class Keeping:
    """Asks the source, and keeps what it answers."""

    def __init__(self, fetcher: Fetcher, answers: Answers) -> None:
        self._fetcher = fetcher
        self._answers = answers

    async def fetch(self, request: Request) -> Response:
        key = key_of(request)
        kept = await self._answers.find(key)
        if kept is None or not kept.validators:
            response = await self._fetcher.fetch(request)
        else:
            response = await self._fetcher.fetch(replace(request, validators=kept.validators))
            if response.status == 304:
                return replace(kept, headers={**kept.headers, **_date(response.headers)})
        await self._answers.keep(key, response)
        return response


class Replaying:
    """Gives the answers that are kept; `asked` says whether the source had to be asked after all."""

    def __init__(self, fetcher: Fetcher, answers: Answers, clock: ReplayClock) -> None:
        self._fetcher = fetcher
        self._answers = answers
        self._clock = clock

    async def fetch(self, request: Request) -> Response:
        key = key_of(request)
        kept = self._answers.plain(key) or await self._answers.find(key)
        if kept is not None:
            return kept
        self._clock.asks = True
        return await self._fetcher.fetch(request)


class ReplayClock:
    """No pause between answers that come from the store; once the source is asked, time is real again."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.asks = False

    def now(self) -> datetime:
        return self._clock.now()

    def monotonic(self) -> float:
        return self._clock.monotonic()

    def jitter(self) -> float:
        return self._clock.jitter()

    async def sleep(self, seconds: float) -> None:
        await (self._clock.sleep(seconds) if self.asks else asyncio.sleep(0))


def keeping(ports: Ports, answers: Answers) -> Ports:
    """The ports of a kind whose answers are kept."""

    @asynccontextmanager
    async def opened(options: FetcherOptions) -> AsyncIterator[Fetcher]:
        async with ports.open_fetcher(options) as fetcher:
            yield Keeping(fetcher, answers)

    def open_fetcher(options: FetcherOptions) -> AbstractAsyncContextManager[Fetcher]:
        return opened(options)

    return replace(ports, open_fetcher=open_fetcher)


def replaying(ports: Ports, answers: Answers) -> Ports:
    """The ports of a kind that is given the answers of a rehearsal."""
    clock = ReplayClock(ports.clock)

    @asynccontextmanager
    async def opened(options: FetcherOptions) -> AsyncIterator[Fetcher]:
        async with ports.open_fetcher(options) as fetcher:
            yield Replaying(fetcher, answers, clock)

    def open_fetcher(options: FetcherOptions) -> AbstractAsyncContextManager[Fetcher]:
        return opened(options)

    return replace(ports, open_fetcher=open_fetcher, clock=clock)


def _date(headers: Mapping[str, str]) -> dict[str, str]:
    """The time of the server's clock is that of the newer answer."""
    return {"date": headers["date"]} if "date" in headers else {}
