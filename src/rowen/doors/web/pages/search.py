"""`/search?q=`: hits as one types, the chosen one in its place in the document, and why it ranked there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from rowen.core.freshness.proof import likely
from rowen.core.freshness.recheck import Rechecked, wanted_share
from rowen.core.safety.access import Scope
from rowen.core.search.as_of import AsOf
from rowen.core.search.hit import Answer, Hit
from rowen.core.search.languages import tag_of
from rowen.core.search.question import Question
from rowen.core.search.rank import title_share
from rowen.core.section import join_path
from rowen.core.source import Source
from rowen.core.split import Stretch
from rowen.core.web.verified import WORDS
from rowen.doors import asking
from rowen.doors.web import markdown
from rowen.doors.web.visit import Page, Visit
from rowen.doors.words import and_likely, count
from rowen.reading.read import beginning

SHOWN = 20
"""Hits on one page."""
MOST = 100
"""Hits that a question has at most."""
SETTLED = timedelta(days=1)
"""What was fetched so soon after its source was added is new, not changed."""
BETWEEN = join_path(("", ""))
"""What stands between the headings of a path."""
COUNTED = 30
MAX_QUERY = 1000
MAX_CHARS = 3000
"""Of one section in the pane; the document has the rest."""
MAX_COMPARED = 50_000
"""Characters of a section that are looked through for the words of a question: an index of megabytes that
came as one section must not hold up a key.
"""
NOTHING: Mapping[str, int] = {}
PERIODS = {"1d": 1, "7d": 7, "30d": 30, "365d": 365}
PERIOD_WORDS = {"1d": "the last day", "7d": "the last week", "30d": "the last month", "365d": "the last year"}


SHARES = {
    "90%": "Ask again below 90 %",
    "95%": "Ask again below 95 %",
    "99%": "Ask again below 99 %",
    "100%": "Ask again for all",
}
"""How likely hits shall be current, as the address says it, with the words of the choice."""
RECHECKED = ("sure", "asked", "confirmed", "changed", "gone", "failed", "not_asked")


async def search(visit: Visit) -> Page:
    query = visit.asked("q")[:MAX_QUERY]
    sources = {source.label: source for source in await visit.ports.store.sources()}
    if not query:
        return _page(visit, "Search", {"query": "", "answer": None, **_filters(visit, sources, ())})
    started = visit.ports.clock.monotonic()
    common: dict[str, Any] = {
        "since": _since(visit),
        "kinds": [visit.asked("kind")] if visit.asked("kind") else [],
        "language": tag_of(visit.asked("language")),
        "as_of": visit.asked("as_of") or None,
    }
    # The last word may still be being typed: its beginning counts as well.
    common["prefix"] = visit.asked("typing") == "1"
    chosen, page = visit.asked("source"), min(visit.number("page"), MOST // SHOWN)
    limit = min(MOST, max(COUNTED, page * SHOWN + 1))
    fresh, not_asked = _fresh(visit, page)
    again: dict[str, Any] = {} if fresh is None else {"fresh": fresh, "on_change": visit.queue.activated}
    first = {} if chosen else again
    every = await asking.search(visit.ports, query, limit=COUNTED if chosen else limit, **common, **first)
    answer = every
    if chosen:
        answer = await asking.search(visit.ports, query, sources=[chosen], limit=limit, **common, **again)
    found = len(answer.hits)
    page = min(page, max(1, -(-found // SHOWN)))
    before = (page - 1) * SHOWN
    hits = answer.hits[before : before + SHOWN]
    took_ms = (visit.ports.clock.monotonic() - started) * 1000
    number = min(max(before + 1, visit.number("hit")), before + max(1, len(hits)))
    data = {
        "query": query,
        "answer": _said(answer),
        "not_asked": not_asked,
        "found": found,
        "more": found == limit,
        "first": before + 1,
        "page_number": page,
        "pages": min(MOST // SHOWN, -(-found // SHOWN)),
        "took_ms": max(1, round(took_ms)),
        "hits": _told_apart(
            [_hit(visit, before + index, hit, sources, query) for index, hit in enumerate(hits, 1)], sources
        ),
        "chosen": number,
        "read": await _in_place(visit, hits[number - before - 1], query, number, answer.as_of)
        if hits
        else None,
        **_filters(visit, sources, every.hits, {chosen: found} if chosen else {}),
        # Of the best hits alone: a source may have more of them further down.
        "counted": len(every.hits) if len(every.hits) >= COUNTED else None,
    }
    return _page(visit, query, data)


def _page(visit: Visit, title: str, data: dict[str, Any]) -> Page:
    return Page(
        template="search",
        title=title,
        data=data,
        tab="search",
        scripts=("search.js",),
        alone=visit.is_typing,
    )


def _said(answer: Answer) -> dict[str, Any]:
    return {
        "mode": answer.mode.value,
        "degraded": answer.degraded,
        "corrected": answer.corrected,
        "fits": answer.fits,
        "on_topic": round(answer.on_topic, 4),
        "as_of": _then(answer.as_of) if answer.as_of else None,
        "rechecked": _rechecked(answer.rechecked) if answer.rechecked else None,
    }


def _fresh(visit: Visit, page: int) -> tuple[float | None, str | None]:
    """How likely current hits shall be, when they are to be asked for again; or why they are not."""
    said = visit.asked("fresh")
    if not said:
        return None, None
    wanted = wanted_share(said)
    if visit.asked("as_of"):
        return None, "an earlier time is not asked for again"
    if not visit.may(Scope.SYNC):
        return None, f"that needs a token with scope `{Scope.SYNC}`"
    if not visit.is_own_link:
        return None, "this address was followed from another site"
    if visit.asked("typing") == "1":
        return None, "press Enter to ask their sources"
    if page > 1:
        return None, "the best hits, on the first page, are"
    return wanted, None


def _rechecked(one: Rechecked) -> dict[str, Any]:
    counts = {name: getattr(one, name) for name in RECHECKED}
    return {"wanted": one.wanted, "says": one.says, "notes": list(one.notes), **counts}


def _then(as_of: AsOf) -> dict[str, Any]:
    """What the banner says of an earlier time: when, and which sources cannot answer."""
    return {"says": as_of.says, "missing": [one.says for one in as_of.sources if one.missing]}


def _hit(visit: Visit, number: int, hit: Hit, sources: dict[str, Source], query: str) -> dict[str, Any]:
    headings = _headings(hit)
    source = sources.get(hit.label)
    return {
        "number": number,
        "document_id": hit.document_id,
        "source": hit.label,
        "title": hit.defines or (headings[-1] if headings else hit.title),
        "path": [hit.label, hit.title, *headings[:-1]] if headings else [hit.label],
        "snippet": hit.snippet,
        "matches": hit.matches,
        "score": round(hit.score, 4),
        "defines": hit.defines,
        "language": hit.language,
        "old_version": hit.old_version,
        "url": hit.url,
        "fetched_at": hit.fetched_at,
        "verified_at": hit.verified_at,
        "verified_by": hit.verified_by,
        "p_fresh": None if hit.p_fresh is None else round(hit.p_fresh, 4),
        "how": WORDS.get(hit.verified_by or ""),
        "likely": f", {likely(hit.p_fresh)}" if visit.asked("fresh") else and_likely(hit.p_fresh),
        "born_later": source is not None and hit.fetched_at > source.created_at + SETTLED,
        "held": source is not None and source.held_generation is not None,
        "also_at": [one.url for one in hit.same_text_at],
        "same_page_in": hit.same_page_in,
        "copies": [
            {
                "source": one.label,
                "url": one.url,
                "by": one.by,
                "address": visit.address(f"/documents/{one.document_id}", q=query),
            }
            for one in hit.copies
        ],
        "address": visit.address(f"/documents/{hit.document_id}", q=query, at=hit.heading_path[:300]),
    }


def _told_apart(hits: list[dict[str, Any]], sources: dict[str, Source]) -> list[dict[str, Any]]:
    """Hits with the same headings, as in several versions of one page, each say which page they are of."""
    alike = Counter((*hit["path"], hit["title"]) for hit in hits)
    for hit in hits:
        several = alike[(*hit["path"], hit["title"])] > 1
        hit["page"] = _page_of(hit["url"], sources.get(hit["source"])) if several else None
    return hits


def _page_of(url: str, source: Source | None) -> str:
    """An address below that of its source, as people read it."""
    parts = urlsplit(url)
    root = urlsplit(source.location).path.rstrip("/") + "/" if source is not None else ""
    path = unquote(parts.path).removeprefix(unquote(root)) or "/"
    return f"{path}?{parts.query}" if parts.query else path


async def _in_place(
    visit: Visit, hit: Hit, query: str, number: int, as_of: AsOf | None
) -> dict[str, Any] | None:
    """The chosen hit between its neighbours, as much of the document as fits."""
    shown = as_of.generations if as_of else None
    document = await visit.ports.store.document(hit.document_id, shown=shown)
    if document is None:
        return None
    blocks = markdown.blocks(document.text or "")
    at = section_at(blocks, hit.heading_path)
    terms = Question.read(query).terms
    around = []
    for index in range(max(0, at - 1), min(len(blocks), at + 2)):
        section, text = blocks[index]
        most = MAX_CHARS if index == at else MAX_CHARS // 5
        around.append(
            {
                "heading": section.heading,
                "here": index == at,
                "markdown": beginning(text, most),
                "cut": len(text) > most,
            }
        )
    numbers = [one.number for one in await visit.ports.store.generations(document.source_id)]
    older = max((one for one in numbers if one < document.born), default=None)
    step = f"/sources/{quote(document.source)}/diff/{older}..{document.born}"
    return {
        "diff": visit.address(step, reference=document.reference)
        if older and document.born in numbers
        else None,
        "number": number,
        "document_id": document.id,
        "source": document.source,
        "title": document.title,
        "path": _headings(hit),
        "url": hit.url,
        "defines": hit.defines,
        "language": hit.language,
        "born": document.born,
        "generation": document.generation,
        "fetched_at": document.fetched_at,
        "sections": around,
        "terms": list(terms),
        "why": _why(hit, blocks[at] if blocks else None, terms),
    }


def _headings(hit: Hit) -> list[str]:
    """The headings above a hit and its own, without the title of the document."""
    found = [part for part in hit.heading_path.split(BETWEEN) if part]
    return found[1:] if found[:1] == [hit.title] else found


def section_at(blocks: Sequence[tuple[Stretch, str]], path: str) -> int:
    """The section with this heading path; the first one when none has it."""
    return next((i for i, (one, _) in enumerate(blocks) if join_path(one.heading_path) == path), 0)


def _why(hit: Hit, block: tuple[Stretch, str] | None, terms: Sequence[str]) -> list[dict[str, Any]]:
    """What speaks for a hit, each from 0 to 1."""
    wanted = markdown.stems(terms)
    text = f"{hit.title} {hit.heading_path} {hit.snippet} {block[1][:MAX_COMPARED] if block else ''}".lower()
    said = markdown.stems(markdown.words(text))
    held = len(wanted & said)
    reasons = []
    if wanted:
        found = hit.by_words or 0.0
        told = f"{found:.2f}, {held} of {len(wanted)} in it"
        reasons.append({"what": "words", "share": found, "said": told})
    if hit.by_meaning is not None:
        reasons.append({"what": "meaning", "share": hit.by_meaning, "said": f"{hit.by_meaning:.2f}"})
    share = title_share(hit.title, terms)
    reasons.append({"what": "title", "share": share, "said": f"{share:.2f}"})
    if hit.defines:
        reasons.append({"what": "defined here", "share": 1.0, "said": "yes"})
    if hit.sections:
        others = len(hit.sections)
        reasons.append(
            {"what": "more in it", "share": min(1.0, others / 3), "said": count(others, "section")}
        )
    reasons.append({"what": "likely the answer", "share": hit.score, "said": f"{hit.score:.2f}"})
    return reasons


def _since(visit: Visit) -> datetime | None:
    days = PERIODS.get(visit.asked("since"))
    return visit.now - timedelta(days=days) if days else None


def _filters(
    visit: Visit, sources: dict[str, Source], hits: Sequence[Hit], known: Mapping[str, int] = NOTHING
) -> dict[str, Any]:
    """The chips: sources with how many hits each has, kinds, periods, and languages that were found."""
    chosen = tag_of(visit.asked("language"))
    counts = Counter(hit.label for hit in hits)
    counts.update({label: number - counts[label] for label, number in known.items() if label in sources})
    return {
        "sources": [{"label": label, "hits": number} for label, number in counts.most_common(8)],
        "source": visit.asked("source"),
        "kinds": sorted({source.kind for source in sources.values()}),
        "kind": visit.asked("kind"),
        "periods": PERIOD_WORDS,
        "since": visit.asked("since"),
        "languages": sorted({hit.language for hit in hits if hit.language} | {chosen} - {""}),
        "language": chosen,
        "fresh": visit.asked("fresh"),
        "shares": SHARES if visit.may(Scope.SYNC) and not visit.asked("as_of") else {},
        "any_sources": bool(sources),
    }
