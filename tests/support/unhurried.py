"""The time limit of a search with `fresh` is not reached in tests; other waits are over at once.

pytestmark = pytest.mark.usefixtures("unhurried")
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from rowen.core.freshness.recheck import WITHIN_S
from tests.support.fakes import FakeClock
from tests.support.gate import StillClock

Sleep = Callable[[Any, float], Coroutine[Any, Any, None]]


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    for clock in (FakeClock, StillClock):
        monkeypatch.setattr(clock, "sleep", _without_limit(clock.sleep))


def _without_limit(at_once: Sleep) -> Sleep:
    async def sleep(self: FakeClock, seconds: float) -> None:
        if WITHIN_S - 1.0 < seconds <= WITHIN_S:
            await asyncio.Event().wait()
        await at_once(self, seconds)

    return sleep
