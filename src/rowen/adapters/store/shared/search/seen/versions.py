"""Versions of one page on arrays: which of the visible documents have others, and which of these are old.

`core/search/references/page_versions.py` has the rule. What follows from a view is worked out once for it, so
that a search compares a few hundred numbers, and none at all where no page has versions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rowen.adapters.store.shared.search.arrays.library import np
from rowen.adapters.store.shared.search.seen.view import Allowed, View
from rowen.core.search.references.page_versions import SIGNS, UNVERSIONED, Asked, PageVersion, Sign
from rowen.records import NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray


SHORTEST_NAME = 4
"""Of a source that is looked for in a longer word: `postgres` in `postgresql`."""


class Pages(NamedTuple):
    """The pages that have several versions."""

    of: NDArray[np.int64]
    """The number of its page for each document of the view; -1 for one that has no other version."""
    number: int
    """Of these pages."""


class Versions:
    """The versions of pages that a search may answer with."""

    def __init__(self, view: View, pages: Pages, allowed: Allowed | None, asked: Sequence[Asked]) -> None:
        self.pages = pages
        self._view = view
        self._asked = asked
        self._newest: NDArray[np.int64] = (allowed or view).once(
            "newest", pages, lambda: _newest(view, pages, allowed)
        )

    def preferred(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """By which versions are told apart: what the question asks for counts most."""
        editions = self._view.edition[rows]
        preferred: NDArray[np.int64] = editions + 0
        for one in self._asked:
            fits = (editions >= one.low) & (editions <= one.high)
            if one.of:
                fits &= np.isin(self._view.source[rows], _called(self._view, one.of))
            # Of two ways in which a question asks for a version, the closer one counts.
            preferred = np.maximum(preferred, editions + one.worth * fits)
        return preferred

    def is_old(self, rows: NDArray[Any], preferred: NDArray[np.int64]) -> NDArray[np.bool_]:
        page = self.pages.of[rows]
        old: NDArray[np.bool_] = (page >= 0) & (preferred < self._newest[np.maximum(page, 0)])
        return old

    def of_documents(self, documents: Sequence[int]) -> Mapping[int, PageVersion]:
        """Of those that have other versions."""
        rows = self._view.rows_of_documents(documents)
        rows = rows[rows >= 0]
        rows = rows[self.pages.of[rows] >= 0]
        preferred = self.preferred(rows)
        columns = (self._view.page[rows], preferred, self.is_old(rows, preferred))
        return dict(
            zip(
                self._view.document[rows].tolist(),
                map(PageVersion, *(column.tolist() for column in columns)),
                strict=True,
            )
        )


def versions_in(view: View, allowed: Allowed | None, asked: Sequence[Asked]) -> Versions | None:
    """None where no page has several versions."""
    pages = view.once("pages", None, lambda: _pages(view))
    return Versions(view, pages, allowed, asked) if pages is not None else None


def _pages(view: View) -> Pages | None:
    named = np.flatnonzero(view.edition != UNVERSIONED)
    if not len(named):
        return None
    rows = np.flatnonzero(np.isin(view.page, view.page[named]))
    different, page = np.unique(view.page[rows], return_inverse=True)
    count = len(different)
    edition = view.edition[rows]
    sign = edition & SIGNS

    def number_of(which: NDArray[np.bool_]) -> NDArray[Any]:
        return np.bincount(page, which, count)

    versions = number_of(edition != UNVERSIONED)
    # A number for certain tells by itself, a name such as `latest` with another version beside it.
    tells = (number_of(sign == Sign.NUMBER) > 0) | ((number_of(sign == Sign.NAME) > 0) & (versions > 1))
    tells &= number_of(edition >= 0) > 1
    if not tells.sum():
        return None
    of = np.full(len(view.page), -1, np.int64)
    of[rows] = np.where(tells[page], page, -1)
    return Pages(of, count)


def _newest(view: View, pages: Pages, allowed: Allowed | None) -> NDArray[np.int64]:
    """The newest edition of each page that passes a filter."""
    there = pages.of >= 0
    if allowed is not None:
        there &= allowed.rows
    rows = np.flatnonzero(there)
    order = np.lexsort((-view.edition[rows], pages.of[rows]))
    page = pages.of[rows][order]
    first = np.flatnonzero(np.diff(page, prepend=-1) != 0)
    newest = np.full(pages.number, -1, np.int64)
    newest[page[first]] = view.edition[rows][order][first]
    return newest


def _called(view: View, word: str) -> list[int]:
    return [
        number
        for number, source in view.sources.items()
        if word in f"{source[3]} {source[4]}".lower()
        or (len(source[3]) >= SHORTEST_NAME and source[3].lower() in word)
    ]
