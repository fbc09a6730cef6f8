"""Ways to open a SQLite file: to write, or only to read where writing is refused or not wanted.

A file in WAL mode is read through two more files beside it. Where they cannot be made, SQLite reads the file
alone when it is told that no process changes it; that is only true while no log lies beside it.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import apsw

READ_ONLY = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI

# What SQLite answers when it cannot write a file, or cannot make the files beside it.
REFUSED = (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, apsw.AuthError)


def has_no_room_beside(exc: apsw.Error) -> bool:
    """Is the disk too full for the files beside the store?"""
    return getattr(exc, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE


def open_to_read(path: Path) -> tuple[apsw.Connection, bool]:
    """A connection that cannot write, and whether it reads the file alone: then it does not see what other
    processes write.
    """
    db = apsw.Connection(_uri(path, "mode=ro"), flags=READ_ONLY)
    try:
        db.execute("SELECT count(*) FROM sqlite_schema").get  # noqa: B018
    except apsw.Error as exc:
        if not isinstance(exc, REFUSED) and not has_no_room_beside(exc):
            return db, False  # a damaged file; its readers are told
        db.close()
        if _has_log(path):
            raise
        return apsw.Connection(_uri(path, "mode=ro&immutable=1"), flags=READ_ONLY), True
    return db, False


def state_of(path: Path) -> tuple[object, ...]:
    """Differs after another process has written the file: one that is read alone has to be opened again."""
    found = path.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino, _has_log(path)


def _has_log(path: Path) -> bool:
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def _uri(path: Path, options: str) -> str:
    return f"file:{quote(str(path.absolute()))}?{options}"


def nearest(path: Path) -> str:
    """A hint for an address that leads nowhere: the store that was probably meant."""
    from difflib import get_close_matches

    folder = path.absolute().parent
    if not folder.is_dir():
        gone = folder
        while not folder.is_dir():
            gone, folder = folder, folder.parent
        folders = [one.name for one in folder.iterdir() if one.is_dir()]
        close = get_close_matches(gone.name, folders, 1)
        meant = folder / close[0] / path.absolute().relative_to(gone) if close else None
        if meant is not None and meant.is_file():
            return f"did you mean `sqlite:///{meant}`?"
        return f"there is no folder `{gone}`; `rowen add` makes the store with its first source"
    stores = [one for one in sorted(folder.iterdir()) if one.is_file() and _is_store(one)]
    close = get_close_matches(path.name, [one.name for one in stores], 1, cutoff=0.0)
    if close:
        return f"did you mean `sqlite:///{folder / close[0]}`?"
    return "check the path of `--db` (or `ROWEN_DB`); `rowen add` makes the store with its first source"


def _is_store(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            start = file.read(100)
    except OSError:
        return False
    return start[:15] == b"SQLite format 3" and start[68:72] == b"Rown"
