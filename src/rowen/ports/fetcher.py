"""One HTTP exchange: no retries, no redirects followed, no opinion about the answer.

An answer that arrived, with any status, is a `Response`. What did not arrive is a `TransientError` or a
`PermanentError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import field
from typing import Protocol

from rowen.core.document import NO_VALIDATORS, Validators
from rowen.core.safety.secrets import Credentials
from rowen.records import dataclass


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    url: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    """Decoded from its transfer and content encodings; empty when `wanted` refused the type."""
    bytes_received: int
    """Body bytes as they came over the wire, before decoding."""
    refused: bool = False
    """`wanted` said no after the headers; the body was not read."""

    @property
    def validators(self) -> Validators:
        return Validators(self.headers.get("etag"), self.headers.get("last-modified"))


@dataclass(frozen=True, slots=True)
class Request:
    url: str
    validators: Validators = NO_VALIDATORS
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """May hold a credential, so they are not shown."""
    wanted: Callable[[int, Mapping[str, str]], bool] | None = None
    """Given status and headers, is the body worth reading?"""
    method: str = "GET"
    body: bytes | None = field(default=None, repr=False)
    first_bytes: int | None = None
    """Read so much of the body and leave the rest; without it a body that is too large is an error."""


class Fetcher(Protocol):
    """Open for one run, within one address policy."""

    async def fetch(self, request: Request) -> Response: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class FetcherOptions:
    typed_location: str | None
    """What the operator typed: its address may be private. Nothing else may, unless `allow_private`."""
    allow_private: bool = False
    credentials: Credentials | None = None
    """Sent to their own origin, by the fetcher itself: no caller of it handles them."""
    user_agent: str = "rowen"
    connections: int = 3
    timeout_s: float = 30.0
    ca_file: str | None = None
    """Certificates to trust beside those of this machine: a PEM file."""
    max_body_bytes: int = 10_000_000
    max_body_setting: str = ""
    """The setting that holds this limit, for messages."""


class OpenFetcher(Protocol):
    def __call__(self, options: FetcherOptions) -> AbstractAsyncContextManager[Fetcher]: ...
