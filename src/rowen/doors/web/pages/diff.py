"""`/sources/NAME/diff/G1..G2`: what readers see in one generation that they did not see in another, and
`/sources/NAME/compare/OTHER`: what changed from one version of a thing to another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from rowen.core.generation import Change, Generation
from rowen.core.source import Source
from rowen.doors.shapes import compared as shapes
from rowen.doors.web.diff_rows import rows, short_path
from rowen.doors.web.visit import Page, Refused, Visit
from rowen.managing.find import find_pair
from rowen.reading import diff as reading
from rowen.reading import history, versions

SHOWN = 25
"""Documents on one page."""
CHARS = 16_000
"""About so much text of differences is on one page; a document alone may have as much."""
LISTED = 400
"""Lines of each kind of a comparison at most; the counts are of all."""
KINDS = ("added", "changed", "removed")
_SPAN = re.compile(r"(\d{1,9})\.\.(\d{1,9})")


async def diff(visit: Visit) -> Page:
    source = await visit.source()
    before, after = span(visit.part("span"))
    found = await history.diff(visit.ports.store, source, from_generation=before, to_generation=after)
    kept = await visit.ports.store.generations(source.id)
    kind = visit.asked("kind") if visit.asked("kind") in KINDS else ""
    only = visit.asked("reference")
    wanted = [
        change for change in found.changes if kind in ("", change.kind) and only in ("", change.reference)
    ]
    at = visit.number("page")
    shown = wanted[(at - 1) * SHOWN : at * SHOWN]
    counts = Counter(change.kind for change in found.changes)
    data = {
        "source": source.label,
        "where": f"/sources/{quote(source.label)}",
        "from_generation": before,
        "to_generation": after,
        "active": source.active_generation,
        "held": source.held_generation,
        "run_id": next((one.run_id for one in kept if one.number == after), None),
        "shown_at": next((one.activated_at for one in kept if one.number == after), None),
        "total": len(found.changes),
        "counts": [{"kind": name, "number": counts[name]} for name in KINDS],
        "kind": kind,
        "unchanged": _unchanged(kept, after, counts),
        "documents": await _documents(visit, source, shown, before, after),
        "only": only,
        "page_number": at,
        "pages": -(-len(wanted) // SHOWN),
        **_neighbours(kept, before, after),
    }
    title = f"{source.label} {before} → {after}"
    return Page(template="diff", title=title, data=data, tab="sources")


async def compare(visit: Visit) -> Page:
    """Two sources of the store; the names, sections and pages that differ."""
    pair = await find_pair(visit.ports.store, visit.part("name"), visit.part("other"))
    limit = min(visit.number("limit", versions.LISTED), LISTED)
    found = await versions.compare(visit.ports.store, *pair, limit=limit)
    data = {
        **shapes.Compared.show(found),
        "limit": limit,
        "most": LISTED,
        "groups": [
            {"title": "Names", "what": "symbols", "every": _every(found.counts, "symbols")},
            {"title": "Sections", "what": "sections", "every": _every(found.counts, "sections")},
        ],
        "folders": [{"words": one.words} for one in found.folders],
        "swapped": f"/sources/{quote(found.after)}/compare/{quote(found.before)}",
    }
    return Page(template="compare", title=f"{found.before} → {found.after}", data=data, tab="sources")


def _every(counts: Mapping[str, int], what: str) -> int:
    return sum(counts[f"{what}_{change}"] for change in KINDS)


def span(text: str) -> tuple[int, int]:
    found = _SPAN.fullmatch(text)
    if found is None:
        raise Refused(status=404, detail=f"`{text}`: expected two generations, as in `41..42`")
    return int(found[1]), int(found[2])


def _unchanged(kept: Sequence[Generation], after: int, counts: Counter[str]) -> int | None:
    documents = next((one.documents for one in kept if one.number == after), None)
    return None if documents is None else max(0, documents - counts["added"] - counts["changed"])


def _neighbours(kept: Sequence[Generation], before: int, after: int) -> dict[str, Any]:
    """The steps before and after this one, between generations that are kept."""
    numbers = sorted(one.number for one in kept)
    older = [number for number in numbers if number < before]
    newer = [number for number in numbers if number > after]
    return {
        "older": f"{older[-1]}..{before}" if older and before else None,
        "newer": f"{after}..{newer[0]}" if newer else None,
    }


def _headings(change: Change) -> list[dict[str, str]]:
    """The sections whose text is new, gone or another, without the title that all of them share."""
    new, gone = set(change.headings_added), set(change.headings_removed)
    listed = dict.fromkeys((*change.headings_added, *change.headings_removed))
    return [
        {
            "kind": "changed" if one in new and one in gone else "added" if one in new else "removed",
            "heading": short_path(one, change.title),
        }
        for one in listed
    ]


async def _documents(
    visit: Visit, source: Source, changes: Sequence[Change], before: int, after: int
) -> list[dict[str, Any]]:
    """The changes with the words that differ, and the document that readers see now, where there is one."""
    references = [change.reference for change in changes if change.kind != "removed"]
    visible = {
        one.reference: one.id
        for one in (await visit.ports.store.documents(source.id, references=references) if references else [])
    }
    made, left = [], CHARS
    for change in changes:
        found = await reading.document(
            visit.ports.store, source, change.reference, from_generation=before, to_generation=after
        )
        shown, cut = rows(found.text, title=change.title, chars=left) if left > 0 else ([], True)
        left -= sum(len(text) for row in shown for side in ("left", "right") for _, text in row[side])
        made.append(
            {
                "kind": change.kind,
                "reference": change.reference,
                "url": change.url,
                "title": change.title or change.reference,
                "document_id": visible.get(change.reference),
                "words_added": found.text.words_added,
                "words_removed": found.text.words_removed,
                "headings": _headings(change),
                "rows": shown,
                "cut": cut,
            }
        )
    return made
