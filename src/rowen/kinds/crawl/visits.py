"""What a crawl asks, and what it concludes when everything has been answered. Decided in `frontier.py`."""

from __future__ import annotations

from dataclasses import dataclass

from rowen.core.document import Known


@dataclass(frozen=True, slots=True)
class Visit:
    id: int
    url: str
    depth: int
    known: Known | None


@dataclass(frozen=True, slots=True)
class Move:
    """A known page that redirects, once it is clear what its target is."""

    page: Known
    target: str
    lost: bool
    """Its text does not live on: the target was there before, is shared, or is gone itself."""


@dataclass(frozen=True, slots=True)
class Settlement:
    orphaned: tuple[Known, ...]
    """Nothing that can be reached links to these any more."""
    displaced: tuple[Known, ...]
    """The deepest of the known pages, for which newly linked ones left no room under `max_pages`."""
    moved: tuple[Move, ...]
    astray: tuple[Move, ...]
    """Known pages that redirect to a page that failed, was not asked, or leads back: no word on them."""
    forbidden: tuple[Known, ...]
    """Known pages that robots.txt closes now."""
    unlinked_but_kept: int
    """Would be orphans, had every new page been asked and answered: one that was not may lead to them."""
    left_out: int
    """New addresses that `max_pages` kept us from asking for."""
