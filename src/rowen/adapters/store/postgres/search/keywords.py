"""The passages that hold the words of a question, best first.

PostgreSQL's own rank knows how often a word stands in a passage, not how rare the word is; here each word is
ranked alone and weighed by its rarity, which is what BM25 does. A word typed twice weighs twice.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rowen.adapters.store.shared.search.words import words
from rowen.adapters.store.shared.topics.search import Among, Ranked
from rowen.adapters.store.shared.transaction import Transaction
from rowen.core.search.query import is_cjk
from rowen.records import dataclass

QUICK = 20_000
"""Passages a quick look ranks at most, those with the rarest words first."""

# SQLite's BM25 takes a word in the headings (class A) for five in the text (D), which saturation turns into
# about 1 against 0.6. The last 1 divides by the length's logarithm. How well they agree is in docs/adr/0009.
_SCORE = ":weight{n} * ts_rank('{{0.6, 0, 0, 1}}', p.words, :query{n}::tsquery, 1)"


@dataclass(frozen=True, slots=True)
class _Term:
    query: str
    passages: int
    """That have it; counted up to `QUICK`."""
    weight: float


class Keywords:
    can_choose = True

    def __init__(self, db: Transaction, terms: Sequence[str], prefix: str = "") -> None:
        self._db = db
        self._terms = _terms(db, terms, prefix)

    def best(self, wanted: int, *, thorough: bool, among: Among | None) -> tuple[Ranked, bool]:
        if not self._terms:
            return [], True
        rare, common = _split(self._terms)
        values: dict[str, Any] = {"limit": wanted}
        if not common or thorough:
            looked_at = "p.words @@ :any::tsquery"
            values["any"] = _any(self._terms)
            if among is not None:
                visible = self._db.queries.text("passages_visible")
                looked_at += f" AND p.id IN ({visible}{among.conditions})"
                values |= among.values
        else:
            looked_at = (
                "p.id IN ((SELECT id FROM passages WHERE words @@ :rare::tsquery)"
                " UNION (SELECT id FROM passages WHERE words @@ :common::tsquery LIMIT :room))"
            )
            room = QUICK - sum(term.passages for term in rare)
            values |= {"rare": _any(rare), "common": _any(common), "room": room}
        for number, term in enumerate(self._terms):
            values |= {f"weight{number}": term.weight, f"query{number}": term.query}
        score = " + ".join(_SCORE.format(n=number) for number in range(len(self._terms)))
        rows = self._db.query(
            f"SELECT p.id, {score} AS score FROM passages p WHERE {looked_at}"
            " ORDER BY score DESC, p.id LIMIT :limit",
            values,
        )
        ranked = [(int(row[0]), float(row[1])) for row in rows]
        return ranked, len(ranked) < wanted and (thorough or not common)


def _terms(db: Transaction, terms: Sequence[str], prefix: str) -> list[_Term]:
    """What the terms become in the index, the rarest first; those nothing has are left out."""
    typed = Counter(filter(None, (words(term).strip() for term in (*terms, prefix))))
    begun = words(prefix).strip()
    rows = db.rows(
        "terms",
        terms=list(typed),
        # One character alone is in the index only as the first of a pair (or the last of its run).
        beginnings=[term == begun or (len(term) == 1 and is_cjk(term)) for term in typed],
        enough=QUICK,
    )
    counts: Counter[str] = Counter()
    passages: dict[str, int] = {}
    for term, query, count in rows:
        # Two forms of one word are one word typed twice.
        counts[query] += typed[term]
        passages[query] = count
    total = db.value("passages_met")
    return sorted(
        (
            _Term(query, count, counts[query] * math.log(1 + total / count))
            for query, count in passages.items()
            if count
        ),
        key=lambda term: (term.passages, term.query),
    )


def _split(terms: list[_Term]) -> tuple[list[_Term], list[_Term]]:
    """The rarest words that together fit a quick look, and the others."""
    room = QUICK
    for number, term in enumerate(terms):
        room -= term.passages
        if room <= 0:
            return terms[:number], terms[number:]
    return terms, []


def _any(terms: Sequence[_Term]) -> str:
    return " | ".join(f"({term.query})" for term in terms)
