"""Loads `queries.sql`: named statements, each under one sentence that says what it is for.

They are written with `:name` for a value, as in the SQLite files; the driver wants `%(name)s`.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_COMMENT = re.compile(r"^\s*--.*\n", re.MULTILINE)
_VALUE = re.compile(r"(?<!:):([a-z]\w*)")


@cache
def queries() -> dict[str, str]:
    text = (resources.files(__package__) / "queries.sql").read_text("utf-8")
    parts = _NAME.split(text)
    return {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}


@cache
def sql(name: str) -> str:
    return _VALUE.sub(r"%(\1)s", _COMMENT.sub("", queries()[name]))
