"""Stores of version 0.1.0 are upgraded and answer as they did, on both databases.

`fixtures/make_old_store.py` says where they come from and what happened to them.
"""

from __future__ import annotations

import gzip
import json
import os
import shlex
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rowen.doors.cli import main
from tests.support.postgres import Server

FIXTURES = Path(__file__).parents[1] / "fixtures"
EXPECTED: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))
SCHEMAS = {"sqlite": 8, "postgres": 6}
"""The newest ones that version 0.1.0 knew."""

Ask = Callable[[str], Any]


@dataclass(frozen=True)
class Old:
    """A store as version 0.1.0 left it."""

    kind: str
    url: str
    execute: Callable[[str], list[Any]]


@pytest.fixture(params=["sqlite", "postgres"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Old]:
    if request.param == "sqlite":
        yield from on_sqlite(tmp_path / "rowen.db")
    else:
        yield from on_postgres(request.getfixturevalue("postgres"))


def on_sqlite(file: Path) -> Iterator[Old]:
    file.write_bytes(unpacked("store-0.1.0.db.gz"))

    def execute(statement: str) -> list[Any]:
        with sqlite3.connect(file) as db:
            found = db.execute(statement).fetchall()
        db.close()
        return found

    yield Old("sqlite", f"sqlite:///{file}", execute)


def on_postgres(server: Server) -> Iterator[Old]:
    with server.schema() as schema:
        with server.connect() as db:
            with db.transaction():
                # Stores made at the same time want the same extension; this is the lock they take for it.
                db.execute("SELECT pg_advisory_xact_lock(x'526F776E'::int, 1)")
                db.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
            db.execute(unpacked("store-0.1.0.pgsql.gz").replace(b"store_0_1_0", schema.encode()))

        def execute(statement: str) -> list[Any]:
            with server.connect() as db:
                db.execute(f"SET search_path TO {schema}")
                done = db.execute(statement.encode())
                return done.fetchall() if done.description else []

        yield Old("postgres", f"{server.url}&schema={schema}", execute)


def unpacked(name: str) -> bytes:
    return gzip.decompress((FIXTURES / name).read_bytes())


@pytest.fixture
def ask(old: Old, capsys: pytest.CaptureFixture[str]) -> Ask:
    """What the command line answers, once the store was upgraded: one JSON value, or the text it is."""

    def answer(command: str) -> Any:
        capsys.readouterr()
        code = main([*shlex.split(command), "--db", old.url])
        said = capsys.readouterr()
        assert code == 0, said.err
        return json.loads(said.out) if "--json" in command else said.out

    upgraded = answer("db upgrade --json")
    assert upgraded["before"] == SCHEMAS[old.kind]
    newest = upgraded["version"]
    assert answer("db version --json") == {"version": newest, "latest": newest, "missing": []}
    return answer


def test_an_upgraded_store_answers_as_before(old: Old, ask: Ask) -> None:
    # A pause until 2099 is longer than any: it is not believed any more.
    said = json.dumps(EXPECTED, ensure_ascii=False).replace('"2099-01-01T00:00:00+00:00"', "null")
    # Matched words stood between « and » then; a snippet is plain text now.
    expected = json.loads(said.replace("«", "").replace("»", ""))
    for question, answer in {**expected["both"], **expected[old.kind]}.items():
        found = ask(question)
        if question == "status --json":
            del found["db"]
            # A run whose process is gone is not called running any more.
            (left,) = (source for source in answer["sources"] if source["status"] == "RUNNING")
            left |= {"status": "ERROR", "last_error": "its process ended before it did"}
        assert _as_far_as(answer, found) == answer, question


def _as_far_as(known: Any, found: Any) -> Any:
    """An answer without the fields that a later version has added; scores mean something else there."""
    if isinstance(known, dict) and isinstance(found, dict):
        both = {name: _as_far_as(known[name], value) for name, value in found.items() if name in known}
        return both | ({"score": known["score"]} if "score" in both else {})
    if isinstance(known, list) and isinstance(found, list):
        pairs = [_as_far_as(one, other) for one, other in zip(known, found, strict=False)]
        return pairs + found[len(known) :]
    return found


def test_no_row_is_lost_by_an_upgrade(old: Old, ask: Ask) -> None:
    rows = EXPECTED["rows"][old.kind]
    assert {table: old.execute(f"SELECT count(*) FROM {table}")[0][0] for table in rows} == rows


def test_texts_of_an_upgraded_store_are_stored_once_and_given_back_on_the_way_down(
    old: Old, ask: Ask
) -> None:
    own_text = "SELECT count(*) FROM passages WHERE text <> ''"
    passages = EXPECTED["rows"][old.kind]["passages"]
    assert ask("db check --json")["findings"] == []
    assert old.execute(own_text) == [(0,)], "all of them are cut out of their contents"
    ask(f"db downgrade --to {SCHEMAS[old.kind]} --yes --json")
    assert old.execute(own_text) == [(passages,)]
    ask("db upgrade --json")
    assert ask("db check --json")["findings"] == []


def test_an_upgraded_store_is_searched_by_meaning(ask: Ask) -> None:
    found = ask('search "keeping fruit in winter" --json')
    assert (found["mode"], found["degraded"]) == ("hybrid", None)
    assert found["hits"][0]["url"] == "file:///srv/notes/fruit/plums.md"


def test_generations_of_an_upgraded_store_are_shown_and_taken_back(ask: Ask) -> None:
    assert not ask("search medlar --mode keyword --json")["hits"]
    assert ask("rollback docs --json") == {"source": "docs", "generation": 2, "before": 3}
    (hit, *_) = ask("search medlar --mode keyword --json")["hits"]
    assert hit["url"].startswith("https://docs.example.org/medlar.html")
    assert ask("approve wiki --json") == {"source": "wiki", "generation": 2, "before": 1}
    documents = {one["label"]: one["documents"] for one in ask("status --json")["sources"]}
    assert (documents["docs"], documents["wiki"]) == (7, 4)
    waiting = {one["name"]: one["waiting"] for one in ask("sinks --json")["sinks"]}
    assert waiting == {"gone": 20, "index": 14}, "what was shown again is news to the sinks"


def test_a_folder_is_synced_after_an_upgrade_and_only_what_changed_is_read(
    old: Old, ask: Ask, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    for path, (text, at_ns) in EXPECTED["notes"].items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        os.utime(file, ns=(at_ns, at_ns))
    (folder / "fruit/plums.md").write_text("# Plums\n\nThe tree by the wall is a greengage.\n", "utf-8")
    old.execute(f"UPDATE sources SET location = '{folder}' WHERE name = 'notes'")
    receipt = ask("sync notes --json")
    assert (receipt["status"], receipt["generation"], receipt["run_id"]) == ("completed", 3, 23)
    assert (receipt["reads"], receipt["updated"], receipt["not_modified"]) == (1, 1, 2)
    (hit,) = ask("search greengage --mode keyword --json")["hits"]
    assert (hit["source"], hit["generation"]) == ("notes", 3)


def test_a_source_is_added_after_an_upgrade(ask: Ask, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    (folder / "medlar.txt").write_text("The medlar is eaten when it looks spoilt.\n", "utf-8")
    ask(f"add {folder} --name new")
    assert ask("sync new --json")["created"] == 1
    (hit,) = ask("search medlar --mode keyword --json")["hits"]
    assert (hit["source"], hit["generation"]) == ("new", 1)
