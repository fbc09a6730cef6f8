"""From saving a file to finding it: `rowen watch` follows a folder, a search asks until the answer is there.

    python benchmarks/watch.py [saves] [files]

The folder holds so many files before. Each save is a new file with a word of its own; the time runs from its
last byte to the first search that finds it. Ends with 1 when the median is above the two seconds that are
promised. A busy machine is slower: the load beside the figures says how busy it was.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rowen import Rowen

LIMIT_S = 2.0
DEADLINE_S = 60.0


def main() -> int:
    saves = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    files = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    with tempfile.TemporaryDirectory(prefix="rowen-watch-") as folder:
        db, notes = f"sqlite:///{folder}/rowen.db", Path(folder, "notes")
        notes.mkdir()
        for number in range(files):
            (notes / f"{number}.md").write_text(f"# Note {number}\n\nAbout field {number}.\n")
        with Rowen(db=db) as rowen:
            rowen.add(str(notes), name="notes")
            rowen.sync("notes")
            command = [sys.executable, "-m", "rowen", "watch", "notes", "--json", "--db", db]
            watching = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            try:
                assert watching.stdout is not None
                json.loads(watching.stdout.readline())
                times = [_found_after(rowen, notes, number) for number in range(saves)]
            finally:
                watching.terminate()
                watching.communicate()
    shown = ", ".join(f"{one:.2f}" for one in times)
    median = statistics.median(times)
    print(f"{files:,} files; saved to found, s: {shown}")
    print(f"median {median:.2f} s, at most {LIMIT_S:.0f} s; load {os.getloadavg()[0]:.1f}")
    return 0 if median <= LIMIT_S else 1


def _found_after(rowen: Rowen, notes: Path, number: int) -> float:
    word = f"quince{number}quince"
    (notes / f"saved-{number}.md").write_text(f"# Saved {number}\n\nThe word is {word}.\n")
    began = time.monotonic()
    while time.monotonic() - began < DEADLINE_S:
        hits = rowen.search(word, mode="keyword", limit=1).hits
        if hits and hits[0].title == f"Saved {number}":
            return time.monotonic() - began
        time.sleep(0.02)
    raise SystemExit(f"`saved-{number}.md`: not found within {DEADLINE_S:.0f} s")


if __name__ == "__main__":
    raise SystemExit(main())
