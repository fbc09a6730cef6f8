"""`/documents/ID`: a document as a person reads it, its sections at the side, and what is known of it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from rowen.core.feed import Document
from rowen.core.freshness.proof import likely
from rowen.core.search.question import Question
from rowen.core.section import join_path
from rowen.core.web.verified import WORDS
from rowen.doors.web import markdown
from rowen.doors.web.pages.search import section_at
from rowen.doors.web.visit import Page, Visit
from rowen.reading.proof import proven
from rowen.reading.read import by_id

LINKS_SHOWN = 100
PART_CHARS = 16_000
"""How much of a text is on one page: long documents go on, on further ones."""
LINKS = 200


async def document(visit: Visit) -> Page:
    number = visit.part_number("id")
    (found,) = await proven(visit.ports.store, [await by_id(visit.ports.store, number)], visit.now)
    text = found.text or ""
    blocks = markdown.blocks(text)
    parts = _parts([len(body) + len(section.heading) for section, body in blocks])
    here = section_at(blocks, visit.asked("at")) if visit.asked("at") else None
    at = _part_of(parts, here) if here is not None else min(max(1, visit.number("part")), len(parts))
    first, last = parts[at - 1]
    query = visit.asked("q")[:1000]
    data = {
        "document": _facts(found),
        "aliases": await visit.ports.store.aliases(number),
        **await _as_it_came(visit, found),
        "same_text": [
            {"document_id": one.id, "source": one.source, "title": one.title, "reference": one.reference}
            for one in await visit.ports.store.same_text(number)
        ],
        "versions": await _versions(visit, found),
        "query": query,
        "terms": list(Question.read(query).terms) if query else [],
        "part": at,
        "parts": len(parts),
        "contents": [
            {
                "number": index + 1,
                "level": section.level,
                "heading": section.heading,
                "part": _part_of(parts, index),
            }
            for index, (section, _) in enumerate(blocks)
            if section.heading
        ],
        "sections": [
            {
                "number": index + 1,
                "level": section.level,
                "heading": section.heading,
                "path": join_path(section.heading_path),
                "here": index == here,
                "defines": section.symbol.name if section.symbol else None,
                "markdown": body,
                "url": f"{found.url}#{section.anchor}" if section.anchor else found.url,
            }
            for index, (section, body) in enumerate(blocks[first:last], first)
        ],
        "words": len(markdown.words(text)),
        "raw": visit.asked("raw") == "1",
        "text": text if visit.as_json or visit.asked("raw") == "1" else None,
        "diff": f"/sources/{quote(found.source)}/diff/{found.born - 1}..{found.born}"
        if found.born > 1
        else None,
    }
    return Page(template="document", title=found.title or found.reference, data=data, tab="search")


async def _versions(visit: Visit, found: Document) -> list[dict[str, Any]]:
    """The versions that are kept, the newest first, each with the step that brought it."""
    kept = await visit.ports.store.versions(found.source_id, found.reference)
    numbers = sorted(one.number for one in await visit.ports.store.generations(found.source_id))
    return [
        {
            "born": one.born,
            "died": one.died,
            "fetched_at": one.fetched_at,
            "bytes": one.text_bytes,
            "visible": one.document_id == found.id,
            "before": max((number for number in numbers if number < one.born), default=None)
            if one.born in numbers
            else None,
        }
        for one in reversed(kept)
    ]


async def _as_it_came(visit: Visit, found: Document) -> dict[str, Any]:
    """What its server said of this version, and where its links lead."""
    known = (await visit.ports.store.known(found.source_id, [found.reference])).get(found.reference)
    if known is None:
        return {"validators": {}, "links": [], "links_found": 0}
    etag, modified = known.validators.etag, known.validators.last_modified
    shown = list(known.links[:LINKS_SHOWN])
    targets = await visit.ports.store.linked(shown)
    return {
        "validators": {name: value for name, value in (("ETag", etag), ("Last-Modified", modified)) if value},
        "links": [targets[one]._asdict() for one in shown if one in targets],
        "links_found": len(known.links),
    }


def _facts(found: Document) -> dict[str, Any]:
    return {
        "id": found.id,
        "source": found.source,
        "kind": found.kind,
        "reference": found.reference,
        "url": found.url,
        "title": found.title,
        "metadata": dict(found.metadata),
        "content_type": found.content_type,
        "content_hash": found.content_hash.hex(),
        "generation": found.generation,
        "born": found.born,
        "fetched_at": found.fetched_at,
        "verified_at": found.verified_at,
        "verified_by": WORDS.get(found.verified_by or ""),
        "p_fresh": None if found.p_fresh is None else round(found.p_fresh, 4),
        "likely": likely(found.p_fresh),
    }


def _parts(sizes: list[int]) -> list[tuple[int, int]]:
    """Which sections stand on which page: whole sections, about as much on each."""
    parts, first, size = [], 0, 0
    for index, one in enumerate(sizes):
        if size and size + one > PART_CHARS:
            parts.append((first, index))
            first, size = index, 0
        size += one
    return [*parts, (first, len(sizes))]


def _part_of(parts: list[tuple[int, int]], index: int) -> int:
    return next(
        number for number, (first, last) in enumerate(parts, 1) if first <= index < last or last == index == 0
    )
