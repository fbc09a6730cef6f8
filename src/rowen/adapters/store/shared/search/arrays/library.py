"""`np`: numpy, or in a command that searches a small store once, as much of it as a search needs.

Importing numpy takes longer than everything else that such a command does. So it ranks on `few`, lists with
the interface of arrays, and the code that ranks exists once. Where that is not enough (many documents, files
to write, a function that `few` does not have), `NotFew` ends the attempt, and the search begins again with
numpy.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["NotFew", "few_at_most", "in_few", "needs_numpy", "np", "of_each_library", "worth_trying_few"]

T = TypeVar("T")

MOST_DOCUMENTS = 1_000
MOST_SECTIONS = 4_000
"""For more, numpy is faster though it has to be imported."""


class NotFew(BaseException):
    """Numpy is needed. No `Exception`: damaged files and broken indexes are told by those."""


class _InUse(threading.local):
    few = False


_in_use = _InUse()
_guard = threading.Lock()
_threads_in_few = 0

if TYPE_CHECKING:
    import numpy as np
else:

    class _Library:
        """The library in use, for whoever asks for one of its names.

        A search asks a hundred times, so names of numpy become attributes, while no thread uses `few`.
        """

        def __getattr__(self, name: str) -> Any:
            if _in_use.few:
                from rowen.adapters.store.shared.search.arrays import few

                return getattr(few, name)
            import numpy

            found = getattr(numpy, name)
            with _guard:
                if not _threads_in_few:
                    setattr(self, name, found)
            return found

    np = _Library()


def worth_trying_few() -> bool:
    """A process that has numpy uses it; so does one with an event loop, which may answer many searches."""
    return not {"numpy", "asyncio"} & sys.modules.keys()


@contextmanager
def in_few() -> Iterator[None]:
    """In this thread arrays are lists meanwhile."""
    global _threads_in_few
    with _guard:
        _threads_in_few += 1
        vars(np).clear()
    _in_use.few = True
    try:
        yield
    finally:
        _in_use.few = False
        with _guard:
            _threads_in_few -= 1


def needs_numpy() -> None:
    """What follows is for numpy alone: it writes files of arrays."""
    if _in_use.few:
        raise NotFew


def few_at_most(number: int, most: int) -> None:
    if _in_use.few and number > most:
        raise NotFew


def of_each_library(make: Callable[[], T]) -> Callable[[], T]:
    """An array that never changes, made once with each library that is in use."""
    made: dict[bool, T] = {}

    @wraps(make)
    def array() -> T:
        if _in_use.few not in made:
            made[_in_use.few] = make()
        return made[_in_use.few]

    return array
