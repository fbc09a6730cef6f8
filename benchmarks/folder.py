"""A folder of many files: what a refresh costs when nothing changed, next to `find` and a bare walk over it.

    python benchmarks/folder.py [--files 100000]

The first harvest is one like any other. The refresh must open no file: the run counts what it opened, and the
count is checked here. The first refresh compares every file with what is known of it; the others find the
folder as that one found it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

from rowen.config import load
from rowen.engine.run import sync
from rowen.managing import find as finding
from rowen.managing import sources
from rowen.wiring import open_ports


def cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def fill(folder: Path, files: int) -> None:
    for number in range(files):
        below = folder / f"{number // 1000:03}"
        below.mkdir(exist_ok=True)
        (below / f"{number}.md").write_text(f"# Note {number}\n\nField {number} gives crop {number % 97}.\n")


def walk(folder: str) -> int:
    """The floor: list every folder and look at every entry, nothing else."""
    seen = 0
    with os.scandir(folder) as listing:
        for entry in listing:
            if entry.is_dir(follow_symlinks=False):
                seen += walk(entry.path)
            else:
                entry.stat(follow_symlinks=False)
                seen += 1
    return seen


def find(folder: str) -> float:
    """CPU seconds of `find`, told to look at size and time of every file."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ["find", folder, "-type", "f", "-printf", "%s %T@ %p\\n"]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


async def measure(folder: Path, db: str, files: int) -> None:
    config, _ = load(db=db)
    async with open_ports(config) as ports:
        added = await sources.add(ports, str(folder), name="notes")
        before, began = cpu_s(), time.monotonic()
        receipt = await sync(ports, added.source)
        spent = cpu_s() - before
        took = time.monotonic() - began
        print(f"first harvest      {receipt.counters.created} files, {took:.1f} s, {spent:.1f} CPU s here")
        for number in range(4):
            before = cpu_s()
            assert walk(str(folder)) == files
            floor, found = cpu_s() - before, await asyncio.to_thread(find, str(folder))
            source = await finding.find(ports.store, "notes")
            before, began, rows = cpu_s(), time.monotonic(), ports.store.rows_written()
            receipt = await sync(ports, source)
            spent, took = cpu_s() - before, time.monotonic() - began
            counters = receipt.counters
            assert (counters.unchanged, counters.reads) == (files, 0)
            # One more for the folder as it was found.
            assert ports.store.rows_written() - rows <= (9 if number else 10)
            name = "unchanged refresh" if number else "first comparison "
            print(
                f"{name}  {counters.unchanged} files, 0 opened, {took:.2f} s, {spent:.2f} CPU s; "
                f"bare walk {floor:.2f} CPU s; ratio {spent / floor:.1f}; "
                f"find {found:.2f} CPU s; ratio {spent / found:.1f} (aim: 3)"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base) / "notes"
        folder.mkdir()
        fill(folder, options.files)
        asyncio.run(measure(folder, f"sqlite:///{base}/rowen.db", options.files))


if __name__ == "__main__":
    main()
