"""What a client gave to a tool, read forgivingly: models write numbers as text and name what they leave away.

What cannot be understood is a `UserError` that says what was expected.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from rowen.doors.mcp.quoting import clean
from rowen.errors import UserError, did_you_mean

MAX_CHARS = 4_000


class Arguments:
    def __init__(self, tool: str, values: Mapping[str, Any], *, known: Collection[str]) -> None:
        self._tool = tool
        self._values = {name: value for name, value in values.items() if value not in (None, "")}
        for name in self._values:
            if name not in known:
                takes = ", ".join(f"`{one}`" for one in known) or "none"
                raise UserError(
                    f"argument `{clean(name)}`: `{tool}` has none of that name",
                    hint=did_you_mean(name, known, otherwise=f"its arguments: {takes}"),
                )

    def text(self, name: str) -> str:
        """Empty if omitted."""
        value = self._values.get(name, "")
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise UserError(f"argument `{name}`: expected text, got {type(value).__name__}")
        if len(str(value)) > MAX_CHARS:
            raise UserError(
                f"argument `{name}`: expected up to {MAX_CHARS} characters, got {len(str(value))}"
            )
        return clean(str(value)).strip()

    def required(self, name: str) -> str:
        value = self.text(name)
        if not value:
            raise UserError(f"argument `{name}`: `{self._tool}` needs it, and it is empty or missing")
        return value

    def flag(self, name: str) -> bool:
        value = self._values.get(name)
        if value not in (None, True, False, "true", "false"):
            raise UserError(f"argument `{name}`: expected true or false, got `{clean(str(value))[:50]}`")
        return value in (True, "true")

    def number(self, name: str, *, low: int, high: int, default: int | None = None) -> int | None:
        value = self._values.get(name, default)
        if value is None:
            return None
        try:
            number = int(str(value)) if not isinstance(value, bool | float) else int(value)
        except (ValueError, OverflowError):
            raise UserError(f"argument `{name}`: expected a number, got `{clean(str(value))[:50]}`") from None
        if isinstance(value, bool) or not low <= number <= high:
            raise UserError(f"argument `{name}`: expected {low} to {high}, got {clean(str(value))[:50]}")
        return number
