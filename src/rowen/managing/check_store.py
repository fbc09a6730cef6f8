"""Look at everything a store holds: its file, the rows that point at others, and every value.

It writes nothing, and works beside a run: rows are read as they were at one moment.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Awaitable, Mapping
from dataclasses import field
from typing import Any

from rowen.core.exchange.store_check import Finding, has_payload, tiles, wrong_text, wrong_value
from rowen.core.exchange.store_copy import PARTS, Key, Part, Row
from rowen.errors import StoreDamaged
from rowen.managing.copy_store import MAX_BYTES, MAX_ROWS, CopyEvent, OnCopyEvent
from rowen.ports.database.checking import Checking
from rowen.ports.database.copying import Copying, View
from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckPorts:
    checking: Checking
    copying: Copying
    read_only: bool = False
    """The system lets us only read it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    findings: list[Finding]
    rows: int
    """How many were looked at."""

    @property
    def good(self) -> bool:
        return not self.findings


COMPARED: Mapping[str, tuple[str, ...]] = {
    "sources": ("id", "name", "active_generation"),
    "contents": ("id", "hash", "text"),
    "sections": ("content_id", "position", "start_at", "end_at"),
    "vectors": ("model_id", "vector"),
    "documents": ("source_id", "payload_hash", "links", "born"),
    "handoffs": ("id", "payload_hash"),
    "drafts": ("handoff_id", "links"),
}
"""Columns that no whole row is without, and that are compared with others."""


async def check(ports: CheckPorts, *, on_event: OnCopyEvent = lambda event: None) -> Checked:
    walk = _Walk()
    findings = [
        *await _stage(walk, ports.checking.structure()),
        *await _stage(walk, ports.checking.references()),
        *await _stage(walk, _read_all(ports.copying, walk, on_event)),
        *await _stage(walk, ports.checking.texts()),
    ]
    return Checked(findings=[*findings, *walk.findings()], rows=walk.rows)


async def _stage(walk: _Walk, work: Awaitable[list[Finding]]) -> list[Finding]:
    """What a stage finds; damage that ends it does not keep the others from looking."""
    try:
        return await work
    except StoreDamaged:
        return [Finding(part=walk.part or "file", said="cannot be read to its end", rows=0)]


async def _read_all(copying: Copying, walk: _Walk, on_event: OnCopyEvent) -> list[Finding]:
    async with copying.view() as view:
        counts = await view.counts()
        for part in PARTS:
            if part.name in counts:
                await _read(view, part, walk, on_event, sum(counts.values()))
    walk.compare_generations()
    return []


def unreadable(exc: StoreDamaged) -> Checked:
    """The answer about a store that cannot be opened."""
    return Checked(findings=[Finding(part="file", said=exc.message)], rows=0)


async def _read(view: View, part: Part, walk: _Walk, on_event: OnCopyEvent, total: int) -> None:
    after: Key | None = None
    walk.part = part.name
    while True:
        page = await view.page(part, after=after, max_rows=MAX_ROWS, max_bytes=MAX_BYTES)
        for row in page.rows:
            walk.look(part, row)
        if page.last is None:
            break
        after = page.last
        on_event(CopyEvent(kind="checking", part=part.name, rows=walk.rows, total=total))
    walk.end(part)


@dataclass(slots=True)
class _Content:
    hash: bytes
    chars: int
    blank: bool
    sectioned: bool


@dataclass(slots=True)
class _Walk:
    """Looks at the rows of all parts in their order, and keeps what later rows are compared with."""

    part: str = ""
    rows: int = 0
    wrong: Counter[tuple[str, str]] = field(default_factory=Counter)
    active: dict[int, tuple[str, int]] = field(default_factory=dict)
    """The label of each source, and the generation that readers see."""
    counted: dict[tuple[int, int], int] = field(default_factory=dict)
    """How many documents a generation says it has."""
    visible: Counter[int] = field(default_factory=Counter)
    refs: set[int] = field(default_factory=set)
    contents: dict[int, _Content] = field(default_factory=dict)
    slices: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)
    dimensions: dict[int, int] = field(default_factory=dict)
    handoffs: dict[int, tuple[int | None, bytes]] = field(default_factory=dict)
    """Content and payload hash of each."""

    def look(self, part: Part, row: Row) -> None:
        self.rows += 1
        said = wrong_value(part, row) or wrong_text(part, row)
        if said:
            self.wrong[part.name, said] += 1
            return
        values: dict[str, Any] = dict(zip((column.name for column in part.columns), row, strict=False))
        if any(values[name] is None for name in COMPARED.get(part.name, ())):
            # SQLite reads what was overwritten with zeros as rows without values.
            self.wrong[part.name, "values are missing"] += 1
            return
        match part.name:
            case "sources":
                self.active[values["id"]] = (values["name"], values["active_generation"])
            case "generations":
                self.counted[values["source_id"], values["number"]] = values["documents"]
            case "refs":
                self.refs.add(values["id"])
            case "contents":
                text = values["text"]
                blank = not text or text.isspace()
                self.contents[values["id"]] = _Content(
                    bytes(values["hash"]), len(text), blank, bool(values["sectioned"])
                )
            case "sections":
                place = values["position"], values["start_at"], values["end_at"]
                self.slices.setdefault(values["content_id"], []).append(place)
            case "models":
                self.dimensions[values["id"]] = values["dimensions"]
            case "vectors":
                if len(values["vector"]) != self.dimensions.get(values["model_id"]):
                    self.wrong[part.name, "a vector that does not have the length of its model"] += 1
            case "handoffs":
                self.handoffs[values["id"]] = values["content_id"], values["payload_hash"]
            case "drafts":
                values["content_id"], values["payload_hash"] = self.handoffs.get(
                    values["handoff_id"], (None, b"")
                )
                self._look_at_version(part, values)
            case "documents":
                self._look_at_version(part, values)

    def _look_at_version(self, part: Part, values: dict[str, Any]) -> None:
        content = self.contents.get(values["content_id"])
        values["payload_hash"] = bytes(values["payload_hash"])
        if content and not has_payload(values, content.hash):
            self.wrong[part.name, "not what its hash was made from"] += 1
        links = array("q", bytes(values["links"]))
        if not self.refs.issuperset(links):
            self.wrong[part.name, "links to references that are not there"] += 1
        if part.name == "documents":
            _, active = self.active.get(values["source_id"], ("", 0))
            died = values["died"]
            if values["born"] <= active and (died is None or died > active):
                self.visible[values["source_id"]] += 1

    def end(self, part: Part) -> None:
        if part.name != "sections":
            return
        for number, content in self.contents.items():
            slices = self.slices.get(number, [])
            if content.sectioned and not tiles(slices, content.chars, blank=content.blank):
                self.wrong["contents", "its sections do not cover it"] += 1
        self.slices.clear()

    def compare_generations(self) -> None:
        for source_id, (name, active) in self.active.items():
            said = self.counted.get((source_id, active))
            if active and said is None:
                self.wrong[
                    "generations", f"generation {active} of `{name}`, which readers see, is missing"
                ] += 1
            elif active and said != self.visible[source_id]:
                found = (
                    f"generation {active} of `{name}` has {self.visible[source_id]:,} of {said:,} documents"
                )
                self.wrong["generations", found] += 1

    def findings(self) -> list[Finding]:
        return [Finding(part=part, said=said, rows=rows) for (part, said), rows in self.wrong.items()]
