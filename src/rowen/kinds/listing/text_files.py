"""Which files of a listing are worth reading: the chosen paths, and of those the ones that are text.

For most the ending of the name decides. The others are opened once; those that are no text, or too much of
it, are remembered with their tag (a validator or blob id) and not opened again until the tag differs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import quote

from rowen.core.document import Validators
from rowen.core.web.scope import PathFilter, is_binary_name
from rowen.engine.intake import Intake
from rowen.engine.ports import Ports
from rowen.kinds.listing.listing import Fetched
from rowen.ports.store.documents import Listing

NO_TEXT = "rowen:no-text"
"""The remembered listing of files that are no text: path to tag."""
SNIFFED_BYTES = 8192
BINARY = "binary"
TOO_LARGE = "too_large"
_LARGE = " too large"


class TextFiles:
    def __init__(
        self, ports: Ports, intake: Intake, params: Mapping[str, Any], *, no_text: str = NO_TEXT
    ) -> None:
        self._listing = no_text
        self._ports = ports
        self._intake = intake
        self._chosen = PathFilter(tuple(params["include"]), tuple(params["exclude"]))
        self._remembered: dict[str, str] = {}
        self._no_text: dict[str, str] = {}

    def load(self, listings: Mapping[str, Listing]) -> None:
        listing = listings.get(self._listing)
        self._remembered = listing.payload if listing else {}
        self._no_text = {} if self._intake.unconditional else dict(self._remembered)

    def wants(self, path: str, tag: str) -> bool:
        """Whether a file should be indexed, as far as that can be said without opening it; counts if not."""
        reason = self._chosen.why_not(path)
        if reason is None and (self._no_text.get(path) == tag or is_binary_name(path)):
            reason = BINARY
        elif reason is None and self._no_text.get(path) == tag + _LARGE:
            reason = TOO_LARGE
        if reason is not None:
            self._intake.counters.ignored[reason] += 1
        return reason is None

    @property
    def every_path(self) -> bool:
        """Whether no setting leaves out paths."""
        return self._chosen.everything

    def content(self, path: str, tag: str, body: bytes | None, *, url: str = "") -> Fetched | None:
        """What came out of a file, or None when it is no text after all; a body of None was too large."""
        if body is None:
            self._no_text[path] = tag + _LARGE
            self._intake.counters.ignored[TOO_LARGE] += 1
            return None
        content_type = type_of(self._ports, path, body)
        if content_type is None:
            self._no_text[path] = tag
            self._intake.counters.ignored[BINARY] += 1
            return None
        return Fetched(body, content_type, url)

    async def save(self, present: Collection[str]) -> None:
        """Remember what was learnt, for the files that are still there."""
        if self._no_text == self._remembered:
            return
        payload = {path: tag for path, tag in self._no_text.items() if path in present}
        listing = Listing(url=self._listing, validators=Validators(), payload=payload)
        await self._ports.store.save_listing(self._intake.lease, self._intake.run.source_id, listing)


def type_of(ports: Ports, path: str, body: bytes) -> str | None:
    """The type of a file, empty where its name says it; None for one that is no text."""
    # A path is no address: `#` and `?` are letters of a name here.
    if ports.converter.handles("", quote(path)):
        return ""
    return None if b"\0" in body[:SNIFFED_BYTES] else "text/plain"
