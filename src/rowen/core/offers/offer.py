"""Job listings: what a document says of one, what is kept of it, and which of them were posted again.

A document is an offer when its metadata says so under `offer`. The same offer of the same board may be seen
by several sources; it is open as long as one of them shows it. No clock here: times come with the feed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from rowen.core import hashing
from rowen.core.feed import Document
from rowen.core.offers.employer import Employer, employer, plain_words
from rowen.records import dataclass

OFFER = "offer"
"""Where a document's metadata tells of its offer."""
OFFER_KINDS = frozenset(("infojobs", "greenhouse", "lever", "rest"))
"""The kinds of source that may hold offers; no other source is asked for them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Posting:
    """An offer as a visible document shows it."""

    provider: str
    external_id: str
    """What the board calls it."""
    employer: Employer | None
    title: str
    place: str
    url: str
    posted_at: datetime | None
    updated_at: datetime | None
    content_hash: bytes
    fingerprint: bytes

    @property
    def key(self) -> tuple[str, str]:
        return self.provider, self.external_id


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """An offer as it is kept, from the day it was met to long after it was closed."""

    id: int
    provider: str
    external_id: str
    company_id: int | None
    title: str
    place: str
    url: str
    posted_at: datetime | None
    updated_at: datetime | None
    content_hash: bytes
    fingerprint: bytes
    first_seen_at: datetime
    last_seen_at: datetime
    """When there was the last news of it while readers saw it."""
    closed_at: datetime | None = None
    """None while readers see it."""
    repost_of: int | None = None
    """The offer that was posted first, if this one is that one again."""
    sources: tuple[str, ...] = ()
    """The labels of the sources that see it, or saw it last; only when offers are listed."""

    @property
    def key(self) -> tuple[str, str]:
        return self.provider, self.external_id

    @property
    def is_open(self) -> bool:
        return self.closed_at is None

    @property
    def appeared_at(self) -> datetime:
        """When it was posted, as far as the board says so; never later than when we first saw it."""
        return min(self.posted_at or self.first_seen_at, self.first_seen_at)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sighting:
    """An offer in a source, as one of its references."""

    offer_id: int
    source_id: int
    reference: str
    gone_at: datetime | None = None
    """None while readers see it there."""


def is_offer(metadata: Mapping[str, Any]) -> bool:
    return isinstance(metadata.get(OFFER), dict)


def read(document: Document, *, boards: Collection[str]) -> Posting | None:
    """What a document says of an offer, or None; its text has been asked for.

    `boards` are the domains under which offers are shown: a company that seems to live there lives elsewhere.
    A value of another type than expected counts as missing: boards are not reliable.
    """
    if not is_offer(document.metadata):
        return None
    said = document.metadata[OFFER]
    company = said.get("company")
    company = company if isinstance(company, dict) else {}
    # A board that does not say its name is one of its own, and so are its items without an id.
    provider = (_text(said.get("provider")) or document.source).replace(":", "-")
    place = _text(said.get("place")) or ""
    return Posting(
        provider=provider,
        external_id=_text(said.get("id")) or document.reference,
        employer=employer(
            provider=provider,
            company_id=_text(company.get("id")),
            name=_text(company.get("name")),
            website=_text(company.get("website")),
            boards=boards,
        ),
        title=_text(document.title) or "",
        place=place,
        url=document.url,
        posted_at=_time(said.get("posted_at")),
        updated_at=_time(said.get("updated_at")),
        content_hash=document.content_hash,
        fingerprint=fingerprint(document.title, place, document.text or ""),
    )


def fingerprint(title: str, place: str, text: str) -> bytes:
    """The same for an offer that was posted again.

    Case, accents, punctuation and layout do not count, nor do words with digits in the text: dates, numbers
    of applicants and references are new each time.
    """
    parts = plain_words(title), plain_words(place), plain_words(text, digits=False)
    return hashing.of_text("\n".join(" ".join(words) for words in parts))


def reposts(offers: Iterable[Offer]) -> dict[int, int | None]:
    """Of each offer, the first one of the same company with the same fingerprint; None when it is that one.

    Depends on the offers alone, not on the order in which they came. Without a company nothing is a repost:
    two strangers may use the same words.
    """
    alike: defaultdict[tuple[int, bytes], list[Offer]] = defaultdict(list)
    found: dict[int, int | None] = {}
    for offer in offers:
        found[offer.id] = None
        if offer.company_id is not None:
            alike[offer.company_id, offer.fingerprint].append(offer)
    for group in alike.values():
        first = min(group, key=lambda offer: (offer.appeared_at, offer.first_seen_at, offer.key))
        found |= {offer.id: first.id for offer in group if offer is not first}
    return found


def _text(value: Any) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    # Databases end a text where it holds a zero: what is looked up would not be what was stored.
    return " ".join(value.replace("\0", " ").split()) or None if isinstance(value, str) else None


def _time(value: Any) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        # A date far out of the calendar cannot be moved to our zone.
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
