"""Searches in child processes: readers on more than one core, beside the other work of the parent.

Ranking, snippets and embedding a question hold the interpreter, and so do the event loop and a sync. A child
has the store open and answers one search after the other. What it cannot answer, it gives back: the parent
then asks itself, and reports what is wrong. Frames are JSON:

    parent:  u32 length, {"config": ..., "call": ...}
    child:   the answer, or nothing
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, BinaryIO

import orjson

from rowen.adapters.children.child import serve, take_pipes
from rowen.adapters.children.pool import ChildDied, ChildPool
from rowen.core.search.hit import AlsoAt, Answer, Filters, Hit, SearchCall, SearchMode, SectionHit
from rowen.errors import TransientError

TIMEOUT_S = 20.0
_LENGTH = struct.Struct(">I")
_TIMES = [one.name for one in fields(Hit) if "datetime" in str(one.type)]
_WARM_UP = SearchCall(query="warm up", filters=Filters(), mode=SearchMode.HYBRID, limit=1, prefix=False)


class SearchChildren:
    """Started by the first search, which does not wait for them."""

    def __init__(self, command: Sequence[str], workers: int, config: Mapping[str, Any]) -> None:
        self._pool = ChildPool(command, workers, who="search")
        self._workers = workers
        self._config = config
        self._starting: asyncio.Task[None] | None = None
        self._usable = False

    async def __call__(self, call: SearchCall) -> Answer | None:
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        return await self._ask(call) if self._usable else None

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

    async def _start(self) -> None:
        answers = await asyncio.gather(*(self._ask(_WARM_UP) for _ in range(self._workers)))
        self._usable = all(answer is not None for answer in answers)

    async def _ask(self, call: SearchCall) -> Answer | None:
        try:
            return await self._pool.ask(request(self._config, call), read_answer, timeout_s=TIMEOUT_S)
        except (ChildDied, TimeoutError):
            return None
        except TransientError:
            # No child starts any more: from now on this process does without.
            self._usable = False
            return None


def request(config: Mapping[str, Any], call: SearchCall) -> bytes:
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
    }
    # A question may hold half of a surrogate pair, which JSON in UTF-8 knows nothing of.
    asked["query"] = call.query.encode("utf-8", "replace").decode()
    frame = orjson.dumps({"config": config, "call": asked})
    return _LENGTH.pack(len(frame)) + frame


def read_request(stream: BinaryIO) -> tuple[Mapping[str, Any], SearchCall] | None:
    prefix = stream.read(_LENGTH.size)
    if len(prefix) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(prefix)
    frame = orjson.loads(stream.read(length))
    asked = frame["call"]
    since = asked["since"]
    filters = Filters(
        source_ids=frozenset(asked["source_ids"]),
        kinds=frozenset(asked["kinds"]),
        metadata=asked["metadata"],
        since=datetime.fromisoformat(since) if since else None,
        language=asked["language"],
    )
    return frame["config"], SearchCall(
        query=asked["query"],
        filters=filters,
        mode=SearchMode(asked["mode"]),
        limit=asked["limit"],
        prefix=asked["prefix"],
    )


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
    said["also_at"] = tuple(AlsoAt(**one) for one in said["also_at"])
    return Hit(**said)


def _spans(said: Sequence[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    return tuple((start, end) for start, end in said)


def answer_searches(answer: Callable[[Mapping[str, Any], SearchCall], Answer | None]) -> None:
    """The life of a child."""
    incoming, outgoing = take_pipes()
    serve(
        incoming,
        outgoing,
        read_request,
        lambda asked: write_answer(answer(*asked)),
        timeout_s=2 * TIMEOUT_S,
    )
