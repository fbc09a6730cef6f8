"""Where stores lie that are copied for each trial: files, or databases of a PostgreSQL server."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path
from typing import Protocol

from tests.support.postgres import Server
from tests.support.stores import a_sqlite_file

OLD_SCHEMA = "store_0_1_0"


class Place(Protocol):
    kind: str

    def empty(self) -> str:
        """The address of a new store."""
        ...

    def copy(self, url: str) -> str:
        """The address of a copy that is as the store is now. No process may have the store open."""
        ...

    def load(self, fixture: bytes) -> str:
        """The address of a store of version 0.1.0."""
        ...

    def remove(self, url: str) -> None: ...


class Files:
    kind = "sqlite"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def empty(self) -> str:
        return f"sqlite:///{a_sqlite_file(self._new())}"

    def copy(self, url: str) -> str:
        path = self._new()
        for end in ("", "-wal"):
            source = Path(url.removeprefix("sqlite:///") + end)
            if source.exists():
                shutil.copyfile(source, f"{path}{end}")
        return f"sqlite:///{path}"

    def load(self, fixture: bytes) -> str:
        path = self._new()
        path.write_bytes(fixture)
        return f"sqlite:///{path}"

    def remove(self, url: str) -> None:
        path = Path(url.removeprefix("sqlite:///"))
        for file in path.parent.glob(path.name + "*"):
            # What searches keep beside a store is a folder.
            shutil.rmtree(file) if file.is_dir() else file.unlink()

    def _new(self) -> Path:
        return self._folder / f"{uuid.uuid4().hex}.db"


class Databases:
    kind = "postgres"

    def __init__(self, server: Server) -> None:
        self._server = server
        self._made: list[str] = []

    def empty(self) -> str:
        return self._url(self._create("template1"))

    def copy(self, url: str) -> str:
        name = self._create(self._name(url))
        return self._url(name) + (f"&schema={OLD_SCHEMA}" if OLD_SCHEMA in url else "")

    def load(self, fixture: bytes) -> str:
        url = self.empty()
        import psycopg

        with psycopg.connect(url, autocommit=True) as db:
            db.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
            db.execute(fixture)
        return f"{url}&schema={OLD_SCHEMA}"

    def remove(self, url: str) -> None:
        name = self._name(url)
        self._made.remove(name)
        with self._server.connect() as db:
            db.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def clear(self) -> None:
        for name in list(self._made):
            self.remove(self._url(name))

    def _create(self, template: str) -> str:
        name = f"torture_{uuid.uuid4().hex[:12]}"
        with self._server.connect() as db:
            # A process that was killed may have a connection that the server has not ended yet.
            db.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (template,)
            )
            db.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
        self._made.append(name)
        return name

    def _url(self, name: str) -> str:
        return self._server.url_of("postgres", database=name)

    def _name(self, url: str) -> str:
        return url.partition("@/")[2].partition("?")[0]
