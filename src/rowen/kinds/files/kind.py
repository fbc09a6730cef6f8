"""The `files` kind: a folder, or one file.

The validator is the time of the last change in nanoseconds with the size; a file whose validator is the known
one is not opened. Files that turned out to be no text are remembered too, and not opened again either. A
folder that is as an earlier run found it is listed, and nothing else (`as_found.py`). A run that names
paths looks at those alone; the folder is still listed, for its rules say what belongs to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rowen.core.document import Known
from rowen.core.params import switch, what
from rowen.core.rules import words
from rowen.core.run import Mode, StopReason
from rowen.core.source import Source
from rowen.core.web.scope import PathFilter, is_binary_name
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested, Kind, Prepared, Sample
from rowen.engine.ports import Ports
from rowen.errors import BadLocation, PermanentError, Unfetchable
from rowen.kinds import sampling
from rowen.kinds.files.as_found import AsFound
from rowen.kinds.listing import trees
from rowen.kinds.listing.includes.includes import Includes
from rowen.kinds.listing.listing import Fetched, Item, take_in
from rowen.kinds.listing.text_files import TOO_LARGE, TextFiles
from rowen.kinds.settings import EXCLUDE, HIDDEN, INCLUDE, MAX_DELETED_SHARE
from rowen.ports.folders import Entry, ScanOptions

PARAMS = (
    INCLUDE,
    EXCLUDE,
    HIDDEN,
    what("ignore_files", True, "Keep to the rules of .gitignore files", switch),
    MAX_DELETED_SHARE,
)

SETTLE_NS = 20_000_000
"""A file changed this shortly before it was read may change again within one tick of its clock."""


def claims(ports: Ports, location: str) -> bool:
    return ports.folders.locate(location) is not None or location.startswith(("file:", "./", "../", "/", "~"))


async def prepare(ports: Ports, location: str, *, settings: Mapping[str, Any], check: bool) -> Prepared:
    path = ports.folders.locate(location)
    if path is None:
        said, hint = ports.folders.absence
        raise BadLocation(f"location `{location}`: {said}", hint=hint, location=location)
    if not check:
        return Prepared(kind="files", location=path)
    try:
        scan = await ports.folders.scan(path, ScanOptions())
    except PermanentError as exc:
        raise BadLocation(exc.message, hint=exc.hint, location=path) from exc
    readable = sum(not is_binary_name(entry.path) for entry in scan.entries)
    size = words.size(sum(entry.size for entry in scan.entries))
    findings = [f"{words.count(len(scan.entries), 'file')}, {size}: kind `files`"]
    if readable < len(scan.entries):
        findings.append(f"left out because they are no text: {len(scan.entries) - readable:,}")
    if scan.passed_over:
        reasons = ", ".join(
            f"{count:,} {reason.replace('_', ' ')}" for reason, count in sorted(scan.passed_over.items())
        )
        findings.append(f"left out: {reasons}")
    return Prepared(kind="files", location=path, findings=tuple(findings))


async def count(ports: Ports, source: Source, params: Mapping[str, Any]) -> int:
    return len(await _chosen(ports, source, params))


async def sample(ports: Ports, source: Source, params: Mapping[str, Any]) -> Sample:
    """Every file counts with its size, a few are read."""
    most = ports.fetch.max_body_bytes
    entries = [entry for entry in await _chosen(ports, source, params) if entry.size <= most]
    few = sampling.evenly(entries, sampling.ITEMS)

    async def read(entry: Entry) -> bytes:
        return await ports.folders.read(source.location, entry.on_disk or entry.path, max_bytes=most)

    return Sample(
        items=len(entries),
        exact=True,
        whence="the files were counted",
        read=await trees.sampled(ports, few, read),
        tried=len(few),
        total_bytes=sum(entry.size for entry in entries),
    )


async def _chosen(ports: Ports, source: Source, params: Mapping[str, Any]) -> list[Entry]:
    options = ScanOptions(hidden=params["hidden"], ignore_files=params["ignore_files"])
    chosen = PathFilter(tuple(params["include"]), tuple(params["exclude"]))
    scan = await ports.folders.scan(source.location, options)
    return [
        entry
        for entry in scan.entries
        if not is_binary_name(entry.path) and chosen.why_not(entry.path) is None
    ]


async def harvest(ports: Ports, source: Source, params: Mapping[str, Any], intake: Intake) -> Harvested:
    return await _Reading(ports, source, params, intake).run()


class _Reading:
    def __init__(self, ports: Ports, source: Source, params: Mapping[str, Any], intake: Intake) -> None:
        self._ports = ports
        self._root = source.location
        self._params = params
        self._intake = intake
        self._text = TextFiles(ports, intake, params)
        self._as_found = AsFound(ports, source, params, intake)
        self._entries: dict[str, Entry] = {}
        """What is looked at in this run."""
        self._present: dict[str, Entry] = {}
        self._tags: dict[str, str | None] = {}
        self._includes: Includes
        self._named: frozenset[str] | None = None
        if intake.only is not None and source.active_generation:
            self._named = frozenset(path.removeprefix("./") for path in intake.only)

    async def run(self) -> Harvested:
        ports, intake = self._ports, self._intake
        started_ns = int(ports.clock.now().timestamp() * 1e9)
        options = ScanOptions(hidden=self._params["hidden"], ignore_files=self._params["ignore_files"])
        try:
            scan = await ports.folders.scan(self._root, options)
        except PermanentError as exc:
            return Harvested.stopped(StopReason.ERROR, exc, root_answered=False)
        if self._named is None:
            intake.counters.ignored.update(scan.passed_over)
        for folder, cause in scan.unreadable:
            intake.failed(folder, Unfetchable(f"folder `{folder}`: cannot be read: {cause}", path=folder))
        listings = await ports.store.listings(intake.run.source_id)
        whole = self._named is None and not scan.unreadable
        if whole and self._as_found.holds(scan.entries, listings):
            return Harvested(stop_reason=StopReason.EXHAUSTED)
        if not intake.known:
            await intake.load_known()
        self._text.load(listings)
        self._present = {entry.path: entry for entry in scan.entries}
        settled_ns = started_ns - SETTLE_NS
        self._tags = {
            entry.path: entry.validator if entry.mtime_ns < settled_ns else None for entry in scan.entries
        }
        self._includes = Includes(ports, intake, listings, self._tags, self._read_included)
        if self._named is not None:
            self._named |= set(self._includes.includers_of(self._named))
        same = self._as_known() if self._named is None else {}
        items = []
        for entry in scan.entries:
            if entry.path in same:
                continue
            if self._named is not None and entry.path not in self._named:
                continue
            if entry.size > ports.fetch.max_body_bytes and entry.path not in intake.known:
                # Its size says so: it need not be opened.
                intake.counters.ignored[TOO_LARGE] += 1
            elif self._text.wants(entry.path, entry.validator):
                self._entries[entry.path] = entry
                validators = self._includes.validators_of(entry.path, self._tags[entry.path])
                items.append(Item(reference=entry.path, validators=validators))
        present = set(self._present)
        await take_in(ports, intake, items, self._fetch, complete=whole, same=list(same.values()))
        if self._named is not None and not scan.unreadable:
            for path in sorted(self._named - present):
                intake.gone(path, "absent")
        await self._text.save(present)
        await self._includes.save(present)
        if whole:
            await self._as_found.save(scan.passed_over)
        named = self._named is not None
        return Harvested(
            stop_reason=StopReason.EXHAUSTED, mode=Mode.INCREMENTAL if named else None, complete=not named
        )

    def _as_known(self) -> dict[str, Known]:
        """The files that are as readers see them, found without a value for each. Most of a folder is."""
        if self._intake.unconditional or not self._text.every_path:
            return {}
        tags, includers = self._tags, self._includes.includers
        return {
            path: known
            for path, known in self._intake.known.items()
            if (tag := tags.get(path)) is not None
            and known.validators.etag == tag
            and known.validators.last_modified is None
            and path not in includers
            and not is_binary_name(path)
        }

    async def _fetch(self, item: Item) -> Fetched | None:
        entry = self._entries[item.reference]
        body = await self._read(entry)
        url = self._ports.folders.uri(self._root, entry.on_disk or entry.path)
        fetched = self._text.content(entry.path, entry.validator, body, url=url)
        return await self._includes.followed(entry.path, self._tags[entry.path], fetched)

    async def _read_included(self, path: str) -> tuple[str | None, bytes] | None:
        entry = self._present.get(path)
        if entry is None or entry.size > self._ports.fetch.max_body_bytes:
            return None
        return self._tags[path], await self._read(entry)

    async def _read(self, entry: Entry) -> bytes:
        path, max_bytes = entry.on_disk or entry.path, self._ports.fetch.max_body_bytes
        body = await self._ports.folders.read(self._root, path, max_bytes=max_bytes)
        self._intake.counters.reads += 1
        self._intake.counters.bytes_received += len(body)
        return body


KIND = Kind(
    name="files",
    params=PARAMS,
    claims=claims,
    prepare=prepare,
    preload=False,
    count=count,
    sample=sample,
    covers=trees.covers,
    lists=True,
    follows_files=True,
    asks_named=True,
    harvest=harvest,
)
