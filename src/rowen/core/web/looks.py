"""When single pages were verified by runs that asked for some pages only: packed, for large sites.

A record has the digest of a reference (8 bytes), the moment in microseconds (8) and the way (1), in the order
of digests: one page is found without reading the others. A run that looks at everything makes it empty. Pure.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

KEY, TIME = 8, 8
RECORD = KEY + TIME + 1
NO_WAY = 255
_WAYS = ("fetched", "not_modified", "listing", "same_body", "same_content", "hook", "hook_fetched")
"""A way is stored as its place here: new ones come last."""
_STORED = _WAYS.index("hook_fetched")
"""The one way of pages that were found changed."""
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Looks:
    __slots__ = ("packed",)

    def __init__(self, packed: bytes = b"") -> None:
        self.packed = packed

    def __len__(self) -> int:
        return len(self.packed) // RECORD

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Looks) and self.packed == other.packed

    def __hash__(self) -> int:
        return hash(self.packed)

    def of(self, reference: str) -> tuple[datetime, str | None] | None:
        """When and how a page was verified; None for one that these runs did not ask for."""
        if not self.packed:
            return None
        key = _key(reference)
        place = bisect_left(range(len(self)), key, key=self._key_at)
        if place == len(self) or self._key_at(place) != key:
            return None
        rest = self.packed[place * RECORD + KEY : (place + 1) * RECORD]
        way = _WAYS[rest[TIME]] if rest[TIME] < len(_WAYS) else None
        return _moment(rest[:TIME]), way

    def after(self, at: datetime, asked: Mapping[str, Sequence[str]], *, changed: Iterable[str]) -> Looks:
        """With a run that began at `at`: the references it verified, by way, and those it found changed.

        The time of a page that changed is in its new version.
        """
        packed = self.packed
        kept = {
            packed[start : start + KEY]: packed[start + KEY : start + RECORD]
            for start in range(0, len(packed), RECORD)
        }
        for reference in changed:
            kept.pop(_key(reference), None)
        moment = ((at - _BEGINNING) // _MICROSECOND).to_bytes(TIME, "big")
        for way, references in asked.items():
            rest = moment + bytes([_WAYS.index(way) if way in _WAYS else NO_WAY])
            kept.update((_key(reference), rest) for reference in references)
        return Looks(b"".join(key + rest for key, rest in sorted(kept.items())))

    def since(self, moment: datetime) -> int:
        """How many pages were found as they were at this moment or later."""
        least = (max(moment, _BEGINNING) - _BEGINNING) // _MICROSECOND
        return sum(
            int.from_bytes(self.packed[start : start + TIME], "big") >= least
            for start in range(KEY, len(self.packed), RECORD)
            if self.packed[start + TIME] != _STORED
        )

    @property
    def newest(self) -> datetime | None:
        """When the last of these pages was verified."""
        starts = range(KEY, len(self.packed), RECORD)
        return max((_moment(self.packed[start : start + TIME]) for start in starts), default=None)

    def _key_at(self, place: int) -> bytes:
        return self.packed[place * RECORD : place * RECORD + KEY]


def _key(reference: str) -> bytes:
    from hashlib import blake2b  # the library it loads takes long, and few commands hash

    return blake2b(reference.encode(), digest_size=KEY).digest()


def _moment(packed: bytes) -> datetime:
    return _BEGINNING + int.from_bytes(packed, "big") * _MICROSECOND


NO_LOOKS = Looks()
