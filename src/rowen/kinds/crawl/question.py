"""One page of a crawl on its way between two processes: the question to a worker, and what it answers.

The answer holds what the crawl decides by, not the body: the worker has read that. Questions and answers are
stored as JSON, and workers of another version may read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rowen.core.document import Converted, Validators
from rowen.errors import PermanentError, TransientError, named
from rowen.kinds.crawl.pages import ReadPage
from rowen.ports.fetcher import Response
from rowen.records import dataclass

LATER: dict[str, Any] = {"later": True}
"""In place of an answer: the host batch was over before this page was asked for."""


@dataclass(frozen=True, slots=True)
class PageQuestion:
    url: str
    validators: Validators
    known_hash: bytes | None
    """A body with this hash is the stored version, and need not be read."""
    has_document: bool
    """Readers see a version of it: an empty body does not replace that."""

    def as_dict(self, *, delay_s: float) -> dict[str, Any]:
        """`delay_s` is the time between two requests to its host."""
        return {
            "url": self.url,
            "validators": asdict(self.validators),
            "body_hash": self.known_hash.hex() if self.known_hash else None,
            "has_document": self.has_document,
            "delay_s": delay_s,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> PageQuestion:
        known_hash = values["body_hash"]
        return cls(
            values["url"],
            Validators(**values["validators"]),
            bytes.fromhex(known_hash) if known_hash else None,
            values["has_document"],
        )


def delay_of(asked: Mapping[str, Any]) -> float:
    return float(asked["delay_s"])


def written_answer(response: Response, page: ReadPage | None) -> dict[str, Any]:
    content_type = response.headers.get("content-type", "")
    return {
        "answer": {
            "status": response.status,
            "content_type": page.content_type if page else content_type,
            "target": response.headers.get("location", ""),
            "validators": asdict(response.validators),
            "refused": response.refused,
            "body_hash": page.body_hash.hex() if page else None,
            "converted": _written(page.converted) if page else None,
            "scripted": page.scripted if page else False,
            "asks_to_log_in": page.asks_to_log_in if page else False,
            "body_bytes": page.body_bytes if page else 0,
        }
    }


def _written(converted: Converted) -> dict[str, Any]:
    values = asdict(converted)
    if not values["links_left_out"]:
        # A run of an earlier version does not know it.
        del values["links_left_out"]
    return values


def written_error(exc: TransientError | PermanentError) -> dict[str, Any]:
    return {
        "error": type(exc).__name__,
        "message": exc.message,
        "hint": exc.hint,
        "retry_after_s": exc.retry_after_s if isinstance(exc, TransientError) else None,
    }


def read_answer(url: str, values: Mapping[str, Any]) -> tuple[Response, ReadPage | None]:
    """The answer without its body, and what was made of the body. Raises the error if it was one."""
    if "answer" not in values:
        kind = named(values["error"])
        if issubclass(kind, TransientError):
            raise kind(values["message"], hint=values["hint"], retry_after_s=values["retry_after_s"])
        raise kind(values["message"], hint=values["hint"])
    answer = values["answer"]
    headers = {
        "content-type": answer["content_type"],
        "location": answer["target"],
        "etag": answer["validators"]["etag"],
        "last-modified": answer["validators"]["last_modified"],
    }
    response = Response(
        answer["status"],
        url,
        {name: value for name, value in headers.items() if value},
        b"",
        bytes_received=0,
        refused=answer["refused"],
    )
    converted, page = answer["converted"], None
    if converted is not None:
        page = ReadPage(
            Converted(**{**converted, "links": tuple(converted["links"])}),
            bytes.fromhex(answer["body_hash"]),
            answer["content_type"],
            answer["scripted"],
            answer.get("asks_to_log_in", False),
            answer.get("body_bytes", 0),
        )
    return response, page
