"""What robots.txt asks of us.

Reads the rules and says what they allow; `site_files.py` fetches and remembers the file, and the client keeps
to the delay. A file that could not be had says nothing: `from_answer` is None then, and no page may be asked
for because of it.
"""

from __future__ import annotations

import math
from typing import Any

from rowen.patterns import pattern
from rowen.records import dataclass

MAX_BYTES = 500_000
"""The standard asks for at least this much to be read; the rest is dropped at a line border."""

# A line that forbids or slows something down. The parser forgives misspellings of `disallow`, so this is
# wider than it looks; an empty `Disallow:` forbids nothing.
_BINDING = pattern(r"[\s\ufeff]*(?:d[a-z]+|crawl.delay)[\s:]+[^\s#]")


@dataclass(frozen=True, slots=True)
class Robots:
    """Parsed rules. `text` is what they were made of, to be remembered."""

    text: str
    sitemaps: tuple[str, ...]
    _rules: Any
    """None when no rule forbids anything: most files, and then no address is matched at all."""

    @classmethod
    def parse(cls, text: str) -> Robots:
        lines = text.lower().splitlines()
        binding = any(_BINDING.match(line) for line in lines)
        if not binding and not any("site" in line for line in lines):
            return cls(text, (), None)
        from protego import Protego  # 40 ms to import

        rules = Protego.parse(text)
        return cls(text, tuple(rules.sitemaps), rules if binding else None)

    @property
    def binds(self) -> bool:
        """Is there a rule that forbids an address or asks for a delay?"""
        return self._rules is not None

    def allows(self, url: str, agent: str) -> bool:
        return self._rules is None or bool(self._rules.can_fetch(url, agent))

    def crawl_delay_s(self, agent: str) -> float | None:
        if self._rules is None:
            return None
        delay = self._rules.crawl_delay(agent)
        # `Crawl-delay: inf` parses as a number; it must not stop a crawl for ever.
        return float(delay) if delay is not None and math.isfinite(delay) and delay >= 0 else None


ALLOW_ALL = Robots("", (), None)


def from_answer(status: int | None, body: bytes) -> Robots | None:
    """The rules an answer stands for; `status` is None when no answer came.

    A missing or forbidden file allows everything (RFC 9309). The answer of a server that fails, or asks us to
    slow down, stands for no rules at all: None.
    """
    if status is None or status >= 500 or status == 429:
        return None
    if not 200 <= status < 300:
        return ALLOW_ALL
    if len(body) > MAX_BYTES:
        body = body[: body.rfind(b"\n", 0, MAX_BYTES) + 1] or body[:MAX_BYTES]
    return Robots.parse(body.decode("utf-8-sig", errors="replace"))


def capped(host: str, asked_s: float, max_s: float) -> str:
    """The hint about a `Crawl-delay` above the setting."""
    return (
        f"robots.txt of `{host}` asks for {asked_s:,.10g} s between requests; Rowen waits {max_s:g} s"
        " (`max_crawl_delay_s`)"
    )


NOT_NOW = "a site whose robots.txt fails is not asked; for one of your own add it with `--set robots=false`"
"""The hint where no rules are known."""
NO_ANSWER = "the server does not answer: check that it runs and can be reached from here, then sync again"


def as_before(host: str) -> str:
    """The hint about a file that could not be read, where an earlier run could."""
    return f"robots.txt of `{host}` could not be read: its rules count as they were"
