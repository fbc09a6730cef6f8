"""Read a sitemap: XML (`urlset`, `sitemapindex`), or plain text with one address a line; gzipped or not.

A sitemap is read whole or not at all: a page counts as reachable because it is listed, so half a list would
drop the other half. Declarations (`<!DOCTYPE`, entities) are refused before they can grow.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from xml.parsers import expat

from rowen.core.web import urls
from rowen.errors import Unparseable

MAX_URLS = 50_000
MAX_BYTES = 50_000_000

_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Sitemap:
    urls: tuple[str, ...] = ()
    """Pages. When they were last modified is not read."""
    children: tuple[str, ...] = ()
    """Further sitemaps, of an index."""


def parse(body: bytes, *, base: str | None = None) -> Sitemap:
    """Addresses come out normalised, each once, in the order of the file. Raises `Unparseable`.

    `base` is the sitemap's own address: it names the file in errors and completes relative addresses, which
    the standard forbids and sites use.
    """
    name = f"sitemap `{base}`" if base else "sitemap"
    if body[:2] == _GZIP_MAGIC:
        body = _gunzip(body, name)
    if len(body) > MAX_BYTES:
        raise Unparseable(f"{name}: {len(body)} bytes, more than {MAX_BYTES}", bytes=len(body))
    if body[:2] in _BYTE_ORDER_MARKS or body.removeprefix(_BYTE_ORDER_MARKS[0]).lstrip()[:1] == b"<":
        return _Reader(name, base).read(body)
    return _read_lines(body, name)


def _gunzip(body: bytes, name: str) -> bytes:
    parts: list[bytes] = []
    size = 0
    while body:
        decoder = zlib.decompressobj(wbits=31)
        try:
            part = decoder.decompress(body, MAX_BYTES + 1 - size)
        except zlib.error as exc:
            raise Unparseable(f"{name}: broken gzip data") from exc
        size += len(part)
        if size > MAX_BYTES:
            raise Unparseable(f"{name}: more than {MAX_BYTES} bytes when unpacked", bytes=size)
        if not decoder.eof:
            raise Unparseable(f"{name}: gzip data cut short after {size} bytes", bytes=size)
        parts.append(part)
        # Padding after the last member is common; anything else is another member.
        body = decoder.unused_data.lstrip(b"\0")
    return b"".join(parts)


def _read_lines(body: bytes, name: str) -> Sitemap:
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise Unparseable(f"{name}: neither XML nor UTF-8 text") from exc
    found: dict[str, None] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        url = urls.normalise(line)
        if url is None:
            raise Unparseable(f"{name}: line {number} is not an http or https address", line=number)
        found.setdefault(url)
        if len(found) > MAX_URLS:
            raise Unparseable(f"{name}: more than {MAX_URLS} addresses")
    if not found:
        raise Unparseable(f"{name}: no address in it")
    return Sitemap(urls=tuple(found))


class _Reader:
    """Walks the XML once. Prefixes are ignored; places are not: `image:loc` is not a page."""

    def __init__(self, name: str, base: str | None) -> None:
        self._name = name
        self._base = base
        self._path: list[str] = []
        self._text: list[str] = []
        self._loc = ""
        self._urls: dict[str, None] = {}
        self._children: dict[str, None] = {}

    def read(self, body: bytes) -> Sitemap:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        parser.StartDoctypeDeclHandler = self._refuse
        try:
            parser.Parse(body, True)
        except expat.ExpatError as exc:
            raise Unparseable(
                f"{self._name}: line {exc.lineno}, {expat.errors.messages[exc.code]}", line=exc.lineno
            ) from exc
        except (ValueError, LookupError) as exc:
            # Encodings Python does not know, or knows and cannot map byte by byte.
            raise Unparseable(f"{self._name}: unknown encoding") from exc
        return Sitemap(urls=tuple(self._urls), children=tuple(self._children))

    def _refuse(self, *_: object) -> None:
        raise Unparseable(f"{self._name}: contains a document type declaration")

    def _start(self, tag: str, _: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        path = self._path
        path.append(tag)
        self._text.clear()
        if len(path) == 1 and tag not in ("urlset", "sitemapindex"):
            raise Unparseable(f"{self._name}: starts with `<{tag[:40]}>`, not with a sitemap's element")
        if len(path) == 2:
            self._loc = ""

    def _end(self, _: str) -> None:
        path = self._path
        tag = path.pop()
        if len(path) == 2 and tag == "loc":
            self._loc = "".join(self._text).strip()
        elif len(path) == 1 and self._loc:
            self._add(path[0], tag)
        self._text.clear()

    def _add(self, root: str, tag: str) -> None:
        url = urls.normalise(self._loc, self._base)
        if url is None:
            return
        if root == "urlset" and tag == "url":
            self._urls.setdefault(url)
        elif root == "sitemapindex" and tag == "sitemap":
            self._children.setdefault(url)
        if len(self._urls) > MAX_URLS or len(self._children) > MAX_URLS:
            raise Unparseable(f"{self._name}: more than {MAX_URLS} addresses")
