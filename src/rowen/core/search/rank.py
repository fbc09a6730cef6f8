"""Two ranked lists of passages into one list of documents.

Scores come in, an order goes out. How passages are scored is the store's business; how hits are shown, the
flow's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from rowen.core.search.hit import Place
from rowen.core.search.query import terms as words_of
from rowen.core.search.references.page_versions import ALONE, PageVersion
from rowen.core.search.snippet import stem
from rowen.core.search.symbols import (
    Fit,
    as_typed,
    fit,
    fit_in_source,
    in_same_letters,
    is_written_as_name,
)
from rowen.core.section import EXTENSION, PATH_SEPARATOR, is_in_source

MAX_ALPHA_OTHER_LANGUAGES = 0.3
"""The small models know English best: elsewhere keywords are the better judge."""

MAX_OTHER_SECTIONS = 3

TITLE_WEIGHT = 0.25
"""A page whose title is the question outranks an index that mentions it often."""


PROSE_LINKS, LIST_LINKS = 50, 70
"""From which to which percentage of links a section turns from prose into a list of links."""
LINKS_WEIGHT = 0.2

NEXT_SECTION = 0.5
"""How much the next section of a document counts, against the one before it."""

MENTIONED_BONUS = 0.15
"""For the definition of a name that stands in the question among other words."""

WORD_BONUS = 0.1
"""For the definition of `cancel` where the question is how to cancel, before that of `cancelled`."""

TYPED_BONUS = 0.3
"""For a text that has the name as it was typed, and not only the words it is made of."""

HEADED_BONUS = 0.3
"""For a section that is called by the name that the question is, and is about it: `## server.proxy`."""

OLD_WEIGHT = 0.8
"""Of an old version of a page, where a newer one is visible."""

MUCH_BETTER = 0.7
"""An old version is shown below the current one when this share of its likeness is more than that one's."""

NO_VERSIONS: Mapping[int, PageVersion] = {}
NO_LIKENESS: Mapping[int, float] = {}
ALL_ALIKE: Mapping[int, float] = {}

_Text = tuple[int, tuple[int, int] | None]
"""A content, or one place of it."""


class Ranked(NamedTuple):
    place: Place
    score: float
    fit: Fit = Fit.NONE
    """How well what it defines fits the question, where the question is a name."""
    in_source: bool = False
    """Source code defines it: what a manual says of the name comes first."""
    has_name: bool = False
    """Does it have the name that the question is, letter by letter: in its text (`--dist-dir`), or as what it
    defines (`asyncio.timeout`, not `asyncio.Timeout`)?
    """


class Group(NamedTuple):
    """A document by its best section."""

    best: Ranked
    others: tuple[Ranked, ...] = ()
    also_at: tuple[Place, ...] = ()
    """The same section in other documents that have the same text."""


class _Weighed(NamedTuple):
    """A text, and what its best section and all together are worth."""

    text: _Text
    sections: Sequence[Ranked]
    fits: tuple[bool, int, bool]
    """Does a manual define what was asked for, how well does it fit, and is it the name as it was typed?"""
    score: float
    version: PageVersion


def alpha_for(model_alpha: float, query: str) -> float:
    """How much the vector list weighs for this query."""
    english = all(character.isascii() or not character.isalpha() for character in query)
    return model_alpha if english else min(model_alpha, MAX_ALPHA_OTHER_LANGUAGES)


def fuse(keyword: Mapping[int, float], dense: Mapping[int, float], alpha: float) -> dict[int, float]:
    """One score in [0, 1] for each passage of two lists that are spread; what a list lacks is 0 there."""
    fused = {passage: (1 - alpha) * score for passage, score in keyword.items()}
    for passage, score in dense.items():
        fused[passage] = fused.get(passage, 0.0) + alpha * score
    return fused


def title_share(title: str, terms: Sequence[str]) -> float:
    """How much a title is about the words: the share they have in common, in [0, 1]."""
    wanted = {stem(term) for term in terms}
    said = title_stems(title)
    return len(wanted & said) / len(wanted | said) if wanted and said else 0.0


@lru_cache(maxsize=4096)
def title_stems(title: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words_of(title))


def group(
    places: Iterable[Place],
    scores: Mapping[int, float],
    limit: int,
    *,
    query: str = "",
    terms: Sequence[str] = (),
    per_document: bool = True,
    versions: Mapping[int, PageVersion] = NO_VERSIONS,
    likeness: Mapping[int, float] = NO_LIKENESS,
    weights: Mapping[int, float] = ALL_ALIKE,
) -> list[Group]:
    """The best `limit` documents, each with its best section first, or the best sections on their own.

    Documents with the same text are one hit, the best of them. Of versions of one page (`versions`), which
    are compared by `likeness`, the preferred one is shown, and at most one old one below it. Documents count
    by their `weights`, most of them in full. Equal scores stand in the order of source, address and position,
    so that the same question has the same answer.
    """
    bonus = cache(lambda title: TITLE_WEIGHT * title_share(title, terms))
    typed = as_typed(query)
    is_name = typed is not None and is_written_as_name(typed)

    def headed(place: Place) -> bool:
        heading = place.heading_path.rpartition(PATH_SEPARATOR)[2].lower()
        return heading.removesuffix("()") == (typed or "").removesuffix("()")

    def ranked_place(place: Place) -> Ranked:
        own = scores.get(place.passage_id, 0.0) * damping(place.link_share)
        named = _fit(place, query, terms) if place.symbol and query else Fit.NONE
        weight = weights.get(place.document_id, 1.0)
        score = (own + bonus(place.title)) / (1 + TITLE_WEIGHT) * weight
        says = typed is not None and (typed in place.text.lower() or typed in place.heading_path.lower())
        if named > Fit.MENTIONED:
            has_name = in_same_letters(place.symbol or "", query)
            in_source = is_in_source(place.symbol_kind)
            return Ranked(place, min(1.0, score + TYPED_BONUS * says), named, in_source, has_name)
        if named is Fit.MENTIONED:
            score = min(1.0, score + MENTIONED_BONUS)
        elif says and is_name:
            # Texts that mention a name stay in their order: cut off at 1, many of them would be equal.
            return Ranked(place, score + TYPED_BONUS + HEADED_BONUS * headed(place), has_name=True)
        elif says or named is Fit.WORD:
            score = min(1.0, score + (TYPED_BONUS if says else WORD_BONUS))
        return Ranked(place, score)

    def order(one: Ranked) -> tuple[bool, int, bool, float, str, int, str, str, int]:
        place = one.place
        edition = versions.get(place.document_id, ALONE).edition
        fits = not _is_in_a_manual(one), -one.fit, not one.has_name, -one.score
        return *fits, place.source, -edition, place.url, place.version, place.position

    ranked = sorted(
        (one for one in map(ranked_place, places) if one.fit or one.place.passage_id in scores), key=order
    )
    texts: dict[_Text, list[Ranked]] = {}
    also_at: dict[_Text, dict[int, Place]] = {}
    for one in ranked:
        place = one.place
        section = None if per_document else (place.position, place.passage_id)
        text = place.content_id or -place.document_id, section
        sections = texts.setdefault(text, [])
        if sections and place.document_id != sections[0].place.document_id:
            also_at.setdefault(text, {}).setdefault(place.document_id, place)
            continue
        # A passage repeated within its document, or another part of one long section, says nothing new.
        if len(sections) <= MAX_OTHER_SECTIONS and all(
            one.place.passage_id != seen.place.passage_id
            and one.place.heading_path != seen.place.heading_path
            for seen in sections
        ):
            sections.append(one)
    pages: dict[object, list[_Weighed]] = {}
    for text, sections in texts.items():
        version = versions.get(sections[0].place.document_id, ALONE)
        # Sections on their own are no pages.
        page = version.page if per_document and version.page else text
        pages.setdefault(page, []).append(_weighed(text, sections, version))
    shown = (one for page in pages.values() for one in _of_page(page, likeness))
    # Sorting keeps the order of what is equal.
    best = sorted(shown, key=_worth, reverse=True)
    return [
        Group(one.sections[0], tuple(one.sections[1:]), tuple(also_at.get(one.text, {}).values()))
        for one in best[:limit]
    ]


def _weighed(text: _Text, sections: Sequence[Ranked], version: PageVersion) -> _Weighed:
    """Of a document: its best section counts in full, each next one less; and an old version less."""
    score = sum(one.score * NEXT_SECTION**number for number, one in enumerate(sections))
    best = sections[0]
    fits = _is_in_a_manual(best), best.fit, best.has_name
    return _Weighed(text, sections, fits, score * (OLD_WEIGHT if version.is_old else 1.0), version)


def _worth(one: _Weighed) -> tuple[tuple[bool, int, bool], float]:
    return one.fits, one.score


def _of_page(page: Sequence[_Weighed], likeness: Mapping[int, float]) -> list[_Weighed]:
    """What is shown of the versions of one page: the preferred one, and one that says what it does not say.

    The preferred one stands first, unless another one alone defines the name that was asked for.
    """
    if len(page) == 1:
        return list(page)
    first = max(page, key=lambda one: one.version.edition)
    least = _likeness(first, likeness)

    def says_more(one: _Weighed) -> bool:
        if one.fits != first.fits:
            return one.fits > first.fits
        return first.fits[1] <= Fit.MENTIONED and _likeness(one, likeness) * MUCH_BETTER > least

    others = [one for one in page if one is not first and says_more(one)]
    score = max(one.score for one in page if one.fits <= first.fits)
    return [first._replace(score=score), *sorted(others, key=_worth, reverse=True)[:1]]


def _likeness(one: _Weighed, likeness: Mapping[int, float]) -> float:
    return likeness.get(one.sections[0].place.passage_id, 0.0)


def damping(link_share: int) -> float:
    """Lists of links hold many words and answer nothing."""
    over = (link_share - PROSE_LINKS) / (LIST_LINKS - PROSE_LINKS)
    return 1.0 - (1.0 - LINKS_WEIGHT) * min(1.0, max(0.0, over))


def shares(scores: Mapping[int, float]) -> dict[int, float]:
    """Each as a share of the best: of few that are alike, `spread` gives the last one 0."""
    most = max(scores.values(), default=0.0)
    return {passage: score / most for passage, score in scores.items()} if most > 0 else {}


def _fit(place: Place, query: str, terms: Sequence[str]) -> Fit:
    symbol = place.symbol or ""
    if is_in_source(place.symbol_kind):
        return fit_in_source(symbol, query, place.text, extends=place.symbol_kind == EXTENSION)
    return fit(symbol, query, terms)


def _is_in_a_manual(one: Ranked) -> bool:
    """Does it define the name that the question is, elsewhere than in source code?"""
    return one.fit > Fit.NONE and not one.in_source


def spread(scores: Mapping[int, float]) -> dict[int, float]:
    """Stretched so that the best is 1 and the worst 0."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high <= low:
        return dict.fromkeys(scores, 1.0)
    width = high - low
    return {passage: (score - low) / width for passage, score in scores.items()}
