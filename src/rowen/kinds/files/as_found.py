"""A folder that is as a run found it: nothing of it is compared again.

A run that compared every file and found each as readers see it, and opened none, remembers one hash of all
paths, sizes and times. While the hash is the same and readers see the same generation, comparing would find
the same: the next runs list the folder, and neither read what is known of its files nor make a value for one.
"""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from operator import itemgetter
from typing import Any

from rowen.core import hashing
from rowen.core.document import NO_VALIDATORS
from rowen.core.source import Source
from rowen.core.web.scope import NO_TEXT_ENDINGS
from rowen.engine.intake import Intake
from rowen.engine.ports import Ports
from rowen.ports.folders import Entry
from rowen.ports.store.documents import Listing

REMEMBERED = "rowen:as-found"


class AsFound:
    def __init__(self, ports: Ports, source: Source, params: Mapping[str, Any], intake: Intake) -> None:
        self._ports = ports
        self._intake = intake
        self._generation = source.active_generation
        self._edited = bool(source.edited)
        # Which files are taken by their names and sizes is Rowen's decision, and may be another one later.
        limits = [ports.fetch.max_body_bytes, *sorted(NO_TEXT_ENDINGS)]
        self._settings = hashing.of_mapping({"params": dict(params), "limits": limits}).hex()
        self._remembered: Mapping[str, Any] = {}
        self._digest = ""

    def holds(self, entries: Sequence[Entry], listings: Mapping[str, Listing]) -> bool:
        """Is the folder as it was found? Then its files are counted as unchanged."""
        listing = listings.get(REMEMBERED)
        self._remembered = listing.payload if listing else {}
        self._digest = f"{self._settings} {_digest(entries)}"
        intake = self._intake
        if intake.unconditional or intake.needs_names or self._edited or not self._is_remembered():
            return False
        intake.none_modified(self._remembered["files"], self._remembered["bytes"])
        intake.counters.ignored.update(self._remembered["ignored"])
        return True

    def _is_remembered(self) -> bool:
        return (self._remembered.get("digest"), self._remembered.get("generation")) == (
            self._digest,
            self._generation,
        )

    async def save(self, ignored: Mapping[str, int]) -> None:
        """Remember a folder whose files were all compared; `ignored` are those that listing it left out."""
        intake, counters = self._intake, self._intake.counters
        whole = counters.not_modified == counters.unchanged == len(intake.known)
        if not whole or counters.reads or counters.failed or counters.changed or self._is_remembered():
            return
        payload = {
            "digest": self._digest,
            "generation": self._generation,
            "files": len(intake.known),
            "bytes": counters.bytes_avoided,
            "ignored": dict(counters.ignored - Counter(ignored)),
        }
        listing = Listing(url=REMEMBERED, validators=NO_VALIDATORS, payload=payload)
        await self._ports.store.save_listing(intake.lease, intake.run.source_id, listing)


def _digest(entries: Sequence[Entry]) -> str:
    """Of paths, sizes and times, each as one block of bytes: nothing is done file by file in Python."""
    found = sha256("\0".join(map(itemgetter(0), entries)).encode())
    for column in (1, 2):
        numbers = array("q", map(itemgetter(column), entries))
        if sys.byteorder == "big":
            numbers.byteswap()
        found.update(numbers.tobytes())
    return found.hexdigest()
