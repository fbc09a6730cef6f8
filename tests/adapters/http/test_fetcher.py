"""One HTTP exchange, against real servers."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace

import brotli
import pytest
from backports import zstd

from rowen.adapters.http import open_fetcher
from rowen.adapters.http.fetcher import HttpFetcher
from rowen.core.document import Validators
from rowen.core.safety.secrets import Credentials, Secret
from rowen.errors import (
    AddressRefused,
    BodyTooLarge,
    ConnectionFailed,
    FetchTimeout,
    HostUnknown,
    Unfetchable,
)
from rowen.ports.fetcher import FetcherOptions, Request
from tests.support.site import Page, Site, html

pytestmark = pytest.mark.anyio

HOME = html("Home", "Hello")


@pytest.fixture
def site() -> Iterator[Site]:
    with Site({"/": HOME}) as site:
        yield site


@pytest.fixture
async def fetcher(site: Site) -> AsyncIterator[HttpFetcher]:
    options = FetcherOptions(typed_location=site.url, user_agent="rowen-test", max_body_bytes=1_000_000)
    async with open_fetcher(options) as fetcher:
        yield fetcher


@asynccontextmanager
async def raw_server(answer: bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]) -> AsyncIterator[str]:
    """A server that says exactly these bytes, then closes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await answer(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


@asynccontextmanager
async def fetcher_for(url: str, **options: object) -> AsyncIterator[HttpFetcher]:
    chosen = replace(FetcherOptions(typed_location=url), **options)
    async with open_fetcher(chosen) as fetcher:
        yield fetcher


async def test_an_answer_comes_with_headers_in_lower_case_and_its_size(
    site: Site, fetcher: HttpFetcher
) -> None:
    response = await fetcher.fetch(Request(site.url + "/"))
    assert response.status == 200
    assert response.url == site.url + "/"
    assert response.body == HOME.encode()
    assert response.bytes_received == len(HOME)
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert all(name == name.lower() for name in response.headers)
    assert site.requests[0].headers["User-Agent"] == "rowen-test"


async def test_validators_are_asked_with_and_a_304_has_no_body(site: Site, fetcher: HttpFetcher) -> None:
    site.set("/dated", "text", etag=False, last_modified="Wed, 01 May 2024 12:00:00 GMT")
    for path in ("/", "/dated"):
        first = await fetcher.fetch(Request(site.url + path))
        assert first.validators
        again = await fetcher.fetch(Request(site.url + path, first.validators))
        assert (again.status, again.body, again.bytes_received) == (304, b"", 0)
        assert again.validators == first.validators
    assert [asked.conditional for asked in site.requests] == [False, True, False, True]


async def test_many_304s_share_one_connection(fetcher: HttpFetcher) -> None:
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    async with server:
        async with fetcher_for(url) as one:
            for _ in range(20):
                assert (await one.fetch(Request(url, Validators("x")))).status == 304
        assert connections == 1


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [("gzip", gzip.compress), ("br", brotli.compress), ("zstd", zstd.compress)],
)
async def test_bodies_are_decoded_and_counted_as_they_came(
    site: Site, fetcher: HttpFetcher, encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    text = b"the same words again and again " * 1000
    packed = pack(text)
    site.set("/packed", packed, headers={"Content-Encoding": encoding})
    response = await fetcher.fetch(Request(site.url + "/packed"))
    assert response.body == text
    assert response.bytes_received == len(packed)
    assert encoding in site.requests[-1].headers["Accept-Encoding"]


async def test_redirects_and_errors_are_answers(site: Site, fetcher: HttpFetcher) -> None:
    site.set("/moved", redirect="/")
    site.set("/broken", "oops", status=503, headers={"Retry-After": "7"})
    moved = await fetcher.fetch(Request(site.url + "/moved"))
    assert (moved.status, moved.headers["location"]) == (302, "/")
    broken = await fetcher.fetch(Request(site.url + "/broken"))
    assert (broken.status, broken.headers["retry-after"], broken.body) == (503, "7", b"oops")
    assert (await fetcher.fetch(Request(site.url + "/nowhere"))).status == 404
    assert [asked.path for asked in site.requests] == ["/moved", "/broken", "/nowhere"]


async def test_cookies_are_not_kept(site: Site, fetcher: HttpFetcher) -> None:
    site.set("/cookie", "text", headers={"Set-Cookie": "session=1; Path=/"})
    await fetcher.fetch(Request(site.url + "/cookie"))
    await fetcher.fetch(Request(site.url + "/"))
    assert "Cookie" not in site.requests[-1].headers


async def test_a_body_that_is_not_wanted_is_not_read(site: Site, fetcher: HttpFetcher) -> None:
    seen: list[tuple[int, str]] = []

    def wanted(status: int, headers: object) -> bool:
        seen.append((status, headers["content-type"]))  # type: ignore[index]
        return False

    site.set("/big.bin", b"x" * 5_000_000, content_type="application/octet-stream")
    response = await fetcher.fetch(Request(site.url + "/big.bin", wanted=wanted))
    assert response.refused
    assert response.body == b""
    assert response.bytes_received < 1_000_000
    assert seen == [(200, "application/octet-stream")]
    assert (await fetcher.fetch(Request(site.url + "/"))).status == 200


async def test_the_address_goes_over_the_wire_as_it_is(site: Site, fetcher: HttpFetcher) -> None:
    for path in ("/a%2Fb/%7Ec?q=a+b%20c&x=%C3%A4'", "/a%25b"):
        await fetcher.fetch(Request(site.url + path))
        assert site.requests[-1].path == path.replace("'", "%27")


async def test_credentials_are_used_and_not_repeated(site: Site, fetcher: HttpFetcher) -> None:
    response = await fetcher.fetch(Request(site.url.replace("//", "//user:secret@") + "/"))
    assert site.requests[-1].headers["Authorization"].startswith("Basic ")
    assert "secret" not in response.url


async def test_a_header_that_is_not_text_can_still_be_stored() -> None:
    answer = b'HTTP/1.1 200 OK\r\nETag: "caf\xe9"\r\nContent-Length: 0\r\n\r\n'
    async with raw_server(answer) as url, fetcher_for(url) as fetcher:
        response = await fetcher.fetch(Request(url))
        assert response.headers["etag"] == '"café"'
        response.headers["etag"].encode()
        assert (await fetcher.fetch(Request(url, response.validators))).status == 200


# Too much


async def test_a_body_over_the_limit_is_refused_by_its_announced_length(
    site: Site, fetcher: HttpFetcher
) -> None:
    site.set("/big", b"x" * 1_000_001)
    site.set("/fits", b"x" * 1_000_000)
    with pytest.raises(BodyTooLarge, match="larger than 1000000 bytes"):
        await fetcher.fetch(Request(site.url + "/big"))
    assert len((await fetcher.fetch(Request(site.url + "/fits"))).body) == 1_000_000


async def test_an_endless_body_is_cut_off_at_the_limit() -> None:
    sent = 0

    async def endless(writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        while True:
            writer.write(b"x" * 65_536)
            sent += 65_536
            await writer.drain()

    async with raw_server(endless) as url, fetcher_for(url, max_body_bytes=100_000) as fetcher:
        with pytest.raises(BodyTooLarge):
            await fetcher.fetch(Request(url))
    assert sent < 50_000_000


async def test_a_bomb_is_refused(site: Site, fetcher: HttpFetcher) -> None:
    site.set("/bomb", gzip.compress(b"\0" * 20_000_000), headers={"Content-Encoding": "gzip"})
    with pytest.raises(BodyTooLarge):
        await fetcher.fetch(Request(site.url + "/bomb"))


async def test_bytes_that_decode_to_nothing_are_counted_too() -> None:
    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
        while True:
            writer.write(gzip.compress(b"") * 1_000)
            await writer.drain()

    async with raw_server(endless) as url, fetcher_for(url, max_body_bytes=100_000) as fetcher:
        with pytest.raises(BodyTooLarge):
            await fetcher.fetch(Request(url))


async def test_a_packed_body_that_was_cut_is_an_error(site: Site, fetcher: HttpFetcher) -> None:
    site.set("/cut", gzip.compress(HOME.encode())[:-20], headers={"Content-Encoding": "gzip"})
    with pytest.raises(ConnectionFailed, match="cut short"):
        await fetcher.fetch(Request(site.url + "/cut"))


# What does not arrive


async def test_an_unknown_host(fetcher: HttpFetcher) -> None:
    with pytest.raises(HostUnknown, match=r"host `nowhere\.invalid` is unknown"):
        await fetcher.fetch(Request("http://nowhere.invalid/"))


async def test_a_server_that_does_not_answer_in_time(site: Site) -> None:
    never = threading.Event()
    site.set("/slow", "late", delay=never)
    async with fetcher_for(site.url, timeout_s=0.05) as fetcher:
        with pytest.raises(FetchTimeout, match=r"no answer within 0\.05 s"):
            await fetcher.fetch(Request(site.url + "/slow"))
    never.set()


async def test_a_body_that_stalls_is_a_timeout_too() -> None:
    release = asyncio.Event()

    async def stall(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        await writer.drain()
        await release.wait()

    async with raw_server(stall) as url, fetcher_for(url, timeout_s=0.1) as fetcher:
        with pytest.raises(FetchTimeout):
            await fetcher.fetch(Request(url))
        release.set()


async def test_a_reset_connection(site: Site, fetcher: HttpFetcher) -> None:
    site.set("/cut", reset=True)
    with pytest.raises(ConnectionFailed):
        await fetcher.fetch(Request(site.url + "/cut"))
    assert (await fetcher.fetch(Request(site.url + "/"))).status == 200


async def test_a_port_nobody_listens_on() -> None:
    with Site() as gone:
        url = gone.url + "/"
    async with fetcher_for(url) as fetcher:
        with pytest.raises(ConnectionFailed, match="connection refused"):
            await fetcher.fetch(Request(url))


async def test_a_server_that_does_not_speak_tls(site: Site) -> None:
    url = site.url.replace("http:", "https:") + "/"
    async with fetcher_for(url) as fetcher:
        with pytest.raises(ConnectionFailed, match="TLS failed"):
            await fetcher.fetch(Request(url))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"", ConnectionFailed),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", ConnectionFailed),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe", ConnectionFailed),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 7\r\n\r\ngarbage",
            ConnectionFailed,
        ),
        (b"SSH-2.0-OpenSSH_9.2\r\n", Unfetchable),
        (b"HTTP/1.1 2000 OK\r\n\r\n", Unfetchable),
        (b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n", Unfetchable),
        (b"HTTP/1.1 200 OK\r\nLong: " + b"x" * 20_000 + b"\r\n\r\n", Unfetchable),
        (
            b"HTTP/1.1 200 OK\r\n" + b"".join(b"H%d: x\r\n" % n for n in range(5_000)) + b"\r\n",
            Unfetchable,
        ),
    ],
    ids=["empty", "short", "chunk", "gzip", "ssh", "status", "header", "long", "many"],
)
async def test_broken_answers_are_errors_of_ours(answer: bytes, expected: type[Exception]) -> None:
    async with raw_server(answer) as url, fetcher_for(url) as fetcher:
        with pytest.raises(expected) as caught:
            await fetcher.fetch(Request(url))
        assert f"`{url}`" in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/a",
        "file:///etc/passwd",
        "http://",
        "a.html",
        "http://exa mple.org/",
        "http://example.org:99999/",
        f"http://{'a' * 70}.org/",
        "http://a..b/",
        "http://user:secret@exa mple.org/",
        "http://example.org\x00/",
    ],
)
async def test_addresses_that_cannot_be_asked(fetcher: HttpFetcher, url: str) -> None:
    with pytest.raises(Unfetchable) as caught:
        await fetcher.fetch(Request(url))
    assert "secret" not in str(caught.value) + str(caught.value.facts)


# Where a fetch may go


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.0.0.2",
        "127.1",
        "0x7f.1",
        "0177.0.0.1",
        "2130706433",
        "0.0.0.0",
        "localhost",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "10.0.0.1",
        "169.254.169.254",
        "[fe80::1]",
    ],
)
async def test_no_spelling_of_a_private_address_gets_through(host: str) -> None:
    with Site({"/": "secret"}) as private, Site({"/": HOME}) as typed:
        url = f"http://{host}:{private.port}/"
        # The operator typed the other port of this same machine: that allows nothing here.
        async with fetcher_for(typed.url) as fetcher:
            assert (await fetcher.fetch(Request(typed.url + "/"))).status == 200
            with pytest.raises(AddressRefused, match="not a public address") as caught:
                await fetcher.fetch(Request(url))
        assert f"`{url}`" in caught.value.message
        assert caught.value.facts["port"] == private.port
        assert private.requests == []


async def test_without_a_typed_location_nothing_private_is_reached(site: Site) -> None:
    async with open_fetcher(FetcherOptions(typed_location=None)) as fetcher:
        with pytest.raises(AddressRefused):
            await fetcher.fetch(Request(site.url + "/"))
    assert site.requests == []


async def test_a_public_typed_location_opens_no_private_one(site: Site) -> None:
    for typed in ("http://192.0.2.1/", "http://nowhere.invalid/", "not an address"):
        async with fetcher_for(typed) as fetcher:
            with pytest.raises(AddressRefused):
                await fetcher.fetch(Request(site.url + "/"))
    assert site.requests == []


async def test_a_typed_name_stands_for_its_address(site: Site) -> None:
    by_name = f"http://localhost:{site.port}/"
    async with fetcher_for(by_name) as fetcher:
        assert (await fetcher.fetch(Request(by_name))).status == 200
        assert (await fetcher.fetch(Request(site.url + "/"))).status == 200


async def test_first_requests_made_together_are_all_let_through(site: Site) -> None:
    async with fetcher_for(f"http://localhost:{site.port}/", connections=10) as fetcher:
        hosts = [f"http://localhost:{site.port}/", site.url + "/"] * 10
        answers = await asyncio.gather(*(fetcher.fetch(Request(url)) for url in hosts))
    assert {answer.status for answer in answers} == {200}


async def test_private_addresses_may_be_allowed(site: Site) -> None:
    async with open_fetcher(FetcherOptions(typed_location=None, allow_private=True)) as fetcher:
        assert (await fetcher.fetch(Request(site.url + "/"))).status == 200


async def test_no_more_connections_to_a_host_than_allowed(site: Site) -> None:
    gate = threading.Event()
    for n in range(6):
        site.set(f"/{n}", Page("x").raw, delay=gate)
    arrived = 0

    async def one(fetcher: HttpFetcher, n: int) -> None:
        nonlocal arrived
        await fetcher.fetch(Request(f"{site.url}/{n}"))
        arrived += 1
        # While the first two were on their way, nobody else may have been.
        assert len(site.requests) <= arrived + 2

    async with fetcher_for(site.url, connections=2) as fetcher, asyncio.TaskGroup() as tasks:
        for n in range(6):
            tasks.create_task(one(fetcher, n))
        await asyncio.sleep(0)
        gate.set()
    assert arrived == 6


async def test_proxy_settings_of_the_environment_are_not_read(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9/")
    async with fetcher_for(site.url) as fetcher:
        assert (await fetcher.fetch(Request(site.url + "/"))).status == 200


def with_key(origin: str) -> FetcherOptions:
    credentials = Credentials(origin, {"X-Key": Secret("kuckuck-4711")})
    return FetcherOptions(typed_location=origin, allow_private=True, credentials=credentials)


async def test_credentials_go_to_their_origin_and_to_nobody_else(site: Site) -> None:
    with Site({"/": HOME}) as other:
        async with open_fetcher(with_key(site.url)) as fetcher:
            for url in (site.url, other.url, site.url.replace("127.0.0.1", "localhost")):
                await fetcher.fetch(Request(url + "/"))
        assert [one.headers.get("X-Key") for one in site.requests] == ["kuckuck-4711", None]
        assert [one.headers.get("X-Key") for one in other.requests] == [None]


async def test_a_failure_carries_no_credentials_with_it() -> None:
    async with (
        raw_server(b"HTTP/1.1 nonsense\r\n\r\n") as url,
        open_fetcher(with_key(url.rstrip("/"))) as fetcher,
    ):
        with pytest.raises(Unfetchable) as caught:
            await fetcher.fetch(Request(url + "/"))
    error = caught.value
    assert (error.__cause__, error.__context__) == (None, None)
    assert "kuckuck" not in f"{error!r} {error.facts}"
