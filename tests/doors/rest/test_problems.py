"""Every refusal has one shape, and says no more than it should."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from rowen import errors
from rowen.doors.refusals import STATUSES
from rowen.doors.rest.problems import of_error
from rowen.errors import RowenError
from rowen.service.attempts import UpstreamPaused
from rowen.service.sync_job import Stopping
from tests.doors.rest.conftest import Api

pytestmark = pytest.mark.anyio

EXPECTED = {
    "RowenError": 500,
    "UserError": 400,
    "ConfigError": 422,
    "NotFound": 404,
    "Conflict": 409,
    "Pinned": 409,
    "BadLocation": 422,
    "PartMissing": 503,
    "StoreUnusable": 503,
    "StoreReadOnly": 503,
    "StoreDamaged": 503,
    "EmbedderRefused": 422,
    "TransientError": 503,
    "FetchTimeout": 504,
    "ConnectionFailed": 502,
    "CertificateRefused": 502,
    "HostUnknown": 502,
    "RateLimited": 503,
    "ServerFailed": 502,
    "HostUnavailable": 502,
    "StoreBusy": 503,
    "StoreUnreachable": 503,
    "StoreFull": 503,
    "EmbedderUnavailable": 503,
    "PermanentError": 502,
    "Unfetchable": 502,
    "Vanished": 502,
    "AddressRefused": 422,
    "BodyTooLarge": 502,
    "Unparseable": 502,
    "Expired": 502,
    "LeaseLost": 409,
}

WITHHELD = (
    errors.StoreBusy,
    errors.StoreUnreachable,
    errors.StoreFull,
    errors.StoreUnusable,
    errors.StoreDamaged,
)


def classes() -> Iterator[type[RowenError]]:
    for value in vars(errors).values():
        if isinstance(value, type) and issubclass(value, RowenError):
            yield value


def test_every_error_of_ours_has_a_status() -> None:
    found = {cls.__name__: of_error(cls("it went wrong")).status for cls in classes()}
    assert found == EXPECTED
    assert STATUSES[-1][0] is RowenError


async def test_every_error_of_ours_is_answered_as_a_problem(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    for cls in (*classes(), UpstreamPaused, Stopping):

        async def failing(cls: type[RowenError] = cls) -> None:
            raise cls("`thing`: it went wrong", hint="fix it", thing="x", status=418, many=[1])

        monkeypatch.setattr(api.world.store, "sources", failing)
        answer = await api.get("/api/v1/sources/docs")
        assert answer.is_problem(of_error(cls("")).status, cls.reason), cls
        if not issubclass(cls, WITHHELD):
            assert answer.json["detail"] == "`thing`: it went wrong"
            assert (answer.json["hint"], answer.json["thing"]) == ("fix it", "x")
            assert answer.json["fact_status"] == 418
            assert "many" not in answer.json


@pytest.mark.parametrize("cls", WITHHELD)
async def test_where_the_store_lies_is_logged_and_not_told(
    api: Api, cls: type[RowenError], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def failing() -> None:
        raise cls("store `/srv/rowen.db`: cannot", hint="look at /srv/rowen.db", path="/srv/rowen.db")

    monkeypatch.setattr(api.world.store, "sources", failing)
    with caplog.at_level(logging.WARNING, "rowen"):
        for path in ("/api/v1/sources/docs", "/health/ready"):
            answer = await api.get(path)
            assert answer.is_problem(503, cls.reason)
            assert "/srv" not in answer.text
    assert "/srv/rowen.db" in str([vars(record) for record in caplog.records])


@pytest.mark.parametrize(("seconds", "header"), [(None, "1"), (0.2, "1"), (12.1, "13")])
def test_who_should_come_back_is_told_when(seconds: float | None, header: str) -> None:
    problem = of_error(errors.StoreBusy("busy", retry_after_s=seconds))
    assert problem.headers == {"Retry-After": header}
    assert of_error(errors.ConnectionFailed("no")).headers == {}


async def test_what_is_not_there_is_told_like_everything_else(api: Api) -> None:
    answer = await api.get("/api/v1/nonsense")
    assert answer.is_problem(404, "not_found")
    assert "/api/v1/nonsense" in answer.json["detail"]


async def test_another_method_is_told_like_everything_else(api: Api) -> None:
    answer = await api.ask("PATCH", "/api/v1/sources/docs")
    assert answer.is_problem(405, "method_not_allowed")
    assert "GET" in answer.headers["Allow"]


async def test_a_call_that_does_not_fit_is_told_where_and_not_repeated(api: Api) -> None:
    body = {"location": "https://docs.example/", "name": "bad name", "settings": {"x": 1}, "bearer": "geheim"}
    answer = await api.post("/api/v1/sources", json=body)
    assert answer.is_problem(422, "invalid")
    assert {".".join(one["where"]) for one in answer.json["errors"]} == {
        "body.name",
        "body.settings.x",
        "body.bearer",
    }
    assert "geheim" not in answer.text
    assert (await api.get("/api/v1/runs/99999999999999999999")).is_problem(422, "invalid")
    assert (
        await api.post("/api/v1/sources", data=b"{", headers={"Content-Type": "application/json"})
    ).is_problem(422, "invalid")


async def test_a_misspelt_source_gets_a_suggestion(api: Api) -> None:
    answer = await api.get("/api/v1/sources/dosc")
    assert answer.is_problem(404, "not_found")
    assert (answer.json["hint"], answer.json["name"]) == ("did you mean `docs`?", "dosc")


async def test_a_bug_is_logged_with_its_traceback_and_told_without(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def failing() -> None:
        raise ZeroDivisionError("secret internals")

    monkeypatch.setattr(api.world.store, "sources", failing)
    answer = await api.get("/api/v1/sources/docs", headers={"X-Request-ID": "my-id.1"})
    assert answer.is_problem(500, "bug")
    assert answer.json["request_id"] == "my-id.1"
    assert "internals" not in answer.text
    (bug,) = [record for record in caplog.records if record.message == "bug"]
    assert bug.exc_info is not None
    assert bug.exc_info[0] is ZeroDivisionError


async def test_a_request_id_that_could_fool_a_log_is_replaced(api: Api) -> None:
    for given in ("a b", "x" * 65, "é"):
        answer = await api.get("/health/live", headers={"X-Request-ID": given})
        assert answer.headers["X-Request-ID"] != given


async def test_a_search_that_cannot_be_meant_is_refused_and_no_bug(harvested: Api) -> None:
    for query in (
        "since=0001-01-01T00:00:00%2B14:00",
        "since=9999-12-31T23:59:59-12:00",
        "meta.%00=x",
        "meta.tags=%00",
        "&".join(f"meta.k{number}=x" for number in range(21)),
        "&".join("source=docs" for _ in range(51)),
    ):
        answer = await harvested.get(f"/api/v1/search?q=barley&mode=keyword&{query}")
        assert answer.is_problem(422, "invalid"), (query, answer)


async def test_what_can_be_got_can_be_asked_for_its_head(harvested: Api) -> None:
    for path in (
        "/api/v1/sources",
        "/api/v1/sources/docs",
        "/health/live",
        "/metrics",
        "/scraping/docs/handoffs",
    ):
        head, got = await harvested.ask("HEAD", path), await harvested.get(path)
        assert (head.status, head.text) == (200, ""), path
        assert head.headers["Content-Type"] == got.headers["Content-Type"]
    assert (await harvested.ask("HEAD", "/api/v1/sources/nobody")).status == 404
    assert (await harvested.ask("HEAD", "/scraping/docs/sync")).status == 405


async def test_a_parameter_that_an_operation_does_not_have_is_refused_and_the_nearest_is_named(
    harvested: Api,
) -> None:
    """Every page of documents was the first one to a caller that counted with `offset`."""
    mistyped = await harvested.get("/api/v1/search?q=apples&sorce=elsewhere")
    assert mistyped.is_problem(422, "invalid")
    assert mistyped.json["detail"] == "`query.sorce`: no such parameter"
    assert mistyped.json["hint"] == "did you mean `source`?"
    counted = await harvested.get("/api/v1/sources/docs/documents?limit=1&offset=1")
    assert counted.json["hint"] == "known: after, limit"
    none_taken = await harvested.post("/api/v1/sources/docs/pause?for=1h")
    assert none_taken.json["hint"] == "this operation takes none"
    assert not (await harvested.get("/api/v1/sources/docs")).json["paused"]
    assert (await harvested.get("/api/v1/search?q=apples&meta.tags=water")).status == 200
    assert (await harvested.get("/health/ready?now=1")).status == 200
