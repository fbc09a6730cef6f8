"""One POST to one provider, and its answer of any status.

It follows no redirect, keeps no cookie, reads no proxy setting and sends nothing twice: the breaker counts
calls, and every call may cost money. The operator chose the address, so a private one is fine.
"""

from __future__ import annotations

from collections.abc import Mapping

import aiohttp
from aiohttp import http_exceptions

from rowen.adapters.embedders.failures import failure
from rowen.adapters.embedders.spec import Resolved
from rowen.core.safety.secrets import Secret
from rowen.errors import EmbedderUnavailable
from rowen.records import dataclass

MAX_BODY_BYTES = 64_000_000
"""Several times the largest honest answer: 128 vectors of 3,072 numbers are 8 MB of JSON."""

_CONNECT_TIMEOUT_S = 10.0
# Common servers close an idle connection after 5 s. A POST on one that is just being closed fails, and is not
# sent again.
_KEEP_ALIVE_S = 4.0

TRANSLATED = (
    aiohttp.ClientError,
    http_exceptions.HttpProcessingError,
    TimeoutError,
    OSError,
    UnicodeError,
)
"""All that an exchange may raise. `UnicodeError`: a host name whose parts are too long to look up."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


class Client:
    """Connects when first used, inside one event loop; after `close` it may be used again."""

    def __init__(self, resolved: Resolved, url: str, headers: Mapping[str, Secret]) -> None:
        self._resolved = resolved
        self._url = url
        self._secrets = headers
        self._session: aiohttp.ClientSession | None = None

    async def post(self, body: bytes) -> Answer:
        try:
            return await self._exchange(body)
        except TRANSLATED as exc:
            problem = translate(exc, self._resolved)
        # Outside the handler, so that nothing is chained: some of aiohttp's exceptions carry the headers.
        raise problem

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _exchange(self, body: bytes) -> Answer:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        for name, secret in self._secrets.items():
            headers[name] = secret.reveal()
        async with self._open().post(self._url, data=body, headers=headers, allow_redirects=False) as answer:
            chunks: list[bytes] = []
            size = 0
            async for chunk in answer.content.iter_any():
                size += len(chunk)
                if size > MAX_BODY_BYTES:
                    answer.close()
                    raise failure(
                        self._resolved,
                        "server",
                        f"the answer from `{self._resolved.origin}` is larger than {MAX_BODY_BYTES} bytes",
                        status=answer.status,
                    )
                chunks.append(chunk)
            received = {name.lower(): value for name, value in answer.headers.items()}
            return Answer(answer.status, received, b"".join(chunks))

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            timeout_s = self._resolved.timeout_s
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEP_ALIVE_S),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": "rowen"},
                timeout=aiohttp.ClientTimeout(
                    total=timeout_s, sock_connect=min(_CONNECT_TIMEOUT_S, timeout_s)
                ),
                trust_env=False,
            )
        return self._session


def translate(exc: BaseException, resolved: Resolved) -> EmbedderUnavailable:
    """The error to raise for one of `TRANSLATED`."""
    where = f"`{resolved.origin}`"
    if isinstance(exc, TimeoutError):
        return failure(resolved, "timeout", f"no answer from {where} within {resolved.timeout_s:g} s")
    if isinstance(exc, aiohttp.ClientConnectorDNSError | UnicodeError):
        return failure(
            resolved, "connection", f"the host of {where} is unknown", hint="check `embedding.base_url`"
        )
    if isinstance(exc, aiohttp.ClientConnectorError):
        hint = "is `ollama serve` running?" if resolved.provider == "ollama" else None
        return failure(resolved, "connection", f"cannot connect to {where}", hint=hint)
    if isinstance(exc, aiohttp.ClientPayloadError | http_exceptions.PayloadEncodingError):
        return failure(resolved, "connection", f"the answer from {where} broke off or cannot be decoded")
    if isinstance(exc, aiohttp.ClientResponseError | http_exceptions.HttpProcessingError):
        return failure(resolved, "server", f"the answer from {where} is not valid HTTP")
    return failure(resolved, "connection", f"the connection to {where} failed ({type(exc).__name__})")
