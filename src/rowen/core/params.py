"""Parameters of a source: what they are called, what they may be, and which of them make a source itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rowen.core.rules import duration
from rowen.core.rules.duration import Duration
from rowen.errors import ConfigError, did_you_mean
from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Param:
    name: str
    default: Any
    help: str
    parse: Callable[[str], Any]
    identity: bool
    """It changes what is fetched, so it is part of the source's key."""
    key: Callable[[str], str] | None = None
    """Of a table, given as `name.KEY=value` once for each key: reads the key."""
    secret: bool = False
    """What was given is not repeated in messages: it may be what should not have been given."""

    @property
    def label(self) -> str:
        """The name as it is typed."""
        return f"{self.name}.NAME" if self.key else self.name

    @property
    def shown(self) -> str:
        """The default as it would be typed."""
        if isinstance(self.default, bool):
            return str(self.default).lower()
        if isinstance(self.parse, Duration) and isinstance(self.default, float):
            return duration.text_of(self.default)
        if isinstance(self.default, list | dict):
            return ",".join(self.default)
        return "none" if self.default is None else str(self.default)


def what(
    name: str,
    default: Any,
    help: str,  # noqa: A002
    parse: Callable[[str], Any] = str.strip,
    *,
    key: Callable[[str], str] | None = None,
    secret: bool = False,
) -> Param:
    """Decides what is fetched or what is kept of it, so it is part of a source's identity."""
    return Param(name=name, default=default, parse=parse, identity=True, help=help, key=key, secret=secret)


def how(name: str, default: Any, help: str, parse: Callable[[str], Any] = str.strip, **more: Any) -> Param:  # noqa: A002
    """Decides how it is fetched: the source stays the same one."""
    return replace(what(name, default, help, parse, **more), identity=False)


def whole(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = int(text)
        if not low <= number <= high:
            raise ValueError(f"expected {low} to {high}")
        return number

    return parse


def number(low: float, high: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        value = float(text)
        if not low <= value <= high:
            raise ValueError(f"expected {low:g} to {high:g}")
        return value

    return parse


def switch(text: str) -> bool:
    match text.strip().lower():
        case "true" | "yes" | "on" | "1":
            return True
        case "false" | "no" | "off" | "0":
            return False
    raise ValueError("expected true or false")


def one_of(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(f"expected one of {', '.join(choices)}")
        return text

    return parse


def words(text: str) -> list[str]:
    """A list, separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def optional(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: None if text.strip().lower() in ("", "none") else parse(text)


_ITS_OWN = {"every": "it is no setting of a kind: on the command line `--every 6h`"}
"""What has a place of its own beside the settings, and is tried among them."""


def read(specs: Sequence[Param], given: Mapping[str, str]) -> dict[str, Any]:
    """Checked values of what was given; defaults are not written down, so that they can improve."""
    by_name = {spec.name: spec for spec in specs}
    values: dict[str, Any] = {}
    for name, text in given.items():
        table, _, key = name.partition(".")
        spec = by_name.get(name) or by_name.get(table)
        if spec is None or (spec.key is None and name != spec.name):
            hint = _ITS_OWN.get(name) or did_you_mean(name, sorted(by_name))
            raise ConfigError(f"setting `{name}`: no such setting for this kind of source", hint=hint)
        try:
            if spec.key is None:
                values[name] = spec.parse(text)
            else:
                values.setdefault(table, {})[spec.key(key)] = spec.parse(text)
        except ValueError as exc:
            said = str(exc) if "expected" in str(exc) else "not a number"
            shown = "" if spec.secret else f", got `{text}`"
            raise ConfigError(f"setting `{name}`: {said}{shown}") from (None if spec.secret else exc)
    return values


def has(specs: Sequence[Param], setting: str) -> bool:
    """Is there such a setting, by the name that `read` takes?"""
    table, dot, _ = setting.partition(".")
    return any(
        spec.name == setting or (spec.name == table and dot and spec.key is not None) for spec in specs
    )


def flat(settings: Mapping[str, Any], above: str = "") -> dict[str, str]:
    """A table of a file of settings, `{ param = { q = "x" } }`, as `--set param.q=x` would be given."""
    given: dict[str, str] = {}
    for key, value in settings.items():
        given |= flat(value, f"{above}{key}.") if isinstance(value, dict) else {above + key: as_text(value)}
    return given


def as_text(value: Any) -> str:
    """A value of a file of settings as it would be typed."""
    if isinstance(value, list):
        return ",".join(as_text(one) for one in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def complete(specs: Sequence[Param], values: Mapping[str, Any]) -> dict[str, Any]:
    return {spec.name: values.get(spec.name, spec.default) for spec in specs}


def identity(specs: Sequence[Param], values: Mapping[str, Any]) -> dict[str, Any]:
    """What is part of the key: the given values that differ from the defaults."""
    return {
        spec.name: values[spec.name]
        for spec in specs
        if spec.identity and spec.name in values and values[spec.name] != spec.default
    }
