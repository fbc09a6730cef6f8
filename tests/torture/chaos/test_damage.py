"""Files of stores damaged anywhere: no text is saved as another one, and nothing is lost in silence."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.managing.test_rescue_store import Harvest, harvest, whatever_happens
from tests.torture.tally import Tally

pytestmark = pytest.mark.anyio

__all__ = ["harvest"]

FILES = 100


async def test_damage_anywhere_loses_no_more_than_a_rescue_says(
    harvest: Harvest,
    tmp_path: Path,
    chance: random.Random,
    tally: Tally,
) -> None:
    for _ in range(FILES):
        await whatever_happens(harvest, tmp_path, chance.getrandbits(32))
        tally.add("faults", "damaged files")
        tally.checked(len(harvest.texts))
