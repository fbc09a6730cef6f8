"""`rowen web` and `rowen serve --listen`: the page as a process shows it, on this machine."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from rowen.doors.cli.commands import web
from tests.doors.conftest import Rowen

DEADLINE_S = 120.0


@contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command in a process of its own, and where it says that the page is."""
    process = subprocess.Popen(
        [sys.executable, "-m", "rowen", "web", "--no-open", "--json", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None and process.stderr is not None
        line = process.stdout.readline()
        assert line, process.stderr.read()
        yield process, json.loads(line)["url"]
    finally:
        process.kill()
        process.communicate()


def asked_by_an_assistant(url: str) -> str:
    """What the service says over MCP when it is asked for its tools."""
    call = urllib.request.Request(
        f"{url}/mcp",
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode(),
        {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"},
    )
    with urllib.request.urlopen(call) as answer:
        return str(answer.read().decode())


def test_two_of_them_show_the_page_on_this_machine_and_end_when_they_are_told(process: Rowen) -> None:
    with started("--port", "0") as (running, url), started("--port", "0") as (_, other):
        assert url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(url) as answer:
            text = answer.read().decode()
        assert "There are no sources yet" in text and "SQLite" in text
        with urllib.request.urlopen(f"{url}/health/ready") as answer:
            assert answer.status == 200
        with urllib.request.urlopen(f"{other}/sources.json") as answer:
            assert json.loads(answer.read())["total"] == 0, "they share a store"
        assert '"name":"search_docs"' in asked_by_an_assistant(url)
        running.send_signal(signal.SIGTERM)
        _, said = running.communicate(timeout=DEADLINE_S)
        assert running.returncode == 143 and "Traceback" not in said


def test_a_port_that_another_program_has_is_left_to_it() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert web._free(taken.getsockname()[1]) == 0
