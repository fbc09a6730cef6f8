"""Rowen keeps a searchable copy of outside sources in step with them.

    from rowen import Rowen

    with Rowen(db="sqlite:////srv/rowen/rowen.db") as rowen:
        rowen.add("https://docs.example.org/", name="docs")
        rowen.sync("docs")
        for hit in rowen.search("how do I install it").hits:
            print(hit.title, hit.url)

`__all__` is the public surface; everything else may move. Names are loaded when they are first used, so that
importing `rowen` costs next to nothing.
"""

from __future__ import annotations

# The name that type checkers know, without the module: `rowen --version` loads nothing else.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from rowen.core.generation import Change, Diff
    from rowen.core.run import Counters, Event
    from rowen.core.search.hit import Answer, Hit, SearchMode
    from rowen.doors.library import AsyncRowen, Rowen
    from rowen.doors.states import SourceStatus
    from rowen.engine.receipt import Receipt
    from rowen.errors import PermanentError, RowenError, TransientError, UserError
    from rowen.managing.sources import Added

__version__ = "0.2.0"

__all__ = [
    "Added",
    "Answer",
    "AsyncRowen",
    "Change",
    "Counters",
    "Diff",
    "Event",
    "Hit",
    "PermanentError",
    "Receipt",
    "Rowen",
    "RowenError",
    "SearchMode",
    "SourceStatus",
    "TransientError",
    "UserError",
    "__version__",
]

_HOMES = {
    "Added": "rowen.managing.sources",
    "Answer": "rowen.core.search.hit",
    "AsyncRowen": "rowen.doors.library",
    "Change": "rowen.core.generation",
    "Counters": "rowen.core.run",
    "Diff": "rowen.core.generation",
    "Event": "rowen.core.run",
    "Hit": "rowen.core.search.hit",
    "PermanentError": "rowen.errors",
    "Receipt": "rowen.engine.receipt",
    "Rowen": "rowen.doors.library",
    "RowenError": "rowen.errors",
    "SearchMode": "rowen.core.search.hit",
    "SourceStatus": "rowen.doors.states",
    "TransientError": "rowen.errors",
    "UserError": "rowen.errors",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module `rowen` has no attribute `{name}`")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
