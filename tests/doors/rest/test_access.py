"""Who may come in, how often, with how much, and from where."""

from __future__ import annotations

import asyncio

import pytest

from rowen.core.safety.access import Scope
from rowen.doors.rest import limits
from rowen.doors.rest.limits import MAX_CALLERS, Buckets
from tests.doors.rest.conftest import Api, serving
from tests.support.gate import Gate
from tests.support.site import html
from tests.support.world import World

pytestmark = pytest.mark.anyio

READING = [
    ("GET", "/api/v1/sources"),
    ("GET", "/api/v1/sources/docs"),
    ("GET", "/api/v1/status"),
    ("GET", "/api/v1/search?q=barley&mode=keyword"),
    ("GET", "/api/v1/changes"),
    ("GET", "/api/v1/handoffs"),
    ("GET", "/scraping/docs/handoffs"),
    ("GET", "/api/v1/sources/docs/generations"),
    ("GET", "/api/v1/sources/docs/export"),
    ("GET", "/metrics"),
]
SYNCING = [
    ("POST", "/scraping/docs/sync"),
    ("POST", "/api/v1/scraping/docs/sync"),
    ("POST", "/api/v1/sources/docs/sync"),
    ("POST", "/api/v1/handoffs/1/retry"),
    ("POST", "/api/v1/handoffs/1/cancel"),
]
MANAGING = [
    ("POST", "/api/v1/sources"),
    ("POST", "/api/v1/sources/docs/pause"),
    ("POST", "/api/v1/sources/docs/resume"),
    ("POST", "/api/v1/sources/docs/rollback"),
    ("POST", "/api/v1/sources/docs/approve"),
    ("DELETE", "/api/v1/sources/docs"),
]


@pytest.mark.parametrize("scope", list(Scope))
async def test_a_token_opens_what_its_scope_allows_and_nothing_else(api: Api, scope: Scope) -> None:
    headers = await api.token(scope)
    for wanted, calls in ((Scope.READ, READING), (Scope.SYNC, SYNCING), (Scope.ADMIN, MANAGING)):
        for method, path in calls:
            answer = await api.ask(method, path, headers=headers)
            if scope.allows(wanted):
                assert answer.status not in (401, 403), (scope, path, answer)
            else:
                assert answer.is_problem(403, "forbidden"), (scope, path, answer)
                assert f"`{wanted}`" in answer.json["detail"]


async def test_with_tokens_in_the_store_nobody_comes_in_without_one(api: Api) -> None:
    await api.token(Scope.READ)
    for method, path in (*READING, *SYNCING, *MANAGING, ("GET", "/no/such/path")):
        answer = await api.ask(method, path)
        assert answer.is_problem(401, "unauthorised"), path
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="rowen"'
        wrong = await api.ask(method, path, headers={"Authorization": "Bearer rowen_other"})
        assert wrong.is_problem(401, "unauthorised"), path
        assert 'error="invalid_token"' in wrong.headers["WWW-Authenticate"]


async def test_an_odd_header_is_no_token(api: Api) -> None:
    await api.token(Scope.READ)
    for header in ("", "Bearer", "Bearer ", "Basic cm93ZW46eA==", "rowen_read", "Token rowen_read"):
        answer = await api.get("/api/v1/sources", headers={"Authorization": header})
        assert answer.status == 401, header


async def test_health_and_the_description_are_open(api: Api) -> None:
    await api.token(Scope.READ)
    for path in ("/health/live", "/health/ready", "/openapi.json", "/docs"):
        assert (await api.get(path)).status == 200, path


async def test_a_token_that_is_removed_opens_nothing_from_then_on(api: Api) -> None:
    headers = await api.token(Scope.READ)
    await api.token(Scope.ADMIN)
    assert (await api.get("/api/v1/sources", headers=headers)).status == 200
    await api.world.store.remove_token(Scope.READ)
    assert (await api.get("/api/v1/sources", headers=headers)).status == 401


async def test_the_first_token_closes_an_open_server_at_once(api: Api) -> None:
    assert (await api.get("/api/v1/sources")).status == 200
    await api.token(Scope.READ)
    assert (await api.get("/api/v1/sources")).status == 401


async def test_a_server_that_others_can_reach_stays_closed_when_its_last_token_goes(world: World) -> None:
    async with serving(world, may_be_open=False) as api:
        headers = await api.token(Scope.ADMIN)
        assert (await api.get("/api/v1/sources", headers=headers)).status == 200
        await world.store.remove_token(Scope.ADMIN)
        assert (await api.get("/api/v1/sources")).status == 401
        assert (await api.get("/api/v1/sources", headers=headers)).status == 401


async def test_a_server_that_had_tokens_is_not_open_when_the_last_one_goes(api: Api) -> None:
    headers = await api.token(Scope.READ)
    assert (await api.get("/api/v1/sources", headers=headers)).status == 200
    await api.world.store.remove_token(Scope.READ)
    assert (await api.get("/api/v1/sources")).is_problem(401, "unauthorised")


@pytest.mark.parametrize("name", ["Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Real-IP"])
async def test_a_proxy_in_front_does_not_make_everybody_local(api: Api, name: str) -> None:
    answer = await api.get("/api/v1/sources", headers={name: "for=192.0.2.1"})
    assert answer.is_problem(403, "forbidden")
    assert "proxy" in answer.json["hint"]
    headers = await api.token(Scope.READ)
    assert (await api.get("/api/v1/sources", headers={**headers, name: "192.0.2.1"})).status == 200


async def test_an_open_server_answers_to_the_names_of_this_machine_and_to_no_others(api: Api) -> None:
    """A page whose own name leads to 127.0.0.1 runs in a browser on this machine."""
    for host in ("localhost", "localhost:8340", "127.0.0.1:1", "[::1]:99", "[::1]", "LOCALHOST"):
        assert (await api.get("/api/v1/sources", headers={"Host": host})).status == 200, host
    for host in ("evil.example", "evil.example:8340", "localhost.evil.example", "127.0.0.1.evil", ""):
        answer = await api.get("/api/v1/sources", headers={"Host": host})
        assert answer.is_problem(403, "forbidden"), host


async def test_with_a_token_the_name_does_not_matter(api: Api) -> None:
    headers = await api.token(Scope.READ)
    assert (await api.get("/api/v1/sources", headers={**headers, "Host": "docs.example"})).status == 200


async def test_pages_of_other_origins_change_nothing(api: Api) -> None:
    path = "/api/v1/sources/docs/pause"
    for with_token in (False, True):
        headers = await api.token(Scope.ADMIN) if with_token else {}
        for origin in ("https://evil.example", "null", "http://127.0.0.1:1", "http://localhost"):
            answer = await api.post(path, headers={**headers, "Origin": origin})
            assert answer.is_problem(403, "forbidden"), origin
        assert (await api.post(path, headers={**headers, "Origin": api.url})).status == 200
        foreign = {**headers, "Origin": "https://evil.example"}
        assert (await api.get("/api/v1/sources", headers=foreign)).status == 200


async def test_who_asks_too_often_is_told_when_to_come_back(world: World) -> None:
    async with serving(world, rate_limit_per_minute=3) as api:
        one, other = await api.token(Scope.READ), await api.token(Scope.READ, "other")
        for _ in range(3):
            assert (await api.get("/api/v1/sources", headers=one)).status == 200
        limited = await api.get("/api/v1/sources", headers=one)
        assert limited.is_problem(429, "too_many_requests")
        assert limited.headers["Retry-After"] == "20"
        assert (await api.get("/api/v1/sources", headers=other)).status == 200
        assert (await api.get("/health/live", headers=one)).status == 200
        world.clock.advance(20)
        assert (await api.get("/api/v1/sources", headers=one)).status == 200
        assert (await api.get("/api/v1/sources", headers=one)).status == 429


async def test_guessing_tokens_is_limited_by_address(world: World) -> None:
    async with serving(world, rate_limit_per_minute=3) as api:
        await api.token(Scope.READ)
        for number in range(3):
            guess = {"Authorization": f"Bearer guess{number}"}
            assert (await api.get("/api/v1/sources", headers=guess)).status == 401
        assert (await api.get("/api/v1/sources", headers={"Authorization": "Bearer x"})).status == 429


async def test_callers_behind_a_proxy_are_told_apart_when_the_proxy_is_trusted(world: World) -> None:
    for trusted, second in (("", 429), ("127.0.0.1", 401)):
        async with serving(world, rate_limit_per_minute=1, trusted_proxies=trusted) as api:
            for caller, status in (("192.0.2.1", 401), ("192.0.2.2", second)):
                answer = await api.post("/webhooks/docs", headers={"X-Forwarded-For": caller})
                assert answer.status == status, (trusted, caller)


def test_a_limit_forgets_callers_that_were_silent_longest() -> None:
    buckets = Buckets(1, now=lambda: 0.0)
    for number in range(MAX_CALLERS + 1):
        assert buckets.wait_s(str(number)) == 0.0
    assert buckets.wait_s(str(MAX_CALLERS)) == 60.0
    assert buckets.wait_s("0") == 0.0


async def test_a_body_that_says_it_is_too_long_is_not_read(world: World) -> None:
    async with serving(world, max_body_bytes=1000) as api:
        answer = await api.post("/api/v1/sources", data=b"x" * 1001)
        assert answer.is_problem(413, "too_large")


async def test_a_body_that_does_not_say_how_long_it_is_is_cut_off(world: World) -> None:
    async with serving(world, max_body_bytes=1000) as api:
        sent = 0

        async def endless() -> object:
            nonlocal sent
            while sent < 10_000_000:
                sent += 500
                yield b"x" * 500
                await asyncio.sleep(0)

        headers = {"Content-Type": "application/json"}
        answer = await api.post("/api/v1/sources", data=endless(), headers=headers)
        assert answer.is_problem(413, "too_large")
        assert sent < 10_000_000


async def test_a_body_too_long_for_a_sync_is_not_taken_for_a_caller_that_went_away(world: World) -> None:
    gate = Gate()
    world.site.set("/rye", html("Rye", "late"), delay=gate)

    async def pieces() -> object:
        for _ in range(10):
            yield b"x" * 500
            await asyncio.sleep(0)

    await world.add()
    async with serving(world, max_body_bytes=1000) as api:
        answer = await api.post("/scraping/docs/sync", data=pieces())
        assert answer.is_problem(413, "too_large")
        gate.set()


async def test_a_mounted_application_stands_behind_the_same_guard(world: World) -> None:
    seen: list[object] = []

    async def other(scope, receive, send) -> None:  # type: ignore[no-untyped-def]
        seen.append((scope["rowen.scope"], await receive()))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    class Other:
        def __init__(self) -> None:
            self.call = other

        async def __call__(self, scope, receive, send) -> None:  # type: ignore[no-untyped-def]
            await self.call(scope, receive, send)

    async with serving(world, mounts={"/mcp": Other()}, max_body_bytes=1000) as api:
        headers = await api.token(Scope.SYNC)
        assert (await api.post("/mcp")).is_problem(401, "unauthorised")
        for path in ("/mcp", "/mcp/"):
            assert (await api.post(path, headers=headers, data=b"hello")).status == 200
        assert [(scope, message["body"]) for scope, message in seen] == [(Scope.SYNC, b"hello")] * 2  # type: ignore[index]
        assert (await api.post("/mcp", headers=headers, data=b"x" * 2000)).is_problem(413, "too_large")


@pytest.mark.parametrize("path", ["/api/v1/sources", "/webhooks/docs", "/scraping/docs/sync"])
async def test_a_body_that_trickles_in_is_not_waited_for(
    world: World, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(limits, "BODY_S", 0.05)
    gate = Gate()
    world.site.set("/rye", html("Rye", "late"), delay=gate)
    await world.add()
    enough = asyncio.Event()

    async def trickle() -> object:
        yield b"{"
        await enough.wait()

    async with serving(world) as api:
        headers = {"Content-Type": "application/json"}
        answer = await api.post(path, data=trickle(), headers=headers)
        assert answer.is_problem(408, "too_slow")
        enough.set()
        gate.set()
