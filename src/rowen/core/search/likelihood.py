"""How likely a hit is the answer: scores that can be compared between questions.

The ranking orders what was found, and its best is the best however bad it is. Here the order stays, and each
hit gets the share of questions for which such a hit was the judged answer. The weights were fitted by
`benchmarks/judge.py --fit` on the judged questions about two manuals, on 750 names and questions more about
one of them, and on questions about other things.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rowen.core.search.hit import Place
from rowen.core.search.rank import Ranked, title_stems
from rowen.core.search.snippet import stem, stems_in
from rowen.core.search.symbols import Fit
from rowen.core.section import PATH_SEPARATOR

NOTHING_FITS = 0.7
"""Below this, a question is more likely about something that no source speaks of."""

_MAX_CHARS = 20_000
# Of the nearest vector, beyond where the model calls texts related, and of the words found in the best hit.
_BY_VECTOR, _BY_WORDS = 10.0, 4.6
_BY_WORDS_ALONE = (-2.2, 7.8)
# Of a hit among those of a question that something answers.
_RIGHT, _RANKED, _NAMED, _FIRST = -6.2, 5.3, 5.0, 2.3


def coverage(place: Place, terms: Sequence[str]) -> float:
    """The share of the words looked for that a hit has in its title, headings or text."""
    wanted = {stem(term) for term in terms}
    text = f"{place.title} {place.heading_path} {place.text[:_MAX_CHARS]}"
    return len(stems_in(text, wanted)) / len(wanted) if wanted else 0.0


def on_topic(
    best: Ranked, terms: Sequence[str], *, nearest: float | None, related_from: float | None
) -> float:
    """How likely the question is about something that the sources speak of.

    `nearest` is the cosine of the nearest passage; from `related_from` on, it means something to the model.
    """
    if best.fit > Fit.MENTIONED or best.has_name or _is_called(best.place, terms):
        return 1.0
    covered = coverage(best.place, terms)
    if nearest is None or related_from is None:
        constant, weight = _BY_WORDS_ALONE
        return _logistic(constant + weight * covered)
    return _logistic(_BY_VECTOR * (nearest - related_from) + _BY_WORDS * covered)


def _is_called(place: Place, terms: Sequence[str]) -> bool:
    """Is the question what a section or its page is called? One word means too little to the model."""
    wanted = {stem(term) for term in terms}
    heading = place.heading_path.rpartition(PATH_SEPARATOR)[2]
    return bool(wanted) and any(title_stems(called) == wanted for called in (heading, place.title))


def likelihoods(ranked: Sequence[Ranked], topic: float) -> list[float]:
    """One for each hit, none above the one before it."""
    found: list[float] = []
    for number, one in enumerate(ranked):
        right = _logistic(
            _RIGHT
            + _RANKED * min(1.0, one.score)
            + _NAMED * (one.fit > Fit.MENTIONED)
            + _FIRST * (number == 0)
        )
        found.append(min([topic * right, *found[-1:]]))
    return found


def _logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value))
