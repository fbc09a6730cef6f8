"""Searches that a process of its own answers for a service: what it runs, and the JSON it makes of an answer.

The process that listens passes this JSON on to a caller of the REST API as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from rowen.doors import asking
from rowen.doors.shapes import documents as shapes

if TYPE_CHECKING:
    from rowen.core.search.hit import Answer

CODE = "from rowen.doors.answering import answer_searches; answer_searches()"
"""For `wiring.searching_elsewhere`."""


def answer_searches() -> None:
    from rowen import wiring

    wiring.answer_searches(asking.answered, page)


def page(answer: Answer, limit: int, offset: int) -> bytes:
    shown = shapes.AnswerPage.show(answer, hits=answer.hits[offset:], limit=limit, offset=offset)
    return orjson.dumps(shown)
