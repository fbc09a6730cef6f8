"""Validators and bodies that do not tell the truth: no edit stays hidden, no word is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rowen.core.document import Validators
from rowen.core.run import RunStatus
from rowen.engine.leases import run_lease
from rowen.errors import Unfetchable
from rowen.ports.fetcher import Request
from rowen.ports.store.documents import Refreshed
from tests.adapters.http.test_fetcher import fetcher_for
from tests.support.site import Page, Site, html
from tests.support.world import World, a_page, a_world

pytestmark = pytest.mark.anyio

FUTURE = "Fri, 01 Jan 2100 00:00:00 GMT"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    site = Site({"/": html("Home", "root", links=["/a"]), "/a": a_page("/a", "oats")})
    with site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            yield world


@dataclass(frozen=True)
class Renamed(Page):
    """The same page under another ETag; who asks with the old one gets a 304 that says the new one."""

    def is_current(self, asked: object) -> bool:
        return True


async def test_the_etag_of_a_304_replaces_the_stored_one_and_is_written_once(world: World) -> None:
    await world.sync()
    world.site.pages["/a"] = Renamed(world.site.pages["/a"].body, etag='"renamed"')
    receipt = await world.sync()
    assert (receipt.counters.not_modified, receipt.counters.validators_refreshed) == (2, 1)
    assert receipt.generation == 1
    again = await world.sync()
    assert (again.counters.not_modified, again.counters.validators_refreshed) == (2, 0)
    assert world.site.asked_for("/a")[0].headers["If-None-Match"] == '"renamed"'


async def test_a_last_modified_in_the_future_hides_no_edit(world: World) -> None:
    world.site.set("/a", a_page("/a", "oats"), etag=False, last_modified=FUTURE)
    await world.sync()
    world.site.set("/a", a_page("/a", "turnips"), etag=False, last_modified=FUTURE)
    receipt = await world.sync()
    assert receipt.counters.updated == 1
    assert not world.site.asked_for("/a")[0].conditional
    assert await world.found("turnips") == ["/a"]
    assert (await world.sync()).counters.validators_refreshed == 0


async def test_a_future_date_that_was_stored_before_is_not_sent(world: World) -> None:
    await world.sync()
    source = await world.source()
    stored = (await world.store.known(source.id))[world.site.url + "/a"]
    async with run_lease(world.ports, source) as lease:
        before = Refreshed(
            document_id=stored.document_id,
            validators=Validators(None, FUTURE),
            body_hash=stored.body_hash,
            body_bytes=0,
        )
        await world.store.refresh(lease, source.id, [before])
    await world.sync()
    assert not any(asked.conditional for asked in world.site.asked_for("/a"))


@pytest.mark.parametrize("codec", ["latin-1", "windows-1252"])
async def test_a_header_that_says_utf_8_over_other_bytes_loses_no_word(world: World, codec: str) -> None:
    body = a_page("/a", "Müllerstraße naïve Gemüse déjà").encode(codec)
    world.site.set("/a", body, content_type="text/html; charset=utf-8")
    await world.sync()
    for word in ("Müllerstraße", "naïve", "Gemüse", "déjà"):
        assert await world.found(word) == ["/a"], word


async def test_a_page_with_zero_bytes_is_read_as_browsers_do(world: World) -> None:
    world.site.set("/a", a_page("/a", "oats").replace("oats", "o\0ats \0 barley").encode())
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.failed) == (RunStatus.COMPLETED, 0)
    assert await world.found("oats") == await world.found("barley") == ["/a"]


async def test_a_body_shorter_or_longer_than_announced_keeps_what_readers_see(tmp_path: Path) -> None:
    more = [0]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                path, status, body = request.split()[1].decode(), "200 OK", html("Home", "wheat").encode()
                if path != "/":
                    status, body = "404 Not Found", b""
                size = len(body) + (more[0] if path == "/" else 0)
                head = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {size}\r\n\r\n"
                writer.write(head.encode() + body)
                await writer.drain()
                if size > len(body):
                    return
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    site = Site(port=server.sockets[0].getsockname()[1])
    async with server, a_world(tmp_path, site) as world:
        await world.add()
        assert (await world.sync()).status is RunStatus.COMPLETED
        for more[0], reason in ((30, "connection_failed"), (-30, "unfetchable")):
            receipt = await world.sync(full=True)
            assert receipt.status is RunStatus.FAILED
            assert [event.reason for event in world.events if event.outcome] == [reason]
            assert await world.found("wheat") == ["/"]


async def test_the_rest_of_a_body_that_is_too_long_does_not_spoil_the_next_answer() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                size = 5 if request.split()[1] == b"/long" else 11
                writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode())
                await writer.drain()
                writer.write(b"hello world"[:5])
                await writer.drain()
                writer.write(b"hello world"[5:])
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, fetcher_for(url) as fetcher:
        for _ in range(10):
            try:
                assert (await fetcher.fetch(Request(url + "/long"))).body == b"hello"
            except Unfetchable as exc:
                assert "Content-Length" in exc.message + (exc.hint or "")
            assert (await fetcher.fetch(Request(url + "/next"))).body == b"hello world"
