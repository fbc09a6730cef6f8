"""One process from start to end: the CPU time of it and its children, the clock, and the memory of all."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

EVERY_S = 0.1
PROC = Path("/proc")


@dataclass(frozen=True)
class Spent:
    cpu_s: float
    wall_s: float
    peak_mb: float
    said: str


def run(command: Sequence[str], *, environment: Mapping[str, str], folder: Path) -> Spent:
    """Raises `CalledProcessError` where it fails."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        env=dict(environment),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    watch = Memory(process.pid)
    watch.start()
    with process.stdout:
        said = process.stdout.read()
    # By its own number, so that what other children of ours took is not counted.
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    watch.end()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, said)
    peak_mb = max(watch.peak_kb, usage.ru_maxrss) / 1024
    return Spent(usage.ru_utime + usage.ru_stime, wall, peak_mb, said)


class Memory(threading.Thread):
    """The most memory that a process and its descendants had at one time, shared pages counted once."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._ended = threading.Event()
        self.peak_kb = 0

    def run(self) -> None:
        while not self._ended.wait(EVERY_S):
            self.peak_kb = max(self.peak_kb, sum(proportional_kb(pid) for pid in family(self._pid)))

    def end(self) -> None:
        self._ended.set()
        self.join()


def family(pid: int) -> list[int]:
    """A process and its descendants."""
    found = [pid]
    for one in found:
        for thread in PROC.glob(f"{one}/task/*/children"):
            try:
                found += map(int, thread.read_text().split())
            except OSError:
                continue
    return found


def proportional_kb(pid: int) -> int:
    try:
        lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
