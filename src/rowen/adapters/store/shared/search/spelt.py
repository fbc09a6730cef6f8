"""The word of readers' texts that a mistyped word may mean.

The index knows words by their stems, and `itertor` is far from the stem of `iterator`. So what is one slip
away from the typed word is stemmed and looked up. Two slips in a long word are looked for among the stems
with the same beginning. The whole word is read out of a text that has the stem.

A name of several words is repaired as a whole: it is read out of the texts that have its other words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence, Set
from typing import Any

from rowen.adapters.store.shared.search.counts import Seen
from rowen.adapters.store.shared.search.proposals import BODY, NUMBER, Opened, frequencies, term_query
from rowen.adapters.store.shared.search.stems import stemmed
from rowen.adapters.store.shared.search.words import words
from rowen.core.search import spelling
from rowen.core.search.query import STOP_WORDS
from rowen.records import NamedTuple

SHORTEST = 5
"""Of shorter words too many others are a slip away."""
LONG = 9
"""From this length on two slips are repaired."""
BEGINNING = 3
"""So many letters of a word with two slips are right."""
MOST_LOOKED_AT = 20_000
TEXTS_READ = 8


NAME_TEXTS_READ = 40
"""Of those that have the other words of a mistyped name."""
SHORTEST_REST = 4
"""Letters of these other words: fewer tell nothing."""
MOST_PARTS = 8
"""Of a name of which each word may be the mistyped one."""


class Near(NamedTuple):
    stem: str
    keys: Sequence[int]
    """Of some texts in the index that have it."""


def near(opened: Opened, seen: Seen, word: str) -> Near | None:
    """The nearest stem that readers see, the most frequent of several, for a word that they do not see."""
    if len(word) < SHORTEST or not (word.isascii() and word.isalpha()) or word in STOP_WORDS:
        return None
    one_slip = {stem for meant in spelling.one_slip_from(word) for stem in stemmed(meant)}
    best = _most_frequent(opened, seen, [stem for stem in one_slip if opened.searcher.doc_freq(BODY, stem)])
    if best is None and len(word) >= LONG:
        found = opened.searcher.terms_with_prefix(BODY, word[:BEGINNING], limit=MOST_LOOKED_AT)
        listed = [stem for stem, _ in found]
        for typed in (word, *stemmed(word)):
            best = best or _most_frequent(opened, seen, spelling.nearest(typed, listed, slips=2))
    if best is None:
        return None
    return Near(best, _keys(opened, term_query(best), TEXTS_READ))


def beside(
    opened: Opened, name: str, unseen: Set[str], visible: Callable[[Sequence[int]], Sequence[int]]
) -> list[int]:
    """Keys of visible texts that may have the name a mistyped one means: they have all but one of its words.

    None if a text has all of its words, or too little is left. `unseen` are words that no visible text has.
    """
    import tantivy

    def having_all(stems: Sequence[str]) -> Sequence[int]:
        every = tantivy.Query.boolean_query([(tantivy.Occur.Must, term_query(stem)) for stem in stems])
        return visible(_keys(opened, every, NAME_TEXTS_READ))

    parts = words(name).split()
    stems = list(dict.fromkeys(stem for part in parts if part not in unseen for stem in stemmed(part)))
    asked = [stems]
    if unseen.isdisjoint(parts):
        if len(stems) > MOST_PARTS or having_all(stems):
            return []
        asked = [[stem for stem in stems if stem != left_out] for left_out in stems]
    long_enough = [some for some in asked if sum(map(len, some)) >= SHORTEST_REST]
    return list(dict.fromkeys(key for some in long_enough for key in having_all(some)))


def _keys(opened: Opened, query: Any, most: int) -> list[int]:
    hits = opened.searcher.search(query, most, count=False).hits
    at = opened.searcher.fast_field_values(NUMBER, [address for _, address in hits])
    # Beyond the stamp are entries of a writer that has not ended, or was killed.
    return [int(opened.keys[number]) for number in at if number < len(opened.keys)]


def _most_frequent(opened: Opened, seen: Seen, stems: Collection[str]) -> str | None:
    """Of those that readers see; the index also has words of other texts."""
    if not stems:
        return None
    number_of = dict(zip(sorted(stems), frequencies(opened, seen, sorted(stems))[0].tolist(), strict=True))
    best = max(number_of, key=lambda stem: number_of[stem])
    return best if number_of[best] else None


def whole_word(typed: str, stem: str, texts: Iterable[str]) -> str | None:
    """The word with this stem that is written most like the typed one."""
    written = {word for text in texts for word in words(text).split() if stemmed(word) == [stem]}
    slips = {word: spelling.between(typed, word, most=len(typed)) or 0 for word in written}
    return min(written, key=lambda word: (slips[word], word), default=None)
