"""Modules of the standard library that others import and hardly ever use.

`dataclasses` imports `inspect`, and `urllib.parse` imports `ipaddress`: together they take as long as to open
a store. Put off, they are there, and are loaded when a name of theirs is asked for. (The lazy loader of the
standard library loads them with the second import.) That is not made for threads: a process that gets any
loads them before.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from typing import Any

LATE = ("inspect", "ipaddress")


def put_off() -> None:
    for name in LATE:
        if name not in sys.modules:
            _put_off(name)


def load() -> None:
    """For good."""
    for name in LATE:
        load_one = vars(sys.modules[name]).get("__getattr__") if name in sys.modules else None
        if load_one is not None:
            load_one("__name__")


def _put_off(name: str) -> None:
    spec = find_spec(name)
    assert spec is not None
    loader = spec.loader
    assert loader is not None
    module = module_from_spec(spec)

    def load_one(attribute: str) -> Any:
        # Python asks here for names that a module does not have: so far, all but those of its spec.
        del module.__getattr__
        loader.exec_module(module)
        return getattr(module, attribute)

    module.__getattr__ = load_one  # type: ignore[method-assign]
    if name == "inspect":
        module.get_annotations = _annotations  # type: ignore[attr-defined]
    sys.modules[name] = module


def _annotations(declared: Any, **options: Any) -> dict[str, Any]:
    """What `dataclasses` of Python 3.13 asks of each class, which needs nothing of `inspect`."""
    if options or not isinstance(declared, type):
        load()
        found: dict[str, Any] = sys.modules["inspect"].get_annotations(declared, **options)
        return found
    return dict(declared.__dict__.get("__annotations__", {}))  # noqa: RUF063
