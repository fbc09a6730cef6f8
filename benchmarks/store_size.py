"""How many bytes a store takes for a byte of text, with its vectors and everything searches keep.

    python benchmarks/store_size.py                    an empty store, small Markdown and records of a portal,
                                                       ten times as many of both
    python benchmarks/store_size.py --folder DIR       and a real documentation set, for example
                                                       /usr/share/doc/python3.11/html (Debian: python3.11-doc)
    python benchmarks/store_size.py --postgres         in PostgreSQL as well (a server is started for it)

Text is what documents say, as Markdown. The notes are docstrings of this Python, one in a file; the records
of the portal describe datasets with the same texts. Ten times as many have the lines of each docstring in ten
orders. Each table and each index of an empty store has a page, which counts in a small store: the last line
of a corpus says what each further byte of text takes. What lies beside the database can be made again from
it.
The aims are for SQLite: of its file alone, and of all that lies on the disk.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from rowen.adapters.store.sqlite.texts import teach  # noqa: E402
from rowen.config import load  # noqa: E402
from rowen.engine.run import sync  # noqa: E402
from rowen.managing import sources  # noqa: E402
from rowen.reading.search import search  # noqa: E402
from rowen.wiring import open_ports  # noqa: E402

NOT_READ = {"test", "tests", "site-packages", "idlelib", "lib2to3", "turtledemo"}
"""Folders of the standard library."""
SHORTEST = 300
"""Characters of a docstring that is worth a note."""
SHOWN = 12
TIMES = (1, 10)
"""As many documents as there are docstrings, and so many times as many."""
AIMS = {"a documentation set": 1.4, "small Markdown": 2.0, "records of a portal": 2.0}
"""Bytes for a byte of text, with vectors and indexes."""
Corpus = Callable[[int], AbstractContextManager[tuple[str, str]]]
"""Where to harvest so many times the documents, and by which kind."""


def docstrings() -> Iterator[tuple[str, str]]:
    """Names and texts of classes and functions of the standard library, read from its files."""
    library = Path(sysconfig.get_path("stdlib"))
    for file in sorted(library.rglob("*.py")):
        path = file.relative_to(library).with_suffix("")
        if NOT_READ.intersection(path.parts):
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                said = ast.get_docstring(node) or ""
                if len(said) >= SHORTEST:
                    yield f"{'.'.join(path.parts)}.{node.name}", said


def texts(times: int) -> Iterator[tuple[str, str]]:
    """The docstrings, and each of them again with its lines in another order, until there are enough."""
    found = list(docstrings())
    yield from found
    for again in range(1, times):
        for name, said in found:
            lines = said.splitlines()
            Random(f"{again} {name}").shuffle(lines)
            yield f"{name} {again}", "\n".join(lines)


@contextmanager
def a_manual(folder: Path, _times: int) -> Iterator[tuple[str, str]]:
    command = [sys.executable, str(Path(__file__).with_name("site_server.py")), "--folder", str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        yield f"http://127.0.0.1:{server.stdout.readline().split()[0]}/", "web"
        server.stdin.close()


@contextmanager
def some_notes(times: int) -> Iterator[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, said) in enumerate(texts(times)):
            (Path(folder) / f"{number:04}.md").write_text(f"# {name}\n\n{said}\n", "utf-8")
        yield folder, "files"


@contextmanager
def a_portal(times: int) -> Iterator[tuple[str, str]]:
    from tests.support.ckan_server import CkanServer, a_dataset

    rows = (
        a_dataset(number, title=name.replace("_", " "), notes=said)
        for number, (name, said) in enumerate(texts(times))
    )
    with CkanServer(rows) as portal:
        yield portal.url, "ckan"


async def harvest(db: str, location: str, kind: str) -> None:
    config, _ = load(db=db)
    async with open_ports(config) as ports:
        added = await sources.add(ports, location, name="measured", kind=kind)
        receipt = await sync(ports, added.source)
        assert receipt.good, receipt
        # What a search keeps is made by the first one.
        await search(ports.store, ports.embedder(), "how to open a file")
        await ports.store.follow()


async def let_a_month_pass(db: str) -> None:
    """The records of finished handoffs go then (`history.keep_handoffs`)."""
    config, _ = load(db=db)
    async with open_ports(config) as ports:
        found = await ports.store.sources()
        later = ports.clock.now() + timedelta(days=31)
        await ports.store.vacuum({one.id: 0 for one in found}, handoffs_before=later, everything=False)


async def make_empty(db: str) -> None:
    config, _ = load(db=db)
    async with open_ports(config):
        pass


def on_sqlite(path: Path) -> tuple[int, dict[str, int], int]:
    import apsw

    db = apsw.Connection(str(path))
    teach(db)
    text: Any = db.execute("SELECT sum(text_bytes(text)) FROM contents").get
    rows: Any = db.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name").fetchall()
    documents: Any = db.execute("SELECT count(*) FROM documents").get
    db.close()
    return int(text or 0), dict(rows), int(documents)


def on_postgres(url: str, schema: str) -> tuple[int, dict[str, int]]:
    import psycopg

    with psycopg.connect(url.partition("&schema=")[0], autocommit=True) as db:
        db.execute(f"SET search_path TO {schema}, public".encode())
        db.execute("VACUUM FULL")
        text: Any = db.execute("SELECT sum(octet_length(text)) FROM contents").fetchone()
        rows: Any = db.execute(
            "SELECT relname, pg_table_size(oid) FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = %s::regnamespace"
            " UNION ALL SELECT relname, pg_relation_size(oid) FROM pg_class"
            " WHERE relkind = 'i' AND relnamespace = %s::regnamespace",
            (schema, schema),
        ).fetchall()
    return int(text[0]), dict(rows)


def beside(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def tell(
    what: str,
    text: int,
    tables: dict[str, int],
    followers: int,
    *,
    documents: int = 0,
    aim: float | None = None,
) -> None:
    database = sum(tables.values())
    print(
        f"{what:<33} {text / 1e6:>6.2f} MB of text: {(database + followers) / text:.2f} bytes for a byte "
        f"({database / text:.2f} in the database, {followers / text:.2f} that searches keep beside it)"
    )
    if aim is not None:
        sizes = {"the file": database, "all of it": database + followers}
        met = " and ".join(name for name, size in sizes.items() if size <= aim * text) or "neither"
        print(f"   aim {aim}: met by {met}; {text / documents:.0f} bytes of text in a document")
    largest = sorted(tables.items(), key=lambda one: -one[1])[:SHOWN]
    print("   " + ", ".join(f"{name} {size / text:.3f}" for name, size in largest))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--postgres", action="store_true")
    options = parser.parse_args()
    corpora: dict[str, Corpus] = {"small Markdown": some_notes, "records of a portal": a_portal}
    if options.folder:
        corpora = {"a documentation set": partial(a_manual, options.folder), **corpora}
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = None
        if options.postgres:
            from tests.support.postgres import own_server

            server, _ = stack.enter_context(own_server())
        path = home / "empty.db"
        asyncio.run(make_empty(f"sqlite:///{path}"))
        _, tables, _ = on_sqlite(path)
        print(f"an empty store, SQLite: {sum(tables.values()):,} bytes, {len(tables)} tables and indexes")
        for name, corpus in corpora.items():
            # A documentation set is as large as it is.
            sizes = TIMES[:1] if isinstance(corpus, partial) else TIMES
            measured = [measure(home, name, corpus, times, server) for times in sizes]
            (size, text), (last_size, last_text) = measured[0], measured[-1]
            if last_text > text:
                each = (last_size - size) / (last_text - text)
                print(f"{name}, SQLite: each further byte of text takes {each:.2f} in the database")


def measure(home: Path, name: str, corpus: Corpus, times: int, server: Any) -> tuple[int, int]:
    """Bytes of the SQLite file and of the text in it."""
    made = f"{name.replace(' ', '-')}-{times}"
    shown = name if times == 1 else f"{name} x {times}"
    with corpus(times) as (location, kind):
        path = home / f"{made}.db"
        asyncio.run(harvest(f"sqlite:///{path}", location, kind))
        text, tables, documents = on_sqlite(path)
        followers = beside(path.with_name(f"{path.name}-search"))
        tell(f"{shown}, SQLite", text, tables, followers, documents=documents, aim=AIMS[name])
        asyncio.run(let_a_month_pass(f"sqlite:///{path}"))
        later = sum(on_sqlite(path)[1].values())
        print(
            f"   a month later, without the records of finished handoffs: {later / text:.2f} in the database"
        )
        if server is not None:
            schema, cache = f"measured_{made.replace('-', '_')}", home / f"cache-{made}"
            os.environ["XDG_CACHE_HOME"] = str(cache)  # noqa: TID251
            asyncio.run(harvest(f"{server.url}&schema={schema}", location, kind))
            tell(f"{shown}, PostgreSQL", *on_postgres(server.url, schema), beside(cache))
    return sum(tables.values()), text


if __name__ == "__main__":
    main()
