"""Durations as people write them: the one grammar of every setting, configuration key and command.

A duration is `90s`, `15m`, `6h`, `1d` or `2w`, several of these in a row (`1h30m`), or `hourly`, `daily`,
`weekly`. A bare number is read in the unit of its setting, where the setting has one.
"""

from __future__ import annotations

from rowen.errors import ConfigError
from rowen.patterns import pattern
from rowen.records import dataclass

UNITS = {"w": 604_800.0, "d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
NAMED = {"hourly": "1h", "daily": "1d", "weekly": "1w"}
LONGEST_S = 4e9
LONGEST_INTERVAL_S = 3650 * UNITS["d"]
EXAMPLES = "`30s`, `15m`, `6h`, `1d` or `2w`"

_NUMBER = r"(?:\d[\d_]*\.?\d*|\.\d+)(?:e[+-]?\d+)?"
_PART = pattern(rf"\s*(\+?{_NUMBER})\s*([smhdw])\s*")
_BARE = pattern(rf"[+-]?{_NUMBER}")


@dataclass(frozen=True, slots=True)
class Duration:
    """Reads the text of a setting as seconds; a `ValueError` says what was expected."""

    low: float = 0.0
    high: float = LONGEST_S
    bare: str = ""
    """The unit of a bare number; without one, a bare number is refused."""

    def __call__(self, text: str) -> float:
        value = seconds(text, bare=self.bare)
        if value is None:
            raise ValueError(f"expected a duration such as {EXAMPLES}")
        if not self.low <= value <= self.high:
            raise ValueError(f"expected {self.low:g} to {self.high:g} seconds")
        return value


@dataclass(frozen=True, slots=True)
class Days:
    """The same for a setting that counts whole days."""

    low: int
    high: int

    def __call__(self, text: str) -> int:
        days = Duration(bare="d")(text) / UNITS["d"]
        if days != int(days) or not self.low <= days <= self.high:
            raise ValueError(f"expected {self.low} to {self.high} whole days")
        return int(days)


def seconds(text: str, *, bare: str = "") -> float | None:
    """None for what is no duration; `bare` is the unit of a number without one."""
    word = text.strip().lower()
    word = NAMED.get(word, word)
    if bare and _BARE.fullmatch(word):
        return float(word) * UNITS[bare]
    total, at = 0.0, 0
    while part := _PART.match(word, at):
        total += float(part[1]) * UNITS[part[2]]
        at = part.end()
    return total if at and at == len(word) else None


def interval_s(text: str, *, of: str = "interval") -> float:
    """How often something is done, or how long it is kept: a second to ten years. `of` is for messages."""
    value = seconds(text)
    if value is None:
        raise ConfigError(f"{of} `{text}`: expected something like `15m`, `6h`, `1d` or `weekly`")
    if not 1.0 <= value <= LONGEST_INTERVAL_S:
        raise ConfigError(f"{of} `{text}`: expected one second to ten years")
    return value


def every_s(text: str) -> float:
    """The interval of a source: a duration, or `auto` for one that is chosen by what was learnt of it (0)."""
    return 0.0 if text.strip().lower() == "auto" else interval_s(text)


def text_of(value: float) -> str:
    """What `seconds` reads as this value: `1h30m`, `2w`, `0.5s`."""
    if value != int(value) or not value:
        return f"{value!r}s" if value else "0s"
    rest, parts = int(value), []
    for unit, size in UNITS.items():
        count, rest = divmod(rest, int(size))
        parts += [f"{count}{unit}"] if count else []
    return "".join(parts)
