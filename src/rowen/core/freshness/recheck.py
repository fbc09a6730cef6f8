"""Asking again for the hits of a search that may be outdated: which ones, and what came of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from rowen.core.rules.words import count
from rowen.errors import UserError
from rowen.records import dataclass

MOST = 10
"""Hits that a search asks for again, the best first."""
WITHIN_S = 10.0
"""How long the sources of them may take together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rechecked:
    """What a search with `--fresh` did before it answered."""

    wanted: float
    """The probability that was asked for."""
    sure: int = 0
    """Hits that were likely enough without being asked for."""
    asked: int = 0
    confirmed: int = 0
    """Of the asked: as they were."""
    changed: int = 0
    """Of the asked: with another text or other metadata."""
    gone: int = 0
    failed: int = 0
    """Of the asked: no answer that says anything came."""
    not_asked: int = 0
    """Hits that were not likely enough and could not be asked for."""
    notes: Sequence[str] = ()
    """Why some could not be asked for, and what is not shown though it changed."""

    @property
    def says(self) -> str:
        """For people, in one line."""
        if not self.asked and not self.not_asked:
            return f"no hit asked for again: all {percent(self.wanted)} likely current or more"
        said = [
            f"{count(self.asked, 'hit')} asked for again: {self.confirmed} confirmed, {self.changed} changed,"
            f" {self.gone} gone"
        ]
        if self.failed:
            said.append(f"{self.failed} without an answer")
        if self.not_asked:
            said.append(f"{self.not_asked} could not be asked for")
        return ", ".join(said)


def share_of(text: str) -> float:
    """`99%`, `99 %` or `0.99` as a number; a `ValueError` says what was expected."""
    plain = text.strip()
    try:
        value = float(plain.removesuffix("%")) / (100.0 if plain.endswith("%") else 1.0)
    except ValueError:
        value = -1.0
    if not 0.0 < value <= 1.0:
        raise ValueError("expected a share such as `95%` or `0.95`")
    return value


def wanted_share(text: str) -> float:
    """The same for what a caller typed."""
    try:
        return share_of(text)
    except ValueError as exc:
        raise UserError(f"fresh `{text}`: {exc}", fresh=text) from None


def percent(share: float) -> str:
    return f"{share * 100:g} %"
