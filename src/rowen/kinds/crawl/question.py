"""One page of a crawl as a question and an answer: what passes between a crawl and whoever asks for it.

The answer holds what the crawl decides by, not the body: whether the body was read is settled where it
arrived. Both can be written down, for an answer may come from another process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rowen.core.document import Converted, Validators
from rowen.errors import PermanentError, TransientError, named


@dataclass(frozen=True, slots=True)
class Question:
    url: str
    validators: Validators = field(default_factory=Validators)
    body_hash: bytes | None = None
    """A body with this hash is the stored version, and need not be read."""
    has_document: bool = False
    """Readers see a version of it: an empty body is no news of it."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "url": self.url,
            "validators": asdict(self.validators),
            "body_hash": self.body_hash.hex() if self.body_hash else None,
            "has_document": self.has_document,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Question:
        body_hash = values["body_hash"]
        return cls(
            values["url"],
            Validators(**values["validators"]),
            bytes.fromhex(body_hash) if body_hash else None,
            values["has_document"],
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    status: int
    content_type: str = ""
    """Of the body as it was read."""
    target: str = ""
    """Where a redirect leads, as the server wrote it."""
    validators: Validators = field(default_factory=Validators)
    refused: bool = False
    """A body of this type was not wanted."""
    body_hash: bytes | None = None
    """None when no body came."""
    converted: Converted | None = None
    """None when nothing had to be read: no page, or the stored version."""
    scripted: bool = False
    """It looks empty until its scripts have run."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "status": self.status,
            "content_type": self.content_type,
            "target": self.target,
            "validators": asdict(self.validators),
            "refused": self.refused,
            "body_hash": self.body_hash.hex() if self.body_hash else None,
            "converted": asdict(self.converted) if self.converted else None,
            "scripted": self.scripted,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Answer:
        body_hash, converted = values["body_hash"], values["converted"]
        if converted is not None:
            converted = Converted(**{**converted, "links": tuple(converted["links"])})
        return cls(
            **{
                **values,
                "validators": Validators(**values["validators"]),
                "body_hash": bytes.fromhex(body_hash) if body_hash else None,
                "converted": converted,
            }
        )


def written(outcome: Answer | TransientError | PermanentError) -> dict[str, Any]:
    """An answer, or why there is none, to be read elsewhere."""
    if isinstance(outcome, Answer):
        return {"answer": outcome.as_dict()}
    retry_after_s = outcome.retry_after_s if isinstance(outcome, TransientError) else None
    return {
        "error": type(outcome).__name__,
        "message": outcome.message,
        "hint": outcome.hint,
        "retry_after_s": retry_after_s,
    }


def read(values: Mapping[str, Any]) -> Answer:
    """The answer that was written down; raises the error if it was one."""
    if "answer" in values:
        return Answer.from_dict(values["answer"])
    kind = named(values["error"])
    if issubclass(kind, TransientError):
        raise kind(values["message"], hint=values["hint"], retry_after_s=values["retry_after_s"])
    raise kind(values["message"], hint=values["hint"])
