"""Undoing content encodings, whole or not at all."""

from __future__ import annotations

import gzip
import subprocess
import sys
import time
import zlib
from collections.abc import Callable

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.adapters.http import decode as decoding
from rowen.adapters.http.decode import ACCEPTED, DecodeError, OversizeError, decode

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "zlib": ("deflate", zlib.compress),
    "raw": ("deflate", raw_deflate),
    "br": ("br", lambda data: brotli.compress(data, quality=1)),
    "zstd": ("zstd", zstd.compress),
}
each = pytest.mark.parametrize(("encoding", "pack"), PACKERS.values(), ids=PACKERS)


@each
@given(data=st.binary(max_size=2_000))
def test_what_was_packed_comes_out(encoding: str, pack: Callable[[bytes], bytes], data: bytes) -> None:
    assert encoding in ACCEPTED
    assert decode(pack(data), encoding, len(data)) == data


@each
@given(data=st.binary(min_size=1, max_size=500), share=st.floats(0, 1, exclude_max=True))
def test_a_cut_body_is_never_taken_for_a_whole_one(
    encoding: str, pack: Callable[[bytes], bytes], data: bytes, share: float
) -> None:
    packed = pack(data)
    cut = packed[: max(1, int(len(packed) * share))]
    with pytest.raises(DecodeError):
        decode(cut, encoding, 1_000)


@each
def test_one_byte_too_many_is_too_many(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(b"x" * 10_001)
    assert len(decode(packed, encoding, 10_001)) == 10_001
    with pytest.raises(OversizeError):
        decode(packed, encoding, 10_000)


@each
def test_a_bomb_costs_no_more_than_the_limit(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    bomb = pack(b"\0" * 50_000_000)
    started = time.process_time()
    with pytest.raises(OversizeError):
        decode(bomb, encoding, 1_000_000)
    assert time.process_time() - started < 0.5


@each
def test_garbage_is_an_error(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    with pytest.raises(DecodeError):
        decode(b"<html>not packed at all</html>", encoding, 1_000)


def test_members_and_frames_may_follow_each_other() -> None:
    assert decode(gzip.compress(b"a") + gzip.compress(b"b") + b"\0\0", "gzip", 2) == b"ab"
    assert decode(zstd.compress(b"a") + zstd.compress(b"b"), "zstd", 2) == b"ab"
    with pytest.raises(OversizeError):
        decode(gzip.compress(b"a") + gzip.compress(b"b"), "gzip", 1)


def test_several_encodings_are_undone_from_the_last() -> None:
    assert decode(brotli.compress(gzip.compress(b"text")), "gzip, br", 100) == b"text"
    assert decode(gzip.compress(b"text"), "Identity,X-GZIP", 100) == b"text"


def test_an_unknown_encoding_is_an_error_and_an_empty_body_is_not() -> None:
    with pytest.raises(DecodeError, match="`compress` is not known"):
        decode(b"x", "compress", 10)
    assert decode(b"", "gzip", 10) == b""


def test_a_page_in_br_says_what_to_install_where_its_package_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(decoding._STEPS, "br")
    with pytest.raises(DecodeError, match=r"`br` is not known, `pip install 'rowen\[brotli\]'` adds it"):
        decode(brotli.compress(b"text"), "br", 100)


def test_br_is_asked_for_only_where_its_package_is_installed() -> None:
    without = "import sys; sys.modules['brotli'] = None; "
    program = without + "from rowen.adapters.http.decode import ACCEPTED; print(ACCEPTED)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (ACCEPTED, done.stdout.strip()) == ("gzip, deflate, br, zstd", "gzip, deflate, zstd")
