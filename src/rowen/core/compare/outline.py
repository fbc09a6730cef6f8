"""What a document offers: the names it defines with their signatures, and its sections by heading path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from rowen.core import hashing
from rowen.core.section import is_in_source, join_path
from rowen.core.split import split
from rowen.records import dataclass

MOST_SIGNATURE_CHARS = 400
_SIGNATURE = re.compile(r"\A\s*(?:```\w*\n(?P<block>.+?)\n```|`(?P<line>[^`\n]+)`\s*(?:\n|\Z))", re.DOTALL)


class Defined(NamedTuple):
    name: str
    kind: str
    signature: str
    """As it is written; empty where there is none."""
    anchor: str | None
    digest: bytes
    """Of what is said about it, without its signature."""


class Said(NamedTuple):
    path: str
    anchor: str | None
    digest: bytes
    words: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Outline:
    symbols: Mapping[str, Defined]
    sections: Mapping[str, Said]
    """Those that define nothing, by heading path; what stands before the first heading by an empty one."""

    def says_the_same_as(self, other: Outline) -> bool:
        """Wherever its links lead, and however its anchors are called."""
        return self._said() == other._said()

    def _said(self) -> tuple[object, object]:
        symbols = {name: (one.kind, one.signature, one.digest) for name, one in self.symbols.items()}
        return symbols, {path: one.digest for path, one in self.sections.items()}


NOTHING = Outline(symbols={}, sections={})


def outline(text: str | None) -> Outline:
    if not text:
        return NOTHING
    symbols: dict[str, Defined] = {}
    sections: dict[str, Said] = {}
    of_symbol: dict[tuple[str, ...], str] = {}
    for section in split(text):
        path, digest = section.heading_path, hashing.of_text(section.text)
        if section.symbol is not None:
            name, kind = section.symbol
            # Code that is not as it was is another text, not another signature.
            in_source = is_in_source(kind)
            signature, about = ("", section.text) if in_source else _signature(section.heading, section.text)
            of_symbol[path] = name
            if name not in symbols:
                symbols[name] = Defined(name, kind, signature, section.anchor, hashing.of_text(about))
            elif in_source:
                # For another system, or with other parameters.
                known = symbols[name]
                symbols[name] = known._replace(digest=hashing.of_bytes(known.digest + digest))
            continue
        if path in of_symbol:
            # A further part of a long definition.
            known = symbols[of_symbol[path]]
            symbols[known.name] = known._replace(digest=hashing.of_bytes(known.digest + digest))
            continue
        joined, words = join_path(path), len(section.text.split())
        before = sections.get(joined)
        if before is not None:
            digest, words = hashing.of_bytes(before.digest + digest), before.words + words
        sections[joined] = Said(joined, section.anchor, digest, words)
    return Outline(symbols=symbols, sections=sections)


def _signature(heading: str, text: str) -> tuple[str, str]:
    """The signature of a definition, and what is said besides."""
    found = _SIGNATURE.match(text)
    if found is not None and len(found[0]) <= MOST_SIGNATURE_CHARS:
        return (found["block"] or found["line"]).strip(), text[found.end() :]
    return (heading if "(" in heading and not heading.endswith("()") else ""), text
