"""Answer a question from what readers may see.

The store ranks passages by keyword and by vector inside one snapshot; here the two lists become one list of
documents with snippets. A missing embedder never fails a search: it is answered from keywords, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rowen.core.search import likelihood, rank
from rowen.core.search.hit import (
    AlsoAt,
    Answer,
    CopyAt,
    Filters,
    Hit,
    Place,
    SearchCall,
    SearchMode,
    SectionHit,
)
from rowen.core.search.languages import is_in, of_anchor
from rowen.core.search.morphology import is_form_of
from rowen.core.search.question import MORE_DEPTH, Question
from rowen.core.search.references.page_versions import ALONE, PageVersion, asked_for
from rowen.core.search.references.roles import wanted_by
from rowen.core.search.snippet import snippet
from rowen.core.search.symbols import (
    Fit,
    as_typed,
    names_in,
    names_of_parts,
)
from rowen.errors import EmbedderUnavailable, UserError
from rowen.ports.embedder import Embedder
from rowen.ports.store.search import DEPTH, AboutDocument, Search, SearchRequest, SearchResult
from rowen.reading.copies import NO_COPIES, folded
from rowen.reading.repair import reworded, with_repair

if TYPE_CHECKING:
    from rowen.core.search.as_of import AsOf

MAX_LIMIT = 100
NO_WORDS = "the index of words is being made, so nothing is found by its words yet"


async def search(
    store: Search,
    embedder: Embedder | None,
    query: str,
    *,
    mode: SearchMode = SearchMode.HYBRID,
    filters: Filters = Filters(),  # noqa: B008 - frozen
    limit: int = 10,
    per_document: bool = True,
    prefix: bool = False,
    as_of: AsOf | None = None,
) -> Answer:
    """The best documents for a query, or the best sections one by one.

    With `prefix` the query is being typed: its last word may be the beginning of one, and is not repaired.
    With `as_of` it is answered from what readers saw then, as it was answered then.
    """
    if not query.strip():
        raise UserError("the query is empty", hint="say what to look for, for example `rowen search install`")
    question = Question.read(query)
    if question.only_excludes:
        raise UserError(
            f"query `{query.strip()}`: only words that must not stand, and none to look for",
            hint='add a word to look for; to look for the name of an option, put it in quotes: `"-name"`',
        )
    if not 1 <= limit <= MAX_LIMIT:
        raise UserError(f"limit: expected 1 to {MAX_LIMIT}, got {limit}", limit=limit)
    call = SearchCall(query=query, filters=filters, mode=mode, limit=limit, prefix=prefix)
    for texts_with_places in (False, True):
        answer = await _answer(
            store,
            embedder,
            call,
            question,
            per_document=per_document,
            as_of=as_of,
            texts_with_places=texts_with_places,
        )
        # Texts of what is shown are read after the ranking; a vacuum in between may have removed one.
        if answer is not None:
            return answer
    raise AssertionError("places came without their texts")


async def _answer(
    store: Search,
    embedder: Embedder | None,
    call: SearchCall,
    question: Question,
    *,
    per_document: bool,
    as_of: AsOf | None,
    texts_with_places: bool,
    repairs: bool = True,
) -> Answer | None:
    """None when a text was removed since its place was found.

    With `repairs`, a question with mistyped words is asked once more in the words that readers' texts have.
    """
    query, filters, mode, limit, prefix = call.query, call.filters, call.mode, call.limit, call.prefix
    terms, asked = question.terms, question.text
    chooses = question.chooses or bool(filters.language)
    written, beginning = question.being_typed if prefix else (terms, "")
    shown = as_of.generations if as_of else None

    vector: bytes | None = None
    degraded: str | None = None
    if mode is not SearchMode.KEYWORD:
        vector, degraded = await _vector(embedder, asked)
    keywords_only = vector is None
    if keywords_only and not terms and degraded is None:
        raise UserError(
            f"query `{query}`: no word or number to look for", hint="use `--mode hybrid` to search by meaning"
        )

    # Phrases, excluded words and names as they were typed are looked for in the texts; a section of another
    # language may rank before those in the one that was asked for.
    looks_into_texts = chooses or bool(as_typed(asked))
    texts_with_places = texts_with_places or looks_into_texts

    names, parts = names_in(asked), names_of_parts(asked)
    versions_asked, wanted = asked_for(asked), wanted_by(asked, terms)

    def request(*, keywords: bool, whole: bool = False) -> SearchRequest:
        return SearchRequest(
            terms=written if keywords else (),
            prefix=beginning if keywords else "",
            vector=vector,
            model=embedder.model if embedder and vector is not None else None,
            filters=filters,
            names=names,
            depth=DEPTH * MORE_DEPTH if chooses else DEPTH,
            best=None if whole or looks_into_texts else limit,
            alpha=rank.alpha_for(embedder.model.alpha, asked) if embedder else 0.0,
            per_document=per_document,
            spells=repairs and not prefix and not question.chooses,
            written=parts,
            texts=texts_with_places or whole,
            asked_versions=versions_asked,
            wanted=wanted,
            shown=shown,
        )

    versions: dict[int, PageVersion] = {}
    weights: dict[int, float] = {}

    async def ask(request: SearchRequest) -> SearchResult:
        result = await store.search_snapshot(request)
        versions.update(result.versions)
        weights.update(result.weights)
        return result

    keywords = keywords_only or mode is not SearchMode.VECTOR
    result = await ask(request(keywords=keywords))
    if embedder and vector is not None and not result.dense and terms:
        # Either nothing is there at all, or it has no vectors yet: then words must do.
        model, vector = embedder.model, None
        if mode is SearchMode.VECTOR:
            keywords = True
            result = await ask(request(keywords=True))
        if result.keyword:
            degraded = f"answered from keywords: nothing found has a vector of model `{model.name}` yet"
    answered_by = SearchMode.KEYWORD if degraded else mode
    if result.words_missing:
        degraded = NO_WORDS if vector is None else f"answered by meaning: {NO_WORDS}"
        answered_by = mode if vector is None else SearchMode.VECTOR

    by_words, by_meaning = rank.spread(result.keyword), rank.spread(result.dense)
    alpha = _alpha(result, embedder, asked)
    scores = rank.fuse(by_words, by_meaning, alpha)
    likeness = rank.fuse(rank.shares(result.keyword), rank.shares(result.dense), alpha) if versions else {}

    async def all_places() -> Sequence[Place]:
        return (await ask(request(keywords=keywords, whole=True))).places

    places, meant = result.places, asked
    if not prefix:
        named = replace(request(keywords=False), vector=None, model=None, names=(), best=None, texts=True)
        places, meant = await with_repair(store, ask, asked, named, places, all_places)
    in_other_words = reworded(asked, result.spelt)
    if meant == asked != in_other_words:
        again = await _answer(
            store,
            embedder,
            replace(call, query=in_other_words, prefix=False),
            Question.read(in_other_words),
            per_document=per_document,
            as_of=as_of,
            texts_with_places=texts_with_places,
            repairs=False,
        )
        # `Dokumenten` is no slip of `dokument`, which readers' texts have: found by it, and nothing to tell.
        slipped = not all(is_form_of(asked, *pair) for pair in result.spelt.items())
        return again and replace(again, query=query, corrected=in_other_words if slipped else None)
    places = [place for place in places if question.allows(place) and _is_in(place, filters.language)]

    def ranked(found: Sequence[Place], most: int) -> list[rank.Group]:
        return rank.group(
            found,
            scores,
            most,
            query=meant,
            terms=terms,
            per_document=per_document,
            versions=versions,
            likeness=likeness,
            weights=weights,
        )

    async def more(most: int) -> list[rank.Group]:
        others = [one for one in await all_places() if question.allows(one) and _is_in(one, filters.language)]
        return ranked([*places, *others], most)

    groups, copies = ranked(places, limit), NO_COPIES
    if per_document and groups:
        groups, copies = await folded(store, groups, more, limit, filters=filters, shown=shown)
    places_shown = [one.place for group in groups for one in (group.best, *group.others)]
    to_read = [] if texts_with_places else [one for one in places_shown if not one.text]
    # How a document was verified is known of what readers see now.
    about = await store.about([one.best.place.document_id for one in groups], to_read, proven=as_of is None)
    if any(one.passage_id not in about.texts for one in to_read):
        return None
    texts = {one.passage_id: about.texts.get(one.passage_id, one.text) for one in places_shown}
    nearest = max(result.dense.values(), default=None) if vector is not None else None
    related_from = embedder.model.related_from if embedder else None
    topic = 0.0
    if groups:
        first = groups[0].best
        first = first._replace(place=first.place._replace(text=texts[first.place.passage_id]))
        topic = likelihood.on_topic(first, terms, nearest=nearest, related_from=related_from)
    likely = likelihood.likelihoods([one.best for one in groups], topic)
    return Answer(
        query=query,
        mode=answered_by,
        degraded=degraded,
        hits=tuple(
            _hit(
                one,
                texts,
                terms,
                score,
                about.documents.get(document, AboutDocument()),
                copies.get(document, ()),
                by_words,
                by_meaning,
                old_version=versions.get(document, ALONE).is_old,
            )
            for one, score in zip(groups, likely, strict=True)
            for document in [one.best.place.document_id]
        ),
        corrected=meant if meant != asked else None,
        on_topic=topic,
        fits=topic >= likelihood.NOTHING_FITS,
        as_of=as_of,
    )


async def _vector(embedder: Embedder | None, query: str) -> tuple[bytes | None, str | None]:
    """The query's vector, or why there is none."""
    if embedder is None:
        return None, "answered from keywords: no embedder is set up"
    try:
        return await embedder.embed_query(query), None
    except EmbedderUnavailable as exc:
        # Where the provider is and what it said is for the operator; readers hear what it means to them.
        import logging  # takes long to import, and most answers have nothing to say

        logging.getLogger("rowen.search").warning("query_not_embedded error=%r", exc.message)
        kind = str(exc.facts.get("kind") or exc.reason).replace("_", " ")
        return None, f"answered from keywords: model `{embedder.model.name}` is away ({kind})"


def _alpha(result: SearchResult, embedder: Embedder | None, query: str) -> float:
    # A list that stands alone gets the whole weight, so that the best hit always scores near 1.
    if not result.dense or embedder is None:
        return 0.0
    return rank.alpha_for(embedder.model.alpha, query) if result.keyword else 1.0


def _hit(
    found: rank.Group,
    texts: Mapping[int, str],
    terms: list[str],
    score: float,
    about: AboutDocument,
    copies: Sequence[CopyAt],
    by_words: Mapping[int, float],
    by_meaning: Mapping[int, float],
    *,
    old_version: bool,
) -> Hit:
    place = found.best.place
    shown = snippet(texts[place.passage_id], terms, from_beginning=_is_about(found.best))
    proof = about.proof
    return Hit(
        source=place.source,
        version=place.version,
        url=_address(place),
        title=place.title,
        heading_path=place.heading_path,
        snippet=shown.text,
        matches=shown.matches,
        score=score,
        by_words=by_words.get(place.passage_id),
        by_meaning=by_meaning.get(place.passage_id),
        generation=place.generation,
        fetched_at=place.fetched_at,
        document_id=place.document_id,
        defines=place.symbol,
        verified_at=proof and proof.at,
        verified_by=proof and proof.by,
        change_rate=proof and proof.rate,
        language=of_anchor(place.anchor) or about.language,
        old_version=old_version,
        also_at=tuple(
            AlsoAt(document_id=one.document_id, source=one.source, version=one.version, url=_address(one))
            for one in found.also_at
        ),
        copies=tuple(copies),
        sections=tuple(_section(other, found.best, texts, terms, score) for other in found.others),
    )


def _is_about(one: rank.Ranked) -> bool:
    """Does it define what is asked for? What a class has that among its members is shown where it stands."""
    return one.fit not in (Fit.NONE, Fit.MEMBER)


def _section(
    other: rank.Ranked, best: rank.Ranked, texts: Mapping[int, str], terms: list[str], score: float
) -> SectionHit:
    shown = snippet(texts[other.place.passage_id], terms, from_beginning=_is_about(other))
    return SectionHit(
        heading_path=other.place.heading_path,
        url=_address(other.place),
        snippet=shown.text,
        matches=shown.matches,
        score=min(score, score * other.score / best.score) if best.score else 0.0,
    )


def _is_in(place: Place, wanted: str) -> bool:
    """Sections without a language are in that of their document, which the store has looked at."""
    language = of_anchor(place.anchor)
    return not wanted or language is None or is_in(language, wanted)


def _address(place: Place) -> str:
    return f"{place.url}#{place.anchor}" if place.anchor else place.url
