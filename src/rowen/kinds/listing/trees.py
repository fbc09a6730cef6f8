"""Taking in the files of a git tree, for the `git` and `github` kinds.

The validator of a file is its blob id: the same id is the same bytes, so nothing is asked about it. Listing a
tree and reading a blob are left to the kinds.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

from rowen.core.exchange.git import File
from rowen.core.source import Source
from rowen.core.web.scope import PathFilter, is_binary_name, is_hidden
from rowen.engine.intake import Intake
from rowen.engine.kind import Sample, SampledItem
from rowen.engine.ports import Ports
from rowen.errors import PermanentError, TransientError
from rowen.kinds import sampling
from rowen.kinds.listing.includes.includes import REMEMBERED, Includes
from rowen.kinds.listing.listing import Fetched, Item, take_in
from rowen.kinds.listing.text_files import NO_TEXT, TOO_LARGE, TextFiles, type_of
from rowen.kinds.settings import EXCLUDE, HIDDEN, INCLUDE, MAX_DELETED_SHARE
from rowen.ports.folders import Entry
from rowen.ports.store.documents import Listing

T = TypeVar("T", File, Entry)

PARAMS = (
    INCLUDE,
    EXCLUDE,
    HIDDEN,
    MAX_DELETED_SHARE,
)


def covers(source: Source, settings: Mapping[str, Any]) -> Callable[[str], bool]:
    """Which paths the settings choose. What a .gitignore or a size leaves out is for the listing to say."""
    chosen, hidden = PathFilter(tuple(settings["include"]), tuple(settings["exclude"])), settings["hidden"]

    def covered(path: str) -> bool:
        return chosen.why_not(path) is None and (hidden or not is_hidden(path))

    return covered


def chosen_files(
    ports: Ports, source: Source, params: Mapping[str, Any], files: Sequence[File]
) -> list[File]:
    """The files that a harvest would ask for, as far as their names and sizes say it."""
    covered, most = covers(source, params), ports.fetch.max_body_bytes
    return [
        file
        for file in files
        if covered(file.path) and not is_binary_name(file.path) and (file.size or 0) <= most
    ]


async def sample(
    ports: Ports,
    chosen: Sequence[File],
    few: Sequence[File],
    read: Callable[[File], Awaitable[bytes | None]],
    *,
    exact: bool = True,
    requests: Callable[[], int],
) -> Sample:
    """What the few say of all that were chosen; `requests` is how many it took, counted at the end."""
    found = await sampled(ports, few, read)
    sizes = [file.size for file in chosen]
    return Sample(
        items=len(chosen),
        exact=exact,
        whence="the files of its tree were counted" if exact else "the tree is listed in part",
        read=found,
        tried=len(few),
        requests=requests(),
        total_bytes=None if None in sizes else sum(size or 0 for size in sizes),
    )


async def sampled(
    ports: Ports, few: Sequence[T], read: Callable[[T], Awaitable[bytes | None]]
) -> tuple[SampledItem, ...]:
    """Those of a few files that are documents, read and converted."""
    found = []
    for file in few:
        try:
            body = await read(file)
            content_type = type_of(ports, file.path, body) if body is not None else None
            if body is None or content_type is None:
                continue
            made = await ports.converter.convert(body, content_type=content_type, url=quote(file.path))
        except PermanentError:
            continue
        found.append(sampling.item(made.text, body_bytes=len(body)))
    return tuple(found)


async def take_in_files(
    ports: Ports,
    intake: Intake,
    params: Mapping[str, Any],
    files: Sequence[File],
    *,
    listings: Mapping[str, Listing],
    read: Callable[[File], Awaitable[bytes | None]],
    page_of: Callable[[str], str],
    complete: bool = True,
    announce: Callable[[Sequence[File]], Awaitable[None]] | None = None,
    is_part: Callable[[str], bool] = bool,
    no_text: str = NO_TEXT,
    remembered_includes: str = REMEMBERED,
    only: Collection[str] | None = None,
) -> TransientError | None:
    """Returns why the run had to stop early, if it had to. `page_of` is where a person reads a path.

    `read` returns None for a file that is larger than bodies may be. A file whose listed size says so is not
    read at all. The files are all that the source has, or all whose references `is_part` names. With `only`
    these paths alone are looked at.
    """
    text = TextFiles(ports, intake, params, no_text=no_text)
    text.load(listings)
    chosen: dict[str, File] = {}
    ignored = intake.counters.ignored
    for file in files:
        if only is not None and file.path not in only:
            continue
        if not params["hidden"] and is_hidden(file.path):
            ignored["hidden"] += 1
        elif file.size is not None and file.size > ports.fetch.max_body_bytes:
            ignored[TOO_LARGE] += 1
        elif text.wants(file.path, file.id):
            chosen[file.path] = file

    by_path = {file.path: file for file in files}
    announced: set[str] = set()

    async def read_included(path: str) -> tuple[str, bytes] | None:
        file = by_path.get(path)
        if file is None or (file.size is not None and file.size > ports.fetch.max_body_bytes):
            return None
        if announce is not None and path not in announced:
            announced.add(path)
            await announce([file])
        body = await read(file)
        return None if body is None else (file.id, body)

    tags = {file.path: file.id for file in files}
    includes = Includes(ports, intake, listings, tags, read_included, remembered=remembered_includes)

    async def fetch(item: Item) -> Fetched | None:
        file = chosen[item.reference]
        fetched = text.content(file.path, file.id, await read(file), url=page_of(file.path))
        return await includes.followed(file.path, file.id, fetched)

    async def announce_files(items: Sequence[Item]) -> None:
        if announce is not None:
            announced.update(item.reference for item in items)
            await announce([chosen[item.reference] for item in items])

    items = (
        Item(reference=file.path, validators=includes.validators_of(file.path, file.id))
        for file in chosen.values()
    )
    at_a_time = params.get("concurrency", 1)

    stopped = await take_in(
        ports,
        intake,
        items,
        fetch,
        complete=complete and only is None,
        concurrency=at_a_time,
        announce=announce_files,
        is_part=is_part,
    )
    present = {file.path for file in files}
    if only is not None and complete and stopped is None:
        for path in [one for one in only if is_part(one) and one not in present]:
            intake.gone(path, "absent")
    await text.save(present)
    await includes.save(present)
    return stopped
