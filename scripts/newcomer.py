"""The way of a newcomer, timed: a new environment, install, add, sync, search, an assistant's answer by MCP.

    python scripts/newcomer.py        or: make newcomer

Needs a package index for the install; the rest happens on loopback, against the site of `rowen demo`, in a
temporary folder that is removed at the end. Ends with 1 when a step fails or when all of them together take
longer than five minutes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMIT_S = 300.0
QUESTION = "how long does it wait before trying again"
SITE = """
import sys
from rowen.doors.demo import DemoServer, DemoSite
with DemoServer(DemoSite()) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""
ASSISTANT = """
import asyncio, os, sys
from mcp import Client, StdioServerParameters
async def ask():
    server = StdioServerParameters(command=sys.argv[1], args=["mcp", "--read-only"], env=dict(os.environ))
    async with Client(server) as rowen:
        answer = await rowen.call_tool("search_docs", {"query": sys.argv[2]})
        hit = answer.structured_content["hits"][0]
        page = await rowen.call_tool("read_document", {"url": hit["url"]})
        print(page.content[0].text)
asyncio.run(ask())
"""


def environment() -> dict[str, str]:
    return dict(os.environ)  # noqa: TID251 - this script has no settings, and the commands get the caller's


class Newcomer:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._bin = folder / "environment" / ("Scripts" if os.name == "nt" else "bin")
        self._env = {
            **environment(),
            "ROWEN_DB": f"sqlite:///{folder}/rowen.db",
            "XDG_STATE_HOME": str(folder),
        }
        self._env.pop("PYTHONPATH", None)
        self.passed_s = 0.0

    def step(self, shown: str, *command: str | Path) -> str:
        """Run a command and say what it took; its output is shown indented, as far as a screen goes."""
        print(f"$ {shown}", flush=True)
        began = time.monotonic()
        done = subprocess.run(command, env=self._env, cwd=self._folder, capture_output=True, text=True)
        took_s = time.monotonic() - began
        self.passed_s += took_s
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        for line in lines[:6]:
            print(f"    {line[:100]}")
        print(f"    {took_s:.1f} s", flush=True)
        if done.returncode:
            print(done.stderr, file=sys.stderr)
            raise SystemExit(1)
        return done.stdout

    def walk(self) -> None:
        python, rowen = self._bin / "python", self._bin / "rowen"
        self.step("python -m venv environment", sys.executable, "-m", "venv", "environment")
        empty = _size_mb(self._bin.parent)
        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        constraints = ("--constraint", ROOT / "constraints.txt")
        self.step("pip install rowen", *pip, *constraints, ROOT)
        print(f"    {_size_mb(self._bin.parent) - empty:.0f} MB, {_packages(self._bin.parent)} packages")
        site = subprocess.Popen(
            [python, "-c", SITE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self._env
        )
        try:
            assert site.stdout is not None
            address = site.stdout.readline().strip().removeprefix("http://")
            self.step(
                f"rowen add {address} --name quern --sync", rowen, "add", address, "--name", "quern", "--sync"
            )
            found = self.step(f'rowen search "{QUESTION}"', rowen, "search", QUESTION, "--limit", "1")
            if "backoff" not in found.lower():
                raise SystemExit("the answer does not come first")
            asked = (python, "-c", ASSISTANT, rowen, QUESTION)
            read = self.step("an assistant searches and reads over MCP", *asked)
            if "backoff" not in read.lower():
                raise SystemExit("the assistant did not get the answer")
        finally:
            site.communicate()


def _size_mb(folder: Path) -> float:
    """What the files take on the disk."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*")) / 1e6


def _packages(environment: Path) -> int:
    return len(list(environment.rglob("*.dist-info")))


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="rowen-newcomer-") as folder:
        newcomer = Newcomer(Path(folder))
        newcomer.walk()
    print(f"{newcomer.passed_s:.0f} s from nothing to an assistant's answer; at most {LIMIT_S:.0f} s")
    return 0 if newcomer.passed_s <= LIMIT_S else 1


if __name__ == "__main__":
    raise SystemExit(main())
