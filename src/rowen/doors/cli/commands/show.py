"""`rowen show`: a document as it is stored, drawn for a terminal, as Markdown in a pipe."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from rowen.doors.cli import last_search
from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.output import clean, clean_text, write_line

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rowen.core.feed import Document


@store_command("show")
@click.argument("document")
@click.option("--raw", is_flag=True, help="The Markdown as it is stored, also on a terminal.")
@click.option("--record", is_flag=True, help="As its portal or API sent it, whole, as JSON.")
async def command(call: Call, document: str, raw: bool, record: bool) -> None:
    """Show DOCUMENT: an address, `#anchor` at its end for one section, or the number of a hit.

    Numbers are those of the last search that was shown to you.
    """
    from rowen import wiring
    from rowen.doors.shapes import documents as shapes
    from rowen.reading import read

    url = last_search.address(wiring.store_name(call.config()), document)
    found = await read.by_url(call.ports.store, url)
    if record:
        sent = await read.record(call.ports.store, found)
        if call.out.json:
            call.out.emit(shapes.Record.show(found, record=sent))
        else:
            write_line(sys.stdout, clean_text(json.dumps(sent, ensure_ascii=False, indent=2)))
        return
    anchor = url.partition("#")[2]
    text = read.from_section(found, anchor) if anchor else found.text or ""
    if call.out.json:
        aliases = await call.ports.store.aliases(found.id)
        places = await call.ports.store.document_sections(found.id)
        call.out.emit({**shapes.WholeDocument.show(found, aliases=aliases, sections=places), "text": text})
    elif raw or not call.out.console.is_terminal:
        write_line(sys.stdout, clean_text(text).rstrip("\n"))
    else:
        call.out.page(_drawn(found, text, url))


def _drawn(document: Document, text: str, url: str) -> RenderableType:
    from rich.console import Group
    from rich.markdown import Markdown
    from rich.text import Text

    from rowen.reading.read import without_marks

    head = Text(clean(document.title) or document.reference, style="bold")
    fetched = f"{document.fetched_at:%Y-%m-%d %H:%M} UTC"
    about = f"{document.source}, generation {document.generation}, fetched {fetched}"
    body = Markdown(without_marks(clean_text(text)), hyperlinks=True)
    return Group(head, Text(clean(url), style="blue"), Text(about, style="dim"), Text(""), body)
