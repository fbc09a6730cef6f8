"""Judged questions: which page answers each, and how well a search finds it.

A question of `SET.jsonl` has its kind and the places that answer it, each a page with or without an
anchor. Names come from the inventory of the documentation (objects.inv, the index of the book, the index of
the API), questions were written by reading its pages. `off_topic.jsonl` is about nothing that any of
the sets speaks of.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from rowen import Answer, AsyncRowen

JUDGED = Path(__file__).parent
BASELINE = JUDGED / "baseline.json"
MODES = ("keyword", "vector", "hybrid")
OFF_TOPIC = "off_topic"
DEPTH = 10

TOLERANCE = 0.02
"""How far a figure may fall below the baseline; of few questions, one may always be lost."""

Figures = dict[str, float]


@dataclass(frozen=True)
class Question:
    text: str
    kind: str
    answers: tuple[str, ...]
    """`library/csv.html#csv.DictReader`: any of them answers it."""

    @property
    def pages(self) -> set[str]:
        return {answer.partition("#")[0] for answer in self.answers}

    @property
    def anchors(self) -> set[str]:
        return {answer for answer in self.answers if "#" in answer}


@dataclass(frozen=True)
class Outcome:
    """What a search made of a question."""

    question: Question
    found: tuple[str | None, ...]
    """For each hit the answer's page it is on, None for another page."""
    anchored: bool | None
    """Does the first hit link to the very place? None if it is on another page, or no place is known."""
    on_topic: float


def questions(file: Path) -> list[Question]:
    """Those of a file; `page`, `anchors` and `source` may stand in place of `answers` and `kind`."""
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return [Question(row["question"], row.get("kind") or row["source"], _answers(row)) for row in rows]


def questions_of(name: str) -> list[Question]:
    return questions(JUDGED / f"{name}.jsonl")


async def ask(rowen: AsyncRowen, asked: Iterable[Question], mode: str) -> list[Outcome]:
    return [outcome(one, await rowen.search(one.text, mode=mode, limit=DEPTH)) for one in asked]


def outcome(question: Question, answer: Answer) -> Outcome:
    hits = [unquote(hit.url).partition("#") for hit in answer.hits]
    found = tuple(page_of(address, question.pages) for address, _, _ in hits)
    anchored = None
    if found and found[0] and question.anchors:
        anchored = f"{found[0]}#{hits[0][2]}" in question.anchors or found[0] in question.answers
    return Outcome(question, found, anchored, answer.on_topic)


def page_of(address: str, pages: Iterable[str]) -> str | None:
    """The page that an address is of, wherever the documentation is served or kept."""
    for page in pages:
        if address.endswith((f"/{page}", f"/{page.removesuffix('index.html')}")):
            return page
    return None


def figures(outcomes: Sequence[Outcome]) -> Figures:
    """success@1, success@3, MRR@10 and nDCG@10 of pages, and the share of right anchors among right pages."""
    number = len(outcomes)
    ranks = [_rank(one) for one in outcomes]
    anchored = [one.anchored for one in outcomes if one.anchored is not None]
    said = {
        "s@1": sum(rank == 1 for rank in ranks) / number,
        "s@3": sum(rank <= 3 for rank in ranks) / number,
        "mrr": sum(1 / rank for rank in ranks) / number,
        "ndcg": sum(map(_ndcg, outcomes)) / number,
    }
    if anchored:
        said["anchor"] = sum(anchored) / len(anchored)
    return {name: round(value, 4) for name, value in said.items()}


def by_kind(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """Those of each kind, and of all."""
    kinds: dict[str, list[Outcome]] = {}
    for one in outcomes:
        kinds.setdefault(one.question.kind, []).append(one)
    return {**kinds, "all": list(outcomes)}


def told_apart(real: Sequence[Outcome], other: Sequence[Outcome]) -> Figures:
    """How often a real question looks more on topic than one about something else: the area under the curve.

    Only questions in sentences count as real ones here: names are told apart by being defined.
    """
    asked = [one.on_topic for one in real if one.question.kind == "question"]
    return {"auc": round(area(asked, [one.on_topic for one in other]), 4)} if asked else {}


def area(above: Sequence[float], below: Sequence[float]) -> float:
    pairs = [(high > low) + (high == low) / 2 for high in above for low in below]
    return sum(pairs) / len(pairs)


def fallen(now: Mapping[str, float], before: Mapping[str, float], number: int) -> list[str]:
    """The figures that fell further than they may."""
    one = 1 / number
    # The anchor is judged for right pages only, of long questions a quarter.
    may_fall = {"anchor": 4 * one}
    return [
        name
        for name, value in before.items()
        if now.get(name, 0.0) < value - max(TOLERANCE, may_fall.get(name, one)) - 1e-3
    ]


def _answers(row: Mapping[str, Any]) -> tuple[str, ...]:
    if "answers" in row:
        return tuple(row["answers"])
    return tuple(f"{row['page']}#{anchor}" for anchor in row["anchors"]) or (row["page"],)


def _rank(one: Outcome) -> float:
    return next((rank for rank, page in enumerate(one.found, 1) if page), math.inf)


def _ndcg(one: Outcome) -> float:
    # A page counts once, however many of its sections are hits.
    gained = {page: 1 / math.log2(rank + 1) for rank, page in reversed([*enumerate(one.found, 1)]) if page}
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, len(one.question.pages) + 1))
    return sum(gained.values()) / ideal
