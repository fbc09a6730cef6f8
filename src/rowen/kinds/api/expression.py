"""JMESPath expressions: where in an answer something stands.

They come from settings, so a wrong one is refused when it is given, by the name of its setting and the place
of the mistake. They are applied to data from outside: the result is a value or `Unparseable`.
"""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache
from typing import Any

from rowen.errors import ConfigError, Unparseable
from rowen.records import dataclass

MAX_CHARS = 4_000
_HINT = "expressions are JMESPath, such as `jobs[].id` or `not_null(title, name)`: see https://jmespath.org"
_NO_VALUE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What evaluating an expression on data of another shape than expected can end with."""


@dataclass(frozen=True, slots=True)
class Expression:
    setting: str
    text: str
    _parsed: Any = field(repr=False, compare=False)

    def find(self, value: Any) -> Any:
        """What it finds; None for nothing. Raises `Unparseable` where it cannot be applied."""
        try:
            return _interpreter().visit(self._parsed, value)
        except _NO_VALUE as exc:
            name = getattr(exc, "function_name", None)
            what = f"function `{name}` cannot take what is there" if name else "it cannot be applied"
            raise Unparseable(f"setting `{self.setting}`: {what}: `{self.text}`") from exc

    def find_or_none(self, value: Any) -> Any:
        """The same for what may be missing."""
        try:
            return self.find(value)
        except Unparseable:
            return None


@lru_cache(maxsize=1000)
def compiled(setting: str, text: str) -> Expression:
    """Raises `ConfigError`, with the place of the mistake."""
    # Only sources of these kinds pay for loading it.
    import jmespath
    from jmespath.exceptions import JMESPathError

    if not text.strip() or len(text) > MAX_CHARS:
        raise ConfigError(
            f"setting `{setting}`: expected a JMESPath expression of up to {MAX_CHARS} characters", hint=_HINT
        )
    try:
        parsed = jmespath.compile(text)
    except (JMESPathError, RecursionError) as exc:
        raise ConfigError(
            f"setting `{setting}`: not a JMESPath expression: {_mistake(exc, text)}", hint=_HINT
        ) from exc
    _check_functions(setting, text, parsed.parsed)
    return Expression(setting, text, parsed.parsed)


@lru_cache(maxsize=1)
def _interpreter() -> Any:
    """One for all: it keeps what it looks up, and a new one for each search takes twice as long."""
    from jmespath.visitor import TreeInterpreter

    return TreeInterpreter()


def _mistake(exc: Exception, text: str) -> str:
    if isinstance(exc, RecursionError):
        return "nested too deeply"
    position = int(getattr(exc, "lex_position", len(text)))
    before, after = text[:position], text[position:]
    if not after:
        return f"it breaks off at position {position + 1}, after `{before}`"
    return f"mistake at position {position + 1}, here: `{before}▸{after}`"


def _check_functions(setting: str, text: str, tree: Any) -> None:
    """Names and numbers of arguments, which JMESPath itself looks at when it is too late."""
    from jmespath.functions import Functions

    known = Functions.FUNCTION_TABLE
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        waiting += [child for child in node.get("children", ()) if isinstance(child, dict)]
        if node.get("type") != "function_expression":
            continue
        name, given = node["value"], len(node["children"])
        at = f"at position {text.find(name) + 1} of `{text}`"
        if name not in known:
            raise ConfigError(
                f"setting `{setting}`: no such JMESPath function: `{name}` {at}",
                hint=f"there are {', '.join(sorted(known))}",
            )
        signature = known[name]["signature"]
        variadic = bool(signature) and bool(signature[-1].get("variadic"))
        if given < len(signature) or (given > len(signature) and not variadic):
            raise ConfigError(
                f"setting `{setting}`: function `{name}` {at} takes {len(signature)} arguments, got {given}"
            )
