"""Say in the log which runs the sources that are due wait for, when that takes long."""

from __future__ import annotations

import logging

from rowen.engine.leases import run_words, runs_under_way
from rowen.engine.ports import Ports

_log = logging.getLogger("rowen.serve")

LONG_S = 600.0
"""A run that has taken so long is named to those who wait for it; again after twice that time, and so on."""

HINT = "`rowen cancel NAME` ends it; `runs.max_parallel` says how many run at a time"


class HeldUp:
    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._told: tuple[int, float] = (0, 0.0)
        """The run that was named last, and the age at which it is named again."""

    async def tell(self, waiting: int) -> None:
        """All places are taken, and so many sources are due. They wait for the first run that ends: where
        short ones come and go beside a long one, nothing is said.
        """
        now = self._ports.clock.now()
        under_way = await runs_under_way(self._ports) if waiting else []
        if not under_way:
            return
        newest = max((run for _, run in under_way), key=lambda run: run.started_at)
        age_s = (now - newest.started_at).total_seconds()
        told_run, again_s = self._told
        if age_s < (again_s if told_run == newest.id else LONG_S):
            return
        self._told = newest.id, 2 * age_s
        words = " and ".join(run_words(source, run, now) for source, run in under_way)
        _log.warning("sources_wait due=%d for=%r hint=%r", waiting, words, HINT)
