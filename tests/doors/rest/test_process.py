"""`rowen serve --listen` as a process: where it listens, whom it lets in, and how it ends."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
import apsw
import pytest

from rowen.config import ServiceConfig
from rowen.doors.rest.server import Address, bound
from rowen.errors import ConfigError
from tests.doors.conftest import Rowen
from tests.support.gate import Gate
from tests.support.site import Site, html

DEADLINE_S = 120.0


class Process:
    def __init__(self, process: subprocess.Popen[str], url: str, said: str) -> None:
        self.process, self.url, self.said = process, url, said

    def get(self, path: str, token: str = "") -> tuple[int, str]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            with urllib.request.urlopen(urllib.request.Request(self.url + path, headers=headers)) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.read().decode()

    def ended(self) -> tuple[int, str]:
        """The exit code, and what it said on standard error after it had started."""
        _, err = self.process.communicate(timeout=DEADLINE_S)
        return self.process.returncode, err


@contextmanager
def listening(*options: str) -> Iterator[Process]:
    """`rowen serve` in a process of its own, on the store of the fixture `rowen`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "rowen", "serve", "--listen", *(options or ("0",))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r'(?:listening on |"url": ")(http://[^,"\s]+)[,"]', line)
        assert found, line + process.stderr.read()
        yield Process(process, found[1], line)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.anyio
@pytest.mark.torture
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
async def test_it_ends_in_good_order_with_a_stream_a_waiting_caller_and_a_run(
    process: Rowen, number: signal.Signals, code: int
) -> None:
    gate = Gate()
    pages = {"/": html("Home", "barley", links=["/late"])}
    with Site(pages) as site:
        site.set("/late", html("Late", "rye"), delay=gate)
        assert process("add", site.url, "--name", "docs").code == 0
        with listening() as served:
            async with aiohttp.ClientSession(served.url) as session:
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
            ended, err = await asyncio.to_thread(served.ended)
        gate.set()
        assert ended == code, err
        assert "event: finished" not in rest or '"cancelled"' in rest
        assert "Traceback" not in err, err
        assert "stopped; what was visible stays" in err
        (run,) = process("runs", "docs", "--json").json["runs"]
        assert run["status"] == "cancelled"
        (source,) = process("status", "--json").json["sources"]
        assert source["running"] is False
        assert process("sync", "docs").code == 0


def test_it_looks_after_sources_and_answers_from_one_process(rowen: Rowen) -> None:
    with Site({"/": html("Home", "barley")}) as site:
        rowen("add", site.url, "--name", "closed", "--set", "bearer=${NOT_SET}", "--no-check")
        rowen("add", site.url, "--name", "docs")
        with listening("0", "--log", "json") as served:
            (change,) = json.loads(served.get("/api/v1/changes?wait_s=60")[1])["changes"]
            assert change["document"]["url"] == site.url + "/"
            assert 'rowen_runs_total{status="completed"} 1.0' in served.get("/metrics")[1]
            served.process.terminate()
            _, err = served.ended()
        lines = [json.loads(line) for line in err.splitlines()]
        assert [line["event"] for line in lines[-2:]] == ["stopping", "stopped"]
        refused, run = [line for line in lines if line["event"] == "run"]
        assert (refused["source"], refused["status"], "NOT_SET" in refused["error"]) == (
            "closed",
            "failed",
            True,
        )
        assert (run["source"], run["status"], run["error"]) == ("docs", "completed", None)
        (request,) = [line for line in lines if line["event"] == "request"]
        assert (request["path"], request["status"]) == ("/api/v1/changes", 200)
        assert request["request_id"]


@pytest.mark.torture
def test_without_tokens_anybody_here_may_call_and_a_second_server_says_who_looks_after_the_store(
    rowen: Rowen, db: str
) -> None:
    with listening() as served:
        assert "every program on this machine may call: there are no tokens" in served.said
        assert served.url.startswith("http://127.0.0.1:")
        store = apsw.Connection(db.removeprefix("sqlite:///"))
        held = store.execute(
            "SELECT owner FROM leases WHERE name = 'orchestrator' AND expires_at > '2001'"
        ).get
        assert held, "who says that it listens looks after the store already, and goes on doing so"
        store.close()
        second = rowen("serve", "--listen", "0")
        assert second.code == 2
        assert "another `rowen serve` looks after this store" in second.err
        assert "listening on" not in second.out + second.err
        assert "Traceback" not in second.err


@pytest.mark.torture
def test_elsewhere_it_listens_only_with_tokens_and_wants_one(
    rowen: Rowen, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = rowen("serve", "--listen", "0.0.0.0:0")
    assert refused.code == 2
    assert "there are no tokens" in refused.err
    assert "rowen token create" in refused.err
    secret = rowen("token", "create", "ci", "--scope", "read", "--json").json["token"]
    monkeypatch.setenv("ROWEN_SERVICE_HOST", "0.0.0.0")
    with listening() as served:
        assert served.url.startswith("http://0.0.0.0:")
        assert "callers need a token" in served.said
        assert served.get("/api/v1/sources")[0] == 401
        assert served.get("/api/v1/sources", secret) == (200, '{"sources":[]}')
        served.process.terminate()
        _, err = served.ended()
        assert secret not in err


def test_a_port_that_is_taken_is_told_as_such(rowen: Rowen) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = rowen("serve", "--listen", str(port))
    assert ended.code == 2
    assert f"cannot listen on `127.0.0.1:{port}`" in ended.err
    assert "Traceback" not in ended.err


def test_small_answers_are_sent_at_once() -> None:
    """asyncio looks at the protocol before it turns the delay off; without it each answer took 40 ms more."""
    with bound(Address("127.0.0.1", 0)) as listening:
        assert listening.proto == socket.IPPROTO_TCP


@pytest.mark.parametrize("value", ["x", "1:2:x", "99999", "localhost:"])
def test_a_place_that_is_none_is_told_as_such(rowen: Rowen, value: str) -> None:
    ended = rowen("serve", "--listen", value)
    assert ended.code == 2
    assert f"--listen `{value}`" in ended.err


def test_a_port_that_is_too_high_is_told_the_range() -> None:
    with pytest.raises(ConfigError, match="from 0 to 65535, got 99999"):
        Address.parse("99999", ServiceConfig())


def test_a_host_that_is_not_of_this_machine_is_not_taken_for_a_port_that_is_taken() -> None:
    with pytest.raises(ConfigError) as caught:
        bound(Address("192.0.2.1", 0))
    assert "192.0.2.1` an address of this machine?" in str(caught.value.hint)


def test_once_and_for_ever_do_not_go_together(rowen: Rowen) -> None:
    assert rowen("serve", "--once", "--listen").code == 2


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
