"""The store of a rehearsal has every method that kinds use, and lets no other through."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

import pytest

import rowen
from rowen.engine.rehearsal.store import PASSED_ON, SWALLOWED, UntouchedStore
from rowen.errors import UserError
from rowen.ports.store.store import Store

ROOMS = [Path(rowen.__file__).parent / room for room in ("kinds", "fetching")]
BY_WORKERS = {"spread.py", "host_batch.py"}
"""A plan is made by one process."""


def test_every_method_of_the_store_that_kinds_use_is_known() -> None:
    used = {
        (file.name, name)
        for room in ROOMS
        for file in room.rglob("*.py")
        if file.name not in BY_WORKERS
        for name in re.findall(r"\b_?store\.(\w+)\(", file.read_text("utf-8"))
    }
    known = PASSED_ON | SWALLOWED | set(vars(UntouchedStore))
    assert {(file, name) for file, name in used if name not in known} == set()


def test_nothing_that_writes_is_let_through() -> None:
    store = UntouchedStore(cast(Store, object()))
    with pytest.raises(UserError, match="its kind uses `activate` of the store"):
        store.activate(1, 2)
