"""What became of the items of a run: counted, told to who watches, and kept until it is written down.

An unchanged item is counted and nothing more: no row is kept for it. An outcome can be taken back, when it
turns out later in the run that an item goes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from rowen.core.document import Known, Outcome
from rowen.core.run import Counters, Event, RunItem
from rowen.core.web import verified
from rowen.core.web.verified import Looked, LookedAtSome

OnEvent = Callable[[Event], None]
STORED = frozenset({Outcome.CREATED, Outcome.UPDATED, Outcome.METADATA_UPDATED, Outcome.SKIPPED})
"""Outcomes of items with a new version."""


def unheard(event: Event) -> None:
    """For runs that no caller watches."""


class Tally:
    def __init__(self, source: str, on_event: OnEvent, *, hooked: Collection[str] = ()) -> None:
        """`source` is its name, for events; `hooked` are references that web hooks named."""
        self.counters = Counters()
        self.items: list[RunItem] = []
        """What became of items, not written down yet."""
        self.first_failure: RunItem | None = None
        self.known: Mapping[str, Known] = {}
        """What readers see of the source, by reference: all of it, or what was looked up last."""
        self.asks_some = False
        """The run says nothing of what it does not ask for; set by a kind that chooses among its items."""
        self.queued = 0
        """Set by the source, for progress: the items it has yet to look at."""
        self.announced = 0
        """The same, of a source whose list says how many items it has: all of them. 0 where it does not."""
        self.added = 0
        """References that had no visible version before."""
        self.lost = 0
        """Deletions that take text away: all but those of pages that only moved."""
        self.dropped = 0
        """Deletions of what the settings of an edited source do not cover."""
        self._source = source
        self._on_event = on_event
        self.arrived = 0
        """New versions that came to be stored, in this order."""
        self.arriving = 0
        """Of these, what is not stored yet."""
        self._updates: dict[str, Outcome | None] = {}
        """Known references with a new version in this run; None until it is stored."""
        self._taken_back: set[str] = set()
        self._ways: Counter[str] = Counter()
        """How many unchanged items were verified in which way; `_verified` has the first of each."""
        self._verified: dict[str, list[str]] = {}
        self._failed_known: list[str] = []
        """References with a visible version about which nothing was learnt."""
        self._failed: set[str] = set()
        self._hooked = hooked
        self._hooked_stored: list[str] = []
        """Of these: the ones with a new version in this run."""

    @property
    def staged(self) -> int:
        """Changes to what readers see; none means there is no new generation."""
        return self.counters.changed

    @property
    def replaced(self) -> int:
        """Known references with a new version in this run."""
        return len(self._updates)

    def looked(self, before: int) -> Looked | None:
        """How this run verified the `before` documents readers see; None when it did not look at all."""
        seen = self.counters.unchanged + len(self._updates) + self.counters.deleted + len(self._failed_known)
        if seen < before:
            return None
        failed = list(dict.fromkeys((*self._failed_known, *self.failed_updates)))
        ways = [way for way, _ in self._ways.most_common()]
        if any(self._ways[way] > verified.MOST_EXCEPTIONS for way in ways[1:]):
            return Looked(by=None, failed=failed)
        others = {way: self._verified[way] for way in ways[1:]}
        return Looked(by=ways[0] if ways else verified.FETCHED, others=others, failed=failed)

    def looked_at_some(self) -> LookedAtSome | None:
        """How this run verified what it asked for; None when that is nothing."""
        gone = [item.reference for item in self.items if item.outcome is Outcome.DELETED]
        failed = self.failed_updates
        changed = [*gone, *(name for name in self._updates if name not in failed)]
        taken_back = set(changed)
        unchanged = {
            way: [name for name in names if name not in taken_back] for way, names in self._verified.items()
        }
        # A new page is in no version before this one: it did not change, and is stored.
        stored = [name for name in self._hooked_stored if name not in failed and name not in gone]
        if not (self._verified or changed or stored):
            return None
        return LookedAtSome(unchanged=unchanged, changed=changed, hooked=stored)

    @property
    def failed_updates(self) -> set[str]:
        """Known references whose new version came and could not be stored."""
        return {name for name, outcome in self._updates.items() if outcome in (None, Outcome.FAILED)}

    def _forget_deletions(self) -> None:
        self.lost = self.dropped = self.counters.deleted = 0
        self.items = [item for item in self.items if item.outcome is not Outcome.DELETED]

    def _take_back(self, reference: str) -> None:
        """Forget how an item was counted, whether its new version is stored already or still on its way."""
        if reference not in self._updates:
            self.counters.unchanged -= 1
            return
        outcome = self._updates[reference]
        if outcome is None:
            self._taken_back.add(reference)
        else:
            self.counters.add(outcome, -1)
            self.items = [item for item in self.items if item.reference != reference]

    @property
    def needs_names(self) -> bool:
        """A caller is told of every item, or a hook has named some: counting them is not enough."""
        return self._on_event is not unheard or bool(self._hooked)

    def _count_unchanged(self, number: int, by: str) -> None:
        """So many items that need no names: no caller is told of them."""
        self.counters.unchanged += number
        self._ways[by] += number
        self._verified.setdefault(by, [])

    def _all_unchanged(self, references: Sequence[str], reason: str, by: str) -> None:
        """`_unchanged` of each: one step for all of them where no caller watches."""
        if self.needs_names:
            for reference in references:
                self._unchanged(reference, reason, by)
        elif references:
            room = len(references) if self.asks_some else max(0, verified.MOST_EXCEPTIONS - self._ways[by])
            self._count_unchanged(len(references), by)
            self._verified[by].extend(references[:room])

    def _unchanged(self, reference: str, reason: str, by: str) -> None:
        by = verified.HOOK if reference in self._hooked else by
        # No row is kept for it: an unchanged item costs no write.
        self.counters.unchanged += 1
        self._ways[by] += 1
        if self.asks_some or self._ways[by] <= verified.MOST_EXCEPTIONS:
            self._verified.setdefault(by, []).append(reference)
        self._tell(reference, Outcome.UNCHANGED, reason)

    def _item(self, reference: str, outcome: Outcome, reason: str, detail: str | None = None) -> None:
        self.counters.add(outcome)
        if reference in self._updates:
            self._updates[reference] = outcome
        if reference in self._hooked and outcome in STORED:
            self._hooked_stored.append(reference)
        item = RunItem(reference, outcome, reason, detail)
        self.items.append(item)
        if outcome is Outcome.FAILED and reference in self.known:
            self._failed_known.append(reference)
        if outcome is Outcome.FAILED:
            self._failed.add(reference)
            self.first_failure = self.first_failure or item
        self._tell(reference, outcome, reason, detail)

    def _ahead(self) -> int:
        if self.announced:
            return max(0, self.announced - self.counters.processed)
        return self.queued + self.arriving

    def _tell(self, reference: str, outcome: Outcome, reason: str, detail: str | None = None) -> None:
        if self._on_event is unheard:
            return
        self._on_event(
            Event(
                source=self._source,
                kind="item",
                reference=reference,
                outcome=outcome,
                reason=reason,
                deleted=outcome is Outcome.DELETED,
                counters=self.counters,
                queued=self._ahead(),
                detail=detail,
            )
        )
