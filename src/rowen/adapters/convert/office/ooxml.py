"""The parts of an Office file: a zip archive of XML, unpacked and parsed within bounds.

Our own instead of a library for each of the three formats: those need an XML library and an imaging one, some
30 MB together, to read what is a handful of element names here. Nothing is installed, and the bounds are
ours: sizes when unpacked, and no document type, so no entities.
"""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Callable, Iterator
from io import BytesIO
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from rowen.errors import Unparseable

_MAX_ENTRIES = 20_000
_MAX_PART_BYTES = 64 * 1024 * 1024
_MAX_TOTAL_BYTES = 192 * 1024 * 1024
_MAX_RATIO = 300
"""Unpacked to packed. What people write stays far below; bombs come near 1,000."""
_RATIO_FROM_BYTES = 4 * 1024 * 1024
_RELATIONSHIP = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_STRICT_RELATIONSHIP = "{http://purl.oclc.org/ooxml/officeDocument/relationships}"
_CHUNK = 1 << 16


class Package:
    """Raises `Unparseable` for an archive that is damaged or too large."""

    def __init__(self, body: bytes, url: str) -> None:
        self._url = url
        self._unpacked = 0
        try:
            self._archive = zipfile.ZipFile(BytesIO(body))
            self.names = frozenset(self._archive.namelist())
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as exc:
            raise self.broken("not a zip archive") from exc
        if len(self.names) > _MAX_ENTRIES:
            raise self.broken(f"{len(self.names)} parts in the archive, more than {_MAX_ENTRIES}")

    def broken(self, why: str) -> Unparseable:
        return Unparseable(f"`{self._url}`: {why}", url=self._url)

    def read(self, name: str) -> bytes:
        """What the archive says about sizes is not believed."""
        pieces: list[bytes] = []
        size = 0
        try:
            packed = max(1, self._archive.getinfo(name).compress_size)
            with self._archive.open(name) as part:
                while piece := part.read(_CHUNK):
                    size += len(piece)
                    self._unpacked += len(piece)
                    is_bomb = size > _RATIO_FROM_BYTES and size > _MAX_RATIO * packed
                    if is_bomb or size > _MAX_PART_BYTES or self._unpacked > _MAX_TOTAL_BYTES:
                        raise self.broken(f"`{name}` is too large when unpacked")
                    pieces.append(piece)
        except KeyError as exc:
            raise self.broken(f"no part `{name}`") from exc
        except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, OSError, NotImplementedError) as exc:
            raise self.broken(f"part `{name}` cannot be unpacked") from exc
        return b"".join(pieces)

    def tree(self, name: str) -> Element:
        """A part as a tree whose tags have lost their namespaces."""
        return self._parsed(name, _Tree())

    def stream(self, name: str, start: _Start, end: _End) -> None:
        """A part that may be too large for a tree, element by element; `end` gets the text inside."""
        self._parsed(name, _Stream(start, end))

    def relations(self, name: str) -> dict[str, tuple[str, str]]:
        """Of a part: id to (kind, target). Targets inside the package are full names, others addresses."""
        folder, _, base = name.rpartition("/")
        listing = f"{folder}/_rels/{base}.rels".lstrip("/")
        if listing not in self.names:
            return {}
        found = {}
        for relation in self.tree(listing).iter("Relationship"):
            target = relation.get("Target") or ""
            if relation.get("TargetMode") != "External":
                inside = target if target.startswith("/") else posixpath.normpath(f"{folder}/{target}")
                target = inside.lstrip("/")
            found[relation.get("Id") or ""] = ((relation.get("Type") or "").rpartition("/")[2], target)
        return found

    def core_properties(self) -> dict[str, str]:
        """`title`, `description`, `subject` and the like, as far as they say something."""
        if "docProps/core.xml" not in self.names:
            return {}
        return {
            element.tag: " ".join(element.text.split())
            for element in self.tree("docProps/core.xml")
            if element.text and element.text.strip()
        }

    def _parsed(self, name: str, target: _Target) -> Element:
        parser = ElementTree.XMLParser(target=target)
        try:
            parser.feed(self.read(name))
            parser.close()
        except ElementTree.ParseError as exc:
            raise self.broken(f"part `{name}` is not well-formed XML") from exc
        except _DoctypeFound as exc:
            raise self.broken(f"part `{name}` has a document type declaration") from exc
        except (ValueError, LookupError) as exc:
            raise self.broken(f"part `{name}` is in an unknown encoding") from exc
        if target.root is None:
            raise self.broken(f"part `{name}` is empty")
        return target.root


_Start = Callable[[str, dict[str, str]], None]
_End = Callable[[str, str], None]


class _DoctypeFound(Exception):
    pass


class _Target:
    """Gets the elements of a part; tags have lost their namespaces. `root` is there when all were read."""

    root: Element | None = None

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        raise _DoctypeFound(name)


class _Tree(_Target):
    def __init__(self) -> None:
        self._builder = ElementTree.TreeBuilder()

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._builder.start(tag[tag.rfind("}") + 1 :], _short(attributes))

    def end(self, tag: str) -> None:
        self._builder.end(tag[tag.rfind("}") + 1 :])

    def data(self, text: str) -> None:
        self._builder.data(text)

    def close(self) -> None:
        self.root = self._builder.close()


class _Stream(_Target):
    """Keeps nothing but the text since the last tag."""

    def __init__(self, start: _Start, end: _End) -> None:
        self._start, self._end = start, end
        self._text: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._text.clear()
        self._start(tag[tag.rfind("}") + 1 :], attributes)

    def end(self, tag: str) -> None:
        self._end(tag[tag.rfind("}") + 1 :], "".join(self._text))
        self._text.clear()

    def data(self, text: str) -> None:
        self._text.append(text)

    def close(self) -> None:
        self.root = Element("")


def _short(attributes: dict[str, str]) -> dict[str, str]:
    """Relationship ids keep a prefix, for they stand beside plain ids; other namespaces go."""
    return {
        ("r:" if key.startswith((_RELATIONSHIP, _STRICT_RELATIONSHIP)) else "")
        + key[key.rfind("}") + 1 :]: value
        for key, value in attributes.items()
    }


def walk(element: Element, *, skip: frozenset[str], whole: frozenset[str] = frozenset()) -> Iterator[Element]:
    """Everything below, in the order of the document. Depth costs no stack.

    What has a tag to `skip` is left out; what is to be taken `whole` comes without what is below it.
    """
    waiting = list(reversed(element))
    while waiting:
        one = waiting.pop()
        if one.tag in skip:
            continue
        yield one
        if one.tag not in whole:
            waiting.extend(reversed(one))
