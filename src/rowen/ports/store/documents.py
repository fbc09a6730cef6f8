"""What a run compares with: the visible versions of a source, its addresses and remembered listings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from rowen.core.document import Draft, Known, Validators
from rowen.core.lease import Lease
from rowen.core.run import Run
from rowen.records import NamedTuple, dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """A remembered answer of a listing (robots.txt, a sitemap): its validators and what we made of it."""

    url: str
    validators: Validators
    payload: Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Refreshed:
    """New validators for text that stayed the same."""

    document_id: int
    validators: Validators
    body_hash: bytes | None
    body_bytes: int
    links: Sequence[str] | None = None
    """None leaves the stored links alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class References:
    """Every address ever met in a source."""

    ids: Mapping[str, int]
    aliases: Mapping[str, str]
    """Addresses that turned out to be other names of a reference (canonical links, the same text)."""


class InventoryName(NamedTuple):
    """A name that a site says it documents, with its place."""

    name: str
    kind: str
    page: str
    """The reference of the page."""
    anchor: str
    """Empty for the page itself."""


class Living(NamedTuple):
    """A version that the run under way leaves in place or has stored."""

    reference_id: int
    draft: Draft


class Linked(NamedTuple):
    """An address that a document leads to."""

    reference: str
    document_id: int | None
    """None for one that readers do not see: it was not taken, or is gone."""
    title: str


class Documents(Protocol):
    async def known(self, source_id: int, references: Sequence[str] | None = None) -> dict[str, Known]:
        """The visible version of each reference, or of these references, by reference."""
        ...

    async def leftovers(self, source_id: int, references: Sequence[str] | None = None) -> dict[str, Known]:
        """Versions that an unfinished run handed off and no reader sees, by reference."""
        ...

    async def visible_references(self, source_id: int, *, after: str, limit: int) -> list[str]:
        """What readers see, in the order of references: a page of them at a time."""
        ...

    async def living(
        self, source_id: int, *, after: int = 0, among: Sequence[int] | None = None, limit: int
    ) -> list[Living]:
        """What readers will see when the run under way ends well, in the order of reference ids.

        Those of references after a number, or among some.
        """
        ...

    async def metadata(self, source_id: int) -> dict[str, dict[str, Any]]:
        """The metadata of what readers see, by reference."""
        ...

    async def record(self, document_id: int) -> bytes | None:
        """A visible document as its source sent it, as JSON; None for one that came otherwise."""
        ...

    async def record_hashes(self, document_ids: Sequence[int]) -> dict[int, bytes]:
        """The hashes of the records that these documents were made from, of those that have one."""
        ...

    async def references(self, source_id: int) -> References: ...

    async def aliases(self, document_id: int) -> list[str]:
        """The other names of a document's reference, in order."""
        ...

    async def linked(self, reference_ids: Sequence[int]) -> dict[int, Linked]:
        """What the out-links of a document, as `Known` has them, lead to."""
        ...

    async def save_aliases(self, lease: Lease, source_id: int, aliases: Mapping[str, str | None]) -> None:
        """Other names of references; None for a name that stands for nothing any more."""
        ...

    async def listings(self, source_id: int) -> dict[str, Listing]: ...

    async def save_listing(self, lease: Lease, source_id: int, listing: Listing) -> None: ...

    async def save_inventory(
        self, lease: Lease, source_id: int, listing: Listing, names: Sequence[InventoryName]
    ) -> None:
        """The names that a site says it documents, in place of those it named before, with their listing.

        A name that stays costs no write.
        """
        ...

    async def retire(self, lease: Lease, run: Run, reference_ids: Sequence[int]) -> None:
        """What is visible of these references dies at the run's generation; nothing of them is born there."""
        ...

    async def refresh(self, lease: Lease, source_id: int, refreshed: Sequence[Refreshed]) -> None:
        """Validators in place: no new version, no new generation."""
        ...
