"""What a round of `rowen serve` costs when no source is due: the CPU must grow with the sources, not faster.

    python benchmarks/idle_round.py [--few 200] [--many 2000] [--rounds 20]

Everything is real but the waits between rounds, which are skipped. The floor is one read of all sources. One
sink is set up, and has nothing to send. The median of the rounds counts: the loop that sends to sinks waits
as well, and where its wait falls into a round, that is measured in two pieces.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from statistics import median

from rowen.adapters.system import SystemClock
from rowen.config import load
from rowen.core.feed import START
from rowen.core.lease import HEARTBEAT_S
from rowen.core.source import WHOLE_RUN_AT, NewSource
from rowen.service.serve import serve
from rowen.wiring import open_ports

DAY_S = 86_400.0


def cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class EnoughRounds(Exception):
    """Ends the loop."""


class RoundsClock:
    """The clock of the machine; the wait after a round ends at once, and the CPU since the last is kept."""

    def __init__(self, rounds: int) -> None:
        self._clock = SystemClock()
        self._rounds = rounds
        self._last = cpu_s()
        self.spent: list[float] = []

    def now(self) -> datetime:
        return self._clock.now()

    def monotonic(self) -> float:
        return self._clock.monotonic()

    def jitter(self) -> float:
        return self._clock.jitter()

    async def sleep(self, seconds: float) -> None:
        if seconds == HEARTBEAT_S:
            await self._clock.sleep(seconds)
            return
        now = cpu_s()
        self.spent.append(now - self._last)
        self._last = now
        if len(self.spent) > self._rounds:
            raise EnoughRounds


async def floor_s(read: Callable[[], Awaitable[object]], rounds: int) -> float:
    spent = []
    for _ in range(rounds):
        before = cpu_s()
        await read()
        spent.append(cpu_s() - before)
    return median(spent)


async def measure(folder: str, sources: int, rounds: int) -> tuple[float, float]:
    """The CPU of an idle round, and of reading all sources once."""
    config, _ = load(db=f"sqlite:///{folder}/{sources}.db")
    async with open_ports(config) as ports:
        now = ports.clock.now()
        for number in range(sources):
            name = f"source-{number}"
            new = NewSource(
                kind="web",
                name=name,
                location=f"https://{name}.example.org/docs/",
                params={"max_pages": 100 + number},
                key=f"web:{name}:0",
                metadata={WHOLE_RUN_AT: now.isoformat()},
            )
            await ports.store.add_source(new, now=now)
        path = os.path.join(folder, "changes.xml")  # noqa: PTH118
        end = await ports.store.feed_end()
        await ports.store.save_sink("feed", kind="atom", settings={"file": path}, cursor=max(START, end))
        clock = RoundsClock(rounds)
        try:
            async for _ in serve(replace(ports, clock=clock), default_every_s=DAY_S):
                raise AssertionError("a source was due")
        except EnoughRounds:
            # The first round has also written the empty feed.
            return median(clock.spent[1:]), await floor_s(ports.store.sources, rounds)
    raise AssertionError("unreachable")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--few", type=int, default=200)
    parser.add_argument("--many", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        spent = {
            number: asyncio.run(measure(folder, number, options.rounds))
            for number in (options.few, options.many)
        }
    for number, (round_s, floor) in spent.items():
        each = f"{round_s * 1000:.2f} CPU ms a round, {round_s / number * 1e6:.1f} µs a source"
        once = f"reading them once {floor * 1000:.2f} CPU ms, ratio {round_s / floor:.1f}"
        print(f"{number} idle sources: {each}; {once}")
    times = options.many / options.few
    grown = spent[options.many][0] / spent[options.few][0]
    linear = grown <= times * 1.5
    said = "linear" if linear else "MORE THAN LINEAR"
    print(f"{times:g} times the sources: {grown:.1f} times the CPU, {said}")
    print(f"{time.monotonic() - started:.0f} s in all", file=sys.stderr)
    return 0 if linear else 1


if __name__ == "__main__":
    sys.exit(main())
