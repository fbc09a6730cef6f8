"""Ways to damage the file of a store: named ones, and random ones from a seed."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import apsw

PAGE = 4096


def pages_of(file: Path, name: str, kind: str = "leaf") -> list[int]:
    """The pages of a table or an index, from 0."""
    db = apsw.Connection(str(file))
    found = db.execute(
        "SELECT pageno - 1 FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY pageno", (name, kind)
    )
    pages = [int(number) for (number,) in found]  # type: ignore[arg-type]
    db.close()
    return pages


def spoil(file: Path, page: int, *, at: int = 0, size: int = PAGE, seed: int = 0) -> None:
    """Noise over a page, or over some bytes of it."""
    with file.open("r+b") as opened:
        opened.seek(page * PAGE + at)
        opened.write(random.Random(seed).randbytes(size))


def erase(file: Path, page: int, *, at: int) -> None:
    """Zeros to the end of a page, as of one of which only the beginning reached the disk."""
    with file.open("r+b") as opened:
        opened.seek(page * PAGE + at)
        opened.write(bytes(PAGE - at))


def cut(file: Path, share: float) -> None:
    with file.open("r+b") as opened:
        opened.truncate(int(file.stat().st_size * share))


def at_random(original: Path, damaged: Path, seed: int) -> str:
    """A damaged copy; says what was done to it."""
    chosen = random.Random(seed)
    data = bytearray(original.read_bytes())
    pages = len(data) // PAGE
    match what := chosen.choice(["noise", "zeros", "bytes", "cut", "swapped", "several", "header"]):
        case "noise" | "zeros" | "several":
            for page in chosen.sample(range(1, pages), 5 if what == "several" else 1):
                data[page * PAGE : (page + 1) * PAGE] = (
                    bytes(PAGE) if what == "zeros" else chosen.randbytes(PAGE)
                )
        case "bytes":
            size = chosen.randrange(1, 200)
            at = chosen.randrange(PAGE, len(data) - size)
            data[at : at + size] = chosen.randbytes(size)
        case "cut":
            del data[chosen.randrange(PAGE, len(data)) :]
        case "swapped":
            one, other = chosen.sample(range(1, pages), 2)
            data[one * PAGE : (one + 1) * PAGE] = data[other * PAGE : (other + 1) * PAGE]
        case "header":
            size = chosen.randrange(1, 101)
            data[:size] = chosen.randbytes(size)
    damaged.write_bytes(data)
    return f"seed {seed}: {what}"


def copied(original: Path, folder: Path) -> Path:
    return Path(shutil.copyfile(original, folder / "damaged.db"))
