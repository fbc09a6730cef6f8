"""What the errors of psycopg mean to the caller of the store.

Every class of SQLSTATE has a verdict here, and a test holds the table against psycopg's list. A bug stays
what it is, with its traceback.
"""

from __future__ import annotations

from enum import Enum

import psycopg

from rowen.adapters.store.shared.migrations import PARTS
from rowen.errors import PartMissing, RowenError, StoreBusy, StoreFull, StoreUnreachable, StoreUnusable


class Verdict(Enum):
    BUSY = "the same call may work later"
    FULL = "no room"
    UNUSABLE = "the database or the address must be fixed"
    BUG = "ours"


# Statements, values, cursors, transactions and functions that are wrong.
_BUGS = (
    "02", "03", "09", "0A", "0B", "0F", "0Z", "10", "20", "21", "22", "23", "24", "25", "26", "27", "2B",
    "2D", "2F", "34", "38", "39", "3B", "42", "44", "54", "HV", "P0",
)  # fmt: skip
CLASSES: dict[str, Verdict] = {
    **dict.fromkeys(_BUGS, Verdict.BUG),
    "08": Verdict.BUSY,  # connection
    "0L": Verdict.UNUSABLE,  # grantor
    "0P": Verdict.UNUSABLE,  # role
    "28": Verdict.UNUSABLE,  # authorization
    "3D": Verdict.UNUSABLE,  # no such database
    "3F": Verdict.UNUSABLE,  # no such schema
    "40": Verdict.BUSY,  # rolled back: serialization, deadlock
    "53": Verdict.BUSY,  # resources
    "55": Verdict.BUSY,  # object not in its state: locks
    "57": Verdict.BUSY,  # operator intervention: shutdown, cancel
    "58": Verdict.UNUSABLE,  # the system below the server
    "72": Verdict.BUSY,  # snapshot too old
    "F0": Verdict.UNUSABLE,  # configuration file
    "XX": Verdict.UNUSABLE,  # internal, corruption
}

CODES: dict[str, Verdict] = {
    "25006": Verdict.UNUSABLE,  # read only: a replica
    "25P03": Verdict.BUSY,  # idle in a transaction for too long
    "25P04": Verdict.BUSY,  # a transaction for too long
    "42501": Verdict.UNUSABLE,  # not allowed
    "53100": Verdict.FULL,  # disk full
    "57P04": Verdict.UNUSABLE,  # the database was dropped
}

_AWAY = ("08", "57")
"""Classes of a server that is not there, or that is being stopped."""
_LOCKED = ("55P03", "40P01")


def verdict(exc: psycopg.Error) -> Verdict:
    code = exc.sqlstate
    if code:
        return CODES.get(code) or CLASSES[code[:2]]
    # Without a code it did not come from the server: the connection itself, or our own mistake.
    broken = isinstance(exc, psycopg.OperationalError | psycopg.InterfaceError)
    return Verdict.BUSY if broken else Verdict.BUG


def problem(kind: type[RowenError], shown: str, fact: str, hint: str) -> RowenError:
    return kind(f"store `{shown}`: {fact}", hint=hint, store=shown)


def translated(exc: psycopg.Error, shown: str, *, timeout_s: float) -> RowenError | None:
    """Our error for theirs; None for a bug."""
    if isinstance(exc, psycopg.errors.UndefinedTable):
        part = next((part for part in PARTS if f'"{part}"' in str(exc)), None)
        return None if part is None else PartMissing.of(part)
    match verdict(exc):
        case Verdict.FULL:
            fact = "the server's disk is full; what was visible before is unchanged"
            return problem(
                StoreFull, shown, fact, "free some space on the server and run the same command again"
            )
        case Verdict.BUSY if exc.sqlstate in _LOCKED:
            fact = f"locked by another process for more than {timeout_s:g} s"
            hint = "wait for the other command to end, or find it with `rowen status`"
            return problem(StoreBusy, shown, fact, hint)
        case Verdict.BUSY:
            fact = f"the server did not answer: {_said(exc)}"
            away = not exc.sqlstate or exc.sqlstate[:2] in _AWAY
            kind = StoreUnreachable if away else StoreBusy
            return problem(kind, shown, fact, "run the same command again once the server is up")
        case Verdict.UNUSABLE:
            fact = f"the server refused: {_said(exc)}"
            return problem(StoreUnusable, shown, fact, "check the database, the user and its rights")
        case Verdict.BUG:
            return None


_REFUSED = (
    "authentication",
    "password",
    "pg_hba.conf",
    "does not exist",
    "permission denied",
    "not permitted",
)


def not_connected(exc: psycopg.Error, shown: str) -> RowenError:
    """A connection that was not made. The driver gives no code for it, only the server's words."""
    said = _said(exc)
    if any(word in said for word in _REFUSED):
        hint = "check user, password and database in `--db` (or `ROWEN_DB`)"
        return problem(StoreUnusable, shown, f"the server refused the connection: {said}", hint)
    if "too many" in said:
        hint = "a process uses up to ten; raise `max_connections`, or run fewer processes"
        return problem(StoreBusy, shown, f"no connection is free: {said}", hint)
    hint = "check that PostgreSQL is running and that host and port in `--db` (or `ROWEN_DB`) are right"
    return problem(StoreUnreachable, shown, f"cannot be reached: {said}", hint)


def _said(exc: psycopg.Error) -> str:
    """Theirs, on one line, without what comes before the point."""
    text = exc.diag.message_primary or str(exc) or type(exc).__name__
    return " ".join(text.rpartition("FATAL:")[2].split())
