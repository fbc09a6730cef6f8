"""What a site repeats on most of its pages, learnt and taken away, though nothing marks it as navigation.

It is learnt from the stored texts at the end of a whole run, so the order in which pages came does not
matter: at first, and when a quarter of the pages is new. The pages that have it are then stored without it,
in the same generation. What was learnt is remembered and stays; later answers are compared without it.

When the repeated part itself changes, every page changes at once, and none of them lacks it by itself. So
changed pages that lack a learned block are held until all have answered: if most pages now share another
block, that one is learnt too, and pages that differ in nothing else have not changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rowen.core.document import NO_VALIDATORS, Draft
from rowen.engine.ingest import BATCH
from rowen.engine.intake import Intake
from rowen.engine.ports import Ports
from rowen.kinds.crawl.judging import rules as boilerplate
from rowen.kinds.crawl.pages import ReadPage
from rowen.ports.store.documents import Listing, Living

REMEMBERED = "rowen:wrapping"
"""The remembered listing: the keys of learned blocks, how many pages they were learnt from, and for which
generation.
"""
BOILERPLATE = "boilerplate"
"""Why a page was stored anew that had not changed."""
GROWTH = 1.25
HELD_CHARS = 64_000_000
READ_AT_ONCE = 64


class Wrapping:
    def __init__(self, intake: Intake, remembered: Any | None, *, active: int, learns: bool) -> None:
        """`active` is the generation that readers see. With `learns` False nothing is learnt in this run."""
        self._intake = intake
        self._remembered = remembered
        self._active = active
        self._learns = learns
        self.learned: set[str] = set(remembered["blocks"]) if remembered else set()
        self._pages: int = remembered["pages"] if remembered else 0
        self._generation: int = remembered["generation"] if remembered else 0
        # A run that was interrupted or rolled back leaves pages with what it had learnt, and some without.
        self._applied = self._generation <= active
        self._held: list[tuple[Draft, bool]] = []
        self._held_chars = 0

    def cut(self, page: ReadPage | None) -> ReadPage | None:
        if page is None or not self.learned:
            return page
        converted = page.converted
        return page._replace(
            converted=replace(converted, text=boilerplate.without(converted.text, self.learned))
        )

    # while pages arrive

    async def fetched(self, draft: Draft, *, links_changed: bool) -> None:
        """To the intake, now or when all pages have answered."""
        if not self._may_be_wrapped_anew(draft):
            await self._intake.fetched(draft, links_changed=links_changed)
            return
        self._held.append((draft, links_changed))
        self._held_chars += len(draft.text)
        if self._held_chars > HELD_CHARS:
            # Of a source that is too large to hold, those that came first speak for it.
            await self._release(of=len(self._held))

    async def release(self) -> None:
        """What is new on held pages must be on most of all pages: those that did not change have it not."""
        await self._release(of=len(self._intake.known))

    async def _release(self, *, of: int) -> None:
        held, self._held, self._held_chars = self._held, [], 0
        new = boilerplate.common((boilerplate.keys_of(draft.text) for draft, _ in held), total=of)
        if new:
            self.learned |= new
            # Pages that are new in this run came with it.
            self._applied = False
        for draft, links_changed in held:
            text = boilerplate.without(draft.text, self.learned)
            if text != draft.text:
                draft = replace(draft, text=text, content_hash=b"")
            await self._intake.fetched(draft, links_changed=links_changed)

    def _may_be_wrapped_anew(self, draft: Draft) -> bool:
        known = self._intake.known.get(draft.reference)
        return bool(
            self._learns
            and self.learned
            and known is not None
            and known.payload_hash != draft.payload_hash
            and len(self._intake.known) >= boilerplate.MIN_PAGES
        )

    # when everything is stored

    async def settle(self, ports: Ports) -> None:
        """After a whole run, before it is shown: learn, if there is enough new, and remember."""
        if self._is_due():
            await self._learn(ports)
        payload = {"pages": self._pages, "generation": self._generation, "blocks": sorted(self.learned)}
        if self._pages and payload != self._remembered:
            await self._remember(ports, payload)

    def _is_due(self) -> bool:
        """Is there enough that was never looked at? A run that stored nothing has nothing to learn from."""
        intake = self._intake
        pages = len(intake.known) + intake.added
        if not self._learns or pages < boilerplate.MIN_PAGES:
            return False
        if not self._applied:
            return True
        grown = not self._pages or pages >= self._pages * GROWTH
        return bool(intake.staged) and (grown or intake.replaced >= pages * boilerplate.SHARE)

    async def _learn(self, ports: Ports) -> None:
        """Learn from what the run will show, and store the pages that have it without it."""
        run, store = self._intake.run, ports.store
        keys: dict[int, set[str]] = {}
        most = len(self._intake.known) + self._intake.added + self._intake.dropped
        counts: Counter[str] = Counter()
        pages = await self._shortest_first(ports)
        for start in range(0, len(pages), READ_AT_ONCE):
            some = pages[start : start + READ_AT_ONCE]
            for one in await store.living(run.source_id, among=some, limit=READ_AT_ONCE):
                keys[one.reference_id] = ones = boilerplate.keys_of(one.draft.text)
                counts.update(ones)
            if not self.learned and not boilerplate.may_be_common(counts, looked_at=len(keys), most=most):
                # The longer pages are not read then: most sites have nothing to learn, and are cut half.
                self._pages = most - self._intake.counters.deleted
                self._generation = run.generation if self._intake.staged else self._active
                return
        self._pages = len(keys)
        self.learned |= boilerplate.common(keys.values(), total=len(keys))
        wrapped = sorted(number for number, ones in keys.items() if not self.learned.isdisjoint(ones))
        if wrapped:
            # Before the first page is stored without it: a run after a crash goes on with the same.
            await self._remember(
                ports, {"pages": 0, "generation": run.generation, "blocks": sorted(self.learned)}
            )
        for start in range(0, len(wrapped), BATCH):
            some = wrapped[start : start + BATCH]
            await self._rewrite(await store.living(run.source_id, among=some, limit=BATCH))
        # Where nothing is shown anew, what readers see has none of it.
        self._generation = run.generation if self._intake.staged else self._active

    async def _shortest_first(self, ports: Ports) -> list[int]:
        """The pages that readers will see: to cut one into blocks takes ten times as long as to read it."""
        lengths: list[tuple[int, int]] = []
        after = 0
        while found := await ports.store.living(self._intake.run.source_id, after=after, limit=READ_AT_ONCE):
            after = found[-1].reference_id
            lengths += [(len(one.draft.text), one.reference_id) for one in found if is_page(one.draft)]
        return [number for _, number in sorted(lengths)]

    async def _remember(self, ports: Ports, payload: Any) -> None:
        listing = Listing(url=REMEMBERED, validators=NO_VALIDATORS, payload=payload)
        await ports.store.save_listing(self._intake.lease, self._intake.run.source_id, listing)

    async def _rewrite(self, wrapped: Sequence[Living]) -> None:
        drafts = []
        for one in wrapped:
            text = boilerplate.without(one.draft.text, self.learned)
            if text != one.draft.text:
                drafts.append(replace(one.draft, text=text, content_hash=b""))
        await self._intake.replace(drafts, BOILERPLATE)


def is_page(draft: Draft) -> bool:
    """Other files of a site have no wrapping."""
    return "html" in draft.content_type
