"""What a stretch of the feed does to offers and companies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from rowen.core.offers.decide import Decision, KnownOffers, Seen, decide, link
from rowen.core.offers.offer import Posting, fingerprint
from tests.core.offers.test_company import named
from tests.support.job_board import DAY, days


def a_posting(number: str, name: str | None = "Acme", *, text: str = "") -> Posting:
    return Posting(
        provider="p",
        external_id=number,
        employer=named(name) if name else None,
        title="Cook",
        place="",
        url="",
        posted_at=None,
        updated_at=None,
        content_hash=b"",
        fingerprint=fingerprint("Cook", "", text),
    )


def seen(reference: str, posting: Posting | None, at: datetime = DAY, source_id: int = 1) -> Seen:
    return Seen(source_id=source_id, reference=reference, at=at, posting=posting)


def known(decision: Decision) -> KnownOffers:
    """A store that began empty and wrote this down."""
    return KnownOffers(
        offers=[
            replace(offer, repost_of=decision.reposts.get(offer.id, offer.repost_of))
            for offer in decision.offers
        ],
        sightings=decision.sightings,
        companies=decision.companies,
        last_offer_id=decision.last_offer_id,
        last_company_id=decision.last_company_id,
    )


def the_store(*news: Seen) -> KnownOffers:
    return known(link(decide(KnownOffers(), news), []))


def is_empty(decision: Decision) -> bool:
    parts: Sequence[object] = (
        decision.offers,
        decision.sightings,
        decision.companies,
        decision.forgotten,
        decision.merged,
        decision.reposts,
    )
    return not any(parts)


def test_what_was_never_seen_and_is_gone_is_no_news() -> None:
    assert is_empty(decide(KnownOffers(), [seen("a", None)]))


def test_reading_again_says_nothing() -> None:
    news = [
        seen("a", a_posting("1", text="same")),
        seen("b", a_posting("2", text="same"), days(1)),
        seen("c", None, days(1)),
        seen("a", None, days(2)),
    ]
    store = the_store(*news)
    again = decide(store, news[1:])
    assert is_empty(link(again, store.offers))


def test_an_offer_is_closed_when_it_was_last_said_to_be_gone() -> None:
    store = the_store(seen("a", a_posting("1")), seen("a", None, days(1)), seen("a", None, days(3)))
    assert [offer.closed_at for offer in store.offers] == [days(3)]
    assert is_empty(decide(store, [seen("a", None, days(2))])), "old news"


def test_a_reference_that_shows_another_offer_closes_the_one_before() -> None:
    store = the_store(seen("a", a_posting("1", text="x")), seen("a", a_posting("2", text="y"), days(1)))
    assert [(offer.external_id, offer.closed_at) for offer in store.offers] == [("1", days(1)), ("2", None)]


def test_an_offer_that_changed_its_words_is_a_repost_no_more() -> None:
    store = the_store(seen("a", a_posting("1", text="x")), seen("b", a_posting("2", text="x"), days(1)))
    assert [offer.repost_of for offer in store.offers] == [None, 1]
    decision = decide(store, [seen("a", a_posting("1", text="y"), days(2))])
    assert link(decision, store.offers).reposts == {2: None}


def test_an_offer_without_a_company_belongs_to_nobody_and_can_be_forgotten() -> None:
    store = the_store(seen("a", a_posting("1", None)))
    assert (store.companies, store.offers[0].company_id) == ([], None)
    decision = decide(replace(store, sightings=(), orphans={9: 1}), [])
    assert (list(decision.forgotten), list(decision.orphans), list(decision.left)) == ([1], [9], [])


def test_an_offer_that_another_source_does_not_show_either_is_closed_when_its_source_is_removed() -> None:
    store = the_store(
        seen("a", a_posting("1")),
        seen("a", a_posting("1"), source_id=2),
        seen("a", None, days(1), source_id=2),
    )
    rest = [sighting for sighting in store.sightings if sighting.source_id == 2]
    decision = decide(replace(store, sightings=rest, orphans={9: 1}), [])
    assert [offer.closed_at for offer in decision.offers] == [days(1)]
    assert not decision.forgotten


def test_ids_go_on_where_they_ended() -> None:
    store = KnownOffers(last_offer_id=40, last_company_id=70)
    decision = decide(store, [seen("a", a_posting("1")), seen("b", a_posting("2", "Bolt"))])
    assert [(offer.id, offer.company_id) for offer in decision.offers] == [(41, 71), (42, 72)]
    assert (decision.last_offer_id, decision.last_company_id) == (42, 72)
