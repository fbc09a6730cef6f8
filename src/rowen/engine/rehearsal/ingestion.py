"""Ingestion that stores and embeds nothing: it cuts the texts and counts what would be embedded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from rowen.core.document import Draft
from rowen.core.handoff import Reason
from rowen.core.lease import Lease
from rowen.core.run import Counters, Run
from rowen.core.section import Form, Passage
from rowen.core.split import passages
from rowen.engine.ingest import Ingestion, OnEnded
from rowen.engine.ports import Ports
from rowen.engine.rehearsal.store import UntouchedStore


class CountedIngestion(Ingestion):
    def __init__(
        self, ports: Ports, lease: Lease, run: Run, counters: Counters, on_ended: OnEnded, wanted: Wanted
    ) -> None:
        super().__init__(ports, lease, run, counters, on_ended)
        self._wanted = wanted

    async def take(self, drafts: Sequence[Draft], *, full: bool = False) -> None:
        found: dict[bytes, Passage] = {}
        said: set[bytes] = set()
        for tree in await self._ports.splitter.split([draft.text for draft in drafts]):
            found |= passages(tree)
            said.update(section.passage_hash for section in tree if section.form is not Form.DETAILS)
        model = self._ports.embedder().model
        states = await self._ports.store.passage_states(list(found), model)
        embedded = {digest for digest, state in states.items() if state.embedded} | self._wanted.chars.keys()
        fresh = {digest: found[digest] for digest in found if digest in said - embedded}
        self._wanted.chars |= {digest: len(passage.embeddable) for digest, passage in fresh.items()}
        self._counters.embeddings_computed += len(fresh)
        self._counters.embeddings_reused += len(said) - len(fresh)
        for draft in drafts:
            cast(UntouchedStore, self._ports.store).take(draft)
        self._on_ended({draft.reference: (Reason.INGESTED, None) for draft in drafts})

    async def revive(self, references: Sequence[str]) -> None:
        raise AssertionError("a rehearsal has nothing to revive")

    async def rest(self) -> None:
        return None


class Wanted:
    """The texts that would be embedded, each once."""

    def __init__(self) -> None:
        self.chars: dict[bytes, int] = {}
        """Their lengths, by passage."""
