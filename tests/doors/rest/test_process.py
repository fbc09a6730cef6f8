"""`rowen serve --listen` as a process: where it listens, whom it lets in, and how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from rowen.config import ServiceConfig
from rowen.doors.rest.server import Address, bound
from rowen.errors import ConfigError
from tests.support.gate import Gate
from tests.support.site import Site, html

pytestmark = pytest.mark.anyio

DEADLINE_S = 120.0


class Process:
    def __init__(self, process: asyncio.subprocess.Process, url: str, said: str) -> None:
        self.process, self.url, self.said = process, url, said

    async def ended(self) -> tuple[int, str]:
        """The exit code, and what it said on standard error after it had started."""
        async with asyncio.timeout(DEADLINE_S):
            _, err = await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode, err.decode()


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        **os.environ,
        "ROWEN_DB": f"sqlite:///{tmp_path / 'rowen.db'}",
        "ROWEN_FETCH_RETRY_BASE_S": "0",
    }


def rowen(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rowen", *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )


@asynccontextmanager
async def listening(environment: dict[str, str], *options: str) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "rowen", "serve", "--listen", "0", *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    try:
        assert process.stderr is not None
        async with asyncio.timeout(DEADLINE_S):
            line = (await process.stderr.readline()).decode()
        found = re.search(r'(?:listening on |"url": ")(http://[^,"\s]+)[,"]', line)
        assert found, line + (await process.stderr.read()).decode()
        yield Process(process, found[1], line)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.torture
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
async def test_it_ends_in_good_order_with_a_stream_a_waiting_caller_and_a_run(
    environment: dict[str, str], number: signal.Signals, code: int
) -> None:
    gate = Gate()
    pages = {"/": html("Home", "barley", links=["/late"])}
    with Site(pages) as site:
        site.set("/late", html("Late", "rye"), delay=gate)
        assert rowen(environment, "add", site.url, "--name", "docs").returncode == 0
        async with listening(environment) as served, aiohttp.ClientSession(served.url) as session:
            # The loop has begun its first run by itself.
            await gate.reached()
            waiting = asyncio.create_task(session.post("/scraping/docs/sync"))
            polling = asyncio.create_task(session.get("/api/v1/changes?wait_s=60"))
            async with session.get("/api/v1/runs/1/events") as stream:
                assert (await stream.content.readline()) == b"event: progress\n"
                served.process.send_signal(number)
                async with asyncio.timeout(DEADLINE_S):
                    rest = (await stream.content.read()).decode()
            answer, polled = await waiting, await polling
            assert answer.status == 503
            assert (await answer.json(content_type=None))["type"] == "urn:rowen:problem:stopping"
            assert (polled.status, (await polled.json())["changes"]) == (200, [])
            ended, err = await served.ended()
        gate.set()
        assert ended == code, err
        assert "event: finished" not in rest or '"cancelled"' in rest
        assert "Traceback" not in err, err
        assert "stopped; what was visible stays" in err
        (run,) = json.loads(rowen(environment, "runs", "docs", "--json").stdout)["runs"]
        assert run["status"] == "cancelled"
        (source,) = json.loads(rowen(environment, "status", "--json").stdout)["sources"]
        assert source["running"] is False
        assert rowen(environment, "sync", "docs").returncode == 0


async def test_it_looks_after_sources_and_answers_from_one_process(environment: dict[str, str]) -> None:
    with Site({"/": html("Home", "barley")}) as site:
        rowen(environment, "add", site.url, "--name", "docs")
        async with listening(environment, "--log", "json") as served:
            async with aiohttp.ClientSession(served.url) as session:
                async with session.get("/api/v1/changes?wait_s=60") as response:
                    (change,) = (await response.json())["changes"]
                    assert change["document"]["url"] == site.url + "/"
                async with session.get("/metrics") as response:
                    figures = await response.text()
                    assert 'rowen_runs_total{status="completed"} 1.0' in figures
            served.process.terminate()
            _, err = await served.ended()
        lines = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
        (run,) = [line for line in lines if line["event"] == "run"]
        assert (run["source"], run["run_id"], run["status"]) == ("docs", 1, "completed")
        (request,) = [line for line in lines if line["event"] == "request"]
        assert (request["path"], request["status"]) == ("/api/v1/changes", 200)
        assert request["request_id"]


async def test_without_tokens_it_says_that_anybody_here_may_call(environment: dict[str, str]) -> None:
    async with listening(environment) as served:
        assert "anybody on this machine may call: there are no tokens" in served.said
        assert served.url.startswith("http://127.0.0.1:")


async def test_with_tokens_it_wants_one(environment: dict[str, str]) -> None:
    made = rowen(environment, "token", "create", "ci", "--scope", "read", "--json")
    secret = json.loads(made.stdout)["token"]
    async with listening(environment) as served, aiohttp.ClientSession(served.url) as session:
        assert "callers need a token" in served.said
        async with session.get("/api/v1/sources") as response:
            assert response.status == 401
        headers = {"Authorization": f"Bearer {secret}"}
        async with session.get("/api/v1/sources", headers=headers) as response:
            assert await response.json() == {"sources": []}
        served.process.terminate()
        _, err = await served.ended()
        assert secret not in err


async def test_elsewhere_it_listens_only_with_tokens(environment: dict[str, str]) -> None:
    refused = rowen(environment, "serve", "--listen", "0.0.0.0:0")
    assert refused.returncode == 2
    assert "there are no tokens" in refused.stderr
    assert "rowen token create" in refused.stderr
    rowen(environment, "token", "create", "ci", "--scope", "read")
    async with listening(environment | {"ROWEN_SERVICE_HOST": "0.0.0.0"}) as served:
        assert served.url.startswith("http://0.0.0.0:")


def test_a_port_that_is_taken_is_told_as_such(environment: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = rowen(environment, "serve", "--listen", str(port))
    assert ended.returncode == 2
    assert f"cannot listen on `127.0.0.1:{port}`" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_small_answers_are_sent_at_once() -> None:
    """asyncio looks at the protocol before it turns the delay off; without it each answer took 40 ms more."""
    with bound(Address("127.0.0.1", 0)) as listening:
        assert listening.proto == socket.IPPROTO_TCP


@pytest.mark.parametrize("value", ["x", "1:2:x", "99999", "localhost:"])
def test_a_place_that_is_none_is_told_as_such(environment: dict[str, str], value: str) -> None:
    ended = rowen(environment, "serve", "--listen", value)
    assert ended.returncode == 2
    assert f"--listen `{value}`" in ended.stderr


def test_a_port_that_is_too_high_is_told_the_range() -> None:
    with pytest.raises(ConfigError, match="from 0 to 65535, got 99999"):
        Address.parse("99999", ServiceConfig())


def test_a_host_that_is_not_of_this_machine_is_not_taken_for_a_port_that_is_taken() -> None:
    with pytest.raises(ConfigError) as caught:
        bound(Address("192.0.2.1", 0))
    assert "192.0.2.1` an address of this machine?" in str(caught.value.hint)


def test_once_and_for_ever_do_not_go_together(environment: dict[str, str]) -> None:
    assert rowen(environment, "serve", "--once", "--listen").returncode == 2


async def test_a_second_server_for_a_store_says_who_looks_after_it(environment: dict[str, str]) -> None:
    async with listening(environment):
        second = rowen(environment, "serve", "--listen", "0")
        assert second.returncode == 2
        assert "another `rowen serve` looks after this store" in second.stderr
        assert "listening on" not in second.stdout + second.stderr
        assert "Traceback" not in second.stderr


def test_the_api_is_loaded_by_nothing_but_the_command_that_listens() -> None:
    program = (
        "import sys; from rowen.doors.cli import main; main(sys.argv[1:]); "
        "print('IMPORTED', *sys.modules, file=sys.stderr)"
    )
    for arguments in (["serve", "--help"], ["token", "--help"], ["--help"]):
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
        )
        imported = set(done.stderr.splitlines()[-1].split()[1:])
        assert not imported & {"fastapi", "starlette", "pydantic", "uvicorn", "asyncio", "aiohttp"}, arguments
