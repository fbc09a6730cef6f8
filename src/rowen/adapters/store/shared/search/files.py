"""The folder of a follower: append-only files, a stamp that says how much of them counts, and one writer.

Everything in the folder is a cache of rows in the store. The stamp is replaced as a whole and last, so what a
killed process wrote after it does not count; a folder whose stamp cannot be read is as good as none.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from rowen.adapters.store.shared.search.arrays.library import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Number = TypeVar("Number", bound="np.generic")

FORMAT = 1
WORDS_FORMAT = 2
VIEW_FORMAT = 2
"""Of the files, of the words in them, and of what references and titles say of their documents (versions,
languages, roles): another number, and what lies there is made again."""


class Stamped:
    """The files of one follower, all named after it and after when they were begun."""

    def __init__(self, folder: Path, name: str, *, format: int = FORMAT) -> None:  # noqa: A002
        self.folder = folder
        self._format = format
        self._name = name
        self._stamp = folder / f"{name}.json"

    def state(self) -> tuple[int, int] | None:
        """Differs when the stamp was replaced; None without one."""
        try:
            found = self._stamp.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino

    def read(self) -> dict[str, Any] | None:
        """What counts, or None: nothing does."""
        try:
            stamp = json.loads(self._stamp.read_bytes())
        except (OSError, ValueError):
            return None
        return stamp if isinstance(stamp, dict) and stamp.get("format") == self._format else None

    def write(self, **stamp: Any) -> None:
        beside = self._stamp.with_suffix(".new")
        with beside.open("w") as file:
            file.write(json.dumps({"format": self._format, **stamp}))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._stamp)

    def path(self, begun: str, kind: str) -> Path:
        return self.folder / f"{self._name}-{begun}.{kind}"

    def begin(self) -> str:
        """Forget what lies there. Readers that have it open keep it until they look again."""
        self._stamp.unlink(missing_ok=True)
        for old in self.folder.glob(f"{self._name}-*"):
            if old.is_dir():
                import shutil

                shutil.rmtree(old, ignore_errors=True)
            else:
                old.unlink(missing_ok=True)
        return uuid4().hex[:12]


@contextmanager
def writing(folder: Path) -> Iterator[bool]:
    """Whether this process may write the folder now; it is not waited for. The lock ends with the process."""
    try:
        import fcntl
    except ImportError:  # pragma: no cover - a system without locks: the folder is not written
        yield False
        return
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        yield False
        return
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
    finally:
        os.close(lock)


def append(path: Path, rows: NDArray[Any], *, at: int) -> None:
    """Write rows of a file from this one on; what an interrupted writer left there is written over."""
    row_bytes = rows.nbytes // len(rows)
    with path.open("r+b" if path.exists() else "w+b") as file:
        file.seek(at * row_bytes)
        file.write(rows.tobytes())
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


def numbers(path: Path, count: int) -> NDArray[np.int64]:
    """The first so many 64-bit numbers of a file. Raises `ValueError` if it has fewer."""
    found = np.fromfile(path, np.int64, count)
    if len(found) != count:
        raise ValueError(f"{path.name} has {len(found)} of {count} numbers")
    return found


def mapped(path: Path, kind: type[Number], count: int) -> NDArray[Number]:
    """The first so many numbers of a file, read when they are looked at. Raises `ValueError` for fewer."""
    if not count:
        return np.empty(0, kind)
    return np.memmap(path, kind, "r", shape=(count,)).view(np.ndarray)
