"""The clock, and which process is who."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, timedelta

import pytest

from rowen.adapters.system import SystemClock, is_dead, owner


def _parts() -> tuple[str, str, str]:
    host_and_pid, _, started = owner().rpartition(":")
    host, _, pid = host_and_pid.rpartition(":")
    return host, pid, started


def test_the_clock_tells_aware_utc_and_never_runs_backwards() -> None:
    clock = SystemClock()
    assert clock.now().tzinfo is UTC
    assert clock.now() - clock.now() < timedelta(seconds=5)
    first = clock.monotonic()
    assert clock.monotonic() >= first
    assert all(0 <= clock.jitter() < 1 for _ in range(100))


@pytest.mark.anyio
async def test_sleeping_gives_way_to_others() -> None:
    await SystemClock().sleep(0)


def test_this_process_is_alive_and_keeps_its_name() -> None:
    assert owner() == owner()
    assert not is_dead(owner())
    assert _parts()[1] == str(os.getpid())


def test_a_process_that_ended_is_dead() -> None:
    code = "from rowen.adapters.system import owner; print(owner())"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip().count(":") == 2
    assert is_dead(other.stdout.strip())


def test_a_killed_child_is_dead_before_its_parent_collects_it() -> None:
    code = "from rowen.adapters.system import owner; print(owner(), flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        name = child.stdout.readline().strip()
        assert not is_dead(name)
        child.kill()
        # Waits for the end without collecting it: the process stays as a zombie.
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert is_dead(name)


def test_a_reused_process_id_is_another_owner() -> None:
    host, pid, started = _parts()
    assert is_dead(f"{host}:{pid}:{int(started) + 1}")


@pytest.mark.parametrize("name", ["", "x", "elsewhere:1:2", "elsewhere:999999:", "a:b:c:d"])
def test_an_owner_elsewhere_is_never_declared_dead(name: str) -> None:
    assert not is_dead(name)


@pytest.mark.parametrize("pid", ["0", "-1", "²", "99999999999999999999", "all"])
def test_a_name_that_makes_no_sense_is_never_declared_dead(pid: str) -> None:
    assert not is_dead(f"{_parts()[0]}:{pid}:5")
