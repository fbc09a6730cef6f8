"""Google Sheets as the port promises it: tokens, typed cells, batches, and what errors mean."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from rowen.adapters.http import open_fetcher
from rowen.adapters.sheets import open_spreadsheet
from rowen.adapters.sheets.google import GoogleSpreadsheet
from rowen.core.exchange.sheet import Block
from rowen.core.safety.secrets import Secret
from rowen.errors import (
    ConfigError,
    ConnectionFailed,
    NotFound,
    PermanentError,
    RateLimited,
    RowenError,
    ServerFailed,
    UserError,
)
from rowen.ports.sheets import SpreadsheetOptions
from tests.support.fakes import FakeClock
from tests.support.sheets_server import BOOK, EMAIL, SheetsServer, pem

pytestmark = pytest.mark.anyio


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def google(clock: FakeClock) -> Iterator[SheetsServer]:
    with SheetsServer(clock.now) as server:
        yield server


@pytest.fixture
async def book(google: SheetsServer, clock: FakeClock) -> AsyncIterator[GoogleSpreadsheet]:
    async with opened(google, clock) as spreadsheet:
        yield spreadsheet


def opened(
    google: SheetsServer, clock: FakeClock, key: str | None = None, **options: str
) -> AbstractAsyncContextManager[GoogleSpreadsheet]:
    given = SpreadsheetOptions(
        spreadsheet_id=options.get("spreadsheet_id", BOOK),
        base_url=google.url,
        credentials=None if "credentials_file" in options else Secret(key or google.key()),
        credentials_file=options.get("credentials_file"),
    )
    return open_spreadsheet(given, open_fetcher=open_fetcher, clock=clock)


async def test_what_is_written_is_read_with_its_kind(google: SheetsServer, book: GoogleSpreadsheet) -> None:
    sheet = google.book.add("Companies").id
    await book.write(sheet, blocks=[Block(0, 1, (("id", "name"), (7, 0.5)))])
    assert await book.read(sheet) == [["", "id", "name"], ["", 7, 0.5]]
    await book.write(sheet, rows=[(None, 8, "x"), ("y",)])
    assert google.tab.table() == [["", "id", "name"], ["", 7, 0.5], ["", 8, "x"], ["y", "", ""]]
    assert google.kinds() == ["token", "write", "read", "write"]


async def test_text_that_looks_like_a_formula_stays_text(
    google: SheetsServer, book: GoogleSpreadsheet
) -> None:
    sheet = google.book.add("Companies").id
    words = ('=HYPERLINK("http://x")', "+1", "-1", "@SUM(A1)", "'quoted", "2026-01-01", "TRUE", "007")
    await book.write(sheet, blocks=[Block(0, 0, (words,))], rows=[words])
    assert google.tab.table() == [list(words), list(words)]


async def test_an_emptied_cell_is_empty(google: SheetsServer, book: GoogleSpreadsheet) -> None:
    sheet = google.book.add("Companies").id
    await book.write(sheet, rows=[("a", "b")])
    await book.write(sheet, blocks=[Block(0, 0, (("",),))])
    assert google.tab.grid[0][:2] == [None, "b"]


async def test_a_tab_is_found_by_its_title_or_made(google: SheetsServer, book: GoogleSpreadsheet) -> None:
    google.book.add("Other")
    known = google.book.add("Companies").id
    assert await book.find("companies") == known
    assert await book.find("Nothing") is None
    made = await book.create("New")
    assert [(tab.id, tab.title) for tab in google.book.tabs][-1] == (made, "New")
    assert await book.read(made) == []


async def test_a_tab_that_is_gone_is_none(book: GoogleSpreadsheet) -> None:
    assert await book.read(999) is None


async def test_a_sheet_is_made_wider_when_it_has_to_be(google: SheetsServer, book: GoogleSpreadsheet) -> None:
    tab = google.book.add("Companies", columns=2)
    await book.write(tab.id, blocks=[Block(0, 1, (("b", "c", "d"),))], columns=4)
    assert google.tab.table() == [["", "b", "c", "d"]]
    assert google.tab.columns == 4
    await book.write(tab.id, blocks=[Block(0, 0, (("a",),))], columns=4)
    assert google.tab.columns == 4


async def test_a_batch_is_carried_out_as_a_whole_or_not_at_all(
    google: SheetsServer, book: GoogleSpreadsheet
) -> None:
    sheet = google.book.add("Companies", rows=5, columns=3).id
    with pytest.raises(PermanentError, match="exceeds grid limits"):
        await book.write(sheet, blocks=[Block(0, 0, (("a",),)), Block(0, 3, (("beyond",),))])
    assert google.tab.table() == []


async def test_nothing_to_write_asks_nobody(google: SheetsServer, book: GoogleSpreadsheet) -> None:
    await book.write(1)
    assert google.calls == []


async def test_a_token_is_used_until_a_minute_before_it_ends(
    google: SheetsServer, book: GoogleSpreadsheet, clock: FakeClock
) -> None:
    await book.find("x")
    clock.advance(3539)
    await book.find("x")
    assert google.count("token") == 1
    clock.advance(1)
    await book.find("x")
    assert google.count("token") == 2
    assert {call.status for call in google.calls} == {200}


async def test_a_token_that_was_taken_back_is_replaced_once(
    google: SheetsServer, book: GoogleSpreadsheet
) -> None:
    await book.find("x")
    google.end_tokens()
    assert await book.find("x") is None
    assert [(call.kind, call.status) for call in google.calls][2:] == [
        ("get", 401),
        ("token", 200),
        ("get", 200),
    ]
    google.fail("get", 401, times=2)
    with pytest.raises(UserError) as caught:
        await book.find("x")
    assert EMAIL in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("status", "kind", "wait_s"),
    [(429, RateLimited, 60.0), (500, ServerFailed, None), (503, ServerFailed, None)],
)
async def test_what_may_pass_is_transient(
    google: SheetsServer, book: GoogleSpreadsheet, status: int, kind: type[RowenError], wait_s: float | None
) -> None:
    google.fail("read", status)
    with pytest.raises(kind) as caught:
        await book.read(1)
    assert getattr(caught.value, "retry_after_s", 0) == wait_s
    google.fail("read", status, headers={"Retry-After": "7"})
    with pytest.raises(kind) as caught:
        await book.read(1)
    assert getattr(caught.value, "retry_after_s", 0) == 7.0


async def test_an_answer_that_is_lost_is_transient(google: SheetsServer, book: GoogleSpreadsheet) -> None:
    sheet = google.book.add("Companies").id
    google.fail("write", 0, after=True)
    with pytest.raises(ConnectionFailed):
        await book.write(sheet, rows=[("once",)])
    assert google.tab.table() == [["once"]]


async def test_a_sheet_that_is_not_shared_says_with_whom_to_share_it(
    google: SheetsServer, book: GoogleSpreadsheet
) -> None:
    google.book.editors.clear()
    with pytest.raises(UserError, match="403 from Google, The caller does not have permission") as caught:
        await book.find("x")
    assert caught.value.hint == f"share the sheet with `{EMAIL}`, as an editor"
    assert caught.value.facts["status"] == 403


async def test_a_sheet_that_is_not_there_is_not_found(google: SheetsServer, clock: FakeClock) -> None:
    async with opened(google, clock, spreadsheet_id="1-no-such-spreadsheet") as book:
        with pytest.raises(NotFound) as caught:
            await book.find("x")
    assert "`spreadsheet`" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("status", "message", "reason", "hint"),
    [
        (
            403,
            "Google Sheets API has not been used in project 1 before",
            "SERVICE_DISABLED",
            "switch the Google",
        ),
        (400, "This operation is not supported for this document", "", "Excel"),
        (400, "You are trying to edit a protected cell or object.", "", "protected range"),
    ],
)
async def test_other_refusals_say_what_to_do(
    google: SheetsServer, book: GoogleSpreadsheet, status: int, message: str, reason: str, hint: str
) -> None:
    google.fail("read", status, message=message, reason=reason)
    with pytest.raises(UserError) as caught:
        await book.read(1)
    assert hint in (caught.value.hint or "")


async def test_a_protected_sheet_refuses_to_be_written(google: SheetsServer, book: GoogleSpreadsheet) -> None:
    tab = google.book.add("Companies")
    tab.protected = True
    with pytest.raises(UserError, match="protected"):
        await book.write(tab.id, rows=[("a",)])


async def test_a_key_of_another_account_gets_no_token(google: SheetsServer, clock: FakeClock) -> None:
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    async with opened(google, clock, google.key(private_key=pem(other))) as book:
        with pytest.raises(UserError, match="Invalid JWT Signature") as caught:
            await book.find("x")
    assert "make a new one" in (caught.value.hint or "")
    assert google.kinds() == ["token"]


async def test_a_wrong_clock_is_named(google: SheetsServer) -> None:
    late = FakeClock()
    late.advance(86_400)
    async with opened(google, late) as book:
        with pytest.raises(UserError) as caught:
            await book.find("x")
    assert caught.value.hint == "the clock of this machine is wrong"


async def test_a_token_address_in_trouble_is_transient(google: SheetsServer, book: GoogleSpreadsheet) -> None:
    google.fail("token", 503)
    with pytest.raises(ServerFailed):
        await book.find("x")


@pytest.mark.parametrize("kind", ["token", "get"])
async def test_an_answer_that_makes_no_sense_is_transient(
    google: SheetsServer, book: GoogleSpreadsheet, kind: str
) -> None:
    google.babbles = kind
    with pytest.raises(ServerFailed):
        await book.find("x")


async def test_a_reading_without_ranges_means_that_the_tab_is_gone(
    google: SheetsServer, book: GoogleSpreadsheet
) -> None:
    sheet = google.book.add("Companies").id
    google.silent_about_missing_tabs = True
    assert await book.read(sheet) == []
    assert await book.read(999) is None


def _elliptic() -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"type": "authorized_user"}, "not the key of a service account"),
        ({"client_email": None}, "without `client_email`"),
        ({"token_uri": ""}, "without `token_uri`"),
        ({"private_key": "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"}, "cannot be read"),
        ({"private_key": "elliptic"}, "cannot be read"),
    ],
)
async def test_a_key_that_is_none_is_a_wrong_setting(
    google: SheetsServer, clock: FakeClock, changes: dict[str, str | None], said: str
) -> None:
    if changes.get("private_key") == "elliptic":
        changes = {"private_key": _elliptic()}
    with pytest.raises(ConfigError, match=said) as caught:
        async with opened(google, clock, google.key(**changes)):
            raise AssertionError("opened")
    assert "PRIVATE KEY" not in str(caught.value)


async def test_the_key_may_be_in_a_file(google: SheetsServer, clock: FakeClock, tmp_path: Path) -> None:
    file = tmp_path / "key.json"
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        async with opened(google, clock, credentials_file=str(file)):
            raise AssertionError("opened")
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="not text"):
        async with opened(google, clock, credentials_file=str(file)):
            raise AssertionError("opened")
    file.write_text(google.key())
    async with opened(google, clock, credentials_file=str(file)) as book:
        assert await book.find("x") is None


async def test_neither_key_nor_token_is_shown(
    google: SheetsServer, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with opened(google, clock) as book:
        google.fail("read", 403, message="you sent ya29.test-token-1-0")
        with pytest.raises(UserError) as caught:
            await book.read(1)
    assert "ya29" not in f"{caught.value!r} {caught.value} {caught.value.hint} {caplog.text}"
    options = SpreadsheetOptions(spreadsheet_id="x", base_url="y", credentials=Secret(google.key()))
    assert json.loads(google.key())["private_key"][40:80] not in repr(options)
