"""Which documents may be among the first ones, found on arrays: only those are read from the store.

`core/search/rank.py` decides the order, by rules that need texts and addresses. Most of what it weighs stands
in the view as well: the two lists, how much of a section is links, the title, and that several sections count
together. By these the best are chosen here, with some to spare; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from rowen.adapters.store.shared.search.arrays.library import np, of_each_library
from rowen.adapters.store.shared.search.seen.versions import Versions
from rowen.adapters.store.shared.search.seen.view import Allowed, View, distinct
from rowen.adapters.store.shared.search.seen.weights import Weights
from rowen.core.search import rank
from rowen.core.search.snippet import stem
from rowen.records import NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPARE = 10
"""Documents chosen beyond those asked for."""
ROUNDING = 1e-9
_ID_BITS = 40


class Scored(NamedTuple):
    """A ranking of what readers see."""

    slots: NDArray[np.int64]
    scores: NDArray[np.float64]
    unseen: tuple[str, ...] = ()
    """The words of the question that no text has which readers see."""


class Chosen(NamedTuple):
    documents: list[int]
    passages: list[int]


def unranked() -> Scored:
    return Scored(np.empty(0, np.int64), np.empty(0))


def unlimited(view: View, lists: Sequence[Scored], allowed: Allowed | None) -> Chosen:
    """Every place of every ranked passage."""
    slots = distinct(np.concatenate([one.slots for one in lists]))
    places, _ = view.places_of(slots)
    rows = distinct(view.row[places])
    if allowed is not None:
        rows = rows[allowed.rows[rows]]
    return Chosen(view.document[rows].tolist(), view.passages_of(slots).tolist())


def best(
    view: View,
    keyword: Scored,
    dense: Scored,
    allowed: Allowed | None,
    *,
    alpha: float,
    terms: Sequence[str],
    wanted: int,
    per_document: bool,
    always: Collection[int] = (),
    versions: Versions | None = None,
    weights: Weights | None = None,
) -> Chosen:
    """The places of the best `wanted` documents and some more, and of the documents `always`.

    Versions of a page that `rank.group` does not show are left out.
    """
    slots, fused = _fused(keyword, dense, alpha)
    places, of = view.places_of(slots)
    if allowed is not None:
        passing = allowed.rows[view.row[places]]
        places, of = places[passing], of[passing]
    rows, row_of = np.unique(view.row[places], return_inverse=True)
    bonus = np.zeros(len(rows))
    if stems := {stem(term) for term in terms}:
        bonus = rank.TITLE_WEIGHT * view.title_shares(rows, list(stems))
    scores = fused[of] * _damping()[view.links[places]] + bonus[row_of]
    if weights is not None:
        scores = scores * weights.of_rows(rows)[row_of]
    preferred = np.zeros(len(places), np.int64) if versions is None else versions.preferred(view.row[places])
    # Of a text that several versions of a page have, the one that is preferred stands for all.
    order = np.lexsort((view.position[places], view.row[places], -preferred, -scores))
    places, scores = places[order], scores[order]
    row = view.row[places]
    own = (
        [view.content[row]]
        if per_document
        else [view.content[row], view.position[places], view.passage[places]]
    )
    text = _numbered(*own)
    texts = int(text.max(initial=-1)) + 1
    counting = _counting(view, places, row, text)
    rank_in = _rank_in(text[counting])
    counting, rank_in = (
        counting[rank_in <= rank.MAX_OTHER_SECTIONS],
        rank_in[rank_in <= rank.MAX_OTHER_SECTIONS],
    )
    worth = np.bincount(text[counting], scores[counting] * rank.NEXT_SECTION**rank_in, texts)
    if versions is not None and per_document:
        first = np.unique(text, return_index=True)[1]
        likeness = _likeness(keyword, dense, alpha)[of[order][first]]
        chosen = _best_pages(worth, likeness, row[first], versions, wanted + SPARE)
    else:
        chosen = _best(worth, wanted + SPARE)
    if always:
        chosen[text[np.isin(view.document[row], list(always))]] = True
    return Chosen(
        distinct(view.document[row[chosen[text]]]).tolist(),
        distinct(view.passage[places[counting[chosen[text[counting]]]]]).tolist(),
    )


def _best(worth: NDArray[Any], wanted: int) -> NDArray[np.bool_]:
    # Which of equals come first is decided by their addresses, which are not known here.
    enough = np.sort(worth)[-min(len(worth), wanted)] if len(worth) else 0.0
    chosen: NDArray[np.bool_] = worth >= enough - ROUNDING
    return chosen


def _best_pages(
    worth: NDArray[Any],
    likeness: NDArray[np.float64],
    row: NDArray[np.int32],
    versions: Versions,
    wanted: int,
) -> NDArray[np.bool_]:
    """The texts of the best pages: of each the version that is shown, and the one that may stand below it."""
    page, preferred = versions.pages.of[row], versions.preferred(row)
    # A text that is no version of a page is a page of its own.
    page = np.where(page >= 0, page, versions.pages.number + np.arange(len(row)))
    page = np.unique(page, return_inverse=True)[1]
    worth = worth * np.where(versions.is_old(row, preferred), rank.OLD_WEIGHT, 1.0)
    best = np.lexsort((-worth, page))
    newest = np.lexsort((-worth, -preferred, page))
    shown = newest[_begins(page[newest])]
    says_more = likeness * rank.MUCH_BETTER > likeness[shown][page] - ROUNDING
    other = best[says_more[best]]
    stays = np.zeros(len(row), bool)
    stays[shown] = True
    stays[other[_begins(page[other])]] = True
    chosen: NDArray[np.bool_] = stays & _best(worth[best][_begins(page[best])], wanted)[page]
    return chosen


def _begins(ascending: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each number stands first."""
    return np.flatnonzero(np.diff(ascending, prepend=-1) != 0)


def _counting(
    view: View, places: NDArray[np.int64], row: NDArray[np.int32], text: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Of the places, best first, those that `rank.group` counts.

    Of the text's first document, each heading and each passage once.
    """
    _, first = np.unique(text, return_index=True)
    kept = np.flatnonzero(row == row[first][text])
    for column in (view.heading, view.passage):
        # One number of both: there are few texts, and what they are paired with has 32 bits or is a row's id.
        pairs = (text[kept] << _ID_BITS) + column[places[kept]]
        _, once = np.unique(pairs, return_index=True)
        kept = kept[np.sort(once)]
    return kept


def _rank_in(text: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of the same text stand before each."""
    order = np.argsort(text, kind="stable")
    ordered = text[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=-1) != 0)
    counts = np.diff(np.append(begins, len(ordered)))
    ranks = np.empty(len(text), np.int64)
    ranks[order] = np.arange(len(text)) - np.repeat(begins, counts)
    return ranks


def _numbered(*columns: NDArray[Any]) -> NDArray[np.int64]:
    """A number for each different row of these columns."""
    numbers = np.unique(columns[0], return_inverse=True)[1]
    for column in columns[1:]:
        more = np.unique(column, return_inverse=True)[1]
        numbers = np.unique(numbers * (int(more.max(initial=0)) + 1) + more, return_inverse=True)[1]
    return numbers


def _fused(keyword: Scored, dense: Scored, alpha: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    return _together(keyword, dense, _spread(keyword.scores), _spread(dense.scores), alpha)


def _likeness(keyword: Scored, dense: Scored, alpha: float) -> NDArray[np.float64]:
    """Of the same slots, as `rank.shares` has it."""
    return _together(keyword, dense, _shares(keyword.scores), _shares(dense.scores), alpha)[1]


def _together(
    keyword: Scored,
    dense: Scored,
    by_words: NDArray[np.float64],
    by_meaning: NDArray[np.float64],
    alpha: float,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    slots, place = np.unique(np.concatenate((keyword.slots, dense.slots)), return_inverse=True)
    fused = np.zeros(len(slots))
    count = len(keyword.slots)
    # A list that stands alone gets the whole weight.
    weight = alpha if count and len(dense.slots) else 0.0 if count else 1.0
    if count:
        fused[place[:count]] += (1 - weight) * by_words
    if len(dense.slots):
        fused[place[count:]] += weight * by_meaning
    return slots, fused


def _spread(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    if not len(scores):
        return scores
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.ones_like(scores)


def _shares(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    most = scores.max(initial=0.0)
    return scores / most if most > 0 else np.zeros(len(scores))


@of_each_library
def _damping() -> NDArray[np.float64]:
    return np.array([rank.damping(share) for share in range(256)])


def deep_enough(depth: int, passing: int, among: int) -> int:
    """How far a list is read at first, when only so many of its texts pass."""
    return max(depth, min(among, round(1.3 * depth * among / passing)))


def visible(
    view: View, allowed: Allowed | None, keys: NDArray[np.int64], scores: NDArray[np.float64], depth: int
) -> Scored:
    slots = view.slots_of_keys(keys)
    passing = slots >= 0
    if allowed is not None and len(allowed.texts):
        # What is not in the view has the slot -1: the last text answers for it, and it is out already.
        passing &= allowed.texts[slots]
    return Scored(slots[passing][:depth], scores[passing][:depth])
