"""The kind `rss`: an RSS or Atom feed, its entries as documents."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rowen.plugin import (
    CONCURRENCY,
    CREDENTIALS,
    DELAY_S,
    BadLocation,
    Client,
    Counters,
    Fetched,
    Harvested,
    Intake,
    Item,
    Kind,
    Listing,
    Param,
    PermanentError,
    Ports,
    Prepared,
    Request,
    Source,
    StopReason,
    TransientError,
    Unfetchable,
    Validators,
    follow,
    one_of,
    open_client,
    stop_reason,
    take_in,
)
from rowen_rss.feed import Entry, Feed, parse

ABSENT = Param(
    name="absent",
    default="keep",
    parse=one_of("keep", "gone"),
    identity=False,
    help="What an entry is that the feed does not list any more; most feeds list the newest ones only",
)
PARAMS = (ABSENT, CONCURRENCY, DELAY_S, *CREDENTIALS)


async def prepare(ports: Ports, location: str, *, settings: Mapping[str, Any], check: bool) -> Prepared:
    if not location.startswith(("http://", "https://")):
        raise BadLocation(f"location `{location}`: not an http or https address", location=location)
    if not check:
        return Prepared(kind="rss", location=location)
    try:
        async with open_client(ports, location, settings, Counters()) as client:
            feed, _ = await _ask(client, location, Validators())
    except (TransientError, PermanentError) as exc:
        raise BadLocation(f"location `{location}`: {exc.message}", hint=exc.hint) from exc
    found = f"`{feed.title}`, a feed with {len(feed.entries)} entries: kind `rss`" if feed else ""
    return Prepared(kind="rss", location=location, findings=(found,))


async def harvest(ports: Ports, source: Source, params: Mapping[str, Any], intake: Intake) -> Harvested:
    remembered = (await ports.store.listings(source.id)).get(source.location)
    validators = remembered.validators if remembered and not intake.unconditional else Validators()
    try:
        async with open_client(ports, source.location, params, intake.counters) as client:
            feed, validators = await _ask(client, source.location, validators)
    except TransientError as exc:
        return Harvested.stopped(stop_reason(exc), exc, root_answered=False)
    except PermanentError as exc:
        return Harvested.stopped(StopReason.ERROR, exc, root_answered=False)
    if feed is None and remembered is not None:
        # Not "nothing changed": readers may see an older generation than the one this feed made.
        feed = _remembered(remembered)
    elif feed is not None:
        listing = Listing(url=source.location, validators=validators, payload=asdict(feed))
        if listing != remembered:
            await ports.store.save_listing(intake.lease, source.id, listing)
    if feed is None:
        raise AssertionError("a server that answers 304 was asked about something")
    await _take_in(ports, intake, feed, complete=params["absent"] == "gone")
    return Harvested(stop_reason=StopReason.EXHAUSTED)


async def _ask(client: Client, location: str, validators: Validators) -> tuple[Feed | None, Validators]:
    """The feed, or None when it has not changed."""
    at, response = await follow(client.ask, Request(location, validators))
    if response.status == 304 and validators:
        return None, validators
    if response.status != 200:
        raise Unfetchable(f"`{at}`: {response.status} from the server", url=at, status=response.status)
    try:
        return parse(response.body, at), response.validators
    except ValueError as exc:
        raise Unfetchable(f"`{at}`: {exc}", url=at) from exc


async def _take_in(ports: Ports, intake: Intake, feed: Feed, *, complete: bool) -> None:
    pages = {entry.id: entry.page() for entry in feed.entries}

    async def fetch(item: Item) -> Fetched:
        return Fetched(pages[item.reference])

    items = [
        Item(
            reference=entry.id,
            # What an entry says is its validator: one that says the same is not converted again.
            validators=Validators(hashlib.sha256(pages[entry.id]).hexdigest()),
            url=entry.url,
            content_type="text/html; charset=utf-8",
            metadata=entry.metadata,
        )
        for entry in feed.entries
    ]
    await take_in(ports, intake, items, fetch, complete=complete)
    for reference in feed.deleted:
        intake.gone(reference, "deleted_entry")


def _remembered(listing: Listing) -> Feed:
    payload = listing.payload
    entries = [Entry(**entry) for entry in payload["entries"]]
    return Feed(title=payload["title"], entries=entries, deleted=list(payload["deleted"]))


RSS = Kind(name="rss", params=PARAMS, prepare=prepare, harvest=harvest)
