"""The last changes as an Atom feed in a file: once by `rowen export`, or as a sink after each change.

The sink remembers the entries it has written, so that it reads only what is new, and what was removed keeps
its title. A file that would come out the same is not written again.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rowen.core import hashing
from rowen.core import params as parameters
from rowen.core.exchange import delivery
from rowen.core.exchange.sink import Sink, SinkEntry
from rowen.core.feed import ALL_SOURCES, START, Chosen, Cursor, FeedItem, these
from rowen.core.lease import Lease
from rowen.core.source import Source
from rowen.engine.ports import Ports
from rowen.engine.sink_kind import Sent
from rowen.ports.store.feed import Feed
from rowen.sinks import declared as sinks
from rowen.sinks.atom import rules as atom

PAGE = 500
LIMIT = 100
SETTINGS, ENTRIES, DIGEST, SINCE = "settings", "entries", "digest", "since"
"""In the state of a sink: with which settings the file was written, with what, and when first."""

PARAMS = (
    sinks.START,
    sinks.setting("file", "", str, "The file to write"),
    sinks.setting("limit", LIMIT, parameters.whole(1, 1000), "How many changes it holds"),
    sinks.setting("title", "", str, "The title of the feed"),
    sinks.setting("url", "", str, "Where the feed can be read by others"),
)


def check(ports: Ports, entry: SinkEntry) -> dict[str, Any]:
    """The settings of such a sink. Raises `ConfigError`."""
    values = sinks.checked(PARAMS, entry, needed="file")
    values["file"] = ports.exports().locate(values["file"])
    ports.exports().check(values["file"], None)
    return values


def stale(sink: Sink, sources: Sequence[Source]) -> bool:
    """Was it never written, or written with other settings? Changes come by the feed."""
    return sink.state.get(SETTINGS) != sinks.fingerprint(sink.settings)


async def send(ports: Ports, sink: Sink, lease: Lease, *, force: bool) -> Sent:
    settings = parameters.complete(PARAMS, sink.settings)
    # Before the sources are looked at: one that is shown for the first time after this is for the next time.
    end = await ports.store.feed_end()
    chosen = await sinks.chosen(ports.store, sink.settings)
    older = [atom.Entry(**one) for one in sink.state.get(ENTRIES, ())]
    items, count, cursor = await _newest(ports.store, sink.cursor, chosen, settings["limit"])
    newer = await _entries(ports.store, items, {(one.source, one.reference): one for one in reversed(older)})
    entries = atom.merged(older, newer, limit=settings["limit"])
    since = sink.state.get(SINCE) or atom.moment(ports.clock.now())
    text = _rendered(entries, settings, name=sink.name, since=since)
    digest = hashing.of_text(text).hex()
    if force or digest != sink.state.get(DIGEST) or not ports.exports().is_there(settings["file"]):
        await ports.exports().write_text(settings["file"], text)
    state = {
        SETTINGS: sinks.fingerprint(sink.settings),
        ENTRIES: [asdict(one) for one in entries],
        DIGEST: digest,
        SINCE: since,
    }
    return Sent(sent=count, cursor=max(cursor, end), state=state if state != sink.state else None)


async def export(ports: Ports, path: str, sources: Collection[Source] | None) -> int:
    """Write the last changes of these sources, or of all, now; returns how many there are."""
    chosen = ALL_SOURCES if sources is None else these(sources)
    items, _, _ = await _newest(ports.store, START, chosen, LIMIT)
    entries = atom.merged([], await _entries(ports.store, items, {}), limit=LIMIT)
    labels = "" if sources is None else ", ".join(sorted(source.label for source in sources))
    settings = {"title": f"Changes of {labels}" if labels else "", "url": ""}
    since = atom.moment(ports.clock.now())
    await ports.exports().write_text(path, _rendered(entries, settings, name=labels, since=since))
    return len(entries)


async def _newest(
    store: Feed, after: Cursor, chosen: Chosen, limit: int
) -> tuple[list[FeedItem], int, Cursor]:
    """The last changes after a cursor, how many there were in all, and where the last one stands."""
    # A page more than the limit: some may be about the same reference.
    kept: deque[FeedItem] = deque(maxlen=limit + PAGE)
    count, cursor = 0, after
    while True:
        page = await store.feed(cursor, **chosen, limit=PAGE)
        kept.extend(page)
        count += len(page)
        cursor = page[-1].cursor if page else cursor
        if len(page) < PAGE:
            return delivery.once_each(list(kept))[-limit:], count, cursor


async def _entries(
    store: Feed, items: Sequence[FeedItem], known: Mapping[tuple[str, str], atom.Entry]
) -> list[atom.Entry]:
    wanted: dict[int, list[str]] = defaultdict(list)
    for item in items:
        if item.document is not None:
            wanted[item.source_id].append(item.reference)
    texts: dict[tuple[int, str], str | None] = {}
    for source_id, references in wanted.items():
        for document in await store.documents(source_id, references=references, text=True):
            texts[source_id, document.reference] = document.text
    return [
        atom.entry(
            item,
            text=texts.get((item.source_id, item.reference)),
            known=known.get((item.source, item.reference)),
        )
        for item in items
    ]


def _rendered(entries: Sequence[atom.Entry], settings: Mapping[str, Any], *, name: str, since: str) -> str:
    feed = atom.AtomFeed(
        id=atom.urn("feed", settings["url"] or name),
        title=settings["title"] or (f"Changes: {name}" if name else "Changes"),
        updated=max((one.updated for one in entries), default=since),
        entries=entries,
        url=settings["url"] or None,
    )
    return atom.render(feed)
