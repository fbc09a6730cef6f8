"""How the process begins and ends."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def ran(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)


ENDING = """
import atexit, os, sys
from rowen.doors import cli
at_once = os._exit
os._exit = lambda code: print("at once", flush=True) or at_once(code)
atexit.register(print, "registered", flush=True)
cli.main = lambda: print("worked", flush=True) or 3
{more}
cli.run()
"""


def test_what_is_registered_for_the_end_is_done_before_the_process_ends_at_once() -> None:
    ended = ran(ENDING.format(more=""))
    assert (ended.returncode, ended.stdout.split("\n")) == (3, ["worked", "registered", "at once", ""])


@pytest.mark.parametrize(
    "more",
    [
        "sys.setprofile(lambda *_: None)",
        "import threading; threading.Thread(target=threading.main_thread().join).start()",
    ],
)
def test_a_process_that_is_watched_or_still_at_work_ends_as_python_ends_it(more: str) -> None:
    ended = ran(ENDING.format(more=more))
    assert ended.returncode == 3
    assert ended.stdout.split("\n") == ["worked", "registered", ""]


def test_modules_that_are_put_off_are_loaded_by_the_first_name_that_is_asked_for() -> None:
    program = """
from rowen.doors.cli.starting import late_modules
late_modules.put_off()
import dataclasses, inspect, ipaddress, sys
assert "dis" not in sys.modules
assert not hasattr(inspect, "no_such_name")
assert "dis" in sys.modules
assert str(inspect.signature(lambda a, b=1: 0)) == "(a, b=1)"
from ipaddress import ip_address
assert ip_address("::1").is_loopback
late_modules.put_off()
assert inspect is sys.modules["inspect"]
"""
    ended = ran(program)
    assert ended.returncode == 0, ended.stderr


def test_modules_that_are_put_off_are_loaded_before_there_are_threads() -> None:
    program = """
from rowen.doors.cli.starting import late_modules
late_modules.put_off()
import sys
late_modules.load()
assert "dis" in sys.modules
assert "signature" in vars(sys.modules["inspect"])
assert "ip_address" in vars(sys.modules["ipaddress"])
late_modules.load()
"""
    ended = ran(program)
    assert ended.returncode == 0, ended.stderr


def test_a_process_that_may_go_on_for_long_looks_for_cycles_more_often() -> None:
    program = """
import gc
from rowen.doors import cli
def main():
    from rowen.doors.cli.session import run_async
    async def work(): return gc.get_threshold()[0]
    assert gc.get_threshold()[0] == cli.AT_FIRST
    assert run_async(work) == cli.IN_A_LOOP
    return 0
cli.main = main
cli.run()
"""
    ended = ran(program)
    assert ended.returncode == 0, ended.stderr


def test_the_exit_code_of_a_wrong_call_is_that_of_the_process() -> None:
    command = [sys.executable, "-m", "rowen", "nonsense"]
    ended = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
    assert ended.returncode == 2
    assert "no such command `nonsense`" in ended.stderr
