"""The way to an embedding provider: in batches, behind its circuit breaker, one model at a time for search.

Two models may differ: the *target* is the one the settings name, and new text is embedded with it; the
*search model* is the one whose vectors are complete. Filling the gaps of the target first and switching then
keeps search up all the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rowen.core.rules import breaker as breakers
from rowen.core.rules.breaker import Breaker, BreakerSettings, BreakerState
from rowen.core.section import Passage
from rowen.engine.ports import Ports
from rowen.engine.tasks import each
from rowen.errors import EmbedderRefused, EmbedderUnavailable
from rowen.eventloop import loop_here
from rowen.ports.embedder import Embedder, Model, waits
from rowen.ports.store.notes import Notes
from rowen.records import NamedTuple

SEARCH_MODEL = "search_model"
PENDING = "vectors_pending"
"""Notes of the store: the model that search uses; whether some visible text may lack its vector."""
CIRCUIT_OPEN = "circuit_open"
REJECTED = "rejected"
AUTH, SETTINGS = "auth", "settings"
"""Kinds of failures: not asked; this text is refused; every text is, until a person corrects a setting."""
PROBE = "rowen"
"""A text every model takes."""
FILL_BATCH = 512


def breaker_note(model: Model) -> str:
    return f"breaker:{model.name}"


class Embedded(NamedTuple):
    vectors: dict[bytes, bytes]
    rejected: dict[bytes, str]
    """Texts that the provider will never take, by their hash, and its words; they get vectors of nothing."""
    error: EmbedderUnavailable | None
    """Why some vectors are missing."""


def refusal(error: EmbedderUnavailable | None) -> EmbedderRefused | None:
    """The error for a person, where a failure is not the provider's but that of the key or the settings."""
    if error is None or error.facts.get("kind") not in (AUTH, SETTINGS):
        return None
    return EmbedderRefused(error.message, hint=error.hint, **error.facts)


async def check(ports: Ports) -> EmbedderRefused | None:
    """One call with a harmless text: is every text refused?"""
    try:
        await ports.embedder().embed([PROBE])
    except EmbedderUnavailable as exc:
        if exc.facts.get("kind") == REJECTED:
            exc.facts["kind"] = SETTINGS
        return refusal(exc)
    return None


async def embed(ports: Ports, passages: Sequence[Passage]) -> Embedded:
    """Vectors for these passages by their hash, as far as the provider can be had.

    Each call's answer is stored at once, so that an interruption costs the calls under way and nothing more.
    """
    found: dict[bytes, bytes] = {}
    error: EmbedderUnavailable | None = None
    if not passages:
        return Embedded({}, {}, None)
    embedder = ports.embedder()
    caller = _Caller(ports, embedder, await breaker_of(ports.store, embedder.model))
    size = max(1, caller.embedder.batch_size)
    batches = [passages[start : start + size] for start in range(0, len(passages), size)]

    async def take(batch: Sequence[Passage]) -> None:
        nonlocal error
        if error is not None and error.facts.get("kind") in (CIRCUIT_OPEN, AUTH, SETTINGS):
            return
        try:
            vectors = await caller.embed(batch)
        except EmbedderUnavailable as exc:
            # A call that fails costs its own texts their vectors; the breaker says when to stop.
            error = exc
            return
        found.update(vectors)
        if len(passages) > size:
            await ports.store.save_passages(batch, vectors, caller.embedder.model)

    # A provider that has failed is tried by one call after the other.
    await each(batches, take, ports.embedding_calls if caller.is_trusted else 1)
    return Embedded(found, caller.rejected, error)


class Filled(NamedTuple):
    texts: int
    error: EmbedderUnavailable | None
    """Why some are still missing."""


async def fill(ports: Ports) -> Filled:
    """Embed what readers see and has no vector under the target; then let search use the target."""
    filled = await _fill_visible(ports)
    if filled.error is None:
        await _note(ports.store, PENDING, False)
        await _note(ports.store, SEARCH_MODEL, _described(ports.embedder()))
    return filled


async def fill_if_pending(ports: Ports, *, before_run: bool = False) -> Filled:
    """The same where a run had to leave vectors out; a provider that is still away is no error here.

    `before_run` leaves it noted that vectors are missing: text that no reader sees yet may lack its own.
    A sync does not move a whole store to another model: that costs, and `rowen embed` does it.
    """
    if not await ports.store.note(PENDING) or not await is_search_model(ports.store, ports.embedder().model):
        return Filled(0, None)
    if await ports.store.retries(now=ports.clock.now()):
        # Their waits are for the provider as well.
        return Filled(0, None)
    return await (_fill_visible(ports) if before_run else fill(ports))


async def _fill_visible(ports: Ports) -> Filled:
    model, done = ports.embedder().model, 0
    while waiting := await ports.store.unembedded(model, limit=FILL_BATCH):
        vectors, _, error = await embed(ports, waiting)
        await ports.store.save_vectors(vectors, model)
        done += len(vectors)
        if error is not None:
            return Filled(done, error)
    return Filled(done, None)


async def is_search_model(notes: Notes, model: Model) -> bool:
    note = await notes.note(SEARCH_MODEL)
    return note is None or (note["name"], note["digest"]) == (model.name, model.digest)


async def left_out(notes: Notes) -> None:
    """Remember that some text was stored without its vectors."""
    await _note(notes, PENDING, True)


async def begin(ports: Ports) -> None:
    """The first model a store sees is the one search uses."""
    if await ports.store.note(SEARCH_MODEL) is None:
        await ports.store.save_note(SEARCH_MODEL, _described(ports.embedder()))


async def for_search(ports: Ports) -> Embedder:
    """The embedder whose vectors are complete: the target, or the one before it.

    While its circuit is open it answers at once that it cannot be had: a reader does not wait for a provider
    that is away.
    """
    embedder = ports.embedder()
    known = await ports.store.notes([SEARCH_MODEL, breaker_note(embedder.model)])
    note, remembered = known.get(SEARCH_MODEL), known.get(breaker_note(embedder.model))
    if note is not None and note["spec"] != dict(embedder.spec):
        embedder = ports.embedder_from(note["spec"])
        remembered = await ports.store.note(breaker_note(embedder.model))
    if waits(embedder):
        await loop_here()
    breaker = breakers.before_call(_breaker(remembered), ports.clock.now())
    return embedder if breakers.allows(breaker) else _Silent(embedder, breaker)


class _Silent:
    """An embedder whose circuit is open."""

    def __init__(self, embedder: Embedder, breaker: Breaker) -> None:
        self.model = embedder.model
        self.batch_size = embedder.batch_size
        self.spec = embedder.spec
        self._breaker = breaker

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        raise _not_asked(self.model, self._breaker)

    async def embed_query(self, text: str) -> bytes:
        raise _not_asked(self.model, self._breaker)

    async def close(self) -> None:
        return None


def _not_asked(model: Model, breaker: Breaker) -> EmbedderUnavailable:
    again = f"{breaker.opens_again_at:%H:%M:%S} UTC" if breaker.opens_again_at else "a while"
    return EmbedderUnavailable(
        f"model `{model.name}`: not asked after {breaker.failures} failures in a row: {breaker.last_error}",
        hint=f"it is retried after {again}; `rowen embed` fills the gaps",
        kind=CIRCUIT_OPEN,
    )


async def breaker_of(notes: Notes, model: Model) -> Breaker:
    return _breaker(await notes.note(breaker_note(model)))


def _breaker(remembered: Any) -> Breaker:
    return breakers.from_json(remembered) if remembered else breakers.CLOSED


class _Caller:
    """One provider behind its breaker; the state is written down when it changes, not at each call."""

    def __init__(self, ports: Ports, embedder: Embedder, breaker: Breaker) -> None:
        self.embedder = embedder
        self.rejected: dict[bytes, str] = {}
        self._ports = ports
        self._breaker = breaker

    @property
    def is_trusted(self) -> bool:
        return self._breaker.state is BreakerState.CLOSED

    async def embed(self, passages: Sequence[Passage]) -> dict[bytes, bytes]:
        try:
            answers = await self._call([passage.embeddable for passage in passages])
        except EmbedderUnavailable as exc:
            if exc.facts.get("kind") != REJECTED:
                raise
            # Is it a text, or is every call refused? A harmless text shows it.
            await self._call([PROBE], proving=True)
            return await self._in_halves(passages, exc)
        return {passage.hash: vector for passage, vector in zip(passages, answers, strict=True)}

    async def _in_halves(
        self, passages: Sequence[Passage], refused: EmbedderUnavailable
    ) -> dict[bytes, bytes]:
        """The provider refuses something among these: find it, and let the rest through."""
        if len(passages) == 1:
            # A text the model will never take: a vector of nothing, so that it is not paid for again.
            self.rejected[passages[0].hash] = refused.message
            return {passages[0].hash: bytes(self.embedder.model.dimensions)}
        middle = len(passages) // 2
        vectors: dict[bytes, bytes] = {}
        for half in (passages[:middle], passages[middle:]):
            try:
                answers = await self._call([passage.embeddable for passage in half])
            except EmbedderUnavailable as exc:
                if exc.facts.get("kind") != REJECTED:
                    raise
                vectors |= await self._in_halves(half, exc)
            else:
                vectors |= {p.hash: vector for p, vector in zip(half, answers, strict=True)}
        return vectors

    async def _call(self, texts: Sequence[str], *, proving: bool = False) -> list[bytes]:
        settings, clock = self._ports.breaker, self._ports.clock
        await self._become(breakers.before_call(self._breaker, clock.now()))
        if not breakers.allows(self._breaker):
            raise _not_asked(self.embedder.model, self._breaker)
        try:
            answers = await self.embedder.embed(texts)
        except EmbedderUnavailable as exc:
            if proving or exc.facts.get("kind") != REJECTED:
                await self._become(self._after_failure(exc, settings))
            if proving and exc.facts.get("kind") == REJECTED:
                # Every text is refused, so it is not about a text.
                hint = exc.hint or "check the settings under `embedding`"
                raise EmbedderUnavailable(
                    exc.message, hint=hint, kind=SETTINGS, status=exc.facts.get("status")
                ) from exc
            raise
        await self._become(breakers.after_success(self._breaker, settings))
        return answers

    def _after_failure(self, exc: EmbedderUnavailable, settings: BreakerSettings) -> Breaker:
        return breakers.after_failure(
            self._breaker,
            settings,
            self._ports.clock.now(),
            error=exc.message,
            rate_limited=exc.facts.get("kind") == "rate_limited",
            retry_after_s=exc.retry_after_s,
        )

    async def _become(self, after: Breaker) -> None:
        before, self._breaker = self._breaker, after
        if after != before:
            await self._ports.store.save_note(breaker_note(self.embedder.model), breakers.to_json(after))


def _described(embedder: Embedder) -> dict[str, Any]:
    model = embedder.model
    return {
        "name": model.name,
        "digest": model.digest,
        "dimensions": model.dimensions,
        "spec": dict(embedder.spec),
    }


async def _note(notes: Notes, name: str, value: Any) -> None:
    if await notes.note(name) != value:
        await notes.save_note(name, value)
