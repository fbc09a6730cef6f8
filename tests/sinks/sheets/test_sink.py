"""The Google Sheets sink: nights, people who change the sheet, and trouble in the middle."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from rowen.core import hashing
from rowen.core.exchange.sheet import COLUMNS
from rowen.core.exchange.sink import SinkEntry, sink_lease_name
from rowen.core.feed import START
from rowen.core.offers.company import Identity
from rowen.core.offers.decide import Decision
from rowen.core.offers.offer import Offer, Sighting
from rowen.engine.ports import no_spreadsheets
from rowen.engine.sink_kind import Sent
from rowen.errors import ConfigError, LeaseLost, RateLimited, ServerFailed, UserError
from rowen.sinks.announce import announce
from rowen.sinks.sheets import settings as sheet_settings
from rowen.sinks.sheets import sink as sheets
from tests.support.sheets_server import BOOK, EMAIL, SheetsServer, Tab
from tests.support.site import Site, html
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

NAME = "people"
MADRID = ZoneInfo("Europe/Madrid")


class Nights:
    """A world with a sink, a sheet and some companies."""

    def __init__(self, world: World, google: SheetsServer) -> None:
        self.world, self.google = world, google
        self.waits: list[float] = []
        self._offers = 0
        world.secrets["GOOGLE_KEY"] = google.key()

    @property
    def tab(self) -> Tab:
        return next(tab for tab in self.google.book.tabs if tab.title != "Other")

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.world.clock.advance(seconds)

    async def settle(self, **settings: Any) -> None:
        given = {
            "spreadsheet": f"https://docs.google.com/spreadsheets/d/{BOOK}/edit#gid=0",
            "credentials": "${GOOGLE_KEY}",
            "base_url": self.google.url,
            **settings,
        }
        given = {name: value for name, value in given.items() if value is not None}
        checked = sheets.check(self.world.ports, SinkEntry(name=NAME, kind="sheets", settings=given))
        await self.world.store.save_sink(NAME, kind="sheets", settings=checked, cursor=START)

    def go_to(self, hour: int, minute: int = 0, *, days: int = 0) -> None:
        """The next time clocks in Madrid show this, or some days later."""
        here = self.world.clock.now().astimezone(MADRID)
        at = here.replace(hour=hour, minute=minute, second=0, microsecond=0) + timedelta(days=days)
        if at < here:
            at += timedelta(days=1)
        self.world.clock.advance((at.astimezone(UTC) - self.world.clock.now()).total_seconds())

    async def send(self, *, force: bool = False) -> Sent:
        """One turn, recorded as whoever calls the sink records it."""
        store, clock = self.world.store, self.world.clock
        self.google.calls.clear()
        self.waits.clear()
        (sink,) = await store.sinks()
        lease = await store.acquire_lease(sink_lease_name(NAME), "test", now=clock.now(), ttl_s=60)
        assert lease is not None
        try:
            sent = await sheets.send(self.world.ports, sink, lease, force=force)
            if sent.state is not None:
                error = sent.error.message if sent.error else None
                await store.move_sink(
                    lease, NAME, cursor=sent.cursor, state=sent.state, error=error, now=clock.now()
                )
        finally:
            await store.release_lease(lease)
        return sent

    async def tonight(self) -> Sent:
        """The turn of the next night."""
        self.go_to(3, 30)
        return await self.send()

    async def next_night(self) -> Sent:
        self.go_to(12)
        return await self.tonight()

    async def company(
        self, number: int, name: str = "", *, offers: int = 1, website: str | None = None
    ) -> None:
        """A company with so many open offers, more than it had."""
        new = [self._offer(number) for _ in range(offers)]
        await self._save(companies=[_identity(number, name, website)], offers=new)

    async def companies(self, count: int) -> None:
        numbers = range(1, count + 1)
        offers = [self._offer(number) for number in numbers]
        await self._save(companies=[_identity(number) for number in numbers], offers=offers)

    def _offer(self, company: int) -> Offer:
        self._offers += 1
        digest = hashing.of_text(str(self._offers))
        return Offer(
            id=self._offers,
            provider="board",
            external_id=str(self._offers),
            company_id=company,
            title=f"Work {self._offers}",
            place="Madrid",
            url=f"https://board.example/{self._offers}",
            posted_at=None,
            updated_at=None,
            content_hash=digest,
            fingerprint=digest,
            first_seen_at=self.world.clock.now(),
            last_seen_at=self.world.clock.now(),
        )

    async def merge(self, gone: int, into: int) -> None:
        await self._save(merged={gone: into})

    async def forget(self, *numbers: int) -> None:
        """The source of these companies, with one offer each, is gone."""
        await self._save(forgotten=numbers, left=numbers)

    async def seen_in(self, source_id: int, *offers: int) -> None:
        seen = [Sighting(offer_id=one, source_id=source_id, reference=str(one)) for one in offers]
        await self._save(sightings=seen)

    async def _save(self, **changes: Any) -> None:
        decision = Decision(**changes, last_offer_id=self._offers, last_company_id=9999)
        store, now = self.world.store, self.world.clock.now()
        lease = await store.acquire_lease("projection:companies", "test", now=now, ttl_s=60)
        assert lease is not None
        await store.save_offers(lease, decision, cursor=None)
        await store.release_lease(lease)

    async def resolution(self, number: int) -> str:
        company = await self.world.store.company(number)
        assert company is not None
        return company.resolution


def _identity(number: int, name: str = "", website: str | None = None) -> Identity:
    keys = frozenset({f"name:{number}"})
    return Identity(id=number, name=name or f"Company {number}", website=website, keys=keys)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site({"/": html("Work", "Offers")}) as made:
        yield made


@pytest.fixture
async def nights(tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Nights]:
    async with a_world(tmp_path, site) as world:
        with SheetsServer(world.clock.now) as google:
            made = Nights(world, google)
            # No heartbeat here that would have to wait in the background: every wait moves the time.
            monkeypatch.setattr(world.clock, "sleep", made.sleep)
            await made.settle()
            yield made


async def test_the_first_night_makes_the_tab_its_columns_and_its_rows(nights: Nights) -> None:
    await nights.company(1, "Acme", offers=2, website="https://acme.example")
    await nights.company(2, "=HYPERLINK(1)")
    sent = await nights.tonight()
    assert nights.tab.title == "Companies"
    assert nights.tab.header() == [*COLUMNS, "resolution"]
    first, second = nights.tab.table()[1:]
    assert first[:8] == [1, "Acme", "https://acme.example", 2, 2, 0, 0.67, "Madrid"]
    assert first[8:] == ["2024-01-01", "2024-01-01", ""]
    assert second[1] == "=HYPERLINK(1)"
    assert sent.error is None
    assert sent.waiting_until is None
    assert sent.sent == 11 + 10 + 9


async def test_an_unchanged_night_costs_one_reading_and_no_writing(nights: Nights) -> None:
    await nights.companies(3)
    await nights.tonight()
    written = nights.world.store.rows_written()
    sent = await nights.next_night()
    assert nights.google.kinds() == ["token", "read"]
    assert (sent.sent, sent.error, sent.waiting_until) == (0, None, None)
    # The lease, the sink's state, and letting the lease go.
    assert nights.world.store.rows_written() - written <= 4


async def test_a_changed_night_sends_the_changed_cells_in_one_call(nights: Nights) -> None:
    await nights.companies(50)
    await nights.tonight()
    await nights.company(7)
    sent = await nights.next_night()
    assert nights.google.kinds() == ["token", "read", "write", "read"]
    (write,) = [call for call in nights.google.calls if call.kind == "write"]
    assert write.cells == sent.sent == 3
    assert nights.tab.at(7, "open_offers") == 2


async def test_nothing_is_asked_by_day(nights: Nights) -> None:
    await nights.companies(1)
    nights.go_to(12)
    sent = await nights.send()
    assert nights.google.calls == []
    assert sent == Sent(sent=0, waiting_until=datetime(2024, 1, 2, 2, tzinfo=UTC))


async def test_a_night_has_one_good_sync(nights: Nights) -> None:
    await nights.companies(1)
    await nights.tonight()
    await nights.company(2)
    nights.world.clock.advance(60)
    sent = await nights.send()
    assert nights.google.calls == []
    assert sent.waiting_until == datetime(2024, 1, 2, 2, tzinfo=UTC)
    assert (await nights.next_night()).sent == 10 - 1


async def test_somebody_who_insists_is_served_by_day_and_the_night_still_comes(nights: Nights) -> None:
    await nights.companies(1)
    nights.go_to(12)
    assert (await nights.send(force=True)).sent
    await nights.company(2)
    assert (await nights.tonight()).sent == 9


async def test_the_window_can_be_set(nights: Nights) -> None:
    await nights.settle(timezone="America/New_York", **{"from": "22:00", "to": "01:00"})
    await nights.companies(1)
    nights.go_to(4, 30)
    assert (await nights.send()).sent
    nights.world.clock.advance(5 * 3600)
    sent = await nights.send()
    assert sent.waiting_until == datetime(2024, 1, 2, 3, tzinfo=UTC)


async def test_people_sort_move_insert_and_rename_as_they_like(nights: Nights) -> None:
    await nights.companies(4)
    await nights.tonight()
    tab = nights.tab
    tab.sort("company", reverse=True)
    tab.insert_column(0, "my notes", "call four")
    tab.move_column("company_id", 6)
    tab.insert_row(3, "a row of my own")
    tab.title = "Prospects"
    nights.google.book.add("Companies")
    await nights.company(4)
    before = nights.tab.table()
    sent = await nights.next_night()
    assert sent.sent == 3
    assert nights.google.kinds() == ["token", "read", "write", "read"]
    after = nights.tab.table()
    assert after[0] == before[0]
    assert [row[0] for row in after] == [row[0] for row in before]
    assert nights.tab.column("company_id") == [4, 3, "", 2, 1]
    assert nights.tab.at(1, "open_offers") == 2
    assert nights.tab.at(1, "my notes") == "call four"


async def test_what_people_delete_comes_back_and_what_they_change_of_ours_is_put_right_once(
    nights: Nights,
) -> None:
    await nights.companies(3)
    await nights.tonight()
    nights.tab.type(3, "offers", 1000)
    nights.tab.delete_row(1)
    nights.tab.delete_column("website")
    sent = await nights.next_night()
    assert sent.error is None
    assert nights.tab.column("company_id") == [2, 3, 1]
    assert nights.tab.column("offers") == [1, 1, 1]
    assert nights.tab.header()[-1] == "website"
    await nights.next_night()
    assert nights.google.kinds() == ["token", "read"]


async def test_a_deleted_header_is_for_a_person_to_bring_back(nights: Nights) -> None:
    await nights.companies(2)
    await nights.tonight()
    header = nights.tab.grid[0]
    nights.tab.delete_row(0)
    before = nights.tab.table()
    sent = await nights.next_night()
    assert isinstance(sent.error, UserError)
    assert "names of our columns is gone" in sent.error.message
    assert nights.tab.table() == before
    nights.tab.insert_row(0, *header)
    assert (await nights.next_night()).error is None


async def test_a_tab_that_people_made_keeps_what_is_in_it(nights: Nights) -> None:
    tab = nights.google.book.add("companies", columns=3)
    tab.grid[0][:2] = ["Name", "Phone"]
    tab.grid[1][:2] = ["Acme", "123"]
    await nights.companies(1)
    await nights.tonight()
    assert nights.tab.header() == ["Name", "Phone", *COLUMNS, "resolution"]
    assert [row[:3] for row in nights.tab.table()[1:]] == [["Acme", "123", ""], ["", "", 1]]


async def test_a_column_that_is_left_out_stays_away(nights: Nights) -> None:
    await nights.settle(columns=["company", "open_offers"], sheet="Prospects")
    await nights.companies(1)
    await nights.tonight()
    assert nights.tab.title == "Prospects"
    assert nights.tab.table() == [
        ["company_id", "company", "open_offers", "resolution"],
        [1, "Company 1", 1, ""],
    ]


async def test_a_duplicated_row_is_kept_up_to_date_with_its_twin(nights: Nights) -> None:
    await nights.companies(2)
    await nights.tonight()
    nights.tab.type(1, "resolution", "yes")
    nights.tab.duplicate_row(1)
    nights.tab.type(2, "resolution", "no")
    await nights.company(1)
    await nights.next_night()
    assert nights.tab.column("company_id") == [1, 1, 2]
    assert nights.tab.column("open_offers") == [2, 2, 1]
    assert nights.tab.column("resolution") == ["yes", "no", ""]
    assert await nights.resolution(1) == "yes | no"


async def test_resolutions_are_read_and_never_written(nights: Nights) -> None:
    await nights.companies(3)
    await nights.tonight()
    nights.tab.type(1, "resolution", "  contacted ")
    nights.tab.type(2, "resolution", 5)
    await nights.next_night()
    assert [await nights.resolution(number) for number in (1, 2, 3)] == ["contacted", "5", ""]
    assert nights.tab.column("resolution") == ["  contacted ", 5, ""]
    nights.tab.type(1, "resolution", None)
    await nights.next_night()
    assert await nights.resolution(1) == ""
    await nights.world.store.set_resolution(2, "changed elsewhere", nights.world.clock.now())
    await nights.next_night()
    assert await nights.resolution(2) == "changed elsewhere"
    assert nights.tab.at(2, "resolution") == 5


async def test_a_resolution_survives_the_deletion_of_its_row_and_of_its_column(nights: Nights) -> None:
    await nights.companies(2)
    await nights.tonight()
    nights.tab.type(1, "resolution", "yes")
    nights.tab.type(2, "resolution", "no")
    await nights.next_night()
    nights.tab.delete_row(1)
    await nights.next_night()
    nights.tab.delete_column("resolution")
    await nights.next_night()
    assert nights.tab.header()[-1] == "resolution"
    await nights.next_night()
    assert [await nights.resolution(number) for number in (1, 2)] == ["yes", "no"]


async def test_a_tab_that_was_deleted_is_made_again_and_takes_nothing_back(nights: Nights) -> None:
    await nights.companies(2)
    await nights.tonight()
    nights.tab.type(1, "resolution", "yes")
    await nights.next_night()
    nights.google.book.tabs.clear()
    await nights.next_night()
    await nights.next_night()
    assert nights.tab.column("company_id") == [1, 2]
    assert await nights.resolution(1) == "yes"


async def test_a_row_that_came_back_had_lost_what_people_said(nights: Nights) -> None:
    await nights.companies(3)
    await nights.tonight()
    nights.tab.type(1, "resolution", "yes,\nbut later")
    nights.tab.type(2, "resolution", "=no")
    await nights.next_night()
    nights.tab.delete_row(1)
    await nights.next_night()
    assert nights.tab.column("company_id") == [2, 3, 1]
    assert nights.tab.column("resolution") == ["=no", "", "yes,\nbut later"]
    nights.google.book.tabs.clear()
    await nights.next_night()
    assert nights.tab.column("resolution") == ["yes,\nbut later", "=no", ""]
    # What came back is people's again.
    nights.tab.type(1, "resolution", None)
    await nights.next_night()
    assert (await nights.resolution(1), nights.tab.at(1, "resolution")) == ("", "")


async def test_a_forgotten_company_had_open_offers_for_ever(nights: Nights) -> None:
    await nights.companies(3)
    await nights.tonight()
    nights.tab.type(2, "resolution", "kept for this")
    await nights.next_night()
    await nights.forget(1, 2)
    assert (await nights.next_night()).error is None
    assert nights.tab.column("company_id") == [1, 2, 3]
    assert nights.tab.column("company") == ["Company 1", "Company 2", "Company 3"]
    assert nights.tab.column("open_offers") == [0, 0, 1]
    # From then on it is the people's row.
    nights.tab.type(1, "open_offers", 7)
    nights.tab.type(1, "company", "Gone S.L.")
    assert (await nights.next_night()).sent == 0
    assert nights.google.kinds() == ["token", "read"]


async def test_a_merged_company_goes_on_in_the_rows_of_both(nights: Nights) -> None:
    await nights.companies(2)
    await nights.tonight()
    nights.tab.type(1, "resolution", "yes")
    nights.tab.type(2, "resolution", "call")
    await nights.next_night()
    await nights.merge(2, 1)
    await nights.next_night()
    assert nights.tab.column("company_id") == [1, 2]
    assert nights.tab.column("company") == ["Company 1", "Company 1"]
    assert nights.tab.column("open_offers") == [2, 2]
    assert nights.tab.column("resolution") == ["yes", "call"]
    assert await nights.resolution(1) == "yes | call"


async def test_only_wanted_companies_get_a_row_and_rows_that_are_there_are_kept(nights: Nights) -> None:
    await nights.settle(min_open=2)
    await nights.company(1, offers=3)
    await nights.company(2, offers=1)
    await nights.tonight()
    assert nights.tab.column("company_id") == [1]
    nights.tab.insert_row(2, 2, "typed by hand")
    nights.tab.insert_row(3, "no id of ours", "mine")
    await nights.next_night()
    assert nights.tab.column("company") == ["Company 1", "Company 2", "mine"]


async def test_only_companies_of_matching_sources_get_a_row(nights: Nights) -> None:
    source = await nights.world.add("jobs-es")
    await nights.companies(2)
    await nights.seen_in(source.id, 2)
    await nights.settle(sources=["jobs-*"])
    await nights.tonight()
    assert nights.tab.column("company_id") == [2]


async def test_many_changes_go_in_calls_of_500_ranges(nights: Nights) -> None:
    await nights.settle(columns=["open_offers"])
    await nights.companies(1100)
    await nights.tonight()
    for number in range(1, 1101, 2):
        nights.tab.type(number, "open_offers", 0)
    sent = await nights.next_night()
    assert [call.ranges for call in nights.google.calls if call.kind == "write"] == [500, 50]
    assert nights.google.count("read") == 3
    assert sent.sent == 550


async def test_a_sheet_that_is_sorted_in_the_middle_ends_up_right(nights: Nights) -> None:
    await nights.companies(6)
    await nights.tonight()
    for number in range(1, 7):
        nights.tab.type(number, "company", f"Changed {number}")
        nights.tab.type(number, "resolution", f"about {number}")
    nights.google.before = lambda kind, number: (
        nights.tab.sort("company_id", reverse=True) if (kind, number) == ("write", 1) else None
    )
    sent = await nights.next_night()
    assert sent.error is None
    rows = nights.tab.table()[1:]
    assert [(row[0], row[1], row[-1]) for row in rows] == [
        (number, f"Company {number}", f"about {number}") for number in range(6, 0, -1)
    ]


async def test_people_who_never_stop_changing_the_sheet_do_not_keep_us_all_night(nights: Nights) -> None:
    await nights.companies(2)
    await nights.tonight()
    nights.google.before = lambda kind, number: (
        nights.tab.type(1, "company", f"{number}") if kind == "read" else None
    )
    sent = await nights.next_night()
    assert sent.error is None
    assert nights.google.count("write") == 1 + sheets.SPARE_ROUNDS


async def test_columns_that_somebody_takes_away_at_once_are_not_made_for_ever(nights: Nights) -> None:
    await nights.companies(1)
    await nights.tonight()

    def wipe(kind: str, number: int) -> None:
        if kind == "read" and "website" in nights.tab.header():
            nights.tab.delete_column("website")

    nights.google.before = wipe
    sent = await nights.next_night()
    assert sent.error is not None
    assert "do not stay in its header" in sent.error.message
    assert nights.google.count("write") == sheets.SPARE_ROUNDS


async def test_ids_that_nobody_has_are_left_alone(nights: Nights) -> None:
    await nights.companies(1)
    await nights.tonight()
    nights.tab.insert_row(2, 777, "typed by hand")
    nights.tab.insert_row(3, 9 * 10**17, "typed by a cat")
    sent = await nights.next_night()
    assert (sent.sent, sent.error) == (0, None)
    assert nights.tab.column("company") == ["Company 1", "typed by hand", "typed by a cat"]


async def test_a_failure_that_passes_is_tried_again_after_a_while(nights: Nights) -> None:
    await nights.companies(2)
    nights.google.fail("read", 503, times=2)
    sent = await nights.tonight()
    assert sent.error is None
    assert nights.waits == [5.0, 10.0]
    assert nights.tab.column("company_id") == [1, 2]


async def test_after_three_failures_the_night_is_over_and_the_next_one_tries(nights: Nights) -> None:
    await nights.companies(1)
    nights.google.fail("get", 503, times=3)
    sent = await nights.tonight()
    assert isinstance(sent.error, ServerFailed)
    assert sent.waiting_until == datetime(2024, 1, 2, 2, tzinfo=UTC)
    nights.world.clock.advance(60)
    assert await nights.send() == Sent(sent=0, waiting_until=datetime(2024, 1, 2, 2, tzinfo=UTC))
    assert nights.google.calls == []
    assert (await nights.next_night()).sent
    (sink,) = await nights.world.store.sinks()
    assert (sink.failures, sink.last_error) == (0, None)


async def test_what_a_person_has_to_mend_is_not_tried_again_that_night(nights: Nights) -> None:
    await nights.companies(1)
    nights.google.book.editors.clear()
    sent = await nights.tonight()
    assert isinstance(sent.error, UserError)
    assert EMAIL in (sent.error.hint or "")
    assert nights.waits == []
    assert nights.google.count("get") == 1


async def test_a_lost_answer_doubles_nothing(nights: Nights) -> None:
    await nights.companies(3)
    nights.google.fail("write", 0, times=2, after=True)
    assert (await nights.tonight()).error is None
    assert len(nights.google.book.tabs) == 1
    await nights.companies(5)
    nights.google.fail("write", 0, times=2, after=True)
    assert (await nights.next_night()).error is None
    assert nights.tab.column("company_id") == [1, 2, 3, 4, 5]
    assert nights.tab.header() == [*COLUMNS, "resolution"]


async def test_a_quota_is_waited_out_as_long_as_it_goes_on(nights: Nights) -> None:
    await nights.settle(columns=["open_offers"])
    await nights.companies(1100)
    await nights.tonight()
    for number in range(1, 1101, 2):
        nights.tab.type(number, "open_offers", 0)
    nights.google.quota_per_minute = 2
    sent = await nights.next_night()
    assert sent.error is None
    assert nights.waits
    assert set(nights.waits) == {60.0}
    assert set(nights.tab.column("open_offers")) == {1}


async def test_a_service_that_wants_more_time_than_the_night_has_is_left_alone(nights: Nights) -> None:
    await nights.companies(1)
    nights.google.fail("get", 429, headers={"Retry-After": "600"})
    nights.go_to(5, 55)
    sent = await nights.send()
    assert isinstance(sent.error, RateLimited)
    assert nights.waits == []


async def test_a_sync_that_is_not_done_when_the_night_ends_goes_on_the_next_night(nights: Nights) -> None:
    await nights.settle(columns=["open_offers"])
    await nights.companies(1100)
    await nights.tonight()
    for number in range(1, 1101, 2):
        nights.tab.type(number, "open_offers", 0)
    nights.google.before = lambda kind, number: (
        nights.world.clock.advance(600) if (kind, number) == ("write", 1) else None
    )
    nights.go_to(5, 55, days=1)
    sent = await nights.send()
    assert (sent.sent, sent.error) == (500, None)
    assert sent.waiting_until == datetime(2024, 1, 3, 2, tzinfo=UTC)
    assert nights.google.count("write") == 1
    nights.google.before = None
    assert (await nights.next_night()).sent == 50
    assert set(nights.tab.column("open_offers")) == {1}


async def test_who_lost_the_lease_writes_nothing(nights: Nights) -> None:
    await nights.companies(1)
    nights.go_to(4)
    store, now = nights.world.store, nights.world.clock.now()
    (sink,) = await store.sinks()
    old = await store.acquire_lease(sink_lease_name(NAME), "old", now=now, ttl_s=1)
    assert old is not None
    await store.release_lease(old)
    assert await store.acquire_lease(sink_lease_name(NAME), "new", now=now, ttl_s=60)
    with pytest.raises(LeaseLost):
        await sheets.send(nights.world.ports, sink, old, force=False)
    assert [call for call in nights.google.calls if call.kind == "write" and call.cells] == []


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"spreadsheet": None}, "`spreadsheet`: missing"),
        ({"spreadsheet": "https://example.org/table"}, "expected the address of a Google sheet"),
        ({"credentials": "-----BEGIN"}, "expected `\\${VARIABLE}`"),
        ({"credentials_file": "/key.json"}, "expected one of them"),
        ({"timezone": "Madrid"}, "expected a time zone"),
        ({"from": "25:00"}, "expected a time such as"),
        ({"columns": "company,salary"}, "expected some of"),
        ({"base_url": "ftp://x"}, "expected an http"),
        ({"colums": "company"}, "`colums`"),
        ({"sheet": ""}, "expected the title"),
        ({"spreadsheet": "short"}, "expected the address of a Google sheet"),
    ],
)
async def test_wrong_settings_are_refused(nights: Nights, settings: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        await nights.settle(**settings)
    assert "BEGIN" not in caught.value.message


def test_settings_are_read_as_text_and_as_a_file_has_them() -> None:
    given = {"spreadsheet": BOOK, "credentials_file": "key.json", "from": "03:00:00", "columns": ["offers"]}
    read = sheet_settings.read(given)
    assert read.columns == ("company_id", "offers")
    assert read.window.start.hour == 3
    assert sheet_settings.read({**given, "columns": "company_id,offers"}) == read


async def test_a_key_that_is_not_there_is_named(nights: Nights) -> None:
    del nights.world.secrets["GOOGLE_KEY"]
    sent = await nights.tonight()
    assert sent.error is not None
    assert sent.error.message == "variable `GOOGLE_KEY`: not set, and setting `credentials` needs it"


async def test_the_key_may_be_in_a_file_that_a_variable_names(nights: Nights, tmp_path: Path) -> None:
    file = tmp_path / "key.json"
    file.write_text(nights.google.key())
    nights.world.secrets["KEY_FILE"] = str(file)
    await nights.settle(credentials=None, credentials_file="${KEY_FILE}")
    await nights.companies(1)
    assert (await nights.tonight()).sent


async def test_without_the_adapter_it_says_so(nights: Nights) -> None:
    nights.world.ports = replace(nights.world.ports, open_spreadsheet=no_spreadsheets)
    sent = await nights.tonight()
    assert isinstance(sent.error, ConfigError)


async def test_a_night_that_failed_is_an_alarm_once_and_a_word_when_it_works_again(
    tmp_path: Path, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    async with a_world(tmp_path, site) as world:
        with SheetsServer(world.clock.now) as google:
            nights = Nights(world, google)
            await nights.settle()
            await nights.companies(1)
            google.book.editors.clear()
            for _ in range(2):
                nights.go_to(3, 30, days=1)
                await announce(world.ports)
                await announce(world.ports)
            assert caplog.text.count("alarm what=sink") == 1
            assert f"share the sheet with `{EMAIL}`" in caplog.text
            google.book.editors.add(EMAIL)
            nights.go_to(3, 30, days=1)
            (announced,) = await announce(world.ports)
            assert announced.sent
            assert caplog.text.count("alarm what=recovered") == 1
