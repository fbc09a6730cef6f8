"""Turn a fetched body into the Markdown of its main content.

Hostile input may take for ever or crash a parser: an implementation bounds the time and survives a crash,
and answers with `Unparseable`.
"""

from __future__ import annotations

from typing import Protocol

from rowen.core.document import Converted


class Converter(Protocol):
    def handles(self, content_type: str, url: str) -> bool:
        """Cheap: says from the type and the address alone whether `convert` would try."""
        ...

    async def convert(self, body: bytes, *, content_type: str, url: str) -> Converted:
        """`content_type` is the whole header, charset included. Raises `Unparseable`."""
        ...

    async def graph(self, body: bytes, *, syntax: str, url: str) -> bytes:
        """A graph in RDF as flat JSON-LD; the names of the syntaxes are the endings of their files.

        Raises `Unparseable`, also where the library that reads them is not installed.
        """
        ...

    async def close(self) -> None: ...
