"""References, their versions, and what an item of a run turned out to be.

`Known` is what the store remembers of a visible version: just enough to ask "did it change?"
and to follow its links without fetching it. `Draft` is a version that was fetched and converted
but is not stored yet.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from rowen.core import hashing
from rowen.records import dataclass


class Outcome(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    METADATA_UPDATED = "metadata_updated"
    """Its text is as it was, so nothing is embedded: counted as unchanged too."""
    UNCHANGED = "unchanged"
    DELETED = "deleted"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server gave us to ask "changed since?" with."""

    etag: str | None = None
    last_modified: str | None = None

    def __bool__(self) -> bool:
        return bool(self.etag or self.last_modified)

    def updated_by(self, newer: Validators) -> Validators:
        """After a "not modified", which repeats what it likes: what it does not name stays."""
        if not newer or newer == self:
            return self
        return Validators(newer.etag or self.etag, newer.last_modified or self.last_modified)


NO_VALIDATORS = Validators()


@dataclass(slots=True)
class Known:
    """The visible version of one reference, as a run needs it."""

    document_id: int
    """0 for a version that an interrupted run left behind and no reader sees."""
    reference_id: int
    reference: str
    content_hash: bytes
    body_hash: bytes | None
    payload_hash: bytes
    validators: Validators
    depth: int
    links: array[int]
    """Reference ids of the out-links, in page order."""
    body_bytes: int = 0
    """As `Draft.body_bytes`."""


@dataclass(frozen=True, slots=True)
class Converted:
    """The main content of a fetched body as Markdown, with what a crawl needs to go on."""

    title: str
    text: str
    links: tuple[str, ...] = ()
    """Absolute, normalised, without fragments, in page order, each once."""
    canonical: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    links_left_out: int = 0
    """Links of the page behind the first ones that are kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """One version of a reference on its way into the store."""

    reference: str
    url: str
    title: str
    text: str
    content_hash: bytes = b""
    """Made from the text when it is not given."""
    body_hash: bytes | None = None
    """Of the bytes the text was made from; None for what came without a body of its own."""
    body_bytes: int = 0
    """The length of its body as it came over the wire or was read; 0 if not known."""
    validators: Validators
    content_type: str
    depth: int = 0
    links: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    record: bytes | None = field(default=None, repr=False)
    """The item as its source sent it, as JSON; no part of what makes versions differ."""
    keys: tuple[int, ...] = field(default=(), repr=False)
    """Of a dataset, by `core.search.copies`: kept with its record, to find it on other portals."""
    # Not given, so that `replace` never takes the hash of another version along.
    _payload_hash: bytes = field(default_factory=bytes, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.content_hash:
            object.__setattr__(self, "content_hash", hashing.of_text(self.text))

    def has_payload_hash(self, made: bytes) -> None:
        """It was made already, of this title, text, address and metadata."""
        object.__setattr__(self, "_payload_hash", made)

    @property
    def payload_hash(self) -> bytes:
        """What makes this version different from another: text and metadata, not validators. Made once."""
        if not self._payload_hash:
            made = payload_hash(self.content_hash, self.title, self.url, self.metadata)
            object.__setattr__(self, "_payload_hash", made)
        return self._payload_hash


def payload_hash(content_hash: bytes, title: str, url: str, metadata: Mapping[str, Any]) -> bytes:
    return hashing.of_mapping(
        {"content": content_hash.hex(), "title": title, "url": url, "metadata": dict(metadata)}
    )


TEXT = "text"
"""Among changed fields: what a document says."""


DETAILS = "details"
"""Among changed fields: facts that are in no other, such as the description of a file."""


def changed_metadata(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """The names in two versions' metadata whose values differ."""
    return (name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name))
