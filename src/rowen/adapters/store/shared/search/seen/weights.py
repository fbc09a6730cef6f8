"""How much documents count, on arrays: pages before sources and tests, the question's language before others.

`core/search/references/roles.py` and `core/search/languages.py` have the rules. What follows from a view is
worked out once for it; a search looks at the documents it found.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rowen.adapters.store.shared.search.arrays.library import np
from rowen.adapters.store.shared.search.seen.view import ROLE_BITS, View
from rowen.core.search.languages import CODES
from rowen.core.search.references.roles import (
    COLLECTION,
    LEAST_COLLECTED,
    OTHER_LANGUAGE,
    TIMES_THE_MEAN,
    Role,
    Wanted,
    weight_of,
)
from rowen.records import NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_TRANSLATED = 5
"""One page in so many has to have a translation before a folder called `id` is taken for a language."""
_ROLES = (1 << ROLE_BITS) - 1
_ENGLISH = CODES.index("en") + 1


class _Translations(NamedTuple):
    languages: Mapping[int, frozenset[int]]
    """By source, those that its pages are translated into."""
    original: Mapping[int, int]
    """By source, the language for a question whose own it does not have; 0 for that of pages without one."""
    has_other: NDArray[np.bool_]
    """For each document of the view, whether it has a translation."""


class Weights:
    def __init__(
        self,
        view: View,
        collections: NDArray[np.bool_],
        translations: _Translations | None,
        wanted: Wanted,
    ) -> None:
        self._view = view
        self._collections = collections
        self._translations = translations
        self._of_role = [weight_of(role, wanted) for role in Role]
        self._language = CODES.index(wanted.language) + 1 if wanted.language in CODES else 0

    def of_rows(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        labels = self._view.label[rows]
        weights: NDArray[np.float64] = np.array(self._of_role, float)[labels & _ROLES]
        weights = weights * np.where(self._collections[rows], COLLECTION, 1.0)
        if self._translations is None:
            return weights
        language, source = labels >> ROLE_BITS, self._view.source[rows]
        has_other = self._translations.has_other[rows]
        for number, known in self._translations.languages.items():
            wanted = self._language if self._language in known else self._translations.original[number]
            other = (language != wanted) & (source == number)
            # A page without a language is in another one if it is translated: else nothing tells.
            other &= np.where(language > 0, np.isin(language, list(known)), has_other)
            weights = weights * np.where(other, OTHER_LANGUAGE, 1.0)
        return weights

    def of_documents(self, documents: Sequence[int]) -> Mapping[int, float]:
        """Of those that count less than others."""
        rows = self._view.rows_of_documents(documents)
        rows = rows[rows >= 0]
        found = zip(self._view.document[rows].tolist(), self.of_rows(rows).tolist(), strict=True)
        return {document: weight for document, weight in found if weight < 1.0}


def weights_in(view: View, wanted: Wanted) -> Weights | None:
    """None where all documents count alike."""
    collections = view.once("collections", None, lambda: _collections(view))
    if not view.once("weighed", None, lambda: bool((view.label != 0).sum() + collections.sum())):
        return None
    translations = view.once("translations", None, lambda: _translations(view))
    return Weights(view, collections, translations, wanted)


def _collections(view: View) -> NDArray[np.bool_]:
    """Of each document, whether it holds the pages of others."""
    documents = len(view.document)
    if not documents:
        return np.zeros(0, bool)
    sections = np.bincount(view.row, np.ones(len(view.row)), documents)
    different, source = np.unique(view.source, return_inverse=True)
    count = len(different)
    held = np.bincount(view.row, _held(view, sections, source, count), documents)
    mean = np.bincount(source, sections, count) / np.bincount(source, np.ones(documents), count)
    found: NDArray[np.bool_] = (held >= LEAST_COLLECTED * sections) & (
        sections >= TIMES_THE_MEAN * mean[source]
    )
    return found


def _held(view: View, sections: NDArray[Any], source: NDArray[np.int64], sources: int) -> NDArray[np.bool_]:
    """Of each section, whether a page of its source has it too that is at most half as long as its document.

    Versions and copies of a page are about as long as the page itself: it does not hold them.
    """
    number = np.diff(view.first)
    slot = np.repeat(np.arange(len(number)), number)
    several = np.flatnonzero(number[slot] > 1)
    row = view.row[several]
    # The same text in the same source.
    text = np.unique(slot[several] * sources + source[row], return_inverse=True)[1]
    order = np.lexsort((sections[row], text))
    begins = np.flatnonzero(np.diff(text[order], prepend=-1) != 0)
    shortest = sections[row][order][begins][text]
    held = np.zeros(len(slot), bool)
    held[several] = shortest * 2 <= sections[row]
    return held


def _translations(view: View) -> _Translations | None:
    language = view.label >> ROLE_BITS
    labelled = np.flatnonzero(language > 0)
    if not len(labelled):
        return None
    rows = np.flatnonzero(np.isin(view.leaf, view.leaf[labelled]))
    different, page = np.unique(view.leaf[rows], return_inverse=True)
    has_other = np.zeros(len(view.leaf), bool)
    has_other[rows] = np.bincount(page, np.ones(len(page)), len(different))[page] > 1
    pages: Counter[tuple[int, int]] = Counter()
    translated: Counter[tuple[int, int]] = Counter()
    columns = (view.source[rows].tolist(), language[rows].tolist(), has_other[rows].tolist())
    for source, code, has in zip(*columns, strict=True):
        pages[source, code] += 1
        translated[source, code] += bool(has)
    known: defaultdict[int, set[int]] = defaultdict(set)
    for (source, code), count in pages.items():
        if code and translated[source, code] * LEAST_TRANSLATED >= count:
            known[source].add(code)
    if not known:
        return None
    original = {source: _original(source, codes, translated) for source, codes in known.items()}
    return _Translations({source: frozenset(codes) for source, codes in known.items()}, original, has_other)


def _original(source: int, codes: set[int], translated: Counter[tuple[int, int]]) -> int:
    if translated[source, 0]:
        return 0
    return _ENGLISH if _ENGLISH in codes else max(codes, key=lambda code: (translated[source, code], -code))
