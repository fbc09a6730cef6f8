"""`rowen list`: the sources, or the documents of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.output import clean
from rowen.doors.cli.starting.declared import click

if TYPE_CHECKING:
    from rowen.core.source import Source

PAGE = 1000


@store_command("list", reads=True)
@click.argument("name", required=False, shell_complete=source_names)
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1), help="At most this many documents."
)
async def command(call: Call, name: str | None, limit: int) -> None:
    """List the sources, or the documents of source NAME with their addresses.

    `rowen status` has the state of each source.
    """
    if name is None:
        await _sources(call)
    else:
        await _documents(call, await call.source(name), limit)


async def _sources(call: Call) -> None:
    every = await call.ports.store.sources()
    documents = {source.id: (await call.ports.store.stats(source.id)).documents for source in every}
    if call.out.json:
        shown = [
            {
                "source": source.label,
                "kind": source.kind,
                "location": source.location,
                "generation": source.active_generation,
                "documents": documents[source.id],
            }
            for source in every
        ]
        call.out.emit({"sources": shown})
        return
    if not every:
        call.out.line("no sources yet")
        call.out.note("hint: add one with `rowen add docs.example.org`, or see `rowen demo`")
        return
    rows = [
        (source.label, source.kind, f"{documents[source.id]:,}", clean(source.location)) for source in every
    ]
    call.out.table(["*source", "kind", ">documents", "~location"], rows)


async def _documents(call: Call, source: Source, limit: int) -> None:
    from rowen.doors.shapes import documents as shapes
    from rowen.reading.proof import proven

    found: list[Any] = []
    while len(found) < limit:
        after = found[-1].reference if found else ""
        page = await call.ports.store.documents(source.id, after=after, limit=min(PAGE, limit - len(found)))
        if not page:
            break
        found += page
    total = (await call.ports.store.stats(source.id)).documents
    if call.out.json:
        found = await proven(call.ports.store, found, call.ports.clock.now())
        call.out.emit(
            {
                "source": source.label,
                "total": total,
                "documents": [shapes.Document.show(document) for document in found],
            }
        )
        return
    # The folder of a `files` source is the same in every row; `rowen show` takes the paths in it as well.
    paths = bool(found) and all(one.url.startswith("file:") and one.reference for one in found)
    if paths:
        call.out.line(f"in {clean(source.location)}")
    rows = [(clean(one.title), clean(one.reference if paths else one.url)) for one in found]
    call.out.table(["*~title", "~path" if paths else "~address"], rows)
    if not found:
        call.out.note(f"hint: nothing is visible of it yet: run `rowen sync {source.label}`")
    elif len(found) < total:
        call.out.note(f"{total - len(found):,} more: `--limit {total}` lists all")
