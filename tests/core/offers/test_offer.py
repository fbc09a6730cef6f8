"""What a document says of an offer, and which offers are others posted again."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.feed import Document
from rowen.core.offers.offer import Offer, fingerprint, read, reposts

DAY = datetime(2026, 5, 1, tzinfo=UTC)
FULL = {
    "provider": "infojobs",
    "id": "abc",
    "company": {"id": "7", "name": "Acme S.L.", "website": "https://acme.com"},
    "place": "Madrid",
    "posted_at": "2026-04-30T10:00:00+02:00",
    "updated_at": "2026-05-01",
}


def a_document(offer: Any, text: str = "We look for a cook.") -> Document:
    return Document(
        id=1,
        source_id=1,
        source="jobs",
        kind="rest",
        reference="item/1",
        url="https://board.example/1",
        title=" Cook \n(H/M)",
        metadata={"place": "Madrid"} if offer is None else {"offer": offer},
        content_type="application/json",
        content_hash=b"hash",
        generation=1,
        born=1,
        fetched_at=DAY,
        text=text,
    )


def an_offer(number: int, *, company: int | None = 1, day: int = 0, look: bytes = b"same") -> Offer:
    seen = DAY + timedelta(days=day)
    return Offer(
        id=number,
        provider="p",
        external_id=str(number),
        company_id=company,
        title="Cook",
        place="Madrid",
        url="https://board.example/1",
        posted_at=None,
        updated_at=None,
        content_hash=b"",
        fingerprint=look,
        first_seen_at=seen,
        last_seen_at=seen,
    )


def test_everything_an_offer_says_is_read() -> None:
    posting = read(a_document(FULL), boards=())
    assert posting is not None
    assert posting.key == ("infojobs", "abc")
    assert posting.employer is not None
    assert posting.employer.keys == ("id:infojobs:7", "domain:acme.com", "name:acme")
    assert (posting.title, posting.place, posting.url) == ("Cook (H/M)", "Madrid", "https://board.example/1")
    assert posting.posted_at == datetime(2026, 4, 30, 8, 0, tzinfo=UTC)
    assert posting.updated_at == DAY


def test_no_text_of_an_offer_holds_a_zero() -> None:
    said = {"id": "a\0b", "provider": "p\0", "place": "\0", "company": {"id": "7\0", "name": "A\0cme"}}
    posting = read(a_document(said), boards=())
    assert posting is not None
    assert (posting.key, posting.place) == (("p", "a b"), "")
    assert posting.employer is not None
    assert (posting.employer.name, posting.employer.keys) == ("A cme", ("id:p:7", "name:a cme"))


def test_a_document_without_an_offer_is_none() -> None:
    assert read(a_document(None), boards=()) is None
    assert read(a_document("yes"), boards=()) is None


def test_what_is_missing_is_made_up_from_the_document() -> None:
    posting = read(a_document({}), boards=())
    assert posting is not None
    assert posting.key == ("jobs", "item/1")
    assert (posting.employer, posting.place, posting.posted_at) == (None, "", None)


@given(
    st.dictionaries(
        st.sampled_from([*FULL]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: (
                st.lists(inner) | st.dictionaries(st.sampled_from(["id", "name", "website"]), inner)
            ),
        ),
    )
)
def test_boards_may_say_anything(offer: dict[str, Any]) -> None:
    posting = read(a_document(offer), boards=())
    assert posting is not None
    assert posting.external_id


@pytest.mark.parametrize("written", ["yesterday", "", "0001-01-01T00:00:00+14:00", 5, None])
def test_a_time_that_is_none_is_missing(written: Any) -> None:
    posting = read(a_document({**FULL, "posted_at": written}), boards=())
    assert posting is not None
    assert posting.posted_at is None


def test_an_offer_posted_again_has_the_same_fingerprint() -> None:
    first = fingerprint("Cook (H/M)", "Málaga", "## Cook\n\nPosted 2026-05-01, ref A12. **We** look for you!")
    again = fingerprint("COOK (h/m)", "Malaga ", "## Cook\nPosted 2026-06-01, ref B77. We look for you")
    assert first == again
    assert first != fingerprint("Cook (H/M)", "Málaga", "We look for somebody else")
    assert first != fingerprint("Cook 2", "Málaga", "## Cook\n\nPosted, ref. We look for you!")
    assert first != fingerprint("Cook (H/M)", "Madrid", "## Cook\n\nPosted, ref. We look for you!")
    assert fingerprint("a", "b", "") != fingerprint("a b", "", "")


def test_reposts_are_of_the_first_of_their_chain() -> None:
    offers = [an_offer(1, day=5), an_offer(2, day=1), an_offer(3, day=9), an_offer(4, look=b"other")]
    assert reposts(offers) == {1: 2, 2: None, 3: 2, 4: None}


def test_offers_of_others_are_no_reposts() -> None:
    assert not any(reposts([an_offer(1), an_offer(2, company=2)]).values())
    assert not any(reposts([an_offer(1, company=None), an_offer(2, company=None, day=1)]).values())


def test_what_a_board_says_of_the_day_counts_unless_it_is_after_we_saw_it() -> None:
    early = replace(an_offer(1, day=5), posted_at=DAY - timedelta(days=3))
    assert reposts([early, an_offer(2)]) == {1: None, 2: 1}
    late = replace(an_offer(1), posted_at=DAY + timedelta(days=30))
    assert late.appeared_at == DAY


@given(st.lists(st.tuples(st.integers(1, 2), st.integers(0, 3), st.sampled_from([b"x", b"y"]))), st.randoms())
def test_reposts_do_not_depend_on_order(rows: list[tuple[int, int, bytes]], shuffle: random.Random) -> None:
    offers = [
        an_offer(n, company=company, day=day, look=look) for n, (company, day, look) in enumerate(rows, 1)
    ]
    found = reposts(offers)
    shuffle.shuffle(offers)
    assert reposts(offers) == found
    assert all(found[first] is None for first in found.values() if first is not None), "no chains of chains"
