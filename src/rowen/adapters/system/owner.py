"""The owner of a lease: a name for this process that no other process ever has, and whether one is gone.

`host:pid:start`. Process ids are used again, start times of a process id are not. An owner
on another machine is never declared dead: its lease has to expire.
"""

from __future__ import annotations

import os
from pathlib import Path

_PROC = Path("/proc")


def owner() -> str:
    pid = os.getpid()
    return f"{_host()}:{pid}:{_start_time(pid) or ''}"


def is_dead(owner: str) -> bool:
    """True only when the owner ran on this machine and certainly runs no more."""
    host, _, rest = owner.rpartition(":")[0].rpartition(":")
    started = owner.rpartition(":")[2]
    if host != _host() or not (rest.isascii() and rest.isdigit()) or not 0 < int(rest) < 2**31:
        return False
    pid = int(rest)
    if not _exists(pid):
        return True
    now_started = _start_time(pid)
    return bool(started and now_started and started != now_started)


def _host() -> str:
    # A container has its own process ids, and often the host name of its image: the boot id tells machines
    # apart, the namespace tells containers apart.
    name = _host_name().replace(":", "-")
    try:
        namespace = (_PROC / "self/ns/pid").readlink().name.strip("pid:[]")
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]
    except OSError:
        return name
    return f"{name}.{boot}.{namespace}"


def _host_name() -> str:
    if hasattr(os, "uname"):
        return os.uname().nodename
    import socket  # only where the system has no other way: it takes long to import

    return socket.gethostname()


def _exists(pid: int) -> bool:
    if os.name == "nt":
        # There, signal 0 is no question but Ctrl-C.
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        # It exists and belongs to another user.
        return True
    return _state(pid) != "Z"


def _fields(pid: int) -> list[str]:
    """The fields of /proc/<pid>/stat after the name, which may itself hold spaces and brackets."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return stat.rpartition(")")[2].split()


def _state(pid: int) -> str:
    fields = _fields(pid)
    return fields[0] if fields else ""


def _start_time(pid: int) -> str | None:
    """In clock ticks since the machine started; None where there is no /proc."""
    fields = _fields(pid)
    return fields[19] if len(fields) > 19 else None
