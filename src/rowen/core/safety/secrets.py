"""Values that must not be seen, and the references to them that may.

A setting holds `${NAME}`, never the value; `fill` puts the value in when it is needed. What comes out can be
sent and cannot be printed. The caller's `lookup` says where the values come from.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from typing import NoReturn

from rowen.errors import ConfigError
from rowen.patterns import pattern
from rowen.records import dataclass

_REFERENCE = pattern(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_HEADER_NAME = pattern(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

# What the exchange itself decides; another value would break it.
_RESERVED_HEADERS = frozenset((
    "accept-encoding", "connection", "content-length", "expect", "host", "if-modified-since", "if-none-match",
    "keep-alive", "proxy-authorization", "range", "te", "trailer", "transfer-encoding", "upgrade",
))  # fmt: skip

Lookup = Callable[[str], str | None]

SHORTEST = 8
"""Shorter values are too likely to be a part of ordinary text to be taken out of it."""


class Secret:
    """A value that shows itself only when asked to."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return "***"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not written down")


@dataclass(frozen=True, slots=True)
class Credentials:
    """Headers that one origin gets, and no other."""

    origin: str
    headers: Mapping[str, Secret]

    def headers_for(self, url: str) -> Mapping[str, Secret]:
        # invariant: the whole origin counts; another port, another scheme or a sub-domain is another origin.
        from rowen.core.web import urls  # its parser takes long to import

        return self.headers if urls.origin_of(url) == self.origin else {}

    def scrubbed(self, body: bytes) -> bytes:
        """A body without the values we sent: some pages show the key of the request."""
        for part in self._parts():
            if part in body:
                body = body.replace(part, b"***")
        return body

    def _parts(self) -> list[bytes]:
        """The words of each value that are long enough to be a secret, and the password behind `Basic`."""
        parts: list[bytes] = []
        for secret in self.headers.values():
            scheme, _, rest = secret.reveal().partition(" ")
            if scheme.lower() == "basic":
                with contextlib.suppress(ValueError):
                    import base64

                    parts += base64.b64decode(rest, validate=True).split(b":", 1)[1:]
            parts += [word.encode() for word in secret.reveal().replace("=", " ").replace(";", " ").split()]
        return [part for part in parts if len(part) >= SHORTEST]


def reference(text: str) -> str:
    """A setting's text, if it names its secret instead of holding it."""
    expected = "expected a reference such as `${VARIABLE}` (which a shell leaves alone in single quotes)"
    if not text.strip():
        raise ValueError(f"{expected}, got nothing")
    if _REFERENCE.search(text) is None:
        raise ValueError(f"{expected}: the value itself would be stored in clear")
    return text


def names(text: str) -> list[str]:
    """The variables that a text refers to."""
    return _REFERENCE.findall(text)


def header_name(text: str) -> str:
    if not _HEADER_NAME.fullmatch(text):
        raise ValueError("expected `header.NAME` with the name of a header")
    if text.lower() in _RESERVED_HEADERS:
        raise ValueError("expected a header that Rowen does not set itself")
    return text


def fill(setting: str, text: str, lookup: Lookup) -> str:
    """The text with its values; `setting` is its name, for messages. Raises `ConfigError`."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        # A variable that was read from a file often ends with a line break.
        found = (lookup(name) or "").strip()
        if not found:
            raise ConfigError(
                f"variable `{name}`: not set, and setting `{setting}` needs it",
                hint=f"set it in the environment of this command: `export {name}=...`",
                variable=name,
            )
        if not found.isprintable():
            raise ConfigError(f"variable `{name}`: holds a line break or control character", variable=name)
        return found

    return _REFERENCE.sub(value, text)
