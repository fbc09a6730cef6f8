"""How far a first run has come in a list that is not in the order of ids, for the run after a kill.

While the run goes on, the place behind the last page whose items are all stored is written down, with what
the list announced then. The next run goes on there while the list is still that one: as many items, and where
pages are counted off, the same first page. A token or an address that is refused begins the list anew; what
is stored is not embedded again either way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from rowen.core import hashing
from rowen.core.document import Validators
from rowen.engine.intake import Intake
from rowen.engine.ports import Ports
from rowen.kinds.api.walking.following import Step
from rowen.ports.store.documents import Listing

NAME = "rowen:checkpoint"
"""In place of an address among the remembered listings of a source."""


class Place(NamedTuple):
    """Before a page is asked for: what a walk needs to go on with it."""

    step: Step
    yielded: int
    """Pages whose items were given to be taken in."""
    pages: int
    rows: int
    seen: int
    announced: int | None
    size: int
    """Items asked for at once: numbered pages must all be of one size."""
    first: str
    """Of the first page, where pages are counted off: a hash of what it says."""
    last: tuple[str, ...]
    """The ids of the page before, where pages are counted off."""
    overlaps: bool
    nameless: int = 0
    """Items that were seen and are not stored: deleted ones that a list names."""


def said_by(rows: Sequence[Any]) -> str:
    """A hash of what a page says."""
    return hashing.of_mapping({"rows": list(rows)}).hex()[:32]


class Checkpoint:
    """Writes places down while items arrive; belongs to one run."""

    def __init__(self, ports: Ports, source_id: int, intake: Intake) -> None:
        self._ports = ports
        self._source_id = source_id
        self._intake = intake
        self.places: deque[Place] = deque()
        self._arrived: dict[int, int] = {}
        """By the number of a page that was taken in: how many items had arrived then."""
        self._pages = 0
        self._written = False

    async def load(self) -> Place | None:
        """The place that a killed run has left, if it can be read."""
        found = (await self._ports.store.listings(self._source_id)).get(NAME)
        if found is None or not found.payload:
            return None
        self._written = True
        try:
            said = Place(**found.payload)
            return said._replace(last=tuple(said.last))
        except TypeError:
            return None

    async def taken(self) -> None:
        """The items of one more page have arrived. They are stored in the order in which they arrive."""
        self._pages += 1
        self._arrived[self._pages] = self._intake.arrived
        stored = self._intake.arrived - self._intake.arriving
        place = None
        while self.places and self._arrived.get(self.places[0].yielded, stored + 1) <= stored:
            place = self.places.popleft()
        if place is not None:
            unstored = place.seen - self._arrived[place.yielded]
            self._arrived = {page: n for page, n in self._arrived.items() if page > place.yielded}
            await self._write(place._replace(nameless=max(0, unstored))._asdict())

    async def forget(self) -> None:
        """The list was read to its end."""
        if self._written:
            await self._write({})

    async def _write(self, payload: dict[str, Any]) -> None:
        listing = Listing(url=NAME, validators=Validators(), payload=payload)
        await self._ports.store.save_listing(self._intake.lease, self._source_id, listing)
        self._written = True
