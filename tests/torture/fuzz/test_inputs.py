"""Inputs nobody would write, thousands of them: no crash, no hang, bounded memory.

Each kind of input is fed in a child process that may have so much memory and no more, and every single input
has a time limit. A failure names the number of the input: the seed and that number make the same one again.
"""

from __future__ import annotations

import multiprocessing
import random
import resource
import signal
import traceback
from multiprocessing.connection import Connection
from types import FrameType

import pytest

from rowen.errors import RowenError
from tests.conftest import SEED
from tests.torture.fuzz.targets import TARGETS
from tests.torture.tally import Tally

_children = multiprocessing.get_context("forkserver")

MEMORY_BYTES = 500_000_000
"""How much a child may add to what it has when it begins."""
LIMIT_S = 60
"""For one input, of a busy machine; the slowest take a fraction of a second of an idle one."""
COUNTS = {"HTML": 2000, "Markdown": 2000, "other formats": 1200, "command lines": 400, "queries": 1500}
DEFAULT = 4000


class TooSlow(Exception):
    """One input took longer than any may take."""


def feed(name: str, seed: int, count: int, told: Connection) -> None:
    """Tell how many inputs were refused by an error of ours, or which one did what it must not do."""

    def late(number: int, frame: FrameType | None) -> None:
        raise TooSlow

    try:
        target = TARGETS[name]()
        # Of data, not of addresses: the C library sets some aside for each thread, and does not use them.
        data = int(open("/proc/self/statm").read().split()[5]) * resource.getpagesize()  # noqa: SIM115, PTH123
        resource.setrlimit(resource.RLIMIT_DATA, (data + MEMORY_BYTES,) * 2)
        signal.signal(signal.SIGALRM, late)
        refused = 0
        for number in range(count):
            signal.alarm(LIMIT_S)
            try:
                target(random.Random(f"{seed} {name} {number}"))
            except RowenError:
                refused += 1
            except BaseException:
                told.send(f"input {number} of {name}, seed {seed}: {traceback.format_exc()}")
                return
            finally:
                signal.alarm(0)
        told.send(refused)
    except BaseException:
        told.send(traceback.format_exc())


def fed(name: str, count: int) -> int:
    ours, theirs = _children.Pipe()
    child = _children.Process(target=feed, args=(name, SEED, count, theirs))
    child.start()
    theirs.close()
    try:
        answer = ours.recv()
    except EOFError:
        child.join()
        answer = f"the process that was fed with {name} died: {child.exitcode}"
    child.join()
    child.close()
    ours.close()
    assert isinstance(answer, int), answer
    return answer


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_crashes_hangs_or_takes_all_memory(name: str, tally: Tally) -> None:
    count = COUNTS.get(name, DEFAULT)
    refused = fed(name, count)
    tally.add("inputs", name, count)
    assert refused < count, "some of them are read"


@pytest.mark.sliced
def test_a_few_inputs_of_each_kind_crash_nothing(tally: Tally) -> None:
    for name, target in TARGETS.items():
        if name in ("queries", "command lines"):
            continue
        made = target()
        for number in range(20):
            try:
                made(random.Random(f"{SEED} {name} {number}"))
            except RowenError:
                continue
        tally.add("inputs", name, 20)
