"""What people and programs see of the signals of a source."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowen.core.freshness.claims import Signal
from rowen.doors import states
from rowen.doors.shapes import sources as shapes
from tests.support.signals import OLD, a_signal_site

pytestmark = pytest.mark.anyio


async def test_the_status_of_a_source_has_its_signals(tmp_path: Path) -> None:
    async with a_signal_site(tmp_path, 30, lastmod=OLD) as site:
        await site.sync()
        (before,) = await states.statuses(site.world.ports)
        assert shapes.source(before)["signals"] == []
        for _ in range(2):
            await site.sync()
        (after,) = await states.statuses(site.world.ports)
        shown = {one["signal"]: one for one in shapes.source(after)["signals"]}
        assert list(shown) == ["lastmod", "etag"], "in the order of what they save"
        lastmod = await site.record(Signal.LASTMOD)
        assert shown["lastmod"]["claims"] == lastmod.claims > 0
        assert shown["lastmod"]["checked"] == lastmod.checked > 0
        assert (shown["lastmod"]["lies"], shown["lastmod"]["lied_at"]) == (0, None)
        assert shown["lastmod"]["standing"] == lastmod.standing.value
        assert shown["lastmod"]["why"] == lastmod.why
        source = await site.world.source()
        assert (await states.status_of(site.world.ports, source)).signals == after.signals
