"""Chance from a printed seed, and a tally for every test of the suite."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable

import pytest

from tests.conftest import SEED
from tests.torture.tally import PROPERTY, Tally


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> random.Random:
    """A test's own random numbers: the same for the same seed, whatever runs before it or beside it."""
    return random.Random(SEED * 2**32 + zlib.crc32(request.node.nodeid.encode()))


@pytest.fixture
def tally(record_property: Callable[[str, object], None]) -> Tally:
    kept = Tally()
    record_property(PROPERTY, kept.counts)
    return kept
