"""What changes in a folder, told by the operating system, a moment after it happened."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from rowen.errors import Unfetchable
from rowen.ports.folders import Touched

QUIET_MS, LONGEST_MS = 100, 500
"""A batch ends when nothing happened for so long, or after so long: editors save in several steps."""


async def watch(root: str, ours: Sequence[str]) -> AsyncGenerator[Sequence[Touched]]:
    """Batches of what changed below `root`, but for files whose paths begin like one of `ours`.

    The first is empty and comes at once.
    """
    from watchfiles import awatch

    place, folder = await asyncio.to_thread(_place, root)
    yield ()
    async for changes in awatch(place, watch_filter=None, debounce=LONGEST_MS, step=QUIET_MS):
        batch = [
            _touched(folder, Path(path))
            for path in sorted({path for _, path in changes})
            if not path.startswith(tuple(ours)) and Path(path).is_relative_to(folder)
        ]
        if batch:
            yield batch


def _place(root: str) -> tuple[Path, Path]:
    """What to watch, and the folder that paths are relative to. The system tells real paths."""
    place = Path(root).resolve()
    if not place.exists():
        raise Unfetchable(f"`{root}`: no such file or folder", path=root)
    return place, place.parent if place.is_file() else place


def _touched(folder: Path, path: Path) -> Touched:
    return Touched(path.relative_to(folder).as_posix(), exists=path.exists(), is_file=path.is_file())
