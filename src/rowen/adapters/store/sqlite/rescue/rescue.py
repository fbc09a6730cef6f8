"""`SqliteRescue`: a new store from a damaged file, which is only read.

Everything is done beside the place of the new store. It appears there when it is whole and was checked; an
interruption or a full disk leaves nothing there.
"""

from __future__ import annotations

import asyncio
import mmap
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import apsw

from rowen.adapters.store.sqlite.database import NO_SPACE, SqliteDatabase, migrations
from rowen.adapters.store.sqlite.opening import nearest
from rowen.adapters.store.sqlite.rescue.mend import Mending
from rowen.adapters.store.sqlite.rescue.pages import HEADER_BYTES, MAGIC, Pages
from rowen.adapters.store.sqlite.rescue.salvage import Salvage, Salvaged, Tell
from rowen.core.exchange.store_rescue import Rescued, SourceRescue, TableRescue
from rowen.errors import Conflict, NotFound, StoreDamaged, StoreFull, StoreUnusable

PAGE_BYTES = 4096
"""Rowen makes no other files; the header says it too, unless it is damaged."""


class SqliteRescue:
    def __init__(self, damaged: Path, target: Path) -> None:
        self._damaged = damaged
        self._target = target
        self._folder: Path | None = None

    async def save(self, tell: Tell) -> Rescued:
        return await asyncio.to_thread(self._save, tell)

    @property
    def made(self) -> Path:
        """The new store, while it is not in its place yet."""
        assert self._folder is not None
        return self._folder / "rowen.db"

    def place(self) -> None:
        """Whole or not at all. Raises `Conflict` if a store is there by now."""
        self._check_free()
        self.made.rename(self._target)

    def discard(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _check_free(self) -> None:
        # The log of another store would be taken for one of this.
        for path in (self._target, self._target.with_name(f"{self._target.name}-wal")):
            if path.exists():
                raise Conflict(
                    f"store `{path}`: there is a file already",
                    hint="name a file that does not exist yet; nothing is overwritten",
                )

    def _save(self, tell: Tell) -> Rescued:
        if not self._damaged.is_file():
            raise NotFound(f"store `{self._damaged}`: there is no such file", hint=nearest(self._damaged))
        self._check_free()
        try:
            self._target.parent.mkdir(parents=True, exist_ok=True)
            self._folder = Path(mkdtemp(prefix=f"{self._target.name}.rescue-", dir=self._target.parent))
            return self._build(tell)
        except OSError as exc:
            if exc.errno not in NO_SPACE:
                raise StoreUnusable(f"store `{self._target}`: cannot be made: {exc.strerror}") from exc
            hint = "free some space: a rescue needs more than twice the size of the store"
            raise StoreFull(f"store `{self._target}`: the disk is full; it was not made", hint=hint) from exc

    def _build(self, tell: Tell) -> Rescued:
        wreck = self._private_copy()
        if not wreck.stat().st_size:
            raise StoreDamaged(f"store `{self._damaged}`: empty, there is nothing to rescue", hint=None)
        version = _make_readable(wreck)
        database = SqliteDatabase(self.made)
        try:
            database.open(look=True)
            database.migrate_to(version)
            with wreck.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                pages = Pages(memoryview(data), _page_bytes(data[:HEADER_BYTES]))
                try:
                    saved = database.bare(lambda db: self._fill(db, pages, tell))
                finally:
                    pages.close()
            database.migrate_to(migrations()[-1].number)
            tell("", 0)
            return database.bare(lambda db: _mended(db, saved))
        finally:
            database.close_now()
            wreck.unlink()

    def _private_copy(self) -> Path:
        """Opening a file with a log writes to it, so a copy is opened."""
        assert self._folder is not None
        wreck = self._folder / "wreck.db"
        shutil.copyfile(self._damaged, wreck)
        log = self._damaged.with_name(f"{self._damaged.name}-wal")
        if log.is_file():
            shutil.copyfile(log, wreck.with_name("wreck.db-wal"))
        return wreck

    def _fill(self, db: apsw.Connection, pages: Pages, tell: Tell) -> Salvaged:
        salvage = Salvage(pages, db)
        if salvage.empty:
            raise StoreDamaged(
                f"store `{self._damaged}`: nothing of it can be read: its list of tables is gone",
                hint="restore it from a backup, or sync the sources into a new store",
            )
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute("BEGIN")
        saved = salvage.save_all(tell)
        db.execute("COMMIT")
        return saved


def _make_readable(wreck: Path) -> int:
    """Write a header where it is damaged, and take in what the log holds. Returns the schema's number."""
    latest = migrations()[-1].number
    with wreck.open("r+b") as file:
        header = file.read(HEADER_BYTES)
        if not _is_sound(header):
            file.seek(0)
            file.write(_header(wreck.stat().st_size // PAGE_BYTES, latest))
    # A log that cannot be read is left out: the file alone is what there is.
    with suppress(apsw.Error):
        db = apsw.Connection(str(wreck))
        # The list of tables may be damaged; the log can be taken in all the same.
        with suppress(apsw.Error):
            db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        db.close()
    with wreck.open("rb") as file:
        version = int.from_bytes(file.read(HEADER_BYTES)[60:64], "big")
    return version if 0 < version <= latest else latest


def _is_sound(header: bytes) -> bool:
    return (
        len(header) == HEADER_BYTES
        and header[:16] == MAGIC
        and _page_bytes(header) in {1 << power for power in range(9, 17)}
        and header[18] in (1, 2)
        and header[20] == 0
        and header[21:24] == bytes((64, 32, 32))
        and header[56:60] == (1).to_bytes(4, "big")
    )


def _header(pages: int, version: int) -> bytes:
    numbers = (0, pages, 0, 0, 0, 4, 0, 0, 1, version, 0, 0x526F776E)
    start = MAGIC + PAGE_BYTES.to_bytes(2, "big") + bytes((2, 2, 0, 64, 32, 32))
    return (start + b"".join(one.to_bytes(4, "big") for one in numbers)).ljust(HEADER_BYTES, b"\0")


def _page_bytes(header: bytes) -> int:
    said = int.from_bytes(header[16:18], "big")
    return 65536 if said == 1 else said


def _mended(db: apsw.Connection, saved: Salvaged) -> Rescued:
    db.execute("PRAGMA foreign_keys = OFF")
    with db:
        mending = Mending(db)
        mending.mend()
        result = _result(db, saved, mending)
    db.execute("PRAGMA foreign_keys = ON")
    return result


def _result(db: apsw.Connection, saved: Salvaged, mending: Mending) -> Rescued:
    tables: dict[str, TableRescue] = {}
    for name, one in saved.tables.items():
        gone, again, replaced = mending.lost[name], mending.rebuilt[name], mending.replaced[name]
        tables[name] = TableRescue(
            saved=one.saved - gone - replaced,
            lost=max(0, one.lost + gone + replaced - again),
            pages=one.pages,
            rebuilt=again,
        )
    rows: list[Any] = db.execute(
        "SELECT s.id, s.name, s.version, coalesce(g.documents, 0) FROM sources s LEFT JOIN generations g"
        " ON g.source_id = s.id AND g.number = s.active_generation ORDER BY s.name, s.version"
    ).fetchall()
    sources = [
        SourceRescue(
            source=_label(name, version),
            documents=documents,
            lost=mending.visible_lost[number],
            asked_again=number in mending.touched,
        )
        for number, name, version, documents in rows
    ]
    here = {one.source for one in sources}
    named = (_label(*one) for one in saved.names)
    return Rescued(
        tables=tables, sources=sources, lost_sources=sorted({one for one in named if one not in here})
    )


def _label(name: Any, version: Any) -> str:
    return f"{name}@{version}" if version else str(name)
