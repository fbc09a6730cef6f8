"""Every exception of aiohttp has a name of ours."""

from __future__ import annotations

import errno
import inspect
import socket
import ssl
from collections.abc import Iterator

import aiohttp
import pytest
from aiohttp import client_exceptions, http_exceptions

from rowen.adapters.http.failures import TRANSLATED, RefusedSocketError, translate
from rowen.errors import (
    AddressRefused,
    CertificateRefused,
    ConnectionFailed,
    FetchTimeout,
    HostUnknown,
    PermanentError,
    RowenError,
    TransientError,
    Unfetchable,
)

URL = "https://user:secret@example.org/a"

EXPECTED: dict[str, type[RowenError]] = {
    "ClientConnectorDNSError": HostUnknown,
    "ServerTimeoutError": FetchTimeout,
    "ConnectionTimeoutError": FetchTimeout,
    "SocketTimeoutError": FetchTimeout,
    "ClientError": ConnectionFailed,
    "ClientConnectionError": ConnectionFailed,
    "ClientConnectionResetError": ConnectionFailed,
    "ClientOSError": ConnectionFailed,
    "ClientConnectorError": ConnectionFailed,
    "ClientProxyConnectionError": ConnectionFailed,
    "UnixClientConnectorError": ConnectionFailed,
    "ServerConnectionError": ConnectionFailed,
    "ServerDisconnectedError": ConnectionFailed,
    "ServerFingerprintMismatch": ConnectionFailed,
    "ClientPayloadError": ConnectionFailed,
    "UploadAbortedError": ConnectionFailed,
    "ClientSSLError": ConnectionFailed,
    "ClientConnectorSSLError": ConnectionFailed,
    "ClientConnectorCertificateError": CertificateRefused,
    "PayloadEncodingError": ConnectionFailed,
    "ContentEncodingError": ConnectionFailed,
    "TransferEncodingError": ConnectionFailed,
    "ContentLengthError": ConnectionFailed,
    "DecompressSizeError": ConnectionFailed,
    "ClientResponseError": Unfetchable,
    "ContentTypeError": Unfetchable,
    "WSServerHandshakeError": Unfetchable,
    "ClientHttpProxyError": Unfetchable,
    "TooManyRedirects": Unfetchable,
    "InvalidURL": Unfetchable,
    "InvalidUrlClientError": Unfetchable,
    "RedirectClientError": Unfetchable,
    "NonHttpUrlClientError": Unfetchable,
    "InvalidUrlRedirectClientError": Unfetchable,
    "NonHttpUrlRedirectClientError": Unfetchable,
    "HttpProcessingError": Unfetchable,
    "BadHttpMessage": Unfetchable,
    "HttpBadRequest": Unfetchable,
    "LineTooLong": Unfetchable,
    "InvalidHeader": Unfetchable,
    "BadStatusLine": Unfetchable,
    "BadHttpMethod": Unfetchable,
    "InvalidURLError": Unfetchable,
}
# Only websockets raise this one, and Rowen opens none.
NOT_OURS = {"WSMessageTypeError"}


def _exceptions() -> Iterator[type[Exception]]:
    for module in (client_exceptions, http_exceptions):
        for _, thing in inspect.getmembers(module, inspect.isclass):
            if issubclass(thing, Exception) and thing.__module__.startswith("aiohttp."):
                yield thing


def test_no_exception_of_aiohttp_is_missing_from_the_list() -> None:
    assert {cls.__name__ for cls in _exceptions()} == EXPECTED.keys() | NOT_OURS


@pytest.mark.parametrize(
    "cls", [c for c in _exceptions() if c.__name__ in EXPECTED], ids=lambda c: c.__name__
)
def test_each_exception_of_aiohttp_is_translated(cls: type[Exception]) -> None:
    exc = cls.__new__(cls)
    assert isinstance(exc, TRANSLATED)
    failure = translate(exc, URL, timeout_s=30)
    assert type(failure) is EXPECTED[cls.__name__]
    assert isinstance(failure, TransientError | PermanentError)
    assert "`https://example.org/a`" in failure.message
    assert "secret" not in failure.message + str(failure.facts)


@pytest.mark.parametrize(
    ("exc", "expected", "fact"),
    [
        (TimeoutError(), FetchTimeout, "no answer within 30 s"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "x"), ConnectionFailed, "connection refused"),
        (ConnectionResetError(errno.ECONNRESET, "x"), ConnectionFailed, "connection reset by peer"),
        (OSError(errno.ENETUNREACH, "x"), ConnectionFailed, "network is unreachable"),
        (ssl.SSLError(1, "x"), ConnectionFailed, "TLS failed"),
        (UnicodeError("label too long"), Unfetchable, "not valid"),
        (socket.gaierror(-3, "x"), ConnectionFailed, "the connection failed"),
    ],
)
def test_what_the_operating_system_says_is_named(exc: Exception, expected: type, fact: str) -> None:
    assert isinstance(exc, TRANSLATED)
    failure = translate(exc, URL, timeout_s=30)
    assert type(failure) is expected
    assert fact in failure.message


def test_a_refusal_is_found_inside_the_wrapping() -> None:
    wrapped = aiohttp.ClientError("wrapped")
    wrapped.__cause__ = OSError("wrapped")
    wrapped.__cause__.__cause__ = RefusedSocketError("10.0.0.1", 80)
    failure = translate(wrapped, URL, timeout_s=30)
    assert type(failure) is AddressRefused
    assert failure.facts == {"url": "https://example.org/a", "address": "10.0.0.1", "port": 80}


def test_a_servers_bytes_are_not_repeated_in_the_message() -> None:
    exc = http_exceptions.BadHttpMessage("Invalid header value char:\n\n  b'\\x00 hello'\n      ^")
    assert "hello" not in translate(exc, URL, timeout_s=30).message
