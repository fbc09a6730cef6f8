"""How often Python looks for cycles among its objects while a run takes in many items.

Items are trees of small objects that go as soon as they are read: they have no cycles, and there are hundreds
of thousands of them. With the usual thresholds the collector looks through all that a process holds again
and again, which was a tenth of a first harvest. ADR 45 says what that costs.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = (10_000, 50, 100)
"""In place of 700, 10 and 10."""
_guard = threading.Lock()
_before: list[tuple[int, int, int]] = []
"""What was set before each run that is under way: the first is what the process began with."""


@contextmanager
def seldom() -> Iterator[None]:
    """As long as any run is under way. A process that has set the collector seldomer, or off, keeps that."""
    with _guard:
        found = gc.get_threshold()
        _before.append(found)
        if 0 < found[0] < SELDOM[0]:
            gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        with _guard:
            first = _before[0]
            _before.pop()
            if not _before and gc.get_threshold() == SELDOM:
                gc.set_threshold(*first)
