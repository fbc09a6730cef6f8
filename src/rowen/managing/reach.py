"""Do sources answer at all? Each is asked once, for the headers of its location alone.

What an answer says of the page behind it is for a run to judge: here a server that answers is there, but for
those that fail, refuse us or have nothing at that address.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rowen.core import params as parameters
from rowen.core.source import Source
from rowen.core.web import urls
from rowen.core.web.last_modified import http_date
from rowen.engine import confine
from rowen.engine.ports import Ports
from rowen.errors import HostUnknown, RowenError
from rowen.fetching import credentials
from rowen.fetching.client import open_fetcher
from rowen.kinds.crawl.refusals import FORBIDDEN
from rowen.ports.fetcher import Request, Response
from rowen.records import dataclass

AT_ONCE = 8
CRAWLED = frozenset({"web", "llms"})
"""Kinds whose location is a page of its own; that of an API need not be."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reached:
    source: Source
    problem: str | None = None
    """Why it cannot be had, in words; None when it answers."""
    hint: str | None = None
    asked: bool = True
    """False for locations that no single request can ask."""
    server_time: datetime | None = None
    """What the server's clock said."""
    answered_at: datetime | None = None
    """What ours said then."""


async def reach(ports: Ports, sources: Sequence[Source], *, limit_s: float) -> list[Reached]:
    """Ask every source once, several at a time, each for so long at most."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(source: Source) -> Reached:
        async with gate:
            return await _reach(ports, source, limit_s)

    return list(await asyncio.gather(*map(one, sources)))


async def _reach(ports: Ports, source: Source, limit_s: float) -> Reached:
    try:
        kind = ports.kinds.named(source.kind)
        settings = parameters.complete(kind.params, source.params)
        asking = confine.of_source(ports, source)
        if kind.follows_files:
            there = asking.folders.locate(source.location) is not None
            gone = f"bring it back, or `rowen remove {source.label}`"
            return _reached(source, None if there else "no such file or folder", gone)
        if urls.normalise(source.location) is None:
            return Reached(source=source, asked=False)
        async with (
            asyncio.timeout(limit_s),
            open_fetcher(asking, source.location, {**settings, "timeout_s": limit_s}) as fetcher,
        ):
            answer = await fetcher.fetch(Request(source.location, wanted=lambda status, headers: False))
    except TimeoutError:
        return _reached(source, f"no answer within {limit_s:g} s", _try_again(source))
    except HostUnknown as exc:
        spelling = f"check the network and the spelling; `rowen remove {source.label}` if it is gone for good"
        return _reached(source, exc.message, spelling)
    except RowenError as exc:
        return _reached(source, exc.message, exc.hint or _try_again(source))
    said, hint = _complaint(source, settings, answer)
    return Reached(
        source=source,
        problem=said,
        hint=hint,
        server_time=http_date(answer.headers.get("date", "")),
        answered_at=ports.clock.now(),
    )


def _complaint(
    source: Source, settings: Mapping[str, Any], answer: Response
) -> tuple[str | None, str | None]:
    status, label = answer.status, source.label
    said = f"`{urls.without_credentials(source.location)}`: {status} from the server"
    if status >= 500:
        return said, _try_again(source)
    if source.kind not in CRAWLED:
        return None, None
    if status in FORBIDDEN:
        return said, credentials.hint(settings)
    if status in (404, 410):
        return said, f"if it has moved, add its new address, then `rowen remove {label}`"
    return None, None


def _reached(source: Source, problem: str | None, hint: str | None) -> Reached:
    return Reached(source=source, problem=problem, hint=hint if problem else None)


def _try_again(source: Source) -> str:
    return f"`rowen sync {source.label}` tries again; `rowen runs {source.label}` shows what happened before"
