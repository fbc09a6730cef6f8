"""Web hooks over HTTP: a real server, a real POST, and what it leaves."""

from __future__ import annotations

import asyncio
import hmac
import io
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import uvicorn
from fastapi import FastAPI, Request
from starlette.responses import Response

from rowen.core.exchange import delivery
from rowen.doors.rest import problems
from rowen.doors.rest.routes.webhooks import MAX_BYTES, MAX_GITHUB_BYTES, webhook_router
from rowen.engine.receipt import Receipt
from rowen.errors import RowenError
from rowen.managing import sources
from rowen.service.attempts import run_source
from rowen.service.hooks.incoming import SERVICE_SECRET
from rowen.service.serve import serve
from rowen.service.sync_queue import SyncQueue
from tests.support.github_pushes import PushingApi, encoded
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

SECRET = "correct horse battery staple"
DAY_S = 86_400.0


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    api = PushingApi()
    api.repository("acre/docs", {f"docs/{n}.md": f"# Page {n}\n" for n in range(9)})
    with api:
        async with a_world(tmp_path, api) as made:
            made.secrets[SERVICE_SECRET] = SECRET
            await sources.add(
                made.ports,
                "https://github.com/acre/docs",
                name="docs",
                kind="github",
                settings={"api_url": api.url},
            )
            await made.sync()
            yield made


def an_app(world: World, queue: SyncQueue) -> FastAPI:
    app = FastAPI()
    app.include_router(webhook_router(world.ports, queue))

    @app.exception_handler(problems.Refusal)
    async def refusal(request: Request, exc: problems.Refusal) -> Response:
        return exc.problem.response(None)

    @app.exception_handler(RowenError)
    async def ours(request: Request, exc: RowenError) -> Response:
        return problems.of_error(exc).response(None)

    return app


@asynccontextmanager
async def listening(app: FastAPI) -> AsyncIterator[str]:
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    try:
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        await server.shutdown()


@pytest.fixture
async def queue(world: World) -> AsyncIterator[SyncQueue]:
    async with SyncQueue(world.ports) as made:
        yield made


@pytest.fixture
async def url(world: World, queue: SyncQueue) -> AsyncIterator[str]:
    async with listening(an_app(world, queue)) as address:
        yield address


async def post(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, dict[str, Any]]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=io.BytesIO(body), headers=headers) as answer,
    ):
        return answer.status, json.loads(await answer.read())


def pushes(world: World) -> PushingApi:
    assert isinstance(world.site, PushingApi)
    return world.site


def signed(world: World, body: bytes, *, secret: str = SECRET) -> dict[str, str]:
    timestamp = str(int(world.clock.now().timestamp()))
    return {
        "X-Rowen-Timestamp": timestamp,
        "X-Rowen-Signature": delivery.signature(secret, timestamp, body),
        "Content-Type": "application/json",
    }


async def test_a_push_goes_from_a_signed_post_to_what_readers_see(
    world: World, queue: SyncQueue, url: str
) -> None:
    api = pushes(world)
    for number, word in enumerate(("barley", "spelt")):
        payload = api.push("acre/docs", {f"docs/{number}.md": f"# {word}\n\nAll of {word}.\n"})
        body = encoded(payload)
        status, said = await post(f"{url}/webhooks/github", body, api.headers(body, secret=SECRET))
        assert (status, said["status"]) == (202, "queued")
        assert said["queued"] == [{"source": "docs", "only": 2, "paused": False}]
        assert queue.wake.is_set()
        api.clear_log()
        results = [
            result async for result in serve(world.ports, default_every_s=DAY_S, once=True, wake=queue.wake)
        ]
        (result,) = results
        assert isinstance(result, Receipt)
        assert (result.good, result.counters.updated) == (True, 1)
        assert await world.found(word)
    # The first one compared trees; from then on pushes are followed.
    assert len(api.requests) == 2
    assert [path for path in api.paths if "trees" in path] == []
    assert await world.store.sync_requests() == []


async def test_a_wish_can_be_run_by_hand(world: World, url: str) -> None:
    status, said = await post(f"{url}/webhooks/docs", b"", signed(world, b""))
    assert (status, said["queued"]) == (202, [{"source": "docs", "only": None, "paused": False}])
    (wish,) = await world.store.sync_requests()
    result = await run_source(world.ports, await world.source(), only=wish.only)
    assert isinstance(result, Receipt)
    assert result.good


async def test_the_same_delivery_again_is_known_and_does_nothing(
    world: World, queue: SyncQueue, url: str
) -> None:
    api = pushes(world)
    body = encoded(api.push("acre/docs", {"docs/1.md": "# One\n"}))
    headers = api.headers(body, secret=SECRET)
    await post(f"{url}/webhooks/github", body, headers)
    (wish,) = await world.store.sync_requests()
    queue.wake.clear()
    status, said = await post(f"{url}/webhooks/github", body, headers)
    assert (status, said) == (202, {"status": "already_known", "reason": None, "queued": []})
    assert await world.store.sync_requests() == [wish]
    assert not queue.wake.is_set()


async def test_a_ping_and_what_concerns_nobody_are_answered_well(world: World, url: str) -> None:
    api = pushes(world)
    body = b'{"zen": "Keep it logically awesome."}'
    status, said = await post(f"{url}/webhooks/github", body, api.headers(body, secret=SECRET, event="ping"))
    assert (status, said["status"]) == (202, "pong")
    status, said = await post(f"{url}/webhooks/github", body, api.headers(body, secret=SECRET, event="star"))
    assert (status, said["status"], said["reason"]) == (202, "ignored", "not_a_push")


@pytest.mark.parametrize("path", ["/webhooks/github", "/webhooks/docs", "/webhooks/nobody"])
@pytest.mark.parametrize("wrong", ["missing", "other secret", "other body", "odd"])
async def test_an_unsigned_post_is_refused_in_the_same_words_everywhere(
    world: World, url: str, monkeypatch: pytest.MonkeyPatch, path: str, wrong: str
) -> None:
    body = b'{"urls": ["/a"]}'
    headers = {
        "missing": {},
        "other secret": signed(world, body, secret="guess"),
        "other body": signed(world, b"{}"),
        "odd": {"X-Hub-Signature-256": "sha256=\u00e9", "X-GitHub-Event": "push"},
    }[wrong]
    compared: list[bytes] = []
    compare = hmac.compare_digest

    def counted(a: Any, b: Any) -> bool:
        compared.append(b)
        return compare(a, b)

    monkeypatch.setattr(hmac, "compare_digest", counted)
    status, said = await post(url + path, body, headers)
    assert (status, said["detail"]) == (401, "web hook: the signature is missing or wrong")
    assert set(said) == {"type", "title", "status", "detail", "hint", "request_id"}
    assert len(compared) == 1, "the same work, whether or not there is such a source"
    assert await world.store.sync_requests() == []


async def test_a_signed_body_that_makes_no_sense_is_a_400(world: World, url: str) -> None:
    for body in (b"{", b'{"urls": 7}', b"[1]"):
        status, said = await post(f"{url}/webhooks/docs", body, signed(world, body))
        assert (status, said["status"]) == (400, 400)
    body = b'{"ref": 7}'
    headers = pushes(world).headers(body, secret=SECRET)
    assert (await post(f"{url}/webhooks/github", body, headers))[0] == 400


async def test_a_body_that_is_too_long_is_not_read_to_its_end(world: World, queue: SyncQueue) -> None:
    app = an_app(world, queue)
    for path, limit in (("/webhooks/github", MAX_GITHUB_BYTES), ("/webhooks/docs", MAX_BYTES)):
        taken: list[int] = []

        def chunks(taken: list[int] = taken) -> Iterable[bytes]:
            for number in range(1000):
                taken.append(number)
                yield b"x" * 500_000

        assert await in_process(app, path, chunks()) == 413
        assert len(taken) == limit // 500_000 + 1


async def test_as_much_as_github_sends_is_taken(world: World, url: str) -> None:
    api = pushes(world)
    payload = api.push("acre/docs", {"docs/1.md": "# One\n"})
    body = encoded(payload | {"padding": "x" * (MAX_GITHUB_BYTES - 5_000)})
    assert MAX_GITHUB_BYTES - 5_000 < len(body) <= MAX_GITHUB_BYTES
    status, said = await post(f"{url}/webhooks/github", body, api.headers(body, secret=SECRET))
    assert (status, said["status"]) == (202, "queued")


async def test_hooks_that_come_together_are_one_wish(world: World, url: str) -> None:
    async def one(session: aiohttp.ClientSession, number: int) -> int:
        body = json.dumps({"urls": [f"docs/{number % 9}.md"]}).encode() + b" " * number
        headers = signed(world, body)
        async with session.post(f"{url}/webhooks/docs", data=body, headers=headers) as answer:
            return answer.status

    async with aiohttp.ClientSession() as session:
        statuses = await asyncio.gather(*(one(session, number) for number in range(200)))
    assert set(statuses) == {202}
    (wish,) = await world.store.sync_requests()
    assert wish.only is not None
    assert len(wish.only) == 9


async def in_process(
    app: FastAPI, path: str, chunks: Iterable[bytes], headers: Sequence[tuple[bytes, bytes]] = ()
) -> int:
    """The status of a POST whose body comes in pieces, as many as somebody takes."""
    waiting = iter(chunks)
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": next(waiting, b""), "more_body": True}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": list(headers),
        "scheme": "http",
        "server": ("test", 80),
        "client": ("127.0.0.1", 1),
        "root_path": "",
    }
    await app(scope, receive, send)
    return statuses[0]


async def test_a_source_that_is_named_like_the_hook_of_github_has_a_path_of_its_own(
    world: World, url: str
) -> None:
    await sources.add(world.ports, "https://docs.example/", name="github", check=False)
    status, said = await post(f"{url}/webhooks/source/github", b"", signed(world, b""))
    assert (status, [one["source"] for one in said["queued"]]) == (202, ["github"])


async def test_a_delivery_that_says_it_is_too_long_is_not_read(world: World, queue: SyncQueue) -> None:
    chunks = iter([b"x"])
    headers = [(b"content-length", b"1000001")]
    assert await in_process(an_app(world, queue), "/webhooks/docs", chunks, headers) == 413
    assert list(chunks) == [b"x"]
