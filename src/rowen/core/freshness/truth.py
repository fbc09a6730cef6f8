"""What is known of an address: a document is there, it is gone, or neither can be said; and the evidence.

An error proves nothing: an address that only ever failed is unknown, and one that fails today is what it was
when it last answered. Pure.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from rowen.core.web.verified import WORDS
from rowen.records import dataclass


class State(StrEnum):
    PRESENT = "present"
    """Readers see a document with this address."""
    GONE = "gone"
    """Readers saw one, and the source said that it is not there any more."""
    UNKNOWN = "unknown"
    """It was never seen, or never answered."""


NEVER_SEEN = "no run of a source met this address"
NEVER_ANSWERED = "it never answered with a document"
_REASONS = {
    "absent": "the listing does not name it any more",
    "orphaned": "no page links to it any more",
    "robots": "robots.txt forbids it",
    "not_covered": "the settings of the source do not cover it any more",
    "same_page": "the same page as another one",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """The last time it was asked for and gave no answer that says anything."""

    at: datetime
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Truth:
    url: str
    state: State
    at: datetime | None
    """When that was last known: verified, or found gone; None for what was never met."""
    evidence: str
    """How it is known, in words."""
    by: str | None = None
    """The same for programs: a way of verification, or the reason of a removal."""
    source: str | None = None
    """The label of the source that says so."""
    document_id: int | None = None
    p_fresh: float | None = None
    """Of a document that is present: the probability that it is current."""
    failure: Failure | None = None
    """Since `at`."""

    @property
    def says(self) -> str:
        """For people, in one line."""
        when = f"{self.at:%Y-%m-%d %H:%M} UTC" if self.at else ""
        if self.state is State.PRESENT:
            said = f"present, verified {when}: {self.evidence}"
        elif self.state is State.GONE:
            said = f"gone since {when}: {self.evidence}"
        else:
            said = f"unknown: {self.evidence}"
        if self.failure is not None:
            said += (
                f"; asked again {self.failure.at:%Y-%m-%d %H:%M} UTC without an answer: {self.failure.why}"
            )
        return said


def why_present(by: str | None) -> str:
    return WORDS.get(by or "", "it was looked at")


def why_gone(reason: str, detail: str | None) -> str:
    """The reason of a removal in words."""
    status = reason.removeprefix("http_")
    said = f"the server answered {status}" if status != reason else _REASONS.get(reason)
    said = said or reason.replace("_", " ")
    return f"{said} ({detail})" if detail else said
