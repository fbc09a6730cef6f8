"""Which names are one company, and what its offers say together."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from rowen.core.offers.company import Directory, Identity, aggregate, places, said_together
from rowen.core.offers.employer import Employer, employer
from tests.core.offers.test_offer import DAY, an_offer

ACME = Identity(id=1, name="Acme", website=None, keys=frozenset())


def named(
    name: str | None = "Acme", *, number: str | None = None, website: str | None = None, provider: str = "p"
) -> Employer:
    found = employer(provider=provider, company_id=number, name=name, website=website, boards=())
    assert found is not None
    return found


def partition(mentions: Sequence[Employer]) -> list[int]:
    """The company of each mention once all are known, as the place of its first mention."""
    directory = Directory([], last_id=0)
    ids = [directory.resolve(one) for one in mentions]
    final = [directory.current(one) for one in ids]
    return [final.index(one) for one in final]


def test_a_company_is_recognised_by_each_of_its_keys() -> None:
    full = named("Acme S.L.", number="7", website="acme.com")
    assert partition([full, named("Other", number="7")]) == [0, 0]
    assert partition([full, named("Other", website="www.acme.com")]) == [0, 0]
    assert partition([full, named("ACME")]) == [0, 0]
    assert partition([full, named("Other", number="8", website="other.com")]) == [0, 1]
    assert partition([full, named("Other", number="7", provider="q")]) == [0, 1], "ids are a board's own"


def test_a_company_met_by_name_is_the_same_when_more_is_known() -> None:
    assert partition([named(), named(website="acme.com")]) == [0, 0]
    assert partition([named(), named(number="7")]) == [0, 0]
    assert partition([named(), named(number="7"), named(website="acme.com"), named("X", number="7")]) == [
        0,
        0,
        0,
        0,
    ]


def test_one_name_and_two_ids_of_a_board_are_two_companies() -> None:
    one, two = named(number="7", website="acme.com"), named(number="8", website="acme.es")
    assert partition([one, two]) == [0, 1]
    assert partition([named(number="7"), named(number="8")]) == [0, 1]
    assert partition([named(number="7"), named(number="8", provider="q")]) == [0, 0]


def test_one_name_and_two_domains_are_two_companies() -> None:
    assert partition([named(website="acme.com"), named(website="acme.es")]) == [0, 1]


def test_a_name_that_fits_two_companies_joins_neither() -> None:
    one, two = named(number="7", website="acme.com"), named(number="8", website="acme.es")
    assert partition([one, two, named(number="5", provider="q"), named()]) == [0, 1, 2, 0]
    learnt = named(number="5", provider="q", website="acme.es")
    assert partition([one, two, named(number="5", provider="q"), learnt]) == [0, 1, 1, 1]


def test_companies_that_turn_out_to_be_one_are_merged_into_the_older() -> None:
    known = [
        Identity(id=3, name="Acme", website=None, keys=frozenset({"id:p:7"})),
        Identity(id=5, name="Acme Iberia", website="https://acme.com/", keys=frozenset({"domain:acme.com"})),
    ]
    directory = Directory(known, last_id=5)
    assert directory.resolve(named("Acme", number="7", website="acme.com")) == 3
    assert directory.merged == {5: 3}
    assert directory.current(5) == 3
    (changed,) = directory.changed
    assert changed.keys == {"id:p:7", "domain:acme.com", "name:acme"}
    assert changed.website == "https://acme.com/"
    assert directory.resolve(named("Acme Iberia", website="acme.com")) == 3


def test_a_company_that_was_new_a_moment_ago_leaves_no_trace_when_it_is_merged() -> None:
    directory = Directory([], last_id=10)
    directory.resolve(named("One", number="7"))
    assert directory.resolve(named("Two", website="acme.com")) == 12
    assert directory.resolve(named("One", number="7", website="acme.com")) == 11
    assert directory.merged == {}
    assert [one.id for one in directory.changed] == [11]
    assert directory.last_id == 12


def test_what_is_known_already_changes_nothing() -> None:
    directory = Directory([], last_id=0)
    directory.resolve(named("Acme", number="7", website="acme.com"))
    again = Directory(directory.changed, last_id=1)
    again.resolve(named("ACME S.L.", number="7", website="https://www.acme.com/jobs"))
    assert again.changed == []


def test_a_new_name_is_taken_over_and_a_new_spelling_is_not() -> None:
    directory = Directory([], last_id=0)
    for name in ("Acme", "ACME, S.L.", "Acme Iberia"):
        directory.resolve(named(name, number="7", website="acme.com"))
        directory.resolve(named(None, number="7", website="http://acme.com/es"))
    (company,) = directory.changed
    assert (company.name, company.website) == ("Acme Iberia", "https://acme.com/")
    directory.resolve(named("Acme Iberia", number="7", website="iberia.example"))
    assert directory.changed[0].website == "https://iberia.example/"


MENTIONS = st.builds(
    lambda name, number, website, provider: named(
        f"n{name}", number=number, website=website, provider=provider
    ),
    st.uuids(),
    st.none() | st.sampled_from("1234"),
    st.none() | st.sampled_from(["a.com", "b.com", "c.com"]),
    st.sampled_from("pq"),
)


@given(st.lists(MENTIONS, max_size=12), st.randoms())
def test_ids_and_domains_make_the_same_companies_in_any_order(
    mentions: list[Employer], shuffle: random.Random
) -> None:
    order = list(range(len(mentions)))
    shuffle.shuffle(order)
    usual, shuffled = partition(mentions), partition([mentions[place] for place in order])
    pairs = {(a, b) for a in order for b in order if usual[a] == usual[b]}
    where = {place: number for number, place in enumerate(order)}
    assert pairs == {(a, b) for a in order for b in order if shuffled[where[a]] == shuffled[where[b]]}


def test_offers_are_counted_together() -> None:
    offers = [
        replace(an_offer(1), place="Madrid"),
        replace(an_offer(2, day=1), place="madrid", repost_of=1),
        replace(an_offer(3, day=2), place="Barcelona", closed_at=DAY + timedelta(days=4)),
    ]
    company = aggregate(ACME, offers, resolution="called", as_of=DAY + timedelta(days=60))
    assert (company.open_offers, company.offers, company.reposts) == (2, 3, 1)
    assert company.places == ("Madrid", "Barcelona")
    assert (company.first_seen_at, company.last_seen_at) == (DAY, DAY + timedelta(days=4))
    assert company.resolution == "called"
    assert company.posting_rate == 0.67, "two new ones in 90 days"


def test_the_rate_forgets_what_is_older_than_ninety_days() -> None:
    offers = [an_offer(number, day=number) for number in range(9)]
    assert aggregate(ACME, offers, resolution="", as_of=DAY + timedelta(days=20)).posting_rate == 3.0
    assert aggregate(ACME, offers, resolution="", as_of=DAY + timedelta(days=93)).posting_rate == 1.67
    assert aggregate(ACME, offers, resolution="", as_of=DAY + timedelta(days=200)).posting_rate == 0.0
    posted_long_ago = [replace(offer, posted_at=DAY - timedelta(days=400)) for offer in offers]
    assert aggregate(ACME, posted_long_ago, resolution="", as_of=DAY).posting_rate == 0.0


def test_a_company_without_offers_can_be_shown() -> None:
    company = aggregate(ACME, [], resolution="called", as_of=None)
    assert (company.offers, company.first_seen_at, company.posting_rate) == (0, None, 0.0)


def test_the_most_frequent_place_comes_first_in_its_usual_spelling() -> None:
    assert places(["Ávila", "Sevilla", "Málaga", "MALAGA", "Málaga", "Sevilla", "", "-"]) == (
        "Málaga",
        "Sevilla",
        "Ávila",
    )


def test_nothing_people_said_is_lost() -> None:
    assert said_together(["called", "", "called", "left"]) == "called | left"
    assert said_together(["", ""]) == ""
