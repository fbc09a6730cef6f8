"""How often each word stands in each text, so that a score depends on what readers see and on nothing else.

The index weighs words by all the texts it holds, also those of older generations and those that no reader can
see any more, and no caller can tell it otherwise. So it proposes, and what it proposes is scored here, by the
same formula (BM25) with the numbers of the texts that readers see, or saw. How far the two can be apart is
known: the index is read until nothing beyond it can belong to the best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rowen.adapters.store.shared.search.arrays.library import np, of_each_library
from rowen.records import NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

K1, B = 1.2, 0.75
LEAST_WEIGHT = 1e-6
MOST_TIMES = 255
EXACT_LENGTHS = 24
ROUNDING = 1e-4
"""Scores of the index have 32 bits."""


class Counts(NamedTuple):
    """The different words of texts, text after text."""

    stems: NDArray[np.uint32]
    times: NDArray[np.uint8]
    ends: NDArray[np.int64]
    """Of each text, where its words end."""
    lengths: NDArray[np.int64]
    """Of each text, in words, repeated ones included."""


class Seen(NamedTuple):
    """What readers see of the texts in an index, as far as words are weighed by it."""

    texts: int
    average: float
    """Words in a text."""
    gone: NDArray[np.uint32]
    """The words of texts in the index that readers do not see, ascending, once for each text."""
    widening: float
    """How many times its score in the index a text may have here."""


def seen(counts: Counts, visible: NDArray[np.int64], *, exact: bool) -> Seen:
    """By the numbers of the visible texts. `exact`: the index holds these texts and no others."""
    hidden = np.ones(len(counts.ends), bool)
    hidden[visible] = False
    gone = _words_of(counts, *_stretches(counts, np.flatnonzero(hidden)))
    average = float(counts.lengths[visible].mean()) if len(visible) else 1.0
    of_all = float(counts.lengths.mean()) if len(counts.lengths) else 1.0
    # A longer average makes every text a shorter one, and by no more than this.
    widening = max(1.0, average / max(of_all, 1e-9)) * (1 + ROUNDING)
    return Seen(
        texts=len(visible),
        average=max(average, 1e-9),
        gone=np.sort(gone),
        widening=widening if exact else widening * 1.1,
    )


def having(seen: Seen, stems: NDArray[np.uint32], in_all: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of the visible texts have each word, of those in all that do."""
    gone = seen.gone.searchsorted(stems, "right") - seen.gone.searchsorted(stems, "left")
    few: NDArray[np.int64] = (in_all - gone).clip(0, seen.texts)
    return few


def weight(having: int, texts: int) -> float:
    """A word that half of the texts have tells nothing, as FTS5 has it."""
    odds = (texts - having + 0.5) / (having + 0.5)
    return max(math.log(odds), LEAST_WEIGHT) if odds > 1 else LEAST_WEIGHT * math.log1p(odds)


def scores(
    counts: Counts,
    seen: Seen,
    texts: NDArray[np.int64],
    stems: Sequence[int],
    weights: Sequence[float],
    groups: Sequence[Sequence[int]],
) -> NDArray[np.float64]:
    """Of texts by their numbers. Of each group of words the best one counts; they are places in `stems`."""
    begins, ends = _stretches(counts, texts)
    many = ends - begins
    until = np.cumsum(many)
    # Where all words of all these texts stand: a slice for each text would take twice as long.
    places = np.arange(int(many.sum())) + np.repeat(begins - until + many, many)
    said = counts.stems[places]
    lengths = _rounded_down()[_rounded_down().searchsorted(counts.lengths[texts], "right") - 1]
    saturation = K1 * (1 - B + B * lengths / seen.average)
    by_word = np.zeros((len(stems), len(texts)))
    for row, (stem, its_weight) in enumerate(zip(stems, weights, strict=True)):
        here = np.flatnonzero(said == np.uint32(stem))
        of = until.searchsorted(here, "right")
        times = counts.times[places[here]].astype(np.float64)
        by_word[row, of] = its_weight * (1 + K1) * times / (times + saturation[of])
    total = np.zeros(len(texts))
    for group in groups:
        total += by_word[group[0]] if len(group) == 1 else by_word[list(group)].max(axis=0)
    return total


def _stretches(counts: Counts, texts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the words of each of these texts begin and end."""
    return np.where(texts > 0, counts.ends[texts - 1], 0), counts.ends[texts]


def _words_of(counts: Counts, begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint32]:
    stems = counts.stems
    parts = [stems[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
    return np.concatenate(parts) if parts else stems[:0]


@of_each_library
def _rounded_down() -> NDArray[np.int64]:
    """The lengths that the index tells apart: a longer text counts as the next shorter of these."""
    more = [step if step < 8 else (step & 7 | 8) << (step >> 3) - 1 for step in range(256 - EXACT_LENGTHS)]
    return np.array([*range(EXACT_LENGTHS), *(EXACT_LENGTHS + one for one in more)], np.int64)
