"""One HTTP exchange at a time over a pool of connections, inside one address policy.

It follows no redirect, keeps no cookie, reads no proxy setting and retries nothing, with two exceptions: when
a connection closes before the first byte of an answer, aiohttp asks once more on a fresh one (RFC 9112); and
what is no HTTP may be the rest of the answer before, whose body was longer than its `Content-Length`.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache
from urllib.parse import urlsplit

import aiohttp
from aiohttp import AddrInfoType
from yarl import URL

from rowen.adapters.http.certificates import trusting
from rowen.adapters.http.decode import ACCEPTED, DecodeError, OversizeError, decode
from rowen.adapters.http.failures import (
    TRANSLATED,
    RefusedSocketError,
    is_bad_framing,
    refused_socket,
    surplus,
    translate,
)
from rowen.core.safety.addresses import Address, is_public, parse_address
from rowen.core.safety.secrets import Secret
from rowen.core.web.urls import normalise, without_credentials
from rowen.core.web.whatwg import normal
from rowen.errors import BodyTooLarge, ConnectionFailed, Unfetchable
from rowen.patterns import pattern
from rowen.ports.fetcher import FetcherOptions, Request, Response

_ACCEPT = "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.8,*/*;q=0.5"
_CONNECT_TIMEOUT_S = 10.0
# Behind a root that the parser leaves as it is, it leaves such a path: nothing to quote, no dot segments.
_PLAIN = pattern(
    r"(https?://[a-z0-9.:-]+/)(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*/)*(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*)?"
)


@asynccontextmanager
async def open_fetcher(options: FetcherOptions) -> AsyncIterator[HttpFetcher]:
    """A fetcher for one run; its connections are closed at the end."""
    policy = AddressPolicy(options)
    connector = aiohttp.TCPConnector(
        limit=0,
        limit_per_host=options.connections,
        socket_factory=policy.open_socket,
        ssl=trusting(options.ca_file) if options.ca_file else True,
    )
    timeout = aiohttp.ClientTimeout(
        total=options.timeout_s,
        sock_connect=min(_CONNECT_TIMEOUT_S, options.timeout_s),
    )
    headers = {"User-Agent": options.user_agent, "Accept": _ACCEPT, "Accept-Encoding": ACCEPTED}
    async with aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=headers,
        timeout=timeout,
        trust_env=False,
        auto_decompress=False,
    ) as session:
        yield HttpFetcher(session, policy, options)


class AddressPolicy:
    """Decides at the last moment, when the socket is opened: names, redirects and odd spellings end up here.

    A custom resolver would not do: aiohttp does not ask it about addresses given as numbers.
    """

    def __init__(self, options: FetcherOptions) -> None:
        self._allow_private = options.allow_private
        self._typed_place = _place(options.typed_location) if options.typed_location else None
        self._typed_addresses: set[tuple[Address, int]] = set()
        self._looked_up = False
        self._looking_up = asyncio.Lock()

    def open_socket(self, addr_info: AddrInfoType) -> socket.socket:
        family, kind, protocol, _, sockaddr = addr_info
        host, port = str(sockaddr[0]), int(sockaddr[1])
        if not self._allow_private:
            address = parse_address(host)
            if not is_public(address) and (address, port) not in self._typed_addresses:
                raise RefusedSocketError(host, port)
        return socket.socket(family=family, type=kind, proto=protocol)

    async def reconsider(self, url: str, refusal: RefusedSocketError) -> bool:
        """After a refusal: was it a place the typed location stands for? Then the request may be made again.

        A public source never comes here and pays no second lookup. A private one whose name has changing
        addresses is looked up again, for its own pages only.
        """
        if self._typed_place is None:
            return False
        refused = parse_address(refusal.address), refusal.port
        # Several first requests are refused together; the others wait here for the one lookup.
        async with self._looking_up:
            if refused not in self._typed_addresses and (
                not self._looked_up or _place(url) == self._typed_place
            ):
                await self._look_up(*self._typed_place)
        return refused in self._typed_addresses

    async def _look_up(self, host: str, port: int) -> None:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return
        self._typed_addresses.update((parse_address(str(info[4][0])), port) for info in found)
        self._looked_up = True


class HttpFetcher:
    def __init__(
        self, session: aiohttp.ClientSession, policy: AddressPolicy, options: FetcherOptions
    ) -> None:
        self._session = session
        self._policy = policy
        self._options = options

    async def fetch(self, request: Request) -> Response:
        """The answer, of any status; raises `TransientError` or `PermanentError` when none arrived."""
        try:
            return await self._exchange(request)
        except TRANSLATED as exc:
            failure = exc
        refusal = refused_socket(failure)
        if is_bad_framing(failure) or (
            refusal is not None and await self._policy.reconsider(request.url, refusal)
        ):
            try:
                return await self._exchange(request)
            except TRANSLATED as exc:
                failure = exc
        problem = translate(failure, request.url, timeout_s=self._options.timeout_s)
        # Some of aiohttp's exceptions carry the request's headers with them.
        raise problem from (None if self._secrets_for(request.url) else failure)

    async def _exchange(self, request: Request) -> Response:
        headers = dict(request.headers) if request.headers else {}
        validators = request.validators
        if validators.etag is not None:
            headers["If-None-Match"] = validators.etag
        if validators.last_modified is not None:
            headers["If-Modified-Since"] = validators.last_modified
        for name, secret in self._secrets_for(request.url).items():
            headers[name] = secret.reveal()
        async with self._session.request(
            request.method, _wire_url(request.url), headers=headers, data=request.body, allow_redirects=False
        ) as answer:
            protocol = answer.connection.protocol if answer.connection else None
            status = answer.status
            received = _plain_headers(answer.headers)
            url = without_credentials(request.url)
            if status == 304:
                return Response(status, url, received, b"", 0)
            if request.wanted is not None and not request.wanted(status, received):
                # Closing costs a connection; reading on could cost anything.
                answer.close()
                return Response(status, url, received, b"", answer.content.total_bytes, refused=True)
            raw = await self._read(answer, url, request.first_bytes)
            if protocol is not None and is_bad_framing(protocol.exception()):
                raise surplus(url)
        # The connection is free again while the body is unpacked.
        encodings = received.get("content-encoding")
        body = self._decode(raw, encodings, url, request.first_bytes) if encodings else raw
        if self._options.credentials is not None:
            body = self._options.credentials.scrubbed(body)
        return Response(status, url, received, body, len(raw))

    def _secrets_for(self, url: str) -> Mapping[str, Secret]:
        credentials = self._options.credentials
        return credentials.headers_for(url) if credentials is not None else {}

    async def _read(self, answer: aiohttp.ClientResponse, url: str, first_bytes: int | None) -> bytes:
        """The body as it is on the wire, without the framing of chunks."""
        limit = first_bytes or self._options.max_body_bytes
        if (answer.content_length or 0) > limit and first_bytes is None:
            answer.close()
            raise self._too_large(url)
        chunks: list[bytes] = []
        size = 0
        async for chunk in answer.content.iter_any():
            chunks.append(chunk)
            size += len(chunk)
            if size > limit:
                answer.close()
                if first_bytes is None:
                    raise self._too_large(url)
                return b"".join(chunks)[:limit]
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def _too_large(self, url: str) -> BodyTooLarge:
        limit, setting = self._options.max_body_bytes, self._options.max_body_setting
        named = f" (`{setting}`)" if setting else ""
        return BodyTooLarge(
            f"`{url}`: the body is larger than {limit} bytes{named}",
            hint=f"raise `{setting}` to have it" if setting else None,
            url=url,
            limit_bytes=limit,
        )

    def _decode(self, raw: bytes, encodings: str, url: str, first_bytes: int | None) -> bytes:
        limit = first_bytes or self._options.max_body_bytes
        try:
            return decode(raw, encodings, limit)
        except OversizeError as exc:
            if first_bytes is not None:
                return exc.first[:limit]
            raise self._too_large(url) from exc
        except DecodeError as exc:
            raise ConnectionFailed(
                f"`{url}`: the body cannot be decoded from `{encodings[:40]}`, {exc}",
                url=url,
                encoding=encodings,
            ) from exc


def _wire_url(url: str) -> URL:
    """The address for the wire, by the one parser that also made the reference; nothing is quoted again."""
    try:
        plain = _PLAIN.fullmatch(url)
        wire = URL(url if plain and _is_normal(plain[1]) else normal(url), encoded=True)
        # aiohttp's parser is lazy and stricter; let it complain here.
        if not wire.raw_host or wire.port is None or wire.scheme not in ("http", "https"):
            raise ValueError(wire.scheme)
    except ValueError as exc:
        shown = without_credentials(url)
        raise Unfetchable(f"`{shown}` cannot be asked for: the address is not valid", url=shown) from exc
    return wire


@lru_cache(maxsize=256)
def _is_normal(root: str) -> bool:
    """Does the parser leave scheme, host and port as they are written? Most addresses of a run share them."""
    return normal(root) == root


def _plain_headers(headers: Mapping[str, str]) -> dict[str, str]:
    plain = {}
    for name, value in headers.items():
        name = name.lower()
        if name not in plain:
            # Bytes that are not UTF-8 arrive as lone surrogates, which no database and no header takes back.
            plain[name] = value if value.isascii() else _storable(value)
    return plain


def _storable(value: str) -> str:
    return value.encode("utf-8", "surrogateescape").decode("latin-1")


def _place(url: str) -> tuple[str, int] | None:
    href = normalise(url)
    if href is None:
        return None
    parts = urlsplit(href)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
