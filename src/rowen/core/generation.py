"""Numbered states of a source, and the difference between two of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Generation:
    number: int
    run_id: int
    activated_at: datetime | None
    """None while it is held."""
    documents: int
    active: bool


class Cause(StrEnum):
    """Why a generation was shown."""

    RUN = "run"
    APPROVAL = "approval"
    """A person approved what the deletion guard held."""
    ROLLBACK = "rollback"
    """A person went back to it, or forward again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Activation:
    """A generation was shown in place of another."""

    id: int
    generation: int
    previous: int
    run_id: int | None
    """The run that made it; None for a rollback."""
    at: datetime
    cause: Cause
    by: str | None
    """Who decided it, as `core.rules.standing` names callers; None for a run."""
    documents: int | None = None
    """How many documents readers saw from then on; None where that was not kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """What readers saw of a source at a moment."""

    source_id: int
    generation: int
    """0: nothing yet."""
    at: datetime | None
    """When they began to see it."""
    until: datetime | None
    """When another generation took its place; None while they see it."""
    kept: bool
    """It can still be shown."""
    first_at: datetime | None
    """When anything of the source was shown for the first time."""
    kept_since: datetime | None
    """The first moment whose generation is kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GenerationHistory:
    """A generation and how it came to be shown."""

    generation: Generation
    activations: tuple[Activation, ...]
    """The newest first; empty while it is held."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    reference: str
    url: str
    title: str
    kind: str
    """`added`, `changed` or `removed`."""
    headings_added: tuple[str, ...] = ()
    headings_removed: tuple[str, ...] = ()
    """Of a changed document: the heading paths whose text is new or gone."""
    fields: tuple[str, ...] = ()
    """Of a changed document: what differs, `text` first, then names of metadata."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Replacement:
    """A document that a generation shows for the first time, beside what readers saw of its reference."""

    reference: str
    content: int
    content_before: int | None
    """None for a reference that had no visible version."""
    bytes: int
    bytes_before: int
    """Of the texts, in UTF-8."""
    text: str | None
    text_before: str | None
    """Short texts only; None for longer ones."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Diff:
    from_generation: int
    to_generation: int
    changes: tuple[Change, ...]
    held: bool = False
    """The newer one is held: readers see the older one."""

    @property
    def counts(self) -> dict[str, int]:
        """How many documents were `added`, `changed` and `removed`."""
        kinds = Counter(change.kind for change in self.changes)
        return {kind: kinds[kind] for kind in ("added", "changed", "removed")}


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """One version of a reference, visible from the generation it was born at until it died."""

    document_id: int
    reference: str
    url: str
    title: str
    content_type: str
    content_hash: bytes
    fetched_at: datetime
    born: int
    died: int | None
    """None while nothing has replaced or removed it."""
    text_bytes: int
    """Of its text, in UTF-8."""
    metadata: Mapping[str, Any]
    text: str | None = None
    """Only when it was asked for."""

    def is_visible_at(self, generation: int) -> bool:
        return self.born <= generation and (self.died is None or self.died > generation)


def oldest_kept(activated: list[int], *, active: int, keep: int, seen: int | None = None) -> int:
    """The oldest generation that history still holds: `keep` of them, the active one included.

    `seen` is the oldest one that readers saw within the time for which history is kept, if there is such a
    time: what either of the two keeps is kept.
    """
    history = sorted(n for n in activated if n <= active)
    floor = history[-keep] if len(history) >= keep else (history[0] if history else 0)
    return floor if seen is None else min(floor, seen)
