"""Loads `queries.sql`: named statements, each under one sentence that says what it is for."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@cache
def queries() -> dict[str, str]:
    text = (resources.files(__package__) / "queries.sql").read_text("utf-8")
    parts = _NAME.split(text)
    return {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def sql(name: str) -> str:
    return queries()[name]
