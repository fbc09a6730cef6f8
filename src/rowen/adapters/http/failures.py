"""Translate the failures of an exchange into `rowen.errors`.

Every exception of aiohttp and of the operating system becomes one of ours; what none of the rules
knows is a bug and is not translated. Messages name the address without credentials.
"""

from __future__ import annotations

import errno
import os
import ssl

import aiohttp
from aiohttp import http_exceptions

from rowen.adapters.http import certificates
from rowen.core.web.urls import host_of, without_credentials
from rowen.errors import (
    AddressRefused,
    ConnectionFailed,
    FetchTimeout,
    HostUnknown,
    RowenError,
    Unfetchable,
)

TRANSLATED = (
    aiohttp.ClientError,
    http_exceptions.HttpProcessingError,
    TimeoutError,
    OSError,
    UnicodeError,
)
"""All that an exchange may raise. `UnicodeError`: a host name whose parts are too long to look up."""


class RefusedSocketError(OSError):
    """Instead of a socket; an `OSError`, so that aiohttp goes on to a host's other addresses."""

    def __init__(self, address: str, port: int) -> None:
        # The same text for all addresses of a host: they are merged into one only then.
        super().__init__(errno.EACCES, "address refused")
        self.address = address
        self.port = port


def refused_socket(exc: BaseException) -> RefusedSocketError | None:
    """The refusal inside aiohttp's wrapping, if this is one."""
    cause: BaseException | None = exc
    while cause is not None and not isinstance(cause, RefusedSocketError):
        cause = cause.__cause__
    return cause


def is_bad_framing(exc: BaseException | None) -> bool:
    """Did bytes come where an answer should begin that are no HTTP?"""
    return isinstance(exc, aiohttp.ClientResponseError | http_exceptions.HttpProcessingError) and not (
        isinstance(exc, http_exceptions.PayloadEncodingError)
    )


def surplus(url: str) -> Unfetchable:
    """The error for a body that is longer than its server announced: which part of it is the page?"""
    return Unfetchable(f"`{url}`: the server sends more than its `Content-Length` says", url=url)


def translate(exc: BaseException, url: str, *, timeout_s: float) -> RowenError:
    """The error to raise for one of `TRANSLATED`."""
    shown = without_credentials(url)
    refusal = refused_socket(exc)
    if refusal is not None:
        return AddressRefused(
            f"`{shown}` not fetched: `{refusal.address}` port {refusal.port} is not a public address",
            hint="an address typed on the command line (`rowen add`, `rowen inspect`) may be private; for"
            " links and for what is added elsewhere, the operator sets `fetch.allow_private`",
            url=shown,
            address=refusal.address,
            port=refusal.port,
        )
    certificate = getattr(exc, "certificate_error", exc)
    if isinstance(certificate, ssl.SSLCertVerificationError):
        return certificates.refused(certificate, shown, host_of(url))
    if isinstance(exc, aiohttp.ClientConnectorDNSError):
        host = host_of(url)
        return HostUnknown(f"`{shown}`: host `{host}` is unknown", url=shown, host=host)
    if isinstance(exc, TimeoutError):
        return FetchTimeout(f"`{shown}`: no answer within {timeout_s:g} s", url=shown, timeout_s=timeout_s)
    if isinstance(
        exc,
        aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError | aiohttp.RedirectClientError | UnicodeError,
    ):
        return Unfetchable(f"`{shown}` cannot be asked for: the address is not valid", url=shown)
    if isinstance(exc, http_exceptions.PayloadEncodingError | aiohttp.ClientPayloadError):
        return ConnectionFailed(f"`{shown}`: the answer broke off or cannot be decoded", url=shown)
    if isinstance(exc, aiohttp.ClientResponseError | http_exceptions.HttpProcessingError):
        detail = _first_line(getattr(exc, "message", ""))
        hint = "a body that is longer than its `Content-Length` looks like this, too" if detail else None
        return Unfetchable(f"`{shown}`: the answer is not valid HTTP{detail}", hint=hint, url=shown)
    return ConnectionFailed(f"`{shown}`: {_connection_fact(exc)}", url=shown)


def _connection_fact(exc: BaseException) -> str:
    if isinstance(exc, aiohttp.ServerDisconnectedError):
        return "the server closed the connection without an answer"
    if isinstance(exc, aiohttp.ClientSSLError | ssl.SSLError):
        return "TLS failed, no secure connection"
    number = getattr(exc, "errno", None)
    if isinstance(number, int) and number > 0:
        return os.strerror(number).lower()
    return f"the connection failed ({type(exc).__name__})"


def _first_line(message: object) -> str:
    """Parsers quote the offending bytes below the first line: they are the server's, not ours to repeat."""
    line = str(message).strip().partition("\n")[0].rstrip(":")
    return f", {line[:100].lower()}" if line else ""
