"""Companies: which of the names on offers are one company, and what can be said about it.

A company is known by keys that accumulate: ids of boards, domains, names. The id and the domain are believed:
names that share one are one company, in any order of discovery. A name is believed unless something
stronger speaks against it: two ids of the same board, or two domains, are two companies of one name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from rowen.core.offers.employer import DOMAIN, ID, NAME, Employer, company_name, domain_of, plain_words
from rowen.core.offers.offer import Offer
from rowen.records import dataclass

RATE_WINDOW = timedelta(days=90)
RATE_UNIT = timedelta(days=30)


@dataclass(frozen=True, kw_only=True, slots=True)
class Company:
    """A company with everything its offers tell, and what people say about it."""

    id: int
    name: str
    website: str | None
    resolution: str
    """What people wrote; never ours to change."""
    open_offers: int
    offers: int
    """Ever, reposts included."""
    reposts: int
    posting_rate: float
    """New offers in 30 days, over the last 90; reposts are not new."""
    places: tuple[str, ...]
    """The most frequent first."""
    first_seen_at: datetime | None
    """None for a company that was kept for its resolution and has no offers."""
    last_seen_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """A company as it is recognised."""

    id: int
    name: str
    website: str | None
    keys: frozenset[str]


class Directory:
    """The companies that some offers may belong to. New ones get the next ids; what is one is merged."""

    def __init__(self, known: Iterable[Identity], *, last_id: int) -> None:
        self._companies = {one.id: one for one in known}
        self._before = dict(self._companies)
        self._by_key: defaultdict[str, set[int]] = defaultdict(set)
        for one in self._companies.values():
            self._index(one)
        self._merged: dict[int, int] = {}
        self.last_id = last_id

    def resolve(self, employer: Employer) -> int:
        """The company that is meant."""
        meant = {owner for key in employer.keys if not key.startswith(NAME) for owner in self._by_key[key]}
        keys = frozenset(employer.keys).union(*(self._companies[one].keys for one in meant))
        fitting = [
            owner
            for key in employer.keys
            if key.startswith(NAME)
            for owner in sorted(self._by_key[key] - meant)
            if not _contradict(keys, self._companies[owner].keys)
        ]
        # A name that fits several companies joins none of them; who says nothing more is put to the oldest.
        if len(fitting) == 1 or (fitting and _is_bare(employer.keys)):
            meant.add(fitting[0])
            keys |= self._companies[fitting[0]].keys
        if not meant:
            self.last_id += 1
            company = Identity(id=self.last_id, name=employer.name, website=employer.website, keys=keys)
        else:
            company = self._merge(sorted(meant), keys)
        self._companies[company.id] = _as_named(company, employer)
        self._index(company)
        return company.id

    def current(self, company_id: int) -> int:
        """The id under which a company goes on."""
        while company_id in self._merged:
            company_id = self._merged[company_id]
        return company_id

    @property
    def merged(self) -> dict[int, int]:
        """Known companies that turned out to be another one, and which."""
        return {gone: self.current(gone) for gone in self._merged if gone in self._before}

    @property
    def changed(self) -> list[Identity]:
        """New companies and those of which more is known now."""
        return [one for one in self._companies.values() if self._before.get(one.id) != one]

    def _merge(self, ids: list[int], keys: frozenset[str]) -> Identity:
        # invariant: the older id stays. People have written it down.
        first, *others = ids
        websites = [self._companies[one].website for one in ids]
        for gone in others:
            company = self._companies.pop(gone)
            self._merged[gone] = first
            for key in company.keys:
                self._by_key[key].discard(gone)
        return replace(self._companies[first], keys=keys, website=next(filter(None, websites), None))

    def _index(self, company: Identity) -> None:
        for key in company.keys:
            self._by_key[key].add(company.id)


def aggregate(
    identity: Identity, offers: Collection[Offer], *, resolution: str, as_of: datetime | None
) -> Company:
    """What all offers of a company say together; `as_of` is when boards were last looked at."""
    last_seen = max((_last_news(offer) for offer in offers), default=None)
    until = max(filter(None, (as_of, last_seen)), default=None)
    recent = [
        offer
        for offer in offers
        if until and offer.repost_of is None and offer.appeared_at > until - RATE_WINDOW
    ]
    return Company(
        id=identity.id,
        name=identity.name,
        website=identity.website,
        resolution=resolution,
        open_offers=sum(offer.is_open for offer in offers),
        offers=len(offers),
        reposts=sum(offer.repost_of is not None for offer in offers),
        posting_rate=round(len(recent) * (RATE_UNIT / RATE_WINDOW), 2),
        places=places(offer.place for offer in offers),
        first_seen_at=min((offer.first_seen_at for offer in offers), default=None),
        last_seen_at=last_seen,
    )


def places(names: Iterable[str]) -> tuple[str, ...]:
    """Each place once, in its most frequent spelling, the most frequent place first."""
    spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name in names:
        if plain := " ".join(plain_words(name)):
            spellings[plain][name] += 1
    ranked = sorted(spellings.items(), key=lambda found: (-found[1].total(), found[0]))
    return tuple(min(found, key=lambda name: (-found[name], name)) for _, found in ranked)


def said_together(resolutions: Iterable[str]) -> str:
    """What people said about companies that turned out to be one: nothing is lost, nothing is said twice."""
    return " | ".join(dict.fromkeys(text for text in resolutions if text))


def _last_news(offer: Offer) -> datetime:
    return max(offer.last_seen_at, offer.closed_at or offer.last_seen_at)


def _as_named(company: Identity, employer: Employer) -> Identity:
    """A new name is taken over, another spelling of the same is not: what people read should not flicker."""
    name, website = company.name, company.website
    if _has_name(employer.keys) and company_name(employer.name) != company_name(name):
        name = employer.name
    if employer.website and (website is None or domain_of(employer.website) != domain_of(website)):
        website = employer.website
    return replace(company, name=name, website=website)


def _has_name(keys: Iterable[str]) -> bool:
    return any(key.startswith(NAME) for key in keys)


def _is_bare(keys: Iterable[str]) -> bool:
    return all(key.startswith(NAME) for key in keys)


def _contradict(keys: frozenset[str], others: frozenset[str]) -> bool:
    """Do the stronger keys of two companies with one name say that they are two?"""
    ours, theirs = _by_issuer(keys), _by_issuer(others)
    return any(not ours[issuer] & theirs[issuer] for issuer in ours.keys() & theirs.keys())


def _by_issuer(keys: Iterable[str]) -> Mapping[str, set[str]]:
    """Boards issue ids, the world issues domains: no two of one issuer are the same."""
    issued: dict[str, set[str]] = {}
    for key in keys:
        if key.startswith(DOMAIN):
            issued.setdefault(DOMAIN, set()).add(key)
        elif key.startswith(ID):
            issued.setdefault(key.split(":", 2)[1], set()).add(key)
    return issued
