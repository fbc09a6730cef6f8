"""Write what readers see into a file: once by `rowen export`, or as a sink each time something changed.

One whole generation of each source or nothing: when a source is shown anew while it is written, writing
starts over. Pages of documents pass through; no source is held in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from rowen.core import params as parameters
from rowen.core.exchange import columns as table
from rowen.core.exchange.columns import Format
from rowen.core.exchange.sink import Sink, SinkEntry
from rowen.core.feed import Document
from rowen.core.lease import Lease
from rowen.core.source import Source
from rowen.engine.ports import Ports
from rowen.engine.sink_kind import Sent
from rowen.errors import StoreDamaged, TransientError
from rowen.ports.exports import ExportFile
from rowen.ports.store.feed import Feed
from rowen.ports.store.generations import Generations
from rowen.ports.store.sources import Sources
from rowen.records import dataclass
from rowen.sinks import declared as sinks

PAGE = 200
ATTEMPTS = 3
WRITTEN = "written"
"""In the state of a sink: what the file holds."""

PARAMS = (
    sinks.setting("file", "", str, "The file to write"),
    sinks.setting("format", Format.JSONL.value, parameters.one_of(*Format), "jsonl, csv or parquet"),
    sinks.setting("text", True, parameters.switch, "Also the text of each document"),
    sinks.setting(
        "safe",
        True,
        parameters.switch,
        "In CSV, mark texts that a spreadsheet would take for a formula with an apostrophe",
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """The file to write."""

    path: str
    format: Format
    text: bool = True
    safe: bool = True


class _ShownAnew(TransientError):
    """A source is not what it was when writing began."""


def check(ports: Ports, entry: SinkEntry) -> dict[str, Any]:
    """The settings of such a sink. Raises `ConfigError`."""
    values = sinks.checked(PARAMS, entry, needed="file")
    values["file"] = ports.exports().locate(values["file"])
    ports.exports().check(values["file"], Format(values.get("format", Format.JSONL)))
    return values


def stale(sink: Sink, sources: Sequence[Source]) -> bool:
    """Does the file hold something else than what readers see?"""
    shown = sinks.matching(sink.settings, sources)
    return sink.state.get(WRITTEN) != sinks.fingerprint(sink.settings, shown)


async def send(ports: Ports, sink: Sink, lease: Lease, *, force: bool) -> Sent:
    """Write the file anew, if it should hold something else than it does."""
    # Before the sources are looked at: what is shown after this is for the next time.
    end = await ports.store.feed_end()
    settings = parameters.complete(PARAMS, sink.settings)
    if (
        not force
        and not stale(sink, await ports.store.sources())
        and ports.exports().is_there(settings["file"])
    ):
        return Sent(sent=0, cursor=end)
    wanted = Wanted(
        path=settings["file"],
        format=Format(settings["format"]),
        text=settings["text"],
        safe=settings["safe"],
    )
    count, shown = await _write(ports, wanted, sink.settings)
    return Sent(sent=count, cursor=end, state={WRITTEN: sinks.fingerprint(sink.settings, shown)})


async def export(ports: Ports, wanted: Wanted, labels: Sequence[str] = ()) -> int:
    """Write the file now, with these sources or all; returns how many documents are in it."""
    count, _ = await _write(ports, wanted, {sinks.SOURCES: list(labels)})
    return count


async def _write(ports: Ports, wanted: Wanted, settings: Mapping[str, Any]) -> tuple[int, list[Source]]:
    attempt = 1
    while True:
        shown = sinks.matching(settings, await ports.store.sources())
        try:
            count = await _write_once(ports, wanted, shown)
        except _ShownAnew:
            if attempt >= ATTEMPTS:
                raise
            attempt += 1
            continue
        return count, shown


async def _write_once(ports: Ports, wanted: Wanted, shown: Sequence[Source]) -> int:
    columns: tuple[table.Column, ...] = ()
    if wanted.format is not Format.JSONL:
        # The columns stand at the beginning of a file, and only all documents together say which there are.
        survey = table.Survey()
        async for page in _pages(ports.store, shown, text=False):
            for document in page:
                survey.add(document)
        columns = survey.columns(text=wanted.text)
    file = ExportFile(path=wanted.path, format=wanted.format, columns=columns, safe=wanted.safe)
    counts: Counter[int] = Counter()
    async with ports.exports().open(file) as rows:
        async for page in _pages(ports.store, shown, text=wanted.text):
            counts.update(document.source_id for document in page)
            await rows.write([_row(document, columns, text=wanted.text) for document in page])
        await _unchanged_or_raise(ports.store, shown)
        await _complete_or_raise(ports.store, shown, counts)
    return counts.total()


def _row(document: Document, columns: Sequence[table.Column], *, text: bool) -> Any:
    return table.row(document, columns) if columns else table.record(document, text=text)


async def _pages(store: Feed, shown: Sequence[Source], *, text: bool) -> AsyncIterator[list[Document]]:
    for source in shown:
        after, more = "", True
        while more:
            page = await store.documents(source.id, after=after, limit=PAGE, text=text)
            if any(document.generation != source.active_generation for document in page):
                raise _shown_anew(source)
            if page:
                yield page
                after = page[-1].reference
            more = len(page) == PAGE


async def _unchanged_or_raise(store: Sources, shown: Sequence[Source]) -> None:
    """A page that was empty does not say of which generation it is."""
    now = {source.id: source.active_generation for source in await store.sources()}
    for source in shown:
        if now.get(source.id) != source.active_generation:
            raise _shown_anew(source)


async def _complete_or_raise(store: Generations, shown: Sequence[Source], counts: Counter[int]) -> None:
    """A store that lost rows answers with fewer documents than the run has counted."""
    for source in shown:
        known = next((one.documents for one in await store.generations(source.id) if one.active), 0)
        if counts[source.id] < known:
            raise StoreDamaged(
                f"source `{source.label}`: damaged: {counts[source.id]:,} of {known:,} documents can be read",
                source=source.label,
            )


def _shown_anew(source: Source) -> _ShownAnew:
    return _ShownAnew(f"source `{source.label}`: shown anew while it was written to a file")
