"""What differs between two signatures, in words: `new parameter `context``.

A signature is what stands in the parentheses after a name, in the manner of most languages: parameters
between commas, with defaults after `=` and types after `:`. What cannot be read so is shown whole.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_OPEN, _CLOSE = "([{<", ")]}>"
_NAME = re.compile(r"[\w$]+")
_MAY_BE_LEFT_OUT = re.compile(r"\s*\[\s*,")


class Parameter(NamedTuple):
    name: str
    default: str | None
    type: str


def parameters(signature: str) -> dict[str, Parameter] | None:
    """By name, in order; None when there are no parentheses that end."""
    inside = _inside(signature)
    if inside is None:
        return None
    found: dict[str, Parameter] = {}
    # `stop[, step]` of older documentation: what is in brackets may be left out.
    for part in _parts(_MAY_BE_LEFT_OUT.sub(",", inside), ","):
        if part.strip() in ("", "*", "/"):
            continue
        head, *default = _parts(part.replace("==", "  "), "=", once=True)
        name, *kind = _parts(head, ":", once=True)
        name = name.strip().strip("[]. ")
        match = _NAME.findall(name)
        if not match:
            continue
        # `int count` of C and Java names its type first; `*args` and `**options` keep their stars.
        words = name.split()
        type_ = kind[0].strip() if kind else " ".join(words[:-1])
        stars = "*" * (len(name) - len(name.lstrip("*")))
        own = stars + match[-1] if not kind else stars + match[0]
        found[own] = Parameter(own, default[0].strip() if default else None, type_)
    return found


def differences(before: str, after: str) -> list[str]:
    """In words; empty when they say the same."""
    if _plain(before) == _plain(after):
        return []
    old, new = parameters(before), parameters(after)
    if old is None or new is None:
        return [f"`{_plain(before)}` is now `{_plain(after)}`"]
    said = [f"new parameter `{name}`" for name in new if name not in old]
    said += [f"parameter `{name}` removed" for name in old if name not in new]
    for name in new:
        if name not in old or new[name] == old[name]:
            continue
        if old[name].default != new[name].default:
            was, now = old[name].default, new[name].default
            if was is None or now is None:
                said.append(f"`{name}` is {'optional' if was is None else 'required'} now")
            else:
                said.append(f"default of `{name}` is `{now}`, was `{was}`")
        elif old[name].type != new[name].type:
            said.append(f"type of `{name}` is `{new[name].type}`, was `{old[name].type}`")
    if not said and [*old] != [*new]:
        said.append("order of parameters changed")
    return said or [f"`{_plain(before)}` is now `{_plain(after)}`"]


def _plain(signature: str) -> str:
    return " ".join(signature.strip("` \n").split())


def _inside(signature: str) -> str | None:
    """What stands in the first parentheses that end."""
    start = signature.find("(")
    depth = 0
    for index in range(max(start, 0), len(signature)):
        depth += (signature[index] == "(") - (signature[index] == ")")
        if depth == 0 and start >= 0:
            return signature[start + 1 : index]
    return None


def _parts(text: str, at: str, *, once: bool = False) -> list[str]:
    """Cut at a character that stands in no brackets and no quotes."""
    parts: list[str] = []
    depth, quote, start = 0, "", 0
    for index, one in enumerate(text):
        if quote:
            quote = "" if one == quote else quote
        elif one in "'\"":
            quote = one
        elif one in _OPEN:
            depth += 1
        elif one in _CLOSE:
            depth -= one != ">" or depth > 0
        elif one == at and depth <= 0 and not (once and parts):
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]
