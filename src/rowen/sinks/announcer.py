"""Send to the sinks beside other work: a task for each sink, so that a slow one holds up nothing else.

A sink has one task at a time here, and one sender at a time among all processes, by its lease; so what it
gets stays in order. Changes shown meanwhile are sent after what is under way. A task that is cancelled leaves
the sink's cursor behind what was taken last: the next sender goes on there.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Self

from rowen.engine.ports import Ports
from rowen.errors import RowenError
from rowen.sinks import announce

BURST_S = 1.0
"""How long after one look at the sinks the next one is: many runs in a row are one look."""
MOMENT_S, NOTICED_S = 10.0, 1.0
"""How long a command that has done its work waits for sinks, and after how long it says so."""

_log = logging.getLogger("rowen.sinks")


class Announcer:
    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._sending: dict[str, asyncio.Task[announce.Announced]] = {}
        """By the sink's name."""
        self._missed: set[str] = set()
        """Sinks that were to get something new while they were sent to."""
        self._looking: asyncio.Task[None] | None = None
        self._again = False
        self._files: set[str] = set()
        """Sinks that write on this machine."""
        self._looked_at: float | None = None
        self._stopped = False
        self.done: dict[str, announce.Announced] = {}
        """What came of the last attempt at each sink."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def notify(self) -> None:
        """Readers may see something new: look what the sinks are to get."""
        if self._stopped:
            return
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_until_quiet())
            self._looking.add_done_callback(lambda task: task.cancelled() or task.exception())
        else:
            self._again = True

    @property
    def busy(self) -> list[str]:
        """The sinks that are being sent to."""
        return sorted(self._sending)

    def openings(self, now: datetime) -> list[datetime]:
        """When sinks that wait may be tried again."""
        return [one.until for one in self.done.values() if one.until is not None and one.until > now]

    async def looked(self) -> None:
        """Wait until every sink that is to get something has its task."""
        if self._looking is not None:
            await asyncio.wait({self._looking})

    async def idle(self, *, only: Collection[str] | None = None, wait_s: float | None = None) -> bool:
        """Wait until nothing is sent, to these sinks or to any; False when that takes longer."""
        try:
            async with asyncio.timeout(wait_s):
                while True:
                    await self.looked()
                    tasks = {task for name, task in self._sending.items() if only is None or name in only}
                    if not tasks:
                        return True
                    await asyncio.wait(tasks)
                    # Their callbacks come first: they remove the tasks, and look for more to send.
                    await asyncio.sleep(0)
        except TimeoutError:
            return False

    async def finish(self, on_wait: Callable[[list[str]], object] = lambda busy: None) -> list[str]:
        """Wait a moment for what is sent, and for files to their end; returns the sinks that need longer.

        `on_wait` is called with the sinks that are being sent to when a person would notice the wait.
        """
        await self.looked()
        if await self.idle(wait_s=NOTICED_S):
            return []
        on_wait(self.busy)
        await self.idle(wait_s=MOMENT_S - NOTICED_S)
        await self.idle(only=self._files)
        return self.busy

    async def stop(self) -> None:
        """Begin nothing more, and cancel what is under way in good order."""
        self._stopped = True
        tasks = {task for task in (*self._sending.values(), self._looking) if task is not None}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _look_until_quiet(self) -> None:
        clock = self._ports.clock
        again = True
        while again:
            self._again = False
            if self._looked_at is not None:
                wait_s = self._looked_at + BURST_S - clock.monotonic()
                if wait_s > 0:
                    await clock.sleep(wait_s)
            self._looked_at = clock.monotonic()
            try:
                await self._look()
            except RowenError as exc:
                _log.error("announce_failed error=%r", exc.message)
            except Exception:
                _log.exception("announce_bug")
            again = self._again

    async def _look(self) -> None:
        ports = self._ports
        await announce.project(ports)
        sinks = await ports.store.sinks()
        due = await announce.due(ports, sinks)
        kinds = {sink.name: ports.sinks.get(sink.kind) for sink in sinks}
        self._files = {name for name, kind in kinds.items() if kind is not None and kind.writes_files}
        self.done = {sink.name: self.done[sink.name] for sink in sinks if sink.name in self.done}
        for sink in sinks:
            if sink.name not in due:
                self.done[sink.name] = announce.nothing_for(sink)
            elif sink.name in self._sending:
                self._missed.add(sink.name)
            else:
                task = asyncio.create_task(announce.send_to(ports, sink), name=f"sink {sink.name}")
                self._sending[sink.name] = task
                task.add_done_callback(functools.partial(self._sent, sink.name))

    def _sent(self, name: str, task: asyncio.Task[announce.Announced]) -> None:
        del self._sending[name]
        if task.cancelled():
            return
        problem = task.exception()
        if problem is None:
            self.done[name] = task.result()
        else:
            _log.error("sink_bug sink=%s", name, exc_info=problem)
        if name in self._missed:
            self._missed.discard(name)
            self.notify()
