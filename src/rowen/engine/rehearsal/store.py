"""The store of a rehearsal: it answers what the real one would answer during the run, and writes nothing.

What a run would store is kept here, texts compressed, until the rehearsal is over. A method that is not named
here does not exist for a kind in a rehearsal: a forgotten one is an error, not a write.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rowen.core.document import Draft, Known
from rowen.core.generation import Replacement
from rowen.core.lease import Lease
from rowen.core.run import Run
from rowen.errors import UserError
from rowen.ports.store.documents import Living
from rowen.ports.store.store import Store

PASSED_ON = frozenset(
    {
        "acquire_lease", "lease", "leases_like", "release_lease", "renew_lease",
        "aliases", "claims", "document", "documents", "generations", "listings", "metadata", "note",
        "notes_like", "pages_to_schedule", "passage_states", "pauses", "record", "record_hashes",
        "references", "runs", "shown", "source", "sources", "visible_references",
    }
)  # fmt: skip
"""Reads, and the leases that keep another run away meanwhile."""
SWALLOWED = frozenset(
    {
        "index_soon", "refresh", "save_aliases", "save_claims", "save_inventory", "save_items",
        "save_listing", "save_note", "save_progress",
    }
)  # fmt: skip
UNSTORED = 1 << 60
"""Where the numbers of references begin that no store has given out."""
SHORT_BYTES = 4_000
"""The guard looks into texts up to here, as it does in a store."""


class UntouchedStore:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._drafts: dict[str, Draft] = {}
        """New versions by reference, without their texts."""
        self._texts: dict[str, bytes] = {}
        self._gone: set[str] = set()
        self._names: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._shown: dict[str, Known] = {}
        """What the parts of the run before this one have brought."""
        self.seen: dict[str, set[bytes]] = {}
        """The versions a reference had on the way, by their payload hashes."""

    def __getattr__(self, name: str) -> Any:
        if name in PASSED_ON:
            return getattr(self._store, name)
        if name in SWALLOWED:
            return _swallow
        raise UserError(
            f"this source cannot be planned: its kind uses `{name}` of the store",
            hint="`rowen sync` runs it",
        )

    @property
    def drafts(self) -> Mapping[str, Draft]:
        return self._drafts

    def take(self, draft: Draft) -> None:
        """A run would store this version."""
        self._texts[draft.reference] = zlib.compress(draft.text.encode("utf-8", "surrogatepass"), 1)
        self.seen.setdefault(draft.reference, set()).add(draft.payload_hash)
        self._drafts[draft.reference] = replace(draft, text="", record=None)
        self._gone.discard(draft.reference)

    def show(self) -> None:
        """A part of the run has ended well: the next one meets what it brought."""
        for reference in self._gone:
            self._shown.pop(reference, None)
        for reference, draft in self._drafts.items():
            number = self._number(reference)
            self._shown[reference] = Known(
                number,
                number,
                reference,
                draft.content_hash,
                draft.body_hash,
                draft.payload_hash,
                draft.validators,
                draft.depth,
                array("q"),
            )

    async def known(self, source_id: int, references: Sequence[str] | None = None) -> dict[str, Known]:
        known = await self._store.known(source_id, references)
        wanted = self._shown.keys() if references is None else self._shown.keys() & set(references)
        known |= {reference: self._shown[reference] for reference in wanted}
        found = {name: one for name, one in known.items() if name not in self._gone}
        for name, one in found.items():
            self._names[one.reference_id] = name
            self._numbers[name] = one.reference_id
        return found

    async def leftovers(self, source_id: int, references: Sequence[str] | None = None) -> dict[str, Known]:
        """None: what an interrupted run left behind is taken up by a run, which asks for it in its way."""
        return {}

    async def due_retries(self, source_id: int, **_: Any) -> list[Any]:
        return []

    async def retire(self, lease: Lease, run: Run, reference_ids: Sequence[int]) -> None:
        for number in reference_ids:
            self._gone.add(self._names[number])
            self._drafts.pop(self._names[number], None)

    async def living(
        self, source_id: int, *, after: int = 0, among: Sequence[int] | None = None, limit: int
    ) -> list[Living]:
        if among is not None:
            here = [one for one in among if one >= UNSTORED or self._names.get(one) in self._drafts]
            stored = await self._store.living(
                source_id, among=[one for one in among if one not in set(here)], limit=limit
            )
            return [*self._still(stored), *(self._living(self._names[one], one) for one in here)][:limit]
        found: list[Living] = []
        if after < UNSTORED:
            stored = await self._store.living(source_id, after=after, limit=limit)
            # A whole page that this run replaces or removes must not look like the end.
            while stored and not (found := self._merged(stored)):
                after = stored[-1].reference_id
                stored = await self._store.living(source_id, after=after, limit=limit)
        if len(found) < limit:
            fresh = sorted(
                (self._number(name), name) for name in self._drafts if self._number(name) >= UNSTORED
            )
            found += [self._living(name, number) for number, name in fresh if number > after][:limit]
        return found

    def _merged(self, stored: Sequence[Living]) -> list[Living]:
        return [
            self._living(one.draft.reference, one.reference_id)
            if one.draft.reference in self._drafts
            else one
            for one in self._still(stored)
        ]

    def _still(self, stored: Sequence[Living]) -> list[Living]:
        return [one for one in stored if one.draft.reference not in self._gone]

    def _living(self, reference: str, number: int) -> Living:
        return Living(number, replace(self._drafts[reference], text=self._text(reference)))

    async def replacements(self, source_id: int, generation: int) -> list[Replacement]:
        before = {
            one.reference: one
            for one in await self._store.documents(
                source_id, references=list(self._drafts), limit=len(self._drafts) or 1, text=True
            )
        }
        return [self._replacement(name, before.get(name)) for name in self._drafts]

    def _replacement(self, reference: str, before: Any) -> Replacement:
        draft, text = self._drafts[reference], self._text(reference)
        text_before = (before.text or "") if before else ""
        size, size_before = len(text.encode("utf-8", "replace")), len(text_before.encode("utf-8", "replace"))
        return Replacement(
            reference=reference,
            content=int.from_bytes(draft.content_hash[:8], "big"),
            content_before=int.from_bytes(before.content_hash[:8], "big") if before else None,
            bytes=size,
            bytes_before=size_before,
            text=text if size <= SHORT_BYTES else None,
            text_before=text_before if before and size_before <= SHORT_BYTES else None,
        )

    def _text(self, reference: str) -> str:
        return zlib.decompress(self._texts[reference]).decode("utf-8", "surrogatepass")

    def _number(self, reference: str) -> int:
        """Of a reference, as the store gave it out, or one of our own."""
        number = self._numbers.setdefault(reference, UNSTORED + len(self._numbers))
        self._names[number] = reference
        return number


async def _swallow(*_: Any, **__: Any) -> None:
    """A write of a run that is none."""
