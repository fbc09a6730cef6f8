"""JSON as servers write it, which is not always JSON.

Half of a surrogate pair becomes U+FFFD, `NaN` and the infinities become null, and a number stays the number
it was: an id beyond 64 bits that turned into a float would be the id of another item too. What is still no
JSON is a `ValueError`.
"""

from __future__ import annotations

import json
import math
from typing import Any

from rowen.patterns import pattern

BOM = b"\xef\xbb\xbf"
MAX_DIGITS = 1000
"""A longer number is kept as text: it is an id, not a quantity, and converting it is slow."""
_DIGITS = bytes(ord("0") if chr(byte) in "0123456789" else byte for byte in range(256))
_TOO_DEEP = "depth limit exceeded"
"""What `orjson` says of more than 1,024 levels."""
_LONG = b"0" * 19
"""So many digits may be more than 64 bits hold: after a minus they are, without one it takes one more."""
_BEFORE_A_NUMBER = frozenset(b":,[ \t\r\n")
_ESCAPE = pattern(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)
_SURROGATE = pattern("[\ud800-\udfff]")


def read(body: bytes) -> Any:
    """The data of a body. Raises `ValueError`."""
    import orjson

    body = body.removeprefix(BOM)
    try:
        found = orjson.loads(body)
    except ValueError as exc:
        if str(exc).startswith(_TOO_DEEP):
            # The standard library might read it, by the version of Python.
            raise ValueError("nested too deeply") from exc
        return _tolerant(body)
    return _tolerant(body) if _has_long_number(body) else found


def _has_long_number(body: bytes) -> bool:
    """Is there a number beyond 64 bits? One inside a text may be taken for one, which costs only time."""
    # Twenty times as fast as a regular expression.
    digits = body.translate(_DIGITS)
    at = digits.find(_LONG)
    while at >= 0:
        negative = at > 0 and body[at - 1] == ord("-")
        begins = at - negative
        if (negative or digits.startswith(b"0", at + len(_LONG))) and (
            not begins or body[begins - 1] in _BEFORE_A_NUMBER
        ):
            return True
        at = digits.find(_LONG, at + len(_LONG))
    return False


def _tolerant(body: bytes) -> Any:
    text = _SURROGATE.sub("\ufffd", body.decode("utf-8", "surrogatepass"))
    if "\\u" in text:
        text = _ESCAPE.sub(lambda match: "\\ufffd" if match[1] else match[0], text)
    try:
        return json.loads(text, parse_int=_whole, parse_float=_number, parse_constant=lambda name: None)
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc


def _whole(text: str) -> int | str:
    return int(text) if len(text) <= MAX_DIGITS else text


def _number(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def dicts(value: Any) -> list[dict[str, Any]]:
    """Of a list, what has names and values; nothing of anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
