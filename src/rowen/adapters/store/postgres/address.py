"""Where a PostgreSQL store is: its address for the driver, its schema, and how it is named in messages.

A password is in the first of these only.
"""

from __future__ import annotations

import re
from dataclasses import field
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from rowen.errors import StoreUnusable
from rowen.records import dataclass

DEFAULT_SCHEMA = "rowen"
DEFAULTS: dict[str, str | int | None] = {
    "application_name": "rowen",
    "connect_timeout": 10,
    # A network that is gone is noticed in half a minute, not in the quarter of an hour that systems take.
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""What an address says itself stands."""

_SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    conninfo: str = field(repr=False)
    schema: str
    shown: str
    """Without password and options."""


def read_address(url: str, schema: str | None = None) -> Address:
    """`postgresql://user:password@host:port/database?schema=name`, with all other options of libpq."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise _unreadable() from None
    options = parse_qsl(parts.query, keep_blank_values=True)
    name = schema or dict(options).get("schema") or DEFAULT_SCHEMA
    if not _SCHEMA_NAME.fullmatch(name):
        raise StoreUnusable(
            f"store schema `{name}`: not a name of a schema",
            hint="use small letters, digits and `_`, for example `?schema=rowen`",
            schema=name,
        )
    rest = urlencode([(key, value) for key, value in options if key != "schema"])
    try:
        values = conninfo_to_dict(urlunsplit(parts._replace(query=rest)))
    except psycopg.ProgrammingError:
        raise _unreadable() from None  # its words may hold a piece of the password
    host, port = str(values.get("host") or ""), str(values.get("port") or "")
    database = str(values.get("dbname") or "")
    # A password with an unescaped `@` or `/` spills into these, and from there into messages.
    if "@" in host + database or not re.fullmatch(r"[\d,]*", port):
        raise _unreadable()
    values = {**DEFAULTS, **values}
    user = f"{values['user']}@" if values.get("user") else ""
    where = f"{host}:{port}" if port else host
    return Address(
        conninfo=make_conninfo("", **values),
        schema=name,
        shown=f"postgresql://{user}{where}/{database}",
    )


def _unreadable() -> StoreUnusable:
    return StoreUnusable(
        "store `postgresql://...`: not an address PostgreSQL understands",
        hint="write `postgresql://user:password@host/database`; in a password `@` is `%40` and `/` is `%2F`",
    )
