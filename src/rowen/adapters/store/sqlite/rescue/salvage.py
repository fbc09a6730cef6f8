"""From the pages of a damaged file into a new one with the same schema, row by row.

A table's rows are read from its own pages. Its indexes say which rows there should have been, and give back
those whose columns they hold. Nothing is said yet about rows that point at lost ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import partial
from typing import Any

import apsw

from rowen.adapters.store.sqlite.rescue.pages import Pages, Record, Tree, Value
from rowen.core.exchange.store_rescue import TableRescue
from rowen.records import dataclass

LEFT_OUT = frozenset(("leases", "jobs", "questions", "shard_turns", "deliveries"))
"""They belong to processes, not to the store; a copy of a store leaves them out too."""
DERIVED = "passages_fts"
"""The index of words that older stores have; searches make theirs from the passages."""

ROWID = -1
"""In place of the number of a column, in what SQLite tells of an index."""

Row = tuple[Value, ...]
Key = tuple[Value, ...]
Tell = Callable[[str, int], None]
"""A table, and how many of its rows were read."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table as the schema of the new file has it."""

    name: str
    columns: list[str]
    key: list[str]
    rowid: str | None
    """The column that is the number of the row, in a table that has numbers."""
    stored: list[str]
    """The columns in the order in which a record has them."""
    defaults: dict[str, Value]
    needed: set[str]
    """Columns that must have a value and have no default."""


@dataclass(slots=True)
class Listed:
    """What the indexes of a table say of its rows."""

    missing: dict[Key, Row | None] = field(default_factory=dict)
    """Rows that were not saved; with their values if an index holds them."""
    every: set[Key] = field(default_factory=set)
    """All rows there were; empty if no index is whole."""


@dataclass(slots=True)
class Salvaged:
    tables: dict[str, TableRescue] = field(default_factory=dict)
    names: list[tuple[Value, ...]] = field(default_factory=list)
    """What an index says of lost sources: name and version."""


class Salvage:
    def __init__(self, pages: Pages, made: apsw.Connection) -> None:
        self._pages = pages
        self._made = made
        self._roots: dict[str, int] = {}
        self._tree = Tree()
        for record in pages.rows(1, self._tree):
            match record.values:
                case (str(), str(name), str(), int(root), *_) if root:
                    self._roots[name] = root

    @property
    def empty(self) -> bool:
        """Not even the list of tables can be read."""
        return not self._roots.keys() & {table.name for table in tables(self._made)}

    def save_all(self, tell: Tell) -> Salvaged:
        done = Salvaged()
        for table in tables(self._made):
            done.tables[table.name] = self._save(table, done, partial(tell, table.name))
        self._keep_numbers()
        return done

    def _save(self, table: Table, done: Salvaged, tell: Callable[[int], None]) -> TableRescue:
        tree = Tree()
        read: set[Key] = set()
        saved: set[Key] = set()
        for row in self._rows(table, tree):
            key = _key(table, row)
            read.add(key)
            if self._insert(table, row):
                saved.add(key)
            if len(read) % 1000 == 0:
                tell(len(read))
        listed = self._from_indexes(table, done, saved)
        saved.update(key for key, row in listed.missing.items() if row and self._insert(table, row))
        # A whole index knows every row. Without one, what was read and could not be saved is all we know of.
        known = listed.every or read | listed.missing.keys() | {(number,) for number in tree.bad_rows}
        return TableRescue(
            saved=len(saved),
            lost=len(known - saved) + (0 if listed.every else tree.nameless),
            pages=len(tree.bad_pages) if table.name in self._roots else 1,
        )

    def _rows(self, table: Table, tree: Tree) -> Iterator[Row]:
        root = self._roots.get(table.name)
        if root is None:
            return
        for record in self._pages.rows(root, tree):
            row = _row(table, record)
            if row is not None:
                yield row
            else:
                tree.nameless += 1

    def _from_indexes(self, table: Table, done: Salvaged, saved: set[Key]) -> Listed:
        listed = Listed()
        found = fetch(self._made, "SELECT name, partial FROM pragma_index_list(?)", table.name)
        for index, some in found:
            root = self._roots.get(index)
            if root is None or root == self._roots.get(table.name):
                continue
            # What is no column but made of one gives nothing back.
            columns = [
                name or (table.rowid if number == ROWID else None)
                for number, name in fetch(self._made, "SELECT cid, name FROM pragma_index_xinfo(?)", index)
            ]
            covers = table.needed <= set(columns)
            tree = Tree()
            keys: set[Key] = set()
            for record in self._pages.rows(root, tree):
                if len(record.values) != len(columns):
                    tree.nameless += 1
                    continue
                values = dict(zip(columns, record.values, strict=True))
                key = tuple(values.get(name) for name in table.key)
                keys.add(key)
                if key in saved or None in key:
                    continue
                row = tuple(values.get(name, table.defaults[name]) for name in table.columns)
                listed.missing[key] = row if covers else listed.missing.get(key)
                if table.name == "sources" and "name" in values:
                    done.names.append((values["name"], values.get("version")))
            if not some and not tree.bad_pages and not tree.nameless:
                listed.every = keys
        return listed

    def _insert(self, table: Table, row: Row) -> int:
        before = self._made.total_changes()
        names = ", ".join(f'"{name}"' for name in table.columns)
        places = ", ".join("?" * len(table.columns))
        try:
            self._made.execute(f'INSERT OR IGNORE INTO "{table.name}" ({names}) VALUES ({places})', row)
        except (apsw.MismatchError, apsw.ConstraintError, apsw.TooBigError):
            return 0
        return self._made.total_changes() - before

    def _keep_numbers(self) -> None:
        """Numbers that were given to rows are not given again."""
        root = self._roots.get("sqlite_sequence")
        for record in self._pages.rows(root, Tree()) if root else ():
            match record.values:
                case (str(name), int(seq)):
                    self._made.execute(
                        "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (seq, name)
                    )
                    if not self._made.changes():
                        self._made.execute(
                            "INSERT INTO sqlite_sequence (name, seq) SELECT name, ? FROM sqlite_schema"
                            " WHERE type = 'table' AND name = ? AND sql LIKE '%AUTOINCREMENT%'",
                            (seq, name),
                        )


def fetch(db: apsw.Connection, statement: str, *values: Value) -> list[Any]:
    return db.execute(statement, values).fetchall()


def tables(db: apsw.Connection) -> list[Table]:
    """The tables whose rows are saved."""
    found = fetch(
        db,
        "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
        " AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    return [
        _table(db, name, without_rowid=bool(wr))
        for name, wr in found
        if name not in LEFT_OUT and not name.startswith(DERIVED)
    ]


def _table(db: apsw.Connection, name: str, *, without_rowid: bool) -> Table:
    info = fetch(
        db, 'SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?) ORDER BY cid', name
    )
    columns = [row[0] for row in info]
    key = [row[0] for row in sorted(info, key=lambda row: row[4]) if row[4]]
    rowid = None if without_rowid else key[0] if len(key) == 1 and _is_number(info, key[0]) else "rowid"
    defaults = {row[0]: db.execute(f"SELECT {row[3] or 'NULL'}").get for row in info}
    return Table(
        name=name,
        columns=["rowid", *columns] if rowid == "rowid" else columns,
        key=key if rowid is None else [rowid],
        rowid=rowid,
        stored=[*key, *(one for one in columns if one not in key)] if without_rowid else columns,
        defaults={"rowid": None, **defaults},
        needed={row[0] for row in info if (row[2] or row[4]) and row[3] is None},
    )


def _is_number(info: Sequence[Any], column: str) -> bool:
    return any(row[0] == column and row[1].upper() == "INTEGER" for row in info)


def _row(table: Table, record: Record) -> Row | None:
    """The values in the order of the columns; None for a record that is not of this table."""
    values = dict(zip(table.stored, record.values, strict=False))
    if len(record.values) > len(table.stored) or (record.rowid is None) != (table.rowid is None):
        return None
    if table.rowid is not None:
        values[table.rowid] = record.rowid
    return tuple(values.get(name, table.defaults[name]) for name in table.columns)


def _key(table: Table, row: Row) -> Key:
    places = dict(zip(table.columns, row, strict=True))
    return tuple(places.get(name) for name in table.key)
