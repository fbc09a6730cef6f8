"""The document at an address, and what is known of an address where readers see none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol
from urllib.parse import unquote

from rowen.core.document import Outcome
from rowen.core.feed import Document
from rowen.core.freshness.truth import (
    NEVER_ANSWERED,
    NEVER_SEEN,
    Failure,
    State,
    Truth,
    why_gone,
    why_present,
)
from rowen.core.source import Source
from rowen.core.web import urls
from rowen.ports.store.documents import Documents
from rowen.ports.store.feed import Feed
from rowen.ports.store.learning.outcomes import Outcomes, Said
from rowen.ports.store.search import Search
from rowen.ports.store.sources import Sources
from rowen.reading.proof import proven

PAGE = 1000
MAX_TAILS = 32


class AddressStore(Sources, Feed, Documents, Search, Outcomes, Protocol):
    """Documents, and what runs said of those that are gone."""


async def truth(store: AddressStore, url: str, now: datetime) -> Truth:
    """Is there a document at this address, is it gone, or is neither known?"""
    found = await find(store, url, None)
    if found is None:
        return await not_visible(store, url)
    (document,) = await proven(store, [found], now)
    said = await store.last_said(document.source_id, [document.reference])
    return Truth(
        url=document.url,
        state=State.PRESENT,
        at=document.verified_at,
        evidence=why_present(document.verified_by),
        by=document.verified_by,
        source=document.source,
        document_id=document.id,
        p_fresh=document.p_fresh,
        failure=_failure(said, since=document.verified_at),
    )


async def not_visible(store: AddressStore, url: str) -> Truth:
    """What runs said of an address at which readers see nothing."""
    address = url.partition("#")[0].strip()
    wanted = [*_spellings(address), *_tails(address)]
    host = urls.host_of(address)
    best = Truth(url=address, state=State.UNKNOWN, at=None, evidence=NEVER_SEEN)
    for source in await store.sources():
        # A page of a site is asked for in the sources of that site; a path may be in any.
        if host and urls.host_of(source.location) not in ("", host):
            continue
        one = _judged(address, source, await store.last_said(source.id, wanted))
        if (one.at is not None and (best.at is None or one.at > best.at)) or (
            best.at is None and one.failure is not None
        ):
            best = one
    return best


async def of_reference(store: AddressStore, source_id: int, reference: str) -> Truth | None:
    """The same of a reference of one source; None when that source is gone, too."""
    source = await store.source(source_id)
    if source is None or await store.documents(source_id, references=[reference]):
        return None
    return _judged(reference, source, await store.last_said(source_id, [reference]))


def _judged(address: str, source: Source, said: Sequence[Said]) -> Truth:
    removal = next((one for one in said if one.outcome is Outcome.DELETED), None)
    if removal is None:
        failure = _failure(said, since=None)
        why = NEVER_SEEN if failure is None else NEVER_ANSWERED
        return Truth(
            url=address, state=State.UNKNOWN, at=None, evidence=why, source=source.label, failure=failure
        )
    return Truth(
        url=removal.reference,
        state=State.GONE,
        at=removal.at,
        evidence=why_gone(removal.reason, removal.detail),
        by=removal.reason,
        source=source.label,
        failure=_failure(said, since=removal.at),
    )


def _failure(said: Sequence[Said], *, since: datetime | None) -> Failure | None:
    for one in said:
        if one.outcome is Outcome.FAILED and (since is None or one.at > since):
            return Failure(at=one.at, why=one.detail or one.reason.replace("_", " "))
    return None


async def find(store: AddressStore, url: str, shown: Mapping[int, int] | None) -> Document | None:
    """The visible document at an address, also under another reference; of several, the one fetched last.

    With `shown`, one that readers saw in these generations.
    """
    address = url.partition("#")[0].strip()
    spellings = _spellings(address)
    wanted = [*spellings, *_tails(address)]
    sources = await store.sources()
    found: list[Document] = []
    for source in sources:
        named = await store.documents(source.id, references=wanted, shown=shown)
        found += [one for one in named if spellings & {one.reference, one.url}]
    if not found:
        looked = [await _by_another_name(store, source, spellings, shown) for source in sources]
        found = [one for one in looked if one is not None]
    return max(found, key=lambda one: one.fetched_at, default=None)


def _spellings(address: str) -> set[str]:
    """How a source may have written this address down. People leave out the scheme."""
    whole = [address] if "://" in address else [address, f"https://{address}", f"http://{address}"]
    known = {address, *(urls.normalise(one) or address for one in whole)}
    return known | {one.removesuffix("/") for one in known} | {f"{one.removesuffix('/')}/" for one in known}


def _tails(address: str) -> list[str]:
    """The ends of its path: a source of files knows each by its path inside the source."""
    segments = [unquote(part) for part in address.partition("?")[0].split("/") if part][-MAX_TAILS:]
    return ["/".join(segments[start:]) for start in range(len(segments))]


async def _by_another_name(
    store: AddressStore, source: Source, spellings: set[str], shown: Mapping[int, int] | None
) -> Document | None:
    """A page under another name it answers to, or an item whose reference has nothing to do with its URL."""
    if any(urls.host_of(one) == urls.host_of(source.location) != "" for one in spellings):
        aliases = (await store.references(source.id)).aliases
        meant = [aliases[one] for one in spellings if one in aliases]
        if meant and (named := await store.documents(source.id, references=meant, shown=shown)):
            return named[0]
    after = ""
    while page := await store.documents(source.id, after=after, limit=PAGE, shown=shown):
        for one in page:
            if one.url in spellings:
                return one
        if all(one.reference == one.url for one in page):
            # This source calls its documents by their addresses, and was asked for this one already.
            return None
        after = page[-1].reference
    return None
