"""Searches in child processes: readers on more than one core, beside the other work of the parent.

Ranking, snippets and embedding a question hold the interpreter, and so do the event loop and a sync. A child
has the store open and answers one search after the other. What it cannot answer, it gives back: the parent
then asks itself, and reports what is wrong. Frames are JSON:

    parent:  u32 length, the settings; u32 length, the call
    child:   the answer as a value, or as the page of JSON that a caller of the service gets; or nothing

The settings are the same in every frame: a child reads them once.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, BinaryIO, NamedTuple, TypeVar

import orjson

from rowen.adapters.children.child import serve, take_pipes
from rowen.adapters.children.pool import ChildDied, ChildPool
from rowen.core.search.hit import AlsoAt, Answer, CopyAt, Filters, Hit, SearchCall, SearchMode, SectionHit
from rowen.errors import TransientError

T = TypeVar("T")

TIMEOUT_S = 20.0
_LENGTH = struct.Struct(">I")
_TIMES = [one.name for one in fields(Hit) if "datetime" in str(one.type)]
_WARM_UP = SearchCall(query="warm up", filters=Filters(), mode=SearchMode.HYBRID, limit=1, prefix=False)


class Page(NamedTuple):
    """Which of the hits a caller wants to see."""

    limit: int
    offset: int


class Asked(NamedTuple):
    """A request as a child reads it."""

    config: bytes
    call: SearchCall
    page: Page | None
    """The answer is wanted as JSON, as callers of the service get it."""


class SearchChildren:
    """Started by the first search, which does not wait for them."""

    def __init__(self, command: Sequence[str], workers: int, config: Mapping[str, Any]) -> None:
        self._pool = ChildPool(command, workers, who="search")
        self._workers = workers
        self._config = orjson.dumps(config)
        self._starting: asyncio.Task[None] | None = None
        self._usable = False

    async def __call__(self, call: SearchCall) -> Answer | None:
        return await self._ask(request(self._config, call), read_answer) if self._are_there() else None

    async def page(self, call: SearchCall, *, limit: int, offset: int) -> bytes | None:
        """Some of the hits of an answer as JSON: this process passes it on and reads nothing of it."""
        if not self._are_there():
            return None
        return await self._ask(request(self._config, call, Page(limit, offset)), lambda page: page or None)

    async def close(self) -> None:
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        await self._pool.close()

    async def started(self) -> bool:
        """Wait until they answer, or are known not to."""
        if self._starting is not None:
            await self._starting
        return self._usable

    def _are_there(self) -> bool:
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        return self._usable

    async def _start(self) -> None:
        warm_up = request(self._config, _WARM_UP)
        answers = await asyncio.gather(*(self._ask(warm_up, read_answer) for _ in range(self._workers)))
        self._usable = all(answer is not None for answer in answers)

    async def _ask(self, request: bytes, read: Callable[[bytes], T | None]) -> T | None:
        try:
            return await self._pool.ask(request, read, timeout_s=TIMEOUT_S)
        except (ChildDied, TimeoutError):
            return None
        except TransientError:
            # No child starts any more: from now on this process does without.
            self._usable = False
            return None


def request(config: bytes, call: SearchCall, page: Page | None = None) -> bytes:
    filters = call.filters
    asked = {
        "query": call.query,
        "mode": call.mode.value,
        "limit": call.limit,
        "prefix": call.prefix,
        "source_ids": sorted(filters.source_ids),
        "kinds": sorted(filters.kinds),
        "metadata": dict(filters.metadata),
        "since": filters.since,
        "language": filters.language,
        "page": list(page) if page else None,
    }
    # A question may hold half of a surrogate pair, which JSON in UTF-8 knows nothing of.
    asked["query"] = call.query.encode("utf-8", "replace").decode()
    frame = orjson.dumps(asked)
    return b"".join((_LENGTH.pack(len(config)), config, _LENGTH.pack(len(frame)), frame))


def read_request(stream: BinaryIO) -> Asked | None:
    prefix = stream.read(_LENGTH.size)
    if len(prefix) < _LENGTH.size:
        return None
    config = stream.read(*_LENGTH.unpack(prefix))
    asked = orjson.loads(stream.read(*_LENGTH.unpack(stream.read(_LENGTH.size))))
    since = asked["since"]
    filters = Filters(
        source_ids=frozenset(asked["source_ids"]),
        kinds=frozenset(asked["kinds"]),
        metadata=asked["metadata"],
        since=datetime.fromisoformat(since) if since else None,
        language=asked["language"],
    )
    call = SearchCall(
        query=asked["query"],
        filters=filters,
        mode=SearchMode(asked["mode"]),
        limit=asked["limit"],
        prefix=asked["prefix"],
    )
    return Asked(config, call, Page(*asked["page"]) if asked["page"] else None)


def write_answer(answer: Answer | None) -> bytes:
    return b"" if answer is None else orjson.dumps(answer)


def read_answer(payload: bytes) -> Answer | None:
    """Raises `ValueError` for what is no answer."""
    if not payload:
        return None
    try:
        said = orjson.loads(payload)
        said["mode"] = SearchMode(said["mode"])
        said["hits"] = tuple(_hit(one) for one in said["hits"])
        return Answer(**said)
    except (TypeError, KeyError) as exc:
        raise ValueError("not an answer") from exc


def _hit(said: dict[str, Any]) -> Hit:
    for name in _TIMES:
        if said[name] is not None:
            said[name] = datetime.fromisoformat(said[name])
    said["matches"] = _spans(said["matches"])
    said["sections"] = tuple(
        SectionHit(**{**one, "matches": _spans(one["matches"])}) for one in said["sections"]
    )
    said["copies"] = tuple(CopyAt(**one) for one in said["copies"])
    said["also_at"] = tuple(AlsoAt(**one) for one in said["also_at"])
    return Hit(**said)


def _spans(said: Sequence[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    return tuple((start, end) for start, end in said)


def answer_searches(answer: Callable[[Asked], bytes]) -> None:
    """The life of a child."""
    incoming, outgoing = take_pipes()
    serve(incoming, outgoing, read_request, answer, timeout_s=2 * TIMEOUT_S)
