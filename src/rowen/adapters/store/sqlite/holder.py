"""Which process writes to a SQLite file now, as Linux tells it. Elsewhere no process is named."""

from __future__ import annotations

import os
from pathlib import Path

# In WAL mode a writer locks this byte of the file with the shared memory.
_WRITE_LOCK = 120


def who_writes(path: Path) -> str | None:
    """`process 4711 (rowen sync docs)`.

    The lock is looked up in the system's list. To ask the file itself we would have to open it, and closing
    it again would drop the locks that this process has on it.
    """
    try:
        inode = path.with_name(f"{path.name}-shm").stat().st_ino
        lines = Path("/proc/locks").read_text("ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        # 1: POSIX  ADVISORY  WRITE 4711 08:01:131 120 120
        words = line.split()
        if words[3:4] != ["WRITE"] or words[5].rpartition(":")[2] != str(inode):
            continue
        pid, first, last = words[4], words[6], words[7]
        if (
            pid != str(os.getpid())
            and int(first) <= _WRITE_LOCK
            and (last == "EOF" or int(last) >= _WRITE_LOCK)
        ):
            return f"process {pid}{_called(pid)}"
    return None


def _called(pid: str) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace").split("\0")
    except OSError:
        return ""
    # Arguments may hold a password: only the name of the command is shown.
    names = [Path(word).name for word in words if word]
    if "rowen" not in names:
        return f" ({names[0]})" if names else ""
    after = names[names.index("rowen") + 1 :]
    return f" (rowen {next((word for word in after if word.isalpha()), '')})".replace(" )", ")")
