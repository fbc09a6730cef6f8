"""What the errors of psycopg mean to the caller of the store.

Every class of SQLSTATE has a verdict here, and a test holds the table against psycopg's list. A bug stays
what it is, with its traceback.
"""

from __future__ import annotations

from enum import Enum

import psycopg

from rowen.errors import RowenError, StoreBusy, StoreFull, StoreUnusable


class Verdict(Enum):
    BUSY = "the same call may work later"
    FULL = "no room"
    UNUSABLE = "the database or the address must be fixed"
    BUG = "ours"


CLASSES: dict[str, Verdict] = {
    "02": Verdict.BUG,  # no data
    "03": Verdict.BUG,  # statement not complete
    "08": Verdict.BUSY,  # connection
    "09": Verdict.BUG,  # triggered action
    "0A": Verdict.BUG,  # not supported
    "0B": Verdict.BUG,  # transaction initiation
    "0F": Verdict.BUG,  # locator
    "0L": Verdict.UNUSABLE,  # grantor
    "0P": Verdict.UNUSABLE,  # role
    "0Z": Verdict.BUG,  # diagnostics
    "10": Verdict.BUG,  # XQuery
    "20": Verdict.BUG,  # case not found
    "21": Verdict.BUG,  # cardinality
    "22": Verdict.BUG,  # data
    "23": Verdict.BUG,  # integrity
    "24": Verdict.BUG,  # cursor state
    "25": Verdict.BUG,  # transaction state
    "26": Verdict.BUG,  # statement name
    "27": Verdict.BUG,  # triggered data change
    "28": Verdict.UNUSABLE,  # authorization
    "2B": Verdict.BUG,  # dependent privileges
    "2D": Verdict.BUG,  # transaction termination
    "2F": Verdict.BUG,  # SQL routine
    "34": Verdict.BUG,  # cursor name
    "38": Verdict.BUG,  # external routine
    "39": Verdict.BUG,  # external routine invocation
    "3B": Verdict.BUG,  # savepoint
    "3D": Verdict.UNUSABLE,  # no such database
    "3F": Verdict.UNUSABLE,  # no such schema
    "40": Verdict.BUSY,  # rolled back: serialization, deadlock
    "42": Verdict.BUG,  # syntax and access rules
    "44": Verdict.BUG,  # check option
    "53": Verdict.BUSY,  # resources
    "54": Verdict.BUG,  # program limits
    "55": Verdict.BUSY,  # object not in its state: locks
    "57": Verdict.BUSY,  # operator intervention: shutdown, cancel
    "58": Verdict.UNUSABLE,  # the system below the server
    "72": Verdict.BUSY,  # snapshot too old
    "F0": Verdict.UNUSABLE,  # configuration file
    "HV": Verdict.BUG,  # foreign data
    "P0": Verdict.BUG,  # PL/pgSQL
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

_LOCKED = ("55P03", "40P01")


def verdict(exc: psycopg.Error) -> Verdict:
    code = exc.sqlstate
    if code:
        return CODES.get(code) or CLASSES[code[:2]]
    # Without a code it did not come from the server: the connection itself, or our own mistake.
    broken = isinstance(exc, psycopg.OperationalError | psycopg.InterfaceError)
    return Verdict.BUSY if broken else Verdict.BUG


def translated(exc: psycopg.Error, shown: str, *, timeout_s: float) -> RowenError | None:
    """Our error for theirs; None for a bug."""
    said = _said(exc)
    match verdict(exc):
        case Verdict.FULL:
            return StoreFull(
                f"store `{shown}`: the server's disk is full; what was visible before is unchanged",
                hint="free some space on the server and run the same command again",
                store=shown,
            )
        case Verdict.BUSY if exc.sqlstate in _LOCKED:
            return StoreBusy(
                f"store `{shown}`: locked by another process for more than {timeout_s:g} s",
                hint="wait for the other command to end, or find it with `rowen status`",
                store=shown,
            )
        case Verdict.BUSY:
            return StoreBusy(
                f"store `{shown}`: the server did not answer: {said}",
                hint="run the same command again once the server is up",
                store=shown,
            )
        case Verdict.UNUSABLE:
            return StoreUnusable(
                f"store `{shown}`: the server refused: {said}",
                hint="check the database, the user and its rights",
                store=shown,
            )
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
        return StoreUnusable(
            f"store `{shown}`: the server refused the connection: {said}",
            hint="check user, password and database in `--db` (or `ROWEN_DB`)",
            store=shown,
        )
    if "too many" in said:
        return StoreBusy(
            f"store `{shown}`: no connection is free: {said}",
            hint="a process uses up to ten; raise `max_connections`, or run fewer processes",
            store=shown,
        )
    return StoreBusy(
        f"store `{shown}`: cannot be reached: {said}",
        hint="check that PostgreSQL is running and that host and port in `--db` (or `ROWEN_DB`) are right",
        store=shown,
    )


def _said(exc: psycopg.Error) -> str:
    """Theirs, on one line, without what comes before the point."""
    text = exc.diag.message_primary or str(exc) or type(exc).__name__
    return " ".join(text.rpartition("FATAL:")[2].split())
