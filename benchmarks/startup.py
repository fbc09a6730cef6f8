"""How long the command line takes to start, next to a bare Python, and what it imports meanwhile.

    python benchmarks/startup.py [repetitions]

Believe the ratios: absolute times belong to the machine. The least of the repetitions counts, because
everything else a machine does can only add to it.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT_MS = 200
HEAVY = (
    "mcp",
    "aiohttp",
    "numpy",
    "apsw",
    "turbohtml",
    "tokenizers",
    "asyncio",
    "rowen.wiring",
    "rowen.engine",
    "rowen.kinds",
)
CALLS = (
    ("python -c pass", ["-c", "pass"]),
    ("rowen --version", ["-m", "rowen", "--version"]),
    ("rowen --help", ["-m", "rowen", "--help"]),
    ("rowen status", ["-m", "rowen", "status"]),
    ("rowen search, keywords", ["-m", "rowen", "search", "harvest", "--mode", "keyword"]),
    ("rowen search, hybrid", ["-m", "rowen", "search", "harvest"]),
)
TEXT = "# Harvest\n\nThe first harvest costs what it costs.\n"


def once(arguments: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Wall and CPU time of one process, in milliseconds."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, *arguments], env=environment, check=True, capture_output=True)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall * 1000, cpu * 1000


def imported(arguments: list[str], environment: dict[str, str]) -> list[str]:
    """Which of the heavy modules a call imports."""
    if arguments[0] != "-m":
        return []
    program = "import sys, rowen.doors.cli as c; c.main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    command = [sys.executable, "-c", program, *arguments[2:]]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    modules = set(done.stderr.splitlines()[-1].split())
    return [name for name in HEAVY if name in modules]


def main() -> int:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        # The modules are compiled, as those of an installed package are.
        compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}  # noqa: TID251
        environment = {**compiled, "ROWEN_DB": f"sqlite:///{folder}/rowen.db"}
        (Path(folder) / "notes").mkdir()
        (Path(folder) / "notes" / "harvest.md").write_text(TEXT)
        once(["-m", "rowen", "add", f"{folder}/notes", "--name", "notes", "--sync"], environment)
        bare = None
        print(f"{'call':<28}{'wall ms':>9}{'cpu ms':>9}{'ratio':>8}   heavy imports")
        for name, arguments in CALLS:
            once(arguments, environment)
            times = [once(arguments, environment) for _ in range(repetitions)]
            wall, cpu = min(t[0] for t in times), min(t[1] for t in times)
            bare = bare or wall
            heavy = ", ".join(imported(arguments, environment)) or "none"
            print(f"{name:<28}{wall:>9.0f}{cpu:>9.0f}{wall / bare:>8.1f}   {heavy}")
            if name in ("rowen --version", "rowen --help"):
                slowest = max(slowest, wall)
    good = slowest < LIMIT_MS
    print(f"start-up {slowest:.0f} ms, limit {LIMIT_MS} ms: {'good' if good else 'TOO SLOW'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
