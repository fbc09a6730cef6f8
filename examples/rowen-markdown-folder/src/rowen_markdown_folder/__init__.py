"""The sink `markdown-folder`: every document that readers see as a Markdown file."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rowen.plugin import (
    SOURCE_REMOVED,
    START,
    ConfigError,
    FeedItem,
    Lease,
    Param,
    Ports,
    Sent,
    Sink,
    SinkEntry,
    SinkKind,
    Source,
    TransientError,
    changes_of_sink,
    check_sink_settings,
    sources_of_sink,
)
from rowen_markdown_folder import files

PAGE = 200
FOLDER, LABELS = "folder", "labels"
"""In the state of a sink: where its files are, and of which sources."""

PARAMS = (Param(name="folder", default="", parse=str, identity=False, help="The folder to write into"),)


def check(ports: Ports, entry: SinkEntry) -> dict[str, Any]:
    values = check_sink_settings(PARAMS, entry)
    if not values.get("folder"):
        raise ConfigError("setting `folder`: missing", hint='write `folder = "path/of/a/folder"`')
    folder = Path(values["folder"]).expanduser().absolute()
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"setting `folder`: `{folder}` is not a folder")
    return {**values, "folder": str(folder)}


def stale(sink: Sink, sources: Sequence[Source]) -> bool:
    """Was it never written, written elsewhere, or with a source that it is not about any more?"""
    labels = {source.label for source in sources_of_sink(sink.settings, sources)}
    return sink.state.get(FOLDER) != sink.settings["folder"] or not labels.issuperset(sink.state[LABELS])


async def send(ports: Ports, sink: Sink, lease: Lease, *, force: bool) -> Sent:
    folder = Path(sink.settings["folder"])
    cursor = START if force or sink.state.get(FOLDER) != str(folder) else sink.cursor
    # Asked before the feed is read: what comes later is for the next time.
    end = await ports.store.feed_end()
    labels = [source.label for source in sources_of_sink(sink.settings, await ports.store.sources())]
    chosen = await changes_of_sink(ports.store, sink.settings)
    sent, more = 0, True
    try:
        for label in set(sink.state.get(LABELS, ())).difference(labels):
            await asyncio.to_thread(files.remove_all, folder / files.folder_name(label))
        while more:
            page = await ports.store.feed(cursor, **chosen, limit=PAGE)
            await _write(ports, folder, page)
            sent += len(page)
            cursor = page[-1].cursor if page else cursor
            more = len(page) == PAGE
    except OSError as exc:
        # A full disk, or a folder that may not be written: the cursor stays, and it is tried again.
        raise TransientError(f"folder `{folder}`: {exc.strerror or exc}") from exc
    state = {FOLDER: str(folder), LABELS: sorted(labels)}
    return Sent(sent=sent, cursor=max(cursor, end), state=state if state != sink.state else None)


async def _write(ports: Ports, folder: Path, page: Sequence[FeedItem]) -> None:
    visible: dict[int, list[str]] = defaultdict(list)
    for item in page:
        if item.change == SOURCE_REMOVED:
            await asyncio.to_thread(files.remove_all, folder / files.folder_name(item.source))
            continue
        path = folder / files.folder_name(item.source) / files.file_name(item.reference)
        if item.document is None:
            await asyncio.to_thread(files.remove, path)
        else:
            visible[item.source_id].append(item.reference)
    for source_id, references in visible.items():
        for document in await ports.store.documents(source_id, references=references, text=True):
            path = folder / files.folder_name(document.source) / files.file_name(document.reference)
            await asyncio.to_thread(files.write, path, files.content(document))


MARKDOWN_FOLDER = SinkKind(send=send, check=check, from_beginning=True, stale=stale)
