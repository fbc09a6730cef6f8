"""Fixtures every test may use."""

from __future__ import annotations

import gc
import os
import re
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import settings

from tests.support.browsers import there_is_one
from tests.support.gate import DEADLINE_S
from tests.support.postgres import Server, shared_server
from tests.support.stores import disconnect
from tests.torture.tally import summarise

SEED = int(os.environ.get("ROWEN_TORTURE_SEED") or 1)
"""Every random choice of the torture suite comes from this number, Hypothesis included in `make torture`."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A job in the background ignores SIGINT, and every process it starts would inherit that. A handler that
    # does nothing ignores it for this process as well, and the processes it starts get the default.
    signal.signal(signal.SIGINT, lambda number, frame: None)

# No deadline for one example: on a busy machine it would be about the machine.
settings.register_profile("default", max_examples=30, deadline=None)
settings.register_profile("thorough", max_examples=300, deadline=None)
settings.load_profile("default")


BROWSER = ("tests/doors/web/browser/", "tests/adapters/test_render.py", "tests/kinds/web/test_render.py")
"""What needs a real browser, a person at the page and pages that scripts write: `make browser`."""

UNSEEN = pytest.StashKey[int]()
"""How many tests of the browser a run left out."""

TORTURE_TIMEOUT_S = 1200
"""A torture test does much on purpose, and a busy machine takes several times as long for it."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _is_of_torture(item) and not item.get_closest_marker("sliced"):
            item.add_marker(pytest.mark.torture)
        if item.nodeid.startswith(BROWSER):
            item.add_marker(pytest.mark.browser)
        if item.get_closest_marker("torture"):
            item.add_marker(pytest.mark.timeout(TORTURE_TIMEOUT_S), append=False)
    # The long ones first: those that take seconds fill the time until the last of them ends.
    items.sort(key=lambda item: (item.get_closest_marker("torture") is None, not _is_of_torture(item)))


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Count the tests of the browser that were left out; workers of xdist report it to the first process."""
    for item in items[:1]:
        unseen = sum(1 for one in items if one.nodeid.startswith(BROWSER))
        item.config.stash[UNSEEN] = unseen
        if hasattr(item.config, "workeroutput"):
            item.config.workeroutput["unseen"] = unseen


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[UNSEEN] = getattr(node, "workeroutput", {}).get("unseen", 0)


def _is_of_torture(item: pytest.Item) -> bool:
    return item.nodeid.startswith("tests/torture/")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep the collected tests and their modules, which stay until the end, out of the garbage collector.

    Later it looks at what tests leave behind once in 50,000 new objects: each time it also goes through all
    modules that tests imported, and at the usual 700 that takes a tenth of the time of a test.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000)
        gc.enable()


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One worker more than cores: it works while another one waits for a process it started."""
    return len(os.sched_getaffinity(0)) + 1


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What this process and those it starts keep for later searches is not kept for later tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def patient_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """`SyncQueue.begin` waits for its run for as long as a busy machine needs to begin one."""
    monkeypatch.setattr("rowen.service.sync_queue.BEGIN_S", DEADLINE_S)


@pytest.fixture
def impatient_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """`SyncQueue.begin` does not wait for a run that another one holds up."""
    monkeypatch.setattr("rowen.service.sync_queue.BEGIN_S", 0.0)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One PostgreSQL for the whole session, started when the first test asks for it."""
    folder = tmp_path_factory.getbasetemp()
    with shared_server(folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) as server:
        yield server
        disconnect(server)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """On which databases the contract suite ran, and what stood for hosts."""
    passed = Counter(
        part
        for report in terminalreporter.stats.get("passed", [])
        if report.nodeid.startswith("tests/contract/")
        for part in re.split(r"[\[\]-]", report.nodeid.rpartition("::")[2])
        if part in ("postgres", "sqlite")
    )
    if passed:
        counts = (f"{count} passed on {name}" for name, count in sorted(passed.items()))
        terminalreporter.write_line(f"contract suite: {', '.join(counts)}")
    ended = [*terminalreporter.stats.get("passed", []), *terminalreporter.stats.get("failed", [])]
    for kind in sorted({dict(report.user_properties).get("hosts", "") for report in ended} - {""}):
        terminalreporter.write_line(f"hosts: {kind}")
    summarise(terminalreporter, SEED)
    skipped = [one for one in terminalreporter.stats.get("skipped", []) if one.nodeid.startswith(BROWSER)]
    unseen = len(skipped) + terminalreporter.config.stash.get(UNSEEN, 0)
    if unseen and not there_is_one():
        terminalreporter.write_line(
            f"browser: {unseen} tests did not run, there is no Chromium; `make browser` installs it"
        )
