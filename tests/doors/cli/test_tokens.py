"""`rowen token`: shown once, stored as a hash, gone when removed."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from rowen.core.safety.access import PREFIX, digest
from tests.doors.conftest import Rowen


def test_a_token_is_shown_once_and_stored_as_its_hash(rowen: Rowen, db: str) -> None:
    made = rowen("token", "create", "ci", "--scope", "sync")
    assert made.code == 0
    (secret,) = made.out.splitlines()
    assert secret.startswith(PREFIX)
    assert len(secret) > 40
    assert secret not in made.err
    assert secret not in rowen("token", "list").out + rowen("token", "list", "--json").out
    with closing(sqlite3.connect(db.removeprefix("sqlite:///"))) as store:
        rows = store.execute("SELECT name, digest, scope FROM tokens").fetchall()
    assert rows == [("ci", digest(secret), "sync")]


def test_tokens_are_listed_with_what_they_allow(rowen: Rowen) -> None:
    assert "no tokens" in rowen("token", "list").out
    first = rowen("token", "create", "reader", "--scope", "read", "--json").json
    second = rowen("token", "create", "boss", "--scope", "admin", "--json").json
    assert first["token"] != second["token"]
    listed = rowen("token", "list", "--json").json["tokens"]
    assert {(one["name"], one["scope"], one["last_used_at"]) for one in listed} == {
        ("reader", "read", None),
        ("boss", "admin", None),
    }
    assert "never" in rowen("token", "list").out


def test_a_token_that_is_removed_is_gone(rowen: Rowen) -> None:
    rowen("token", "create", "ci", "--scope", "read")
    assert rowen("token", "remove", "ci", "--json").json == {"name": "ci", "removed": True}
    again = rowen("token", "remove", "ci")
    assert again.code == 2
    assert "no such token" in again.err


@pytest.mark.parametrize(
    "arguments",
    [("a b", "--scope", "read"), ("x", "--scope", "root"), ("x",), ("", "--scope", "read")],
)
def test_a_mistake_makes_no_token(rowen: Rowen, arguments: tuple[str, ...]) -> None:
    assert rowen("token", "create", *arguments).code == 2
    assert rowen("token", "list", "--json").json["tokens"] == []


def test_two_tokens_do_not_share_a_name(rowen: Rowen) -> None:
    assert rowen("token", "create", "ci", "--scope", "read").code == 0
    assert rowen("token", "create", "ci", "--scope", "admin").code == 2
