"""XML from outside as data, in one shape, for the readers of catalogues.

An element with text alone is that text. Any other is a map: its attributes by `@NAME`, its own text as
`@value`, and every child element in a list under its name. Prefixes are dropped; `xml:lang` is `@language`,
so that a text in a language looks as in JSON-LD. Document type declarations are refused before they grow,
and depth and number of elements are bounded.
"""

from __future__ import annotations

from typing import Any

MAX_DEPTH = 60
MAX_ELEMENTS = 1_000_000
_NAMESPACE = "xmlns"


def read(body: bytes) -> dict[str, Any]:
    """The root element under its name. Raises `ValueError`."""
    from xml.parsers import expat

    parser = expat.ParserCreate()
    parser.buffer_text = True
    reader = _Reader()
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(body, True)
    except expat.ExpatError as exc:
        raise ValueError(f"line {exc.lineno}, {expat.errors.messages[exc.code]}") from exc
    except LookupError as exc:
        raise ValueError("unknown encoding") from exc
    return reader.root


def local(name: str) -> str:
    return name.rpartition(":")[2]


def _refuse(*_: object) -> None:
    raise ValueError("contains a document type declaration")


class _Reader:
    def __init__(self) -> None:
        self.root: dict[str, Any] = {}
        self._open: list[tuple[dict[str, Any], list[str]]] = [(self.root, [])]
        self._elements = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        if len(self._open) > MAX_DEPTH:
            raise ValueError(f"nested deeper than {MAX_DEPTH} elements")
        if self._elements > MAX_ELEMENTS:
            raise ValueError(f"more than {MAX_ELEMENTS} elements")
        node: dict[str, Any] = {}
        for name, text in attributes.items():
            if not name.startswith(_NAMESPACE):
                node["@language" if name == "xml:lang" else f"@{local(name)}"] = text
        self._open.append((node, []))

    def text(self, text: str) -> None:
        self._open[-1][1].append(text)

    def end(self, tag: str) -> None:
        node, pieces = self._open.pop()
        said = "".join(pieces).strip()
        if said and node:
            node["@value"] = said
        above = self._open[-1][0]
        if len(self._open) == 1:
            above[local(tag)] = node or said
        else:
            above.setdefault(local(tag), []).append(node or said)
