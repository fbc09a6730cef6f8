"""Undo a body's content encodings: gzip, deflate, zstd, and br where its package is installed.

Done here and not by the HTTP client because a stream that stops half-way must be an error: taken as it is, a
cut page would be stored as a changed one. Output is bounded: a bomb stops at the limit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec

from isal import isal_zlib
from isal.isal_zlib import IsalError

HAS_BROTLI = find_spec("brotli") is not None
ACCEPTED = "gzip, deflate, br, zstd" if HAS_BROTLI else "gzip, deflate, zstd"

# 8 MB, the largest window a browser accepts; the format itself allows gigabytes.
_ZSTD_WINDOW_LOG = 23


class DecodeError(Exception):
    """Not what the header says it is, or cut short."""


class OversizeError(Exception):
    """More comes out than allowed; `first` is the beginning of it."""

    def __init__(self, first: bytes) -> None:
        super().__init__(len(first))
        self.first = first


def decode(body: bytes, encodings: str, limit: int) -> bytes:
    """`encodings` is the Content-Encoding header; at most `limit` bytes come out of each of its steps."""
    for name in reversed(encodings.lower().split(",")):
        name = name.strip()
        if name in ("", "identity"):
            continue
        step = _STEPS.get(name)
        if step is None:
            hint = ", `pip install 'rowen[brotli]'` adds it" if name == "br" else ""
            raise DecodeError(f"encoding `{name[:40]}` is not known{hint}")
        if body:
            body = step(body, limit)
    return body


def _gzip(body: bytes, limit: int) -> bytes:
    parts: list[bytes] = []
    # Members may follow each other; what does not start like one is padding.
    while body[:2] == b"\x1f\x8b" or not parts:
        part, body = _inflate(body, 31, limit)
        parts.append(part)
        limit -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _deflate(body: bytes, limit: int) -> bytes:
    # The name means a zlib wrapper; many servers leave it away.
    wrapped = body[0] & 0x0F == 8
    return _inflate(body, 15 if wrapped else -15, limit)[0]


def _inflate(body: bytes, wbits: int, limit: int) -> tuple[bytes, bytes]:
    decoder = isal_zlib.decompressobj(wbits)
    try:
        part: bytes = decoder.decompress(body, limit + 1)
    except IsalError as exc:  # type: ignore[misc]  # its stub calls the class an instance
        raise DecodeError("broken data") from exc
    if len(part) > limit:
        raise OversizeError(part)
    if not decoder.eof:
        raise DecodeError("cut short")
    return part, decoder.unused_data


def _brotli(body: bytes, limit: int) -> bytes:
    import brotli

    decoder = brotli.Decompressor()
    parts: list[bytes] = []
    try:
        while not decoder.is_finished():
            part: bytes = decoder.process(body, output_buffer_limit=limit + 1)
            if not part and not decoder.is_finished():
                raise DecodeError("cut short")
            parts.append(part)
            limit -= len(part)
            body = b""
            if limit < 0:
                raise OversizeError(b"".join(parts))
    except brotli.error as exc:
        raise DecodeError("broken data") from exc
    return b"".join(parts)


def _zstd(body: bytes, limit: int) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    parts: list[bytes] = []
    while body:
        decoder = zstd.ZstdDecompressor(
            options={zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}
        )
        try:
            part = decoder.decompress(body, limit + 1)
        except zstd.ZstdError as exc:
            raise DecodeError("broken data") from exc
        parts.append(part)
        limit -= len(part)
        if limit < 0:
            raise OversizeError(b"".join(parts))
        if not decoder.eof:
            raise DecodeError("cut short")
        body = decoder.unused_data
    return b"".join(parts)


_STEPS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "zstd": _zstd,
}
if HAS_BROTLI:
    _STEPS["br"] = _brotli
