"""Sources and documents as resources, for clients that attach them: `rowen://source` and below it documents.

A document is named by its number or by its reference, percent-encoded. Numbers change with each version of a
document, references never do.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote, unquote

from rowen.core.feed import Document
from rowen.core.source import Source
from rowen.core.text.tokens import CHARACTERS_PER_TOKEN
from rowen.doors.mcp import answers
from rowen.doors.mcp.quoting import one_line, quoted
from rowen.engine.ports import Ports
from rowen.errors import NotFound
from rowen.reading import read as reading
from rowen.reading.proof import proven

SCHEME = "rowen://"
TEMPLATE = SCHEME + "{source}/{document_id}"
MARKDOWN = "text/markdown"
DOCUMENTS_LISTED = 200
MOST_TOKENS = 25_000
"""A resource cannot be asked for in parts; more of a document is had with `read_document`."""


def address(source: Source) -> str:
    return SCHEME + quote(source.label, safe="@")


async def read(ports: Ports, uri: str) -> str:
    """Markdown: a document, or what there is in a source."""
    name, _, rest = uri.removeprefix(SCHEME).partition("/")
    source = _source(await ports.store.sources(), unquote(name)) if uri.startswith(SCHEME) else None
    if source is None:
        raise NotFound(f"resource `{uri}`: no such source", hint="`list_sources` names them", uri=uri)
    if not rest:
        return await _overview(ports, source)
    document = await _document(ports, source, unquote(rest))
    if document is None:
        raise NotFound(
            f"resource `{uri}`: not visible; it was removed, or replaced by a newer version",
            hint="search again, or read it by its URL",
            uri=uri,
        )
    (document,) = await proven(ports.store, [document], ports.clock.now())
    part = reading.excerpt(document, chars=MOST_TOKENS * CHARACTERS_PER_TOKEN)
    return answers.document(document, part, document.verified_at).text


def _source(sources: Sequence[Source], label: str) -> Source | None:
    # Some clients write the part after `//` in lower case, as if it were a host.
    named = [one for one in sources if one.label.casefold() == label.casefold()]
    return next((one for one in named if one.label == label), named[0] if named else None)


async def _document(ports: Ports, source: Source, name: str) -> Document | None:
    if name.isascii() and name.isdigit() and len(name) <= 18:
        found = await ports.store.document(int(name))
        if found is not None and found.source_id == source.id:
            return found
    named = await ports.store.documents(source.id, references=[name], text=True)
    return named[0] if named else None


async def _overview(ports: Ports, source: Source) -> str:
    documents = await ports.store.documents(source.id, limit=DOCUMENTS_LISTED + 1)
    more, listed = len(documents) > DOCUMENTS_LISTED, documents[:DOCUMENTS_LISTED]
    lines = [
        f"- {address(source)}/{one.id} {one_line(one.title or one.reference)} ({one_line(one.url, 2000)})"
        for one in listed
    ]
    head = f"# {source.label}\n\n{len(listed)}{' first' if more else ''} documents of generation "
    head += f"{source.active_generation}" + ("; find others with `search_docs`." if more else ".")
    return f"{head}\n\n{quoted(chr(10).join(lines), whence='quoted from the documents')}\n"
