"""Processes that are killed: children of a fork server, which has everything imported before they begin."""

from __future__ import annotations

import asyncio
import mmap
import multiprocessing
import resource
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from tests.torture.crash.jobs import STEP_BYTES, WORK, Job, write_step

_children = multiprocessing.get_context("forkserver")
_children.set_forkserver_preload(["tests.torture.crash.jobs", "tests.torture.crash.killing"])

LONGEST_S = 120.0


@dataclass(frozen=True)
class Death:
    step: str
    """What was under way."""


def run(
    job: Job,
    *,
    kill_after_s: float | None = None,
    may_fail: bool = False,
    on_begin: Callable[[], None] = lambda: None,
    file_limit: int | None = None,
) -> tuple[Death | None, float]:
    """Run a job in a child, and kill it so long after its work began; None when it ended before that.

    The second value is how long the work went on. A job that may fail raises errors of ours and no others.
    No file of the child may grow beyond `file_limit` bytes, which looks like a full disk to it.
    """
    notes = Path(job.folder).with_name("step")
    notes.write_bytes(b" " * STEP_BYTES)
    ours, theirs = _children.Pipe()
    child = _children.Process(target=_work, args=(job, theirs, str(notes), file_limit))
    child.start()
    theirs.close()
    assert ours.poll(LONGEST_S), "the child did not begin"
    ours.recv_bytes()
    begun = time.monotonic()
    on_begin()
    try:
        child.join(LONGEST_S if kill_after_s is None else kill_after_s)
        lasted_s = time.monotonic() - begun
        if child.exitcode is None:
            # One that ended in this moment is no error.
            child.kill()
            child.join(LONGEST_S)
            if child.exitcode == -signal.SIGKILL:
                assert kill_after_s is not None, f"{job.work} did not end in {LONGEST_S} s"
                return Death(notes.read_bytes().decode().strip() or "opening"), lasted_s
        said = ours.recv_bytes().decode() if child.exitcode else ""
        assert not said or (may_fail and "rowen.errors." in said.rstrip().rpartition("\n")[2]), said
        return None, lasted_s
    finally:
        ours.close()
        child.close()


def _work(job: Job, told: Connection, notes: str, file_limit: int | None) -> None:
    if file_limit is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
    with Path(notes).open("r+b") as file, mmap.mmap(file.fileno(), STEP_BYTES) as page:
        write_step(page, "")
        told.send_bytes(b"begun")
        try:
            asyncio.run(WORK[job.work](job, page))  # type: ignore[arg-type]
        except BaseException:
            told.send_bytes(traceback.format_exc().encode())
            raise SystemExit(1) from None
