"""Stand-ins for what is remote, slow or random. Tests only: no setting leads here."""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from rowen.errors import EmbedderUnavailable
from rowen.ports.embedder import Model


class FakeEmbedder:
    """Each word falls into one of a few dimensions: texts that share words are near each other.

    `embedded` holds every text, in order, so that a test can count what was embedded and how often. With
    `down` set, every call fails as a provider does that cannot be reached.
    """

    def __init__(self, *, dimensions: int = 32, alpha: float = 0.3, name: str = "fake") -> None:
        self.model = Model(name=name, digest="0" * 16, dimensions=dimensions, alpha=alpha)
        self.batch_size = 64
        self.spec = {"provider": "fake", "model": name}
        self.embedded: list[str] = []
        self.queries: list[str] = []
        self.calls = 0
        self.down = False

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        self._answer_or_fail()
        self.embedded += texts
        return [self._vector(text) for text in texts]

    async def embed_query(self, text: str) -> bytes:
        self._answer_or_fail()
        self.queries.append(text)
        return self._vector(text)

    async def close(self) -> None:
        return None

    def _answer_or_fail(self) -> None:
        self.calls += 1
        if self.down:
            raise EmbedderUnavailable(f"model `{self.model.name}`: the fake provider is down")

    def _vector(self, text: str) -> bytes:
        counts = [0] * self.model.dimensions
        for word in re.findall(r"\w+", text.lower()):
            digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
            counts[int.from_bytes(digest[:4], "big") % self.model.dimensions] += 1
        length = math.hypot(*counts) or 1.0
        return bytes(round(127 * count / length) for count in counts)


A_DAY_S = 86_400.0
HEARTBEAT_LIKE_S = 15.0


class FakeClock:
    """Time that passes only when a task waits for it.

    Short waits (a retry, a crawl delay) move the time themselves. Longer ones, such as a heartbeat, are the
    background kind: they end when others have moved the time far enough.
    """

    def __init__(self, now: datetime = datetime(2024, 1, 1, tzinfo=UTC)) -> None:
        self._moved = asyncio.Event()
        self._now = now
        self._monotonic = 0.0
        self.waits: list[float] = []
        self.jitter_value = 0.0
        self._asleep: list[float] = []
        self._fell_asleep = asyncio.Event()

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def jitter(self) -> float:
        return self.jitter_value

    async def sleep(self, seconds: float) -> None:
        if seconds < HEARTBEAT_LIKE_S:
            self.waits.append(seconds)
            self.advance(seconds)
            return
        due = self._monotonic + seconds
        with self._sleeping(seconds):
            while self._monotonic < due:
                await self._moved.wait()

    async def asleep(self, at_least: float, at_most: float = math.inf) -> None:
        """Wait until a task sleeps for so long: what it had to do before is done."""
        while not any(at_least <= seconds <= at_most for seconds in self._asleep):
            await self._fell_asleep.wait()

    @contextmanager
    def _sleeping(self, seconds: float) -> Iterator[None]:
        self._asleep.append(seconds)
        self._fell_asleep.set()
        self._fell_asleep = asyncio.Event()
        try:
            yield
        finally:
            self._asleep.remove(seconds)

    def jump(self, to: datetime) -> None:
        """The clock is set; no time passes."""
        self._now = to

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)
        self._monotonic += seconds
        self._moved.set()
        self._moved = asyncio.Event()
