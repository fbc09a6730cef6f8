"""The command line in the process of the test: it converts there too, and the model is loaded once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rowen.adapters.convert import pool
from rowen.adapters.embedders import static
from rowen.adapters.embedders.static import Weights
from tests.support.world import InThisProcess


@cache
def loaded_once(folder: Path) -> Any:
    return Weights.from_folder(folder)


WEIGHTS = SimpleNamespace(from_folder=loaded_once, from_table=lambda folder, table: loaded_once(folder))


def stay_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on `rowen.doors.cli.main` starts no child to convert, and finds the model loaded."""
    monkeypatch.setattr(pool, "PoolConverter", lambda **_: InThisProcess())
    monkeypatch.setattr(static, "Weights", WEIGHTS)
