"""A draft beside a file: it replaces the file at the end, or is deleted.

The draft lies in the same folder, because a rename is atomic only there. A killed process leaves its draft
behind; the next draft of the same file deletes those older than a day.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import time
from pathlib import Path
from typing import BinaryIO

from rowen.errors import ConfigError, PermanentError, RowenError

ENDING = ".rowen-draft"
LEFT_BEHIND_S = 86_400.0
_NAME_CHARS = 60
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_CLOSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


class Draft:
    def __init__(self, path: str) -> None:
        # A link stays a link: what it leads to is replaced.
        self._target = Path(path).resolve()
        check_target(self._target)
        _forget_others(self._target)
        self._path = self._target.with_name(f"{_start(self._target)}{secrets.token_hex(6)}{ENDING}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
        self.file: BinaryIO = os.fdopen(os.open(self._path, flags, 0o666), "wb")
        with contextlib.suppress(FileNotFoundError):
            self._path.chmod(stat.S_IMODE(self._target.stat().st_mode))

    def keep(self) -> None:
        """From now on this is the file, also after the power fails."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        self._path.replace(self._target)
        _sync_folder(self._target.parent)

    def drop(self) -> None:
        # What is still in the buffer has no place on a full disk.
        with contextlib.suppress(OSError):
            self.file.close()
        self._path.unlink(missing_ok=True)


def check_target(target: Path) -> None:
    """Raises `ConfigError` when a file cannot be put there."""
    if not target.parent.is_dir():
        raise ConfigError(
            f"file `{target}`: its folder `{target.parent}` does not exist", hint="make the folder first"
        )
    # A device or a pipe would be replaced by a file, which is never what was meant.
    if target.exists() and not target.is_file():
        raise ConfigError(f"file `{target}`: there is something else than a file", hint="name another one")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise _closed(target)


def problem(exc: OSError, path: str) -> RowenError:
    """What a failure of the file system means for an export."""
    target = Path(path)
    if exc.errno in _CLOSED:
        return _closed(target)
    if exc.errno in _FULL:
        return PermanentError(
            f"file `{target}`: the disk is full; the file that was there is unchanged",
            hint="make room; it is written again the next time",
            path=path,
        )
    return PermanentError(f"file `{target}`: cannot be written: {exc.strerror or exc}", path=path)


def _closed(target: Path) -> ConfigError:
    return ConfigError(
        f"file `{target}`: its folder `{target.parent}` may not be written to",
        hint="let this user write there, or name another file",
    )


def _start(target: Path) -> str:
    # A name has an end in a file system; there must be room for ours.
    return f".{target.name[:_NAME_CHARS]}."


def _forget_others(target: Path) -> None:
    start = _start(target)
    for other in target.parent.iterdir():
        if other.name.startswith(start) and other.name.endswith(ENDING):
            with contextlib.suppress(OSError):
                if time.time() - other.stat().st_mtime > LEFT_BEHIND_S:
                    other.unlink()


def _sync_folder(folder: Path) -> None:
    # Some systems do not let a folder be opened; there the rename is as durable as it gets.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
