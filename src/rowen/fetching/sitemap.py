"""Read a sitemap: XML (`urlset`, `sitemapindex`, a feed), or text with one address a line; gzipped or not.

The file is read piece by piece, so that its size unpacked costs no memory. Up to a bound everything counts;
what lies behind the bound is counted and left out, and the same file is cut at the same place each time.
A file that breaks off or is malformed is no sitemap at all: a page counts as reachable because it is listed,
so half a list would drop the other half. Declarations (`<!DOCTYPE`, entities) are refused before they grow.
"""

from __future__ import annotations

import codecs
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from xml.parsers import expat

from rowen.core.web import urls
from rowen.errors import Unparseable
from rowen.records import dataclass

MAX_URLS = 200_000
"""Addresses of one file that count: four times what the standard allows."""
MAX_BYTES = 50_000_000
"""What is read of a file, packed and unpacked; the standard allows as much."""

MAX_LASTMOD = 40
"""A longer date is none."""

_ENTRIES = {"feed": ["feed", "entry"], "rss": ["rss", "channel", "item"]}
"""Where the entries of a feed stand. When one was published says nothing about when it was changed."""
_PIECE = 65_536
_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Sitemap:
    urls: tuple[str, ...] = ()
    """Pages."""
    lastmods: tuple[str, ...] = ()
    """When each of them was last modified, as it is written; empty where nothing certain is said."""
    children: tuple[str, ...] = ()
    """Further sitemaps, of an index."""
    newest_only: bool = False
    """It is a feed: what it does not name any more may be there all the same."""
    left_out: int = 0
    """Addresses behind the bound; one that stands for all where the file was not read to its end."""


def parse(body: bytes, *, base: str | None = None, max_urls: int = MAX_URLS) -> Sitemap:
    """Addresses come out normalised, each once, in the order of the file. Raises `Unparseable`.

    `base` is the sitemap's own address: it names the file in errors and completes relative addresses, which
    the standard forbids and sites use.
    """
    name = f"sitemap `{base}`" if base else "sitemap"
    pieces = _unpacked(body, name) if body[:2] == _GZIP_MAGIC else _pieces(body)
    first = next(pieces, b"")
    reader = _Xml if _is_xml(first) else _Lines
    found = reader(name, base, max_urls)
    size = len(first)
    found.feed(first)
    for piece in pieces:
        if size + len(piece) > MAX_BYTES:
            return found.cut_off()
        size += len(piece)
        found.feed(piece)
    # A server's body that is as long as we read of it goes on behind that.
    return found.cut_off() if len(body) >= MAX_BYTES else found.close()


def _is_xml(start: bytes) -> bool:
    return start[:2] in _BYTE_ORDER_MARKS or start.removeprefix(_BYTE_ORDER_MARKS[0]).lstrip()[:1] == b"<"


def _pieces(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), _PIECE):
        yield body[start : start + _PIECE]


def _unpacked(body: bytes, name: str) -> Iterator[bytes]:
    rest = memoryview(body)
    while rest:
        decoder = zlib.decompressobj(wbits=31)
        while not decoder.eof:
            packed = decoder.unconsumed_tail or rest[:_PIECE]
            if not decoder.unconsumed_tail:
                rest = rest[_PIECE:]
            if not packed:
                if len(body) >= MAX_BYTES:
                    return
                raise Unparseable(f"{name}: gzip data cut short")
            try:
                piece = decoder.decompress(packed, _PIECE)
            except zlib.error as exc:
                raise Unparseable(f"{name}: broken gzip data") from exc
            if piece:
                yield piece
        # Padding after the last member is common; anything else is another member.
        rest = memoryview((decoder.unused_data + bytes(rest)).lstrip(b"\0"))


class _Found(ABC):
    """Addresses, as far as they count."""

    def __init__(self, name: str, base: str | None, max_urls: int) -> None:
        self._name = name
        self._base = base
        self._max_urls = max_urls
        self._urls: dict[str, str] = {}
        """With the date that is named beside each."""
        self._children: dict[str, str] = {}
        self._left_out = 0
        self._newest_only = False

    @abstractmethod
    def feed(self, piece: bytes) -> None: ...

    @abstractmethod
    def close(self) -> Sitemap: ...

    def cut_off(self) -> Sitemap:
        """The file is longer than is read of one."""
        if not self._urls and not self._children:
            raise Unparseable(f"{self._name}: no address in the first {MAX_BYTES} bytes")
        return self._sitemap(1)

    def _sitemap(self, more: int = 0) -> Sitemap:
        lastmods = tuple(self._urls.values())
        return Sitemap(
            tuple(self._urls),
            lastmods,
            tuple(self._children),
            newest_only=self._newest_only,
            left_out=self._left_out + more,
        )

    def _keep(self, found: dict[str, str], url: str, lastmod: str = "") -> None:
        if url in found:
            if found[url] != lastmod:
                found[url] = ""
        elif len(self._urls) + len(self._children) < self._max_urls:
            found[url] = lastmod
        else:
            self._left_out += 1


class _Lines(_Found):
    def __init__(self, name: str, base: str | None, max_urls: int) -> None:
        super().__init__(name, base, max_urls)
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._rest = ""
        self._number = 0

    def feed(self, piece: bytes, *, last: bool = False) -> None:
        try:
            text = self._rest + self._decoder.decode(piece, last)
        except UnicodeDecodeError as exc:
            raise Unparseable(f"{self._name}: neither XML nor UTF-8 text") from exc
        lines = text.split("\n")
        self._rest = "" if last else lines.pop()
        for line in lines:
            self._take(line.strip())
        if len(self._rest) > _PIECE:
            raise Unparseable(f"{self._name}: line {self._number + 1} is too long", line=self._number + 1)

    def close(self) -> Sitemap:
        self.feed(b"", last=True)
        if not self._urls:
            raise Unparseable(f"{self._name}: no address in it")
        return self._sitemap()

    def _take(self, line: str) -> None:
        self._number += 1
        if not line or line.startswith("#"):
            return
        url = urls.normalise(line)
        if url is None:
            raise Unparseable(
                f"{self._name}: line {self._number} is not an http or https address", line=self._number
            )
        self._keep(self._urls, url)


class _Xml(_Found):
    """Walks the XML once. Prefixes are ignored; places are not: `image:loc` is not a page."""

    def __init__(self, name: str, base: str | None, max_urls: int) -> None:
        super().__init__(name, base, max_urls)
        self._path: list[str] = []
        self._text: list[str] = []
        self._loc = ""
        self._lastmod = ""
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        parser.StartDoctypeDeclHandler = self._refuse

    def feed(self, piece: bytes, *, last: bool = False) -> None:
        try:
            self._parser.Parse(piece, last)
        except expat.ExpatError as exc:
            raise Unparseable(
                f"{self._name}: line {exc.lineno}, {expat.errors.messages[exc.code]}", line=exc.lineno
            ) from exc
        except (ValueError, LookupError) as exc:
            # Encodings Python does not know, or knows and cannot map byte by byte.
            raise Unparseable(f"{self._name}: unknown encoding") from exc
        if len(self._text) > _PIECE:
            raise Unparseable(f"{self._name}: an element is too long")

    def close(self) -> Sitemap:
        self.feed(b"", last=True)
        return self._sitemap()

    def _refuse(self, *_: object) -> None:
        raise Unparseable(f"{self._name}: contains a document type declaration")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        path = self._path
        path.append(tag)
        self._text.clear()
        if len(path) == 1:
            if tag not in ("urlset", "sitemapindex", *_ENTRIES):
                raise Unparseable(f"{self._name}: starts with `<{tag[:40]}>`, not with a sitemap's element")
            self._newest_only = tag in _ENTRIES
        entry = _ENTRIES.get(path[0])
        if len(path) == 2 or path == entry:
            self._loc = self._lastmod = ""
        elif path[:-1] == entry and tag == "link" and attributes.get("rel", "alternate") == "alternate":
            # Of an entry in Atom: its page, and not what belongs to it.
            self._loc = self._loc or attributes.get("href", "")

    def _end(self, _: str) -> None:
        path = self._path
        tag = path.pop()
        if len(path) == 2 and tag == "loc":
            self._loc = "".join(self._text).strip()
        elif len(path) == 2 and tag == "lastmod":
            self._lastmod = "".join(self._text).strip()
        elif path and (entry := _ENTRIES.get(path[0])) is not None:
            self._end_in_feed(path, tag, entry)
        elif len(path) == 1 and self._loc:
            self._add(path[0], tag)
        self._text.clear()

    def _end_in_feed(self, path: list[str], tag: str, entry: list[str]) -> None:
        if path == entry and tag == "link":
            self._loc = self._loc or "".join(self._text).strip()
        elif path == entry and tag in ("updated", "modified"):
            self._lastmod = "".join(self._text).strip()
        elif [*path, tag] == entry and (url := urls.normalise(self._loc, self._base)) is not None:
            self._keep(self._urls, url, self._lastmod if len(self._lastmod) <= MAX_LASTMOD else "")

    def _add(self, root: str, tag: str) -> None:
        url = urls.normalise(self._loc, self._base)
        if url is None:
            return
        if root == "urlset" and tag == "url":
            self._keep(self._urls, url, self._lastmod if len(self._lastmod) <= MAX_LASTMOD else "")
        elif root == "sitemapindex" and tag == "sitemap":
            self._keep(self._children, url)
