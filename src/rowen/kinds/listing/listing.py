"""Sources that can list everything they have: compare the listing with what readers see, fetch what differs.

For folders, repositories and portals alike: an item with the known validators costs nothing, an item
the listing does not name any more is gone, and only a complete listing proves that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any

from rowen.core import hashing
from rowen.core.document import Draft, Known, Validators
from rowen.engine.intake import Intake
from rowen.engine.ports import Ports
from rowen.engine.tasks import each
from rowen.errors import PermanentError, TransientError, Vanished
from rowen.fetching.client import STOPS
from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    reference: str
    validators: Validators
    url: str = ""
    """Where a reader finds it; empty when `Fetched` has it."""
    content_type: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fetched:
    body: bytes
    content_type: str = ""
    """More exact than the listing's, when the body came with one."""
    url: str = ""
    validators: Validators | None = None
    """In place of the listing's, when the body was put together from several files."""


Fetch = Callable[[Item], Awaitable[Fetched | None]]
"""Returns None for an item that is no document, after counting why."""

Look = Callable[[str], Awaitable[tuple[Item, Fetched | None] | None]]
"""What stands at a reference now; None for nothing, an item without a body for what is no document."""

BREATHE_EVERY = 500


async def take_in(
    ports: Ports,
    intake: Intake,
    items: Iterable[Item],
    fetch: Fetch,
    *,
    complete: bool,
    concurrency: int = 3,
    gone_reason: str = "absent",
    is_part: Callable[[str], bool] = bool,
    announce: Callable[[Sequence[Item]], Awaitable[None]] | None = None,
    sent: bool = False,
    same: Sequence[Known] = (),
) -> TransientError | None:
    """Go through a listing; returns why the upstream made the run stop early, if it did.

    Errors of one item are its own. Without a complete listing, or after a stop, nothing is gone, and the
    listing of a part of the source says nothing about references outside it (`is_part`). `announce` gets
    the items that will be fetched, for a source that can fetch them together. `sent` says that the bodies
    are part of the listing. `same` are listed too, and the caller has compared them: they are as they were.
    """
    leftovers = await ports.store.leftovers(intake.run.source_id)
    listed = {known.reference for known in same}
    intake.all_not_modified(same)
    waiting: list[Item] = []
    for number, item in enumerate(items, 1):
        listed.add(item.reference)
        known = intake.known.get(item.reference)
        left = leftovers.get(item.reference) if known is None else None
        askable = bool(item.validators) and not intake.unconditional
        if askable and known is not None and known.validators == item.validators:
            intake.not_modified(known, sent=sent)
        elif askable and left is not None and left.validators == item.validators:
            await intake.revived(left)
        else:
            waiting.append(item)
        if number % BREATHE_EVERY == 0:
            await asyncio.sleep(0)
    if announce is not None and waiting:
        await announce(waiting)
    work = [(item.reference, partial(_one, intake, item, fetch)) for item in waiting]
    stopped = await _each(intake, work, concurrency)
    if complete and stopped is None:
        for reference in [one for one in intake.known if one not in listed and is_part(one)]:
            intake.gone(reference, gone_reason)
    return stopped


async def take_in_named(
    intake: Intake, references: Sequence[str], look: Look, *, concurrency: int = 3
) -> TransientError | None:
    """Go through references that are said to have changed, without a listing; returns what `take_in` does.

    Only what `look` finds nothing of is gone.
    """

    async def one(reference: str) -> None:
        found = await look(reference)
        if found is None:
            intake.gone(reference, "absent")
        elif found[1] is None:
            intake.gone(reference, "unsupported_type")
        else:
            await receive(intake, found[0], found[1])

    return await _each(
        intake, [(reference, partial(one, reference)) for reference in references], concurrency
    )


async def _each(
    intake: Intake, work: Sequence[tuple[str, Callable[[], Awaitable[None]]]], concurrency: int
) -> TransientError | None:
    """Do the work of each reference; returns why the upstream made the run stop, if it did."""
    stopped: list[TransientError] = []
    intake.queued = len(work)

    async def do(reference: str, one: Callable[[], Awaitable[None]]) -> None:
        if stopped:
            return
        intake.queued -= 1
        try:
            await one()
        except STOPS as exc:
            intake.failed(reference, exc)
            stopped.append(exc)
        except Vanished:
            # It went between listing and reading; the next listing will say so, or show it again.
            intake.counters.ignored["vanished"] += 1
        except (TransientError, PermanentError) as exc:
            intake.failed(reference, exc)

    await each(work, lambda one: do(*one), concurrency)
    return stopped[0] if stopped else None


async def _one(intake: Intake, item: Item, fetch: Fetch) -> None:
    fetched = await fetch(item)
    if fetched is None:
        intake.gone(item.reference, "unsupported_type")
    else:
        await receive(intake, item, fetched)


async def receive(intake: Intake, item: Item, fetched: Fetched) -> None:
    known = intake.known.get(item.reference)
    body_hash = hashing.of_bytes(fetched.body)
    if known is not None and known.body_hash == body_hash and not intake.unconditional:
        intake.same_body(known, fetched.validators or item.validators)
        return
    validators = fetched.validators or item.validators
    content_type = fetched.content_type or item.content_type
    url = fetched.url or item.url
    converted = await intake.convert(fetched.body, content_type=content_type, url=url)
    await intake.fetched(
        Draft(
            reference=item.reference,
            url=url,
            title=converted.title,
            text=converted.text,
            body_hash=body_hash,
            body_bytes=len(fetched.body),
            validators=validators,
            content_type=content_type,
            metadata={**converted.metadata, **item.metadata},
        )
    )
