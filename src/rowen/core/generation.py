"""Numbered states of a source, and the difference between two of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


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


def oldest_kept(activated: list[int], *, active: int, keep: int) -> int:
    """The oldest generation that history still holds: `keep` of them, the active one included."""
    history = sorted(n for n in activated if n <= active)
    return history[-keep] if len(history) >= keep else (history[0] if history else 0)
