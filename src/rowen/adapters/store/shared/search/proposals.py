"""What an open index of words proposes for a question, scored by what readers see.

How words are weighed and texts are scored is in `counts.py`. Nothing here reads or writes a file of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from rowen.adapters.store.shared.search import counts as counting
from rowen.adapters.store.shared.search.arrays.library import np
from rowen.adapters.store.shared.search.counts import Counts, Seen
from rowen.adapters.store.shared.search.stems import BACKWARDS, FORWARDS, backwards, forwards, hashed, stemmed
from rowen.adapters.store.shared.search.words import words
from rowen.core.search.morphology import SHORTEST_PART
from rowen.core.search.query import is_cjk
from rowen.records import NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK_BITS = 6
"""Texts with numbers near each other mostly came together, of one source: a filter names blocks of 64."""
MOST_ENDINGS, ENDINGS_LOOKED_AT = 32, 256
"""Words that a beginning may stand for, the most frequent ones that readers can see."""
SHORTEST_STEM = 4
MOST_COMPOUNDS = 24
COMPOUND_WEIGHT = 0.6
BODY, NUMBER, BLOCK = "body", "number", "block"


class Opened(NamedTuple):
    """What readers use; replaced as a whole."""

    state: tuple[int, int] | None
    begun: str
    index: Any
    searcher: Any
    keys: NDArray[np.int64]
    """By number."""
    ascending: NDArray[np.int64]
    numbers: NDArray[np.int64]
    """Of the ascending keys."""
    counts: Counts
    exact: bool
    """The index holds these texts and no others: not even what a killed writer left, which was deleted."""
    has_german: bool


class Best(NamedTuple):
    keys: NDArray[np.int64]
    """Best first; equals in the order of their keys."""
    scores: NDArray[np.float64]
    beyond: float
    """No text that is not among them has more."""
    all_there_are: bool
    unseen: tuple[str, ...] = ()
    """The words of the question that no text has which readers see."""


def seen_of(opened: Opened, keys: NDArray[np.int64]) -> Seen:
    """How words are weighed for readers who see the texts of these ascending keys."""
    return counting.seen(opened.counts, numbers_of(opened, keys), exact=opened.exact)


def numbers_of(opened: Opened, keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The texts with these keys, as far as they are in the index."""
    if not len(opened.ascending):
        return np.empty(0, np.int64)
    at = np.minimum(np.searchsorted(opened.ascending, keys), len(opened.ascending) - 1)
    found: NDArray[np.int64] = opened.numbers[at[opened.ascending[at] == keys]]
    return found


def marked(opened: Opened, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Of every text in the index, whether it has one of these keys."""
    found = np.zeros(len(opened.keys), bool)
    found[numbers_of(opened, keys)] = True
    return found


def best(
    opened: Opened,
    terms: Sequence[str],
    wanted: int,
    prefix: str,
    blocks: Sequence[int] | None,
    seen: Seen,
    passing: NDArray[np.bool_] | None,
) -> Best:
    """So many texts as the index proposes; of these, the ones that pass are scored."""
    import tantivy

    groups = _groups(opened, seen, terms, prefix)
    if not groups:
        return Best(np.empty(0, np.int64), np.empty(0), 0.0, True)
    asked = list(dict.fromkeys(word for group in groups for word in group))
    place = {word: number for number, word in enumerate(asked)}
    having, in_all = frequencies(opened, seen, asked)
    weights = [counting.weight(number, seen.texts) for number in having.tolist()]
    for group in groups:
        if group[-1][0] in (FORWARDS, BACKWARDS):
            _weigh_compounds(group, place, having.tolist(), weights, seen)
    query = _query(opened, groups, dict(zip(asked, zip(weights, in_all.tolist(), strict=True), strict=True)))
    if blocks is not None:
        named = tantivy.Query.term_set_query(schema(), BLOCK, blocks)
        must = tantivy.Occur.Must
        in_blocks = tantivy.Query.const_score_query(named, 0.0)
        query = tantivy.Query.boolean_query([(must, query), (must, in_blocks)])
    hits = opened.searcher.search(query, wanted, count=False).hits
    found = opened.searcher.fast_field_values(NUMBER, [address for _, address in hits])
    at = np.array(found, np.int64)
    # Beyond the stamp are entries of a writer that has not ended, or was killed.
    at = at[at < len(opened.keys)]
    if passing is not None:
        at = at[passing[at]]
    scores = counting.scores(
        opened.counts,
        seen,
        at,
        [hashed(word) for word in asked],
        weights,
        [[place[word] for word in group] for group in groups],
    )
    keys = opened.keys[at]
    order = np.lexsort((keys, -scores))
    beyond = hits[-1][0] * seen.widening if hits else 0.0
    seen_in = dict(zip(asked, having.tolist(), strict=True))
    unseen = tuple(term for term in terms if not any(seen_in.get(stem, 1) for stem in stemmed(term)))
    return Best(keys[order], scores[order], beyond, len(hits) < wanted, unseen)


def _groups(opened: Opened, seen: Seen, terms: Sequence[str], prefix: str) -> list[list[str]]:
    """The words to look for; of each group the best one counts."""
    groups: list[list[str]] = []
    for term in terms:
        if len(term) == 1 and is_cjk(term):
            # One character alone is in the index only as the first of a pair (or the last of its run).
            groups += [[word] for word in _beginning_with(opened, seen, term)]
        else:
            groups += [[word, *compounds] for word, compounds in _with_compounds(opened, seen, term)]
    if prefix:
        endings = dict.fromkeys([*stemmed(prefix), *_beginning_with(opened, seen, prefix)])
        groups += [list(endings)] if endings else []
    return groups


def _with_compounds(opened: Opened, seen: Seen, term: str) -> list[tuple[str, list[str]]]:
    """The words of a term, each with those of German texts that it is a part of."""
    stems = stemmed(term)
    if not opened.has_german or len(stems) != 1 or len(term) < SHORTEST_PART or not term.isalpha():
        return [(stem, []) for stem in stems]
    plain = words(term).strip()
    parts = (forwards(plain), backwards(plain))
    return [(stems[0], [word for part in parts for word in _listed(opened, seen, part, MOST_COMPOUNDS)])]


def _weigh_compounds(
    group: Sequence[str], place: Mapping[str, int], having: Sequence[int], weights: list[float], seen: Seen
) -> None:
    """A compound tells less than the word that was typed, however rare it is."""
    typed, *compounds = group
    number = having[place[typed]] or min(seen.texts, sum(having[place[word]] for word in compounds))
    weight = COMPOUND_WEIGHT * counting.weight(number, seen.texts)
    for word in compounds:
        weights[place[word]] = weight


def _query(opened: Opened, groups: Sequence[Sequence[str]], weights: Mapping[str, tuple[float, int]]) -> Any:
    import tantivy

    def weighed(word: str) -> Any:
        its_weight, having = weights[word]
        odds = (opened.searcher.num_docs - having + 0.5) / (having + 0.5)
        return tantivy.Query.boost_query(term_query(word), its_weight / math.log1p(max(odds, 1e-9)))

    clauses = [
        weighed(group[0])
        if len(group) == 1
        else tantivy.Query.disjunction_max_query(list(map(weighed, group)))
        for group in groups
    ]
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, clause) for clause in clauses])


def frequencies(
    opened: Opened, seen: Seen, words: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many of the visible texts have each word, and how many in the index."""
    stems = np.array([hashed(word) for word in words], np.uint32)
    in_index = np.array([opened.searcher.doc_freq(BODY, word) for word in words], np.int64)
    counted = in_index
    if not opened.exact:
        # The index goes on counting what it deleted.
        counted = np.array([np.count_nonzero(opened.counts.stems == stem) for stem in stems], np.int64)
    return counting.having(seen, stems, counted), in_index


def _beginning_with(opened: Opened, seen: Seen, prefix: str) -> list[str]:
    plain = words(prefix).strip()
    if not plain:
        return []
    if found := _listed(opened, seen, plain, MOST_ENDINGS):
        return found
    # More than the stem was typed: `configura` is in the index as `configur`.
    stems = [plain[:length] for length in range(len(plain) - 1, SHORTEST_STEM - 1, -1)]
    there = frequencies(opened, seen, stems)[0].tolist() if stems else []
    return [next((stem for stem, having in zip(stems, there, strict=True) if having), plain)]


def _listed(opened: Opened, seen: Seen, beginning: str, most: int) -> list[str]:
    """Words that begin so and stand in texts that readers can see, the most frequent first."""
    listed = opened.searcher.terms_with_prefix(BODY, beginning, limit=ENDINGS_LOOKED_AT)
    found = [word for word, _ in listed]
    if not found:
        return []
    having = dict(zip(found, frequencies(opened, seen, found)[0].tolist(), strict=True))
    return sorted((word for word in found if having[word]), key=lambda word: (-having[word], word))[:most]


def term_query(word: str) -> Any:
    import tantivy

    return tantivy.Query.term_query(schema(), BODY, word, index_option="freq")


@cache
def schema() -> Any:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_integer_field(NUMBER, indexed=True, fast=True)
    builder.add_integer_field(BLOCK, indexed=True)
    builder.add_text_field(BODY, tokenizer_name="rowen", index_option="freq")
    return builder.build()
