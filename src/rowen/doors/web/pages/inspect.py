"""`/inspect?url=`: one page as Rowen sees it. It is asked for once, and nothing is stored."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rowen.core.safety.access import Scope
from rowen.core.section import join_path
from rowen.doors.web.visit import ROWS, Page, Visit
from rowen.errors import RowenError
from rowen.managing.find import find
from rowen.managing.inspect import Inspection
from rowen.managing.inspect import inspect as look

MAX_URL = 2000
CHARS = 8000
"""Of the Markdown; `.json` has all of it."""


async def inspect(visit: Visit) -> Page:
    """The form; with an address, what became of it. Servers are asked for callers who may start runs."""
    visit.need(Scope.SYNC)
    url = visit.asked("url")[:MAX_URL]
    source = await find(visit.ports.store, visit.asked("source")) if visit.asked("source") else None
    found: Inspection | None = None
    error: dict[str, Any] | None = None
    if url and visit.is_own_link:
        try:
            found = await look(visit.ports, url, source=source)
        except RowenError as exc:
            error = {"message": exc.message, "hint": exc.hint}
    data = {
        "url": url,
        "source": source.label if source else "",
        "sources": [one.label for one in await visit.ports.store.sources()],
        "error": error,
        "found": _shown(visit, found) if found else None,
    }
    return Page(template="inspect", title="Inspect", data=data, tab="inspect")


def _shown(visit: Visit, found: Inspection) -> dict[str, Any]:
    return {
        "verdict": found.verdict,
        "indexed": found.why_not is None,
        "url": found.url,
        "final_url": found.final_url,
        "redirects": list(found.redirects),
        "status": found.status,
        "content_type": found.content_type,
        "about_validators": found.about_validators,
        "etag": found.validators.etag,
        "last_modified": found.validators.last_modified,
        "robots": found.robots.says,
        "robots_allowed": found.robots.allowed,
        "bytes": found.body_bytes,
        "bytes_received": found.bytes_received,
        "title": found.title,
        "canonical": found.canonical,
        "metadata": {name: str(value) for name, value in found.metadata.items()},
        "markdown": found.markdown if visit.as_json else found.markdown[:CHARS],
        "markdown_cut": not visit.as_json and len(found.markdown) > CHARS,
        "sections": [
            {
                "heading_path": join_path(section.heading_path),
                "anchor": section.anchor,
                "chars": len(section.text),
                "defines": section.symbol.name if section.symbol else None,
            }
            for section in found.sections[:ROWS]
        ],
        "section_count": len(found.sections),
        "passages": found.passages,
        "links": [{"url": link.url, "why_not": link.why_not} for link in found.links[:ROWS]],
        "link_count": len(found.links) + found.links_left_out,
        "why_not": dict(Counter(link.why_not for link in found.links if link.why_not).most_common()),
        "page_words": found.page_words,
        "cut": list(found.cut[:20]),
        "cut_words": found.cut_words,
    }
