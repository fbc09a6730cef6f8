"""How often readers are shown each document: counted in the process that answers, and handed on in batches.

A search writes nothing. What a process had counted and not handed on when it ends is lost: the counts say
which pages matter, not how many searches there were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

EVERY_SEARCHES = 50
EVERY_S = 600.0
"""Handed on after so many searches, or with the first one after so long."""
MOST_WAITING = 10_000
"""Documents that a process counts while the store takes nothing."""
MOST_PAGES = 2_000
"""Of one source, the most shown ones; the others count like a page that is shown rarely."""
HALF_LIFE_S = 90 * 86_400.0
"""What readers looked for counts half after this time."""
LEAST = 0.05


class Shown:
    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self._searches = 0
        self._since: float | None = None

    def count(
        self, documents: Iterable[int], monotonic: float, *, taken: bool = True
    ) -> dict[int, int] | None:
        """One more search that was answered with these; the counts so far when they are to be handed on.

        They are not `taken` while earlier ones are on their way: then they wait.
        """
        self._counts.update(
            documents if len(self._counts) < MOST_WAITING else filter(self._counts.__contains__, documents)
        )
        self._searches += 1
        self._since = monotonic if self._since is None else self._since
        if not taken or (self._searches < EVERY_SEARCHES and monotonic - self._since < EVERY_S):
            return None
        counts, self._counts = dict(self._counts), Counter()
        self._searches, self._since = 0, monotonic
        return counts or None


def added(before: Mapping[str, float], more: Mapping[str, float], elapsed_s: float) -> dict[str, float]:
    """Counts by reference with new ones: older ones fade, and few are kept."""
    kept = 0.5 ** (max(elapsed_s, 0.0) / HALF_LIFE_S)
    counts = {name: number * kept for name, number in before.items()}
    for name, number in more.items():
        counts[name] = counts.get(name, 0.0) + number
    most = sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:MOST_PAGES]
    return {name: round(number, 3) for name, number in most if number >= LEAST}
