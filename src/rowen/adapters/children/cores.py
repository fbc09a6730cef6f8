"""How much of the machine this process may use."""

from __future__ import annotations

import os


def cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


def half_of_the_cores() -> int:
    """How many processes the local model may use in a harvest: none where there is one core."""
    return cores() // 2
