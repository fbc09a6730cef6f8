"""Slow and silent connections: they lock nobody out, and they end."""

from __future__ import annotations

import asyncio
import resource
import socket
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from urllib.parse import urlsplit

import pytest

from rowen.config import ServiceConfig
from rowen.core.safety.access import Scope
from rowen.doors.rest.connections import Connections, Limits
from rowen.doors.rest.server import connection_limits
from tests.doors.conftest import Rowen
from tests.doors.rest.conftest import Api, serving
from tests.doors.rest.test_process import listening
from tests.support.gate import until
from tests.support.world import World

HEALTH = b"GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
HALF = b"GET /health/live HTTP/1.1\r\nHost: x\r\nX-Slow: "
SLOW_BODY = b"POST /webhooks/docs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"

Caller = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Slow:
    """A server whose clock is moved by the test, and whose connections can be counted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **limits: float) -> None:
        self.now = 0.0
        self.made: list[Connections] = []
        self._limits = limits
        monkeypatch.setattr("rowen.doors.rest.server.Connections", self._make)

    def _make(self, limits: Limits) -> Connections:
        values = {"total": 8, "per_address": 0} | self._limits
        made = Connections(Limits(**values), now=lambda: self.now)  # type: ignore[arg-type]
        self.made.append(made)
        return made

    def look(self, *, after_s: float) -> None:
        self.now += after_s
        self.made[-1].look()

    @property
    def open(self) -> int:
        return len(self.made[-1])


@asynccontextmanager
async def callers(api: Api, *sent: bytes) -> AsyncIterator[list[Caller]]:
    made: list[Caller] = []
    try:
        for data in sent:
            made.append(await connected(api, data))  # noqa: PERF401 - those that were made are closed
        yield made
    finally:
        for _, writer in made:
            writer.close()


async def connected(api: Api, data: bytes = b"") -> Caller:
    url = urlsplit(api.url)
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    writer.write(data)
    await writer.drain()
    return reader, writer


async def answer(caller: Caller) -> str:
    """Everything until the server closes the connection; empty when it was dropped."""
    try:
        async with asyncio.timeout(120):
            return (await caller[0].read()).decode()
    except ConnectionResetError:
        return ""
    finally:
        caller[1].close()


@pytest.mark.anyio
@pytest.mark.parametrize("per_address", [0, 8])
async def test_connections_that_send_nothing_lock_nobody_out(
    world: World, monkeypatch: pytest.MonkeyPatch, per_address: int
) -> None:
    slow = Slow(monkeypatch, total=8 if not per_address else 100, per_address=per_address)
    async with serving(world) as api:
        headers = await api.token(Scope.READ)
        async with callers(api, *([HALF] * 10), *([SLOW_BODY] * 10), *([b""] * 10)):
            await until(lambda: slow.open == 8)
            assert (await answer(await connected(api, HEALTH))).startswith("HTTP/1.1 200")
            assert (await api.get("/api/v1/sources", headers=headers)).status == 200
            assert slow.open <= 8


@pytest.mark.anyio
async def test_a_caller_with_a_token_keeps_its_place_and_health_is_told_beyond_the_limit(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(monkeypatch, total=2)
    async with serving(world) as api:
        headers = await api.token(Scope.READ)
        polls = [asyncio.create_task(api.get("/api/v1/changes?wait_s=60", headers=headers)) for _ in "ab"]
        await until(lambda: api.queue.feed_wait.waiting == 2)
        refused = await api.get("/api/v1/sources", headers=headers)
        assert (refused.status, refused.json["type"]) == (503, "urn:rowen:problem:too_many_connections")
        assert "default-src 'none'" in refused.headers["Content-Security-Policy"]
        assert (await answer(await connected(api, HEALTH))).startswith("HTTP/1.1 200")
        async with callers(api, *([b""] * 9)):
            assert slow.open <= 2 + 1
            assert (await answer(await connected(api, HEALTH))).startswith("HTTP/1.1 200")
        api.queue.feed_wait.close()
        assert {(await poll).status for poll in polls} == {200}


@pytest.mark.anyio
async def test_headers_and_answers_that_take_too_long_end_the_connection(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(monkeypatch, headers_s=10, stalled_s=30)
    ask = HEALTH.replace(b"Connection: close\r\n", b"")
    async with serving(world) as api, callers(api, b"", HALF, ask, b"no HTTP\r\n\r\n") as made:
        silent, half, second, strange = made
        assert (await second[0].readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        assert (await answer(strange)).startswith("HTTP/1.1 400")
        await until(lambda: slow.open == 3)
        slow.look(after_s=9)
        half[1].write(b"a")
        second[1].write(HALF)
        await asyncio.gather(half[1].drain(), second[1].drain())
        slow.look(after_s=1.5)
        assert "HTTP/1.1 408" in await answer(silent)
        told = await answer(half)
        assert told.startswith("HTTP/1.1 408")
        assert "frame-ancestors 'none'" in told
        slow.look(after_s=12)
        assert "HTTP/1.1 408" in await answer(second), "a byte now and then buys no more time"
        await until(lambda: slow.open == 0)


@pytest.mark.anyio
async def test_a_caller_that_does_not_read_its_answer_is_dropped(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(monkeypatch, stalled_s=30)
    ask = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 40
    async with serving(world) as api:
        url = urlsplit(api.url)
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            await asyncio.to_thread(deaf.connect, (url.hostname, url.port))
            deaf.sendall(ask)
            await until(lambda: bool(slow.open) and _stalled(slow))
            slow.look(after_s=29)
            assert slow.open == 1
            slow.look(after_s=2)
            assert slow.open == 0


def _stalled(slow: Slow) -> bool:
    return any(one.flow.write_paused for one in slow.made[-1]._open)


def test_the_files_a_process_may_open_limit_its_connections() -> None:
    def total(files: int) -> int:
        return connection_limits(ServiceConfig(), files=files).total

    assert [total(files) for files in (64, 1024, 100_000)] == [16, 768, 1000]


def test_a_proxy_speaks_for_many_callers() -> None:
    limits = Limits(total=9, per_address=1, proxies=("10.0.0.0/8", "::1"))
    made = Connections(limits, now=lambda: 0.0)
    assert made._is_proxy("10.1.2.3")
    assert made._is_proxy("::1%eth0")
    assert not made._is_proxy("192.0.2.1")
    assert not made._is_proxy("")


@pytest.mark.torture
@pytest.mark.parametrize("sent", [b"", HALF, SLOW_BODY], ids=["silent", "slow headers", "slow bodies"])
def test_eleven_hundred_half_open_connections_lock_out_nobody(process: Rowen, sent: bytes) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    secret = process("token", "create", "ci", "--scope", "read", "--json").json["token"]
    # The usual limit for the server, and room for both ends of the sockets here.
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
    with listening() as served, ExitStack() as held:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
        held.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        url = urlsplit(served.url)
        slow = []
        for number in range(1100):
            one = held.enter_context(socket.create_connection((url.hostname, url.port), timeout=60))
            one.sendall(sent)
            slow.append(one)
            if number % 100 == 99:
                began = time.monotonic()
                assert served.get("/health/live")[0] == 200
                assert served.get("/api/v1/sources", secret)[0] == 200
                assert time.monotonic() - began < 5
        for _ in range(3):
            for one in slow[-250:]:
                with suppress(OSError):
                    one.sendall(b"a")
            assert served.get("/health/live")[0] == 200
            assert served.get("/api/v1/sources", secret)[0] == 200
        served.process.terminate()
        code, err = served.ended()
        assert code == 143
        assert "Traceback" not in err, err
        assert "Too many open files" not in err
