"""Statements that stand once, and what each database makes of them."""

from __future__ import annotations

from collections import Counter
from importlib import resources

from rowen.adapters.store.postgres.transaction import QUERIES as POSTGRES
from rowen.adapters.store.shared.queries import own, shared
from rowen.adapters.store.sqlite.transaction import QUERIES as SQLITE

OWN = {name: own(f"rowen.adapters.store.{name}") for name in ("sqlite", "postgres")}


def test_one_of_many_values_is_a_list_in_each_databases_own_way() -> None:
    statement = "SELECT d.id FROM documents d WHERE d.id IN list(:ids) AND d.title LIKE 'a%'"
    assert SQLITE.translated(statement).endswith("d.id IN carray(:ids) AND d.title LIKE 'a%'")
    assert POSTGRES.translated(statement).endswith("d.id = ANY (%(ids)s) AND d.title LIKE 'a%%'")


def test_a_long_text_is_found_by_what_the_database_has_an_index_of() -> None:
    statement = "SELECT id FROM refs r WHERE r.reference IN keys(:keys)"
    assert SQLITE.translated(statement) == "SELECT id FROM refs r WHERE r.reference IN carray(:keys)"
    assert POSTGRES.translated(statement) == "SELECT id FROM refs r WHERE r.digest = ANY (%(keys)s)"


def test_many_rows_are_copied_or_inserted() -> None:
    statement = "COPY contents (hash, text) FROM STDIN;"
    assert SQLITE.translated(statement) == "INSERT INTO contents (hash, text) VALUES (?, ?);"
    assert POSTGRES.translated(statement) == statement


def test_a_cast_of_postgresql_is_no_value() -> None:
    assert POSTGRES.translated("SELECT :source::bigint") == "SELECT %(source)s::bigint"


def test_a_database_puts_its_own_statement_in_place_of_the_shared_one() -> None:
    assert "FOR KEY SHARE" in POSTGRES.sql("lease_check")
    assert "FOR KEY SHARE" not in SQLITE.sql("lease_check")
    assert not SQLITE.sql("lease_check").startswith("--"), "the sentence above it is for readers"


def test_no_statement_stands_twice() -> None:
    files = (resources.files("rowen.adapters.store.shared") / "sql").iterdir()
    names = Counter(
        line for file in files for line in file.read_text("utf-8").splitlines() if line.startswith("-- name:")
    )
    assert set(names.values()) == {1}
    for name, texts in OWN.items():
        same = [one for one in texts.keys() & shared().keys() if texts[one] == shared()[one]]
        assert not same, f"{name} repeats what is shared"
    both = OWN["sqlite"].keys() & OWN["postgres"].keys()
    assert not [one for one in both if OWN["sqlite"][one] == OWN["postgres"][one]], "they are shared"
