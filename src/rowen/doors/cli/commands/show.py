"""`rowen show`: a document as it is stored, drawn for a terminal, as Markdown in a pipe."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, cast

from rowen.doors.cli import last_search
from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.output import clean, clean_text, write_line
from rowen.doors.cli.starting.declared import click
from rowen.errors import NotFound, UserError

if TYPE_CHECKING:
    from datetime import datetime

    from rowen.core.feed import Document
    from rowen.core.generation import Version
    from rowen.core.source import Source
    from rowen.doors.cli.drawing.text import Drawable


@store_command("show", reads=True)
@click.argument("document")
@click.option("--raw", is_flag=True, help="The Markdown as it is stored, also on a terminal.")
@click.option("--record", is_flag=True, help="As its portal or API sent it, whole, as JSON.")
@click.option(
    "--generation", type=click.IntRange(1), metavar="G", help="As it was in this generation of its source."
)
@click.option(
    "--as-of",
    metavar="WHEN",
    help="As readers saw it then: a date (its beginning, UTC), an instant, or `2d` ago.",
)
async def command(
    call: Call, document: str, raw: bool, record: bool, generation: int | None, as_of: str | None
) -> None:
    """Show DOCUMENT: an address or a path, `#anchor` at its end for one section, or the number of a hit.

    Numbers are those of the last search that was shown to you.
    """
    from rowen import wiring
    from rowen.doors.shapes import documents as shapes
    from rowen.reading import read
    from rowen.reading.as_of import resolve
    from rowen.reading.proof import proven

    url = await last_search.wanted(call, document)
    if record and generation is not None:
        said = "--record and --generation: of older versions the records are not kept"
        raise UserError(said, hint="omit one")
    if as_of is not None and (record or generation is not None):
        other = "--record" if record else "--generation"
        raise UserError(f"--as-of and {other}: not together", hint="omit one")
    ports = call.ports
    then = await resolve(ports.store, [], at=as_of, generation=None, now=ports.clock.now())
    found = await read.by_url(ports.store, url, then) if then else await _found(call, url, generation)
    if generation is None and then is None:
        (found,) = await proven(ports.store, [found], ports.clock.now())
    if record:
        sent = await read.record(call.ports.store, found)
        if call.out.json:
            call.out.emit(shapes.Record.show(found, record=sent))
        else:
            write_line(sys.stdout, clean_text(json.dumps(sent, ensure_ascii=False, indent=2)))
        return
    anchor = url.partition("#")[2]
    headings = last_search.headings(wiring.store_name(call.config()), document) if anchor else ""
    text = read.from_section(found, anchor, headings) if anchor else found.text or ""
    if call.out.json:
        # The sections of an older version are in its text; the store has those that readers see.
        old = generation is not None and generation != found.generation
        aliases = [] if old or then else await ports.store.aliases(found.id)
        shown = then.generations if then else None
        places = [] if old else await ports.store.document_sections(found.id, shown=shown)
        call.out.emit({**shapes.WholeDocument.show(found, aliases=aliases, sections=places), "text": text})
    elif raw or not call.out.console.is_terminal:
        write_line(sys.stdout, clean_text(text).rstrip("\n"))
    else:
        call.out.page(_drawn(found, text, url, ports.clock.now()))


async def _found(call: Call, url: str, generation: int | None) -> Document:
    """The document as readers see it, or as they saw it, also one that is not visible any more."""
    from rowen.reading import read

    store = call.ports.store
    try:
        visible = await read.by_url(store, url)
    except NotFound:
        if generation is None:
            raise
        visible = None
    if generation is None:
        return cast("Document", visible)
    page = url.partition("#")[0]
    sources = {source.id: source for source in await store.sources()}
    chosen = [sources[visible.source_id]] if visible else list(sources.values())
    for source in chosen:
        if generation not in {one.number for one in await store.generations(source.id)}:
            continue
        reference = visible.reference if visible else page
        for version in await store.versions(source.id, reference, text_at=(generation, generation)):
            if version.is_visible_at(generation):
                return _as_document(source, version, generation)
    raise NotFound(
        f"`{page}`: not in generation {generation}, or that is not kept",
        hint="`rowen status` shows the visible generation, `history.keep_generations` how many are kept",
    )


def _as_document(source: Source, version: Version, generation: int) -> Document:
    from rowen.core.feed import Document

    return Document(
        id=version.document_id,
        source_id=source.id,
        source=source.label,
        kind=source.kind,
        reference=version.reference,
        url=version.url,
        title=version.title,
        metadata=version.metadata,
        content_type=version.content_type,
        content_hash=version.content_hash,
        generation=generation,
        born=version.born,
        fetched_at=version.fetched_at,
        text=version.text,
    )


def _drawn(document: Document, text: str, url: str, now: datetime) -> Drawable:
    from rowen.core.freshness.proof import likely
    from rowen.core.web.verified import FETCHED
    from rowen.doors.cli.drawing.markdown import Markdown
    from rowen.doors.cli.drawing.parts import Group
    from rowen.doors.cli.drawing.text import Text
    from rowen.doors.words import proof
    from rowen.reading.read import without_marks

    head = Text(clean(document.title) or document.reference, style="bold")
    fetched = f"{document.fetched_at:%Y-%m-%d %H:%M} UTC"
    about = f"{document.source}, generation {document.generation}, fetched {fetched}"
    if document.verified_at is not None:
        if document.verified_by != FETCHED:
            about += f", {proof(document.verified_at, document.verified_by, None, now)}"
        about += f", {likely(document.p_fresh)}"
    body = Markdown(without_marks(clean_text(text)))
    return Group(head, Text(clean(url), style="blue"), Text(about, style="dim"), Text(""), body)
