"""Decide what a stretch of the change feed does to offers and companies.

Two steps, because the second needs to know more: `decide` says which offers, sightings and companies become
what; `link` then says which offers are reposts, among all that look like those that were touched. Both are
pure, and both say nothing about what stays as it is: reading a stretch twice changes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime

from rowen.core.offers.company import Directory, Identity
from rowen.core.offers.offer import Offer, Posting, Sighting, reposts
from rowen.records import dataclass

_Place = tuple[int, str, int]
"""Source, reference and offer: what a sighting is known by."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What readers see of one reference."""

    source_id: int
    reference: str
    at: datetime
    posting: Posting | None
    """None when they do not see it any more, or it is no offer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownOffers:
    """What the store has of the offers and companies in question."""

    offers: Sequence[Offer] = ()
    sightings: Sequence[Sighting] = ()
    """All of these offers, where the source is there."""
    orphans: Mapping[int, int] = field(default_factory=dict)
    """Sightings whose source was removed: their own id, and the offer's."""
    companies: Sequence[Identity] = ()
    last_offer_id: int = 0
    last_company_id: int = 0
    """The highest ids ever given; an id is not given twice."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What becomes of offers and companies."""

    offers: Sequence[Offer] = ()
    """New, or changed in anything."""
    forgotten: Sequence[int] = ()
    """Offers of which no source is left."""
    sightings: Sequence[Sighting] = ()
    orphans: Collection[int] = ()
    """Sightings to take away."""
    companies: Sequence[Identity] = ()
    merged: Mapping[int, int] = field(default_factory=dict)
    """Companies that turned out to be another one, and which."""
    left: Collection[int] = ()
    """Companies that lost an offer: without any, and without a resolution, they are forgotten."""
    alike: Collection[bytes] = ()
    """Fingerprints whose offers may be reposts of others than before."""
    last_offer_id: int
    last_company_id: int
    reposts: Mapping[int, int | None] = field(default_factory=dict)
    """Offers whose first one is another than before; None when it is their own."""


def decide(known: KnownOffers, seen: Iterable[Seen]) -> Decision:
    """What these references, in the order of the feed, make of what is known."""
    decider = _Decider(known)
    for one in seen:
        decider.see(one)
    return decider.decision()


def link(decision: Decision, alike: Iterable[Offer]) -> Decision:
    """Complete a decision with the reposts among `alike`: all kept offers with a fingerprint it names, and
    those of merged companies, as they are stored."""
    offers = {offer.id: replace(offer, company_id=_now(offer.company_id, decision.merged)) for offer in alike}
    offers |= {offer.id: offer for offer in decision.offers}
    for forgotten in decision.forgotten:
        offers.pop(forgotten, None)
    found = reposts(offers.values())
    changed = {id_: first for id_, first in found.items() if offers[id_].repost_of != first}
    return replace(decision, reposts=changed)


class _Decider:
    def __init__(self, known: KnownOffers) -> None:
        self._before = {offer.id: offer for offer in known.offers}
        self._offers = dict(self._before)
        self._by_key = {offer.key: offer.id for offer in known.offers}
        self._sightings = {_place(one): one for one in known.sightings}
        self._sightings_before = dict(self._sightings)
        self._of_offer: defaultdict[int, set[_Place]] = defaultdict(set)
        self._at: defaultdict[tuple[int, str], set[int]] = defaultdict(set)
        for one in self._sightings.values():
            self._note(one)
        self._directory = Directory(known.companies, last_id=known.last_company_id)
        self._last_offer_id = known.last_offer_id
        self._forgotten: set[int] = set()
        self._left: set[int] = set()
        self._orphans = known.orphans
        self._forget_removed_sources()

    def see(self, seen: Seen) -> None:
        touched = set(self._at[seen.source_id, seen.reference])
        if seen.posting is not None:
            offer_id = self._take_over(seen.posting, seen.at)
            touched.discard(offer_id)
            self._put(Sighting(offer_id=offer_id, source_id=seen.source_id, reference=seen.reference))
            self._open_or_close(offer_id)
        for offer_id in touched:
            known = self._sightings[seen.source_id, seen.reference, offer_id]
            gone_at = max(seen.at, known.gone_at or seen.at)
            self._put(replace(known, gone_at=gone_at))
            self._open_or_close(offer_id)

    def decision(self) -> Decision:
        offers = [
            replace(offer, company_id=self._current(offer.company_id)) for offer in self._offers.values()
        ]
        changed = [offer for offer in offers if self._before.get(offer.id) != offer]
        alike = {self._before[forgotten].fingerprint for forgotten in self._forgotten}
        for offer in changed:
            before = self._before.get(offer.id)
            if before is None or _likeness(before) != _likeness(offer):
                alike |= {one.fingerprint for one in (before, offer) if one is not None}
        return Decision(
            offers=changed,
            forgotten=sorted(self._forgotten),
            sightings=[
                one for place, one in self._sightings.items() if self._sightings_before.get(place) != one
            ],
            orphans=list(self._orphans),
            companies=self._directory.changed,
            merged=self._directory.merged,
            left={self._directory.current(one) for one in self._left},
            alike=alike,
            last_offer_id=self._last_offer_id,
            last_company_id=self._directory.last_id,
        )

    def _take_over(self, posting: Posting, at: datetime) -> int:
        """The offer that is shown, with what is shown of it now."""
        company_id = self._directory.resolve(posting.employer) if posting.employer else None
        known = self._offers.get(self._by_key.get(posting.key, 0))
        if known is None:
            self._last_offer_id += 1
            self._by_key[posting.key] = self._last_offer_id
        elif self._current(known.company_id) != company_id:
            self._leave(known.company_id)
        offer = Offer(
            id=known.id if known else self._last_offer_id,
            provider=posting.provider,
            external_id=posting.external_id,
            company_id=company_id,
            title=posting.title,
            place=posting.place,
            url=posting.url,
            posted_at=posting.posted_at,
            updated_at=posting.updated_at,
            content_hash=posting.content_hash,
            fingerprint=posting.fingerprint,
            first_seen_at=min(at, known.first_seen_at) if known else at,
            last_seen_at=max(at, known.last_seen_at) if known else at,
            closed_at=known.closed_at if known else None,
            repost_of=known.repost_of if known else None,
        )
        self._offers[offer.id] = offer
        return offer.id

    def _open_or_close(self, offer_id: int) -> None:
        gone = [self._sightings[place].gone_at for place in self._of_offer[offer_id]]
        times = [at for at in gone if at is not None]
        closed_at = max(times) if len(times) == len(gone) else None
        self._offers[offer_id] = replace(self._offers[offer_id], closed_at=closed_at)

    def _forget_removed_sources(self) -> None:
        """The sightings of a removed source go, and so do the offers that no other source sees."""
        for offer_id in set(self._orphans.values()):
            if self._of_offer[offer_id]:
                self._open_or_close(offer_id)
            else:
                offer = self._offers.pop(offer_id)
                del self._by_key[offer.key]
                self._forgotten.add(offer_id)
                self._leave(offer.company_id)

    def _put(self, sighting: Sighting) -> None:
        self._sightings[_place(sighting)] = sighting
        self._note(sighting)

    def _note(self, sighting: Sighting) -> None:
        self._of_offer[sighting.offer_id].add(_place(sighting))
        self._at[sighting.source_id, sighting.reference].add(sighting.offer_id)

    def _leave(self, company_id: int | None) -> None:
        if company_id is not None:
            self._left.add(company_id)

    def _current(self, company_id: int | None) -> int | None:
        return None if company_id is None else self._directory.current(company_id)


def _place(sighting: Sighting) -> _Place:
    return sighting.source_id, sighting.reference, sighting.offer_id


def _likeness(offer: Offer) -> tuple[object, ...]:
    """What decides whose repost it is."""
    return offer.company_id, offer.fingerprint, offer.appeared_at, offer.first_seen_at


def _now(company_id: int | None, merged: Mapping[int, int]) -> int | None:
    return None if company_id is None else merged.get(company_id, company_id)
