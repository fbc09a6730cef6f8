"""The MCP door over its two transports: a child process, and HTTP on a real port."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any

import anyio
import httpx2
import mcp_types as types
import pytest
import uvicorn
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette
from starlette.routing import Route

from rowen.core.run import RunStatus
from rowen.core.safety.access import Scope
from rowen.doors.mcp.http import McpApp, mcp_app
from rowen.doors.mcp.server import SCOPE
from rowen.service.sync_queue import SyncQueue
from tests.doors.cli.test_process import Gate
from tests.doors.conftest import Rowen, fruit_page
from tests.support.site import Site
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

ERAS = ["legacy", "auto"]
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
REFRESH = {"name": "refresh_source", "arguments": {"source": "orchard"}, "_meta": {"progressToken": 1}}


def text_of(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


# over standard input and output


class Child:
    """`rowen mcp` as a client sees it: lines of JSON in both directions."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rowen", "mcp", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._number = 0

    def __enter__(self) -> Child:
        self.ask("initialize", HELLO)
        self.read(lambda message: "result" in message)
        self.tell({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate(timeout=120)

    def ask(self, method: str, params: dict[str, Any]) -> None:
        self._number += 1
        self.tell({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})

    def read(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next message of this kind; every line must be one."""
        for line in self._pipe(self.process.stdout):
            message: dict[str, Any] = json.loads(line)
            assert message["jsonrpc"] == "2.0"
            if wanted(message):
                return message
        raise AssertionError("it ended")

    def ended(self) -> tuple[int, list[Any], str]:
        """The exit code, what it still said, and its standard error."""
        out, err = self.process.communicate(timeout=120)
        return self.process.returncode, [json.loads(line) for line in out.splitlines()], err.decode()

    def tell(self, message: dict[str, Any]) -> None:
        pipe = self._pipe(self.process.stdin)
        pipe.write(json.dumps(message).encode() + b"\n")
        pipe.flush()

    def _pipe(self, pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None
        return pipe


def made_progress(message: dict[str, Any]) -> bool:
    return message.get("method") == "notifications/progress" and message["params"]["progress"] > 0


@pytest.mark.parametrize("era", [pytest.param("legacy", marks=pytest.mark.torture), "auto"])
async def test_a_client_starts_it_and_works_with_it(orchard: Site, db: str, era: str) -> None:
    server = StdioServerParameters(command=sys.executable, args=["-m", "rowen", "mcp", "--db", db])
    async with Client(server, mode=era) as asked:
        assert len((await asked.list_tools()).tools) == 6
        found = await asked.call_tool("search_docs", {"query": "plum cool"})
        assert found.structured_content["hits"][0]["url"] == orchard.url + "/plum.html#storing"
        assert found.structured_content["mode"] == "hybrid"
        orchard.set("/plum.html", fruit_page("plum", "Žofie 🍑"))
        told: list[float] = []

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            told.append(progress)

        done = await asked.call_tool("refresh_source", {"source": "orchard"}, progress_callback=on_progress)
        assert done.structured_content["updated"] == 1
        assert told
        read = await asked.call_tool("read_document", {"url": orchard.url + "/plum.html"})
        assert "until Žofie 🍑." in text_of(read)
        (resource,) = (await asked.list_resources()).resources
        assert resource.uri == "rowen://orchard"


@pytest.mark.torture
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_it_while_the_client_is_silent(
    orchard: Site, number: signal.Signals, code: int
) -> None:
    with Child() as child:
        child.process.send_signal(number)
        # Its input stays open: it must not wait for the client's next word.
        assert child.process.wait(120) == code
        assert child.ended() == (code, [], "stopped\n")


@pytest.mark.parametrize(
    "way",
    [
        "signal",
        pytest.param("input ends", marks=pytest.mark.torture),
        pytest.param("client cancels", marks=pytest.mark.torture),
    ],
)
def test_a_sync_under_way_is_cancelled_in_good_order(rowen: Rowen, orchard: Site, way: str) -> None:
    gate = Gate()
    orchard.set("/plum.html", fruit_page("plum", "May"), delay=gate)
    with Child() as child:
        try:
            child.ask("tools/call", REFRESH)
            child.read(made_progress)
            assert gate.reached.wait(120)
            if way == "signal":
                child.process.send_signal(signal.SIGTERM)
            elif way == "client cancels":
                child.tell(
                    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
                )
                child.ask("tools/call", {"name": "list_sources", "arguments": {}})
                assert child.read(lambda m: m.get("id") == 3)["result"]["isError"] is False
            code, _, err = child.ended()
        finally:
            gate.set()
    assert code == (143 if way == "signal" else 0)
    assert "Traceback" not in err
    run = rowen("runs", "orchard", "--json").json["runs"][0]
    assert run["status"] == "cancelled"
    assert rowen("status", "--json").json["sources"][0]["running"] is False
    assert rowen("sync", "orchard", "--json").json["updated"] == 1


@pytest.mark.torture
def test_a_client_that_reads_no_more_is_no_error(orchard: Site) -> None:
    with Child() as child:
        assert child.process.stdout is not None
        child.process.stdout.close()
        child.ask("tools/call", {"name": "list_sources", "arguments": {}})
        assert child.process.wait(120) == 0
        assert child.process.stderr is not None
        assert child.process.stderr.read() == b""


@pytest.mark.torture
def test_the_first_call_that_needs_the_store_opens_it_and_the_end_of_its_input_is_its_end(
    rowen: Rowen, tmp_path: Path
) -> None:
    path = tmp_path / "later" / "rowen.db"
    with Child("--db", f"sqlite:///{path}") as child:
        child.ask("tools/list", {})
        child.read(lambda m: "result" in m)
        assert not path.exists()
        child.ask("tools/call", {"name": "list_sources", "arguments": {}})
        answer = child.read(lambda m: "result" in m)["result"]["content"][0]["text"]
        assert "there is no such file" in answer, "reading makes no store"
        assert rowen("token", "create", "me", "--scope", "read", "--db", f"sqlite:///{path}").code == 0
        child.ask("tools/call", {"name": "list_sources", "arguments": {}})
        assert "no sources yet" in child.read(lambda m: "result" in m)["result"]["content"][0]["text"]
        assert child.ended() == (0, [], "")


def test_neither_the_web_service_nor_the_model_is_loaded_before_it_is_needed(orchard: Site) -> None:
    program = (
        "import sys; from rowen.doors.cli import main; main(['mcp']); "
        "print('IMPORTED', *sys.modules, file=sys.stderr)"
    )
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_sources"}},
    ]
    done = subprocess.run(
        [sys.executable, "-c", program],
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    imported = set(done.stderr.splitlines()[-1].split()[1:])
    assert "apsw" in imported
    assert not imported & {"fastapi", "tokenizers", "safetensors", "wordllama", "turbohtml"}


# over HTTP


@pytest.fixture
async def world(tmp_path: Path, site: Site) -> AsyncIterator[World]:
    async with a_world(tmp_path, site) as world:
        await world.add("orchard")
        await world.sync("orchard")
        yield world


class InFront:
    """What the service does before it hands a request on: here, a token with this scope was shown."""

    def __init__(self, app: McpApp, scope: Scope | None) -> None:
        self._app = app
        self._found = {SCOPE: scope} if scope else {}

    async def __call__(self, asgi: Any, receive: Any, send: Any) -> None:
        await self._app({**asgi, **self._found}, receive, send)


@asynccontextmanager
async def served(app: McpApp, *, scope: Scope | None = None) -> AsyncIterator[str]:
    """The address of a service that has checked a token with this scope, or asks for none."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with app.running():
            yield

    service = Starlette(routes=[Route("/mcp", endpoint=InFront(app, scope))], lifespan=lifespan)
    config = uvicorn.Config(service, port=0, log_level="error", ws="none", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    while not server.started:
        assert not running.done()
        await asyncio.sleep(0)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        await running


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_works_with_it_over_http(world: World, site: Site, era: str) -> None:
    site.set("/plum.html", fruit_page("plum", "Žofie 🍑"))
    told: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async with served(mcp_app(world.ports)) as url, Client(url, mode=era) as asked:
        assert len((await asked.list_tools()).tools) == 6
        done = await asked.call_tool("refresh_source", {"source": "orchard"}, progress_callback=on_progress)
        assert done.structured_content["updated"] == 1
        assert told[-1] == 4
        found = await asked.call_tool("search_docs", {"query": "plum cool"})
        assert "Žofie 🍑" in text_of(found)
        assert (await asked.call_tool("search_docs", {"query": ""})).is_error
        (resource,) = (await asked.list_resources()).resources
        assert "# orchard" in (await asked.read_resource(resource.uri)).contents[0].text  # type: ignore[union-attr]


@pytest.mark.parametrize("era", ERAS)
async def test_a_token_that_may_only_read_cannot_refresh(world: World, site: Site, era: str) -> None:
    site.clear_log()
    async with served(mcp_app(world.ports), scope=Scope.READ) as url, Client(url, mode=era) as asked:
        result = await asked.call_tool("refresh_source", {"source": "orchard"})
        assert text_of(result) == (
            "source `orchard`: not refreshed: the token has the scope `read`, and this needs `sync`"
        )
        assert not (await asked.call_tool("search_docs", {"query": "plum"})).is_error
    assert site.requests == []
    async with served(mcp_app(world.ports), scope=Scope.SYNC) as url, Client(url, mode=era) as asked:
        assert not (await asked.call_tool("refresh_source", {"source": "orchard"})).is_error


async def test_two_clients_that_refresh_through_a_desk_share_one_run(world: World, site: Site) -> None:
    gate = Gate()
    site.set("/plum.html", fruit_page("plum", "May"), delay=gate)
    site.clear_log()
    results: list[types.CallToolResult] = []
    told: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)
        if len(told) >= 2:
            gate.set()

    async with SyncQueue(world.ports) as queue, served(mcp_app(world.ports, queue=queue)) as url:

        async def refresh() -> None:
            async with Client(url) as asked:
                results.append(
                    await asked.call_tool(
                        "refresh_source", {"source": "orchard"}, progress_callback=on_progress
                    )
                )

        async with anyio.create_task_group() as group:
            group.start_soon(refresh)
            group.start_soon(refresh)
    first, second = results
    assert first.structured_content["run_id"] == second.structured_content["run_id"]
    assert first.structured_content["updated"] == 1
    assert len(site.asked_for("/plum.html")) == 1


async def test_a_client_that_hangs_up_cancels_its_sync(world: World, site: Site) -> None:
    gate = Gate()
    site.set("/plum.html", fruit_page("plum", "May"), delay=gate)
    source = await world.source("orchard")
    reached = anyio.Event()

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        if progress:
            reached.set()

    async with served(mcp_app(world.ports)) as url:
        try:
            async with Client(url) as asked, anyio.create_task_group() as group:
                group.start_soon(asked.call_tool, "refresh_source", {"source": "orchard"}, None, on_progress)
                with anyio.fail_after(120):
                    await reached.wait()
                group.cancel_scope.cancel()
            with anyio.fail_after(120):
                while (await world.store.runs(source.id, limit=1))[0].status is RunStatus.RUNNING:
                    await anyio.lowlevel.checkpoint()
        finally:
            gate.set()
    assert (await world.store.runs(source.id, limit=1))[0].status is RunStatus.CANCELLED


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("https://evil.example", 403),
        ("null", 403),
        ("http://localhost:3000", 200),
        ("http://127.0.0.1:8000", 200),
        ("https://app.example", 200),
    ],
)
async def test_pages_of_strangers_may_not_call_without_a_token(
    world: World, origin: str, status: int
) -> None:
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
    headers = {"Origin": origin, "Accept": "application/json, text/event-stream"}
    app = mcp_app(world.ports, origins=["https://app.example"])
    async with served(app) as url, httpx2.AsyncClient() as browser:
        assert (await browser.post(url, json=hello, headers=headers)).status_code == status
    if status == 403:
        async with served(mcp_app(world.ports), scope=Scope.READ) as url, httpx2.AsyncClient() as browser:
            assert (await browser.post(url, json=hello, headers=headers)).status_code == 200


async def test_only_post_is_answered(world: World) -> None:
    async with served(mcp_app(world.ports)) as url, httpx2.AsyncClient() as browser:
        for method in ("GET", "DELETE"):
            answer = await browser.request(method, url, headers={"Accept": "text/event-stream"})
            assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


async def test_a_web_socket_is_closed_at_once(world: World) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("nothing is read from it")

    await mcp_app(world.ports)({"type": "websocket"}, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1000}]


async def test_a_header_with_a_token_is_passed_by_the_sdks_client(world: World) -> None:
    async with (
        served(mcp_app(world.ports)) as url,
        httpx2.AsyncClient(headers={"Authorization": "Bearer rowen_x"}) as http,
        Client(streamable_http_client(url, http_client=http)) as asked,
    ):
        assert not (await asked.call_tool("list_sources")).is_error
