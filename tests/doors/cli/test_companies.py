"""`rowen companies` and `rowen company`: who is hiring, for people and for programs."""

from __future__ import annotations

import asyncio

import pytest

from rowen import config as settings
from rowen import wiring
from rowen.offers.companies import project
from tests.doors.conftest import Rowen
from tests.support.job_board import DAY, a_board, an_offer, days, show


@pytest.fixture
def boards(rowen: Rowen, db: str) -> None:
    """Acme with a closed offer and a repost of it; Bolt with one offer on another board."""

    async def make() -> None:
        async with wiring.open_ports(settings.load(db=db)[0]) as ports:
            one, two = await a_board(ports.store, "one"), await a_board(ports.store, "two")
            first = an_offer(1, "Acme\x1b[2J S.L.", text="same", website="acme.com", place="Málaga")
            again = an_offer(2, "Acme", text="same", website="acme.com", place="Málaga")
            await show(ports.store, one, [first], at=DAY)
            await project(ports)
            await show(ports.store, one, [again], gone=[first], at=days(1))
            await show(ports.store, two, [an_offer(3, "Bolt", title="Waiter", company_id="7")], at=days(2))
            await show(ports.store, two, [an_offer(4, "Bolt", title="Cook", company_id="7")], at=days(3))
            await project(ports)
            await ports.store.set_resolution(1, "called", DAY)

    asyncio.run(make())


def test_companies_for_programs(rowen: Rowen, boards: None) -> None:
    value = rowen("companies", "--json").json
    bolt, acme = value["companies"]
    assert (bolt["company_id"], bolt["name"], bolt["open_offers"]) == (2, "Bolt", 2)
    assert list(acme) == [
        "company_id",
        "name",
        "website",
        "open_offers",
        "offers",
        "reposts",
        "posting_rate",
        "places",
        "first_seen_at",
        "last_seen_at",
        "resolution",
    ]
    assert (acme["offers"], acme["reposts"], acme["website"]) == (2, 1, "https://acme.com/")
    assert (acme["places"], acme["resolution"]) == (["Málaga"], "called")
    assert acme["last_seen_at"] == days(1).isoformat()


def test_companies_can_be_narrowed(rowen: Rowen, boards: None) -> None:
    def names(*arguments: str) -> list[str]:
        return [one["name"] for one in rowen("companies", *arguments, "--json").json["companies"]]

    assert names("bolt") == names("--source", "two") == names("--min-open", "2") == ["Bolt"]
    assert names("--limit", "1") == ["Bolt"]
    assert names("nobody") == []
    assert rowen("companies", "--source", "three").code == 2


def test_companies_for_people(rowen: Rowen, boards: None) -> None:
    lines = rowen("companies").out.splitlines()
    titles = "id company open ever reposts a month places last news resolution"
    assert " ".join(lines[0].split()) == titles
    assert lines[1].split()[:6] == ["2", "Bolt", "2", "2", "0", "0.67"]
    assert lines[2].endswith("called")
    assert "\x1b" not in lines[2]


def test_a_store_without_companies_says_where_they_come_from(rowen: Rowen) -> None:
    ended = rowen("companies")
    assert (ended.code, ended.out) == (0, "no companies\n")
    assert "a job board" in ended.err


def test_one_company_for_programs(rowen: Rowen, boards: None) -> None:
    value = rowen("company", "acme.com", "--json").json
    assert value["company"]["company_id"] == 1
    again, first = value["offers"]
    assert (again["open"], again["repost_of"], again["sources"]) == (True, first["offer_id"], ["one"])
    assert (first["open"], first["closed_at"]) == (False, days(1).isoformat())
    assert (first["provider"], first["external_id"], first["title"]) == ("infojobs", "1", "Cook")


def test_one_company_for_people(rowen: Rowen, boards: None) -> None:
    out = rowen("company", "1").out
    assert "company 1  https://acme.com/" in out
    assert "1 open job listing, 2 ever, 1 repost" in out
    assert "places: Málaga\nresolution: called\n" in out
    assert (
        "open    2  Cook  Málaga  2026-05-02  repost of 1  one  https://www.infojobs.example/offers/2\n"
        in out
    )
    assert "\x1b" not in out


def test_a_company_that_is_not_there_is_a_wrong_call(rowen: Rowen, boards: None) -> None:
    ended = rowen("company", "nobody")
    assert ended.code == 2
    assert "rowen companies" in ended.err
