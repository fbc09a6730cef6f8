"""What tools answer: a compact text for the model, the same as values for programs.

What comes from a page (titles, headings, addresses, text) stands inside the quoted part; what stands outside
was written by Rowen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rowen.core.feed import SOURCE_REMOVED, Document
from rowen.core.freshness.proof import likely
from rowen.core.rules.left_out import sentences
from rowen.core.rules.standing import Standing
from rowen.core.run import Run
from rowen.core.search.as_of import AsOf as Then
from rowen.core.search.hit import Answer as Found
from rowen.core.source import Source
from rowen.core.web.urls import without_credentials
from rowen.core.web.verified import WORDS
from rowen.doors.mcp.quoting import NOTICE, clean, one_line, quoted
from rowen.doors.shapes import compared as shapes
from rowen.doors.shapes import runs
from rowen.doors.shapes.documents import AsOf, Hit, Rechecked
from rowen.doors.words import CHANGES, OLD_VERSION, OUTCOMES, and_likely, count
from rowen.engine.receipt import Receipt
from rowen.reading.read import Excerpt, Heading
from rowen.reading.recent import Changes, Touched
from rowen.reading.versions import Compared
from rowen.records import dataclass

TOLD = ("created", "updated", "deleted", "unchanged", "failed")
"""Outcomes that are told even when there are none."""
HEADINGS_LISTED = 6
SAME_LISTED = 3
SOURCES_LISTED = 10
ALIASES_LISTED = 20
COMPARED_CHARS = 240
"""Of a line about two versions."""


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    values: dict[str, Any]
    failed: bool = False


def search(found: Found, verified: Mapping[str, datetime | None], *, hint: str) -> Answer:
    hits = []
    lines = []
    for number, hit in enumerate(found.hits, 1):
        checked = hit.verified_at or verified.get(hit.label)
        sections = [{"heading_path": one.heading_path, "url": one.url} for one in hit.sections]
        shown = {**Hit.show(hit), "verified_at": _iso(checked), "sections": sections}
        # A model reads the values too, and has no use for places of letters.
        del shown["matches"]
        hits.append(shown)
        lines += [
            f"{number}. {one_line(hit.heading_path or hit.title)}",
            f"   {one_line(hit.url, 2000)}",
            f"   {hit.label}, generation {hit.generation}, "
            f"fetched {_when(hit.fetched_at)}, verified {_when(checked)}"
            + (and_likely(hit.p_fresh) if checked else "")
            + (f", in `{hit.language}`" if hit.language and found.in_several_languages else ""),
            f"   {one_line(hit.snippet, 600)}",
        ]
        if hit.old_version:
            lines.append(f"   {OLD_VERSION}")
        if hit.sections:
            also = " | ".join(one_line(one.heading_path, 80) for one in hit.sections)
            lines.append(f"   also: {also}")
        if others := hit.same_text_at:
            same = " | ".join(one_line(one.url, 200) for one in others[:SAME_LISTED])
            more = len(others) - SAME_LISTED
            lines.append(f"   same text at: {same}" + (f" and {more} more" if more > 0 else ""))
        if hit.same_page_in:
            lines.append(f"   same page in: {', '.join(map(one_line, hit.same_page_in))}")
        if hit.copies:
            same = " | ".join(f"{one.source} {one_line(one.url, 200)}" for one in hit.copies[:SAME_LISTED])
            more = len(hit.copies) - SAME_LISTED
            lines.append(f"   same dataset in: {same}" + (f" and {more} more" if more > 0 else ""))
    values = {
        "query": found.query,
        "mode": found.mode.value,
        "degraded": found.degraded,
        "corrected": found.corrected,
        "fits": found.fits,
        "as_of": AsOf.show(found.as_of) if found.as_of else None,
        "rechecked": Rechecked.show(found.rechecked) if found.rechecked else None,
        "hits": hits,
    }
    then = _then(found.as_of) if found.as_of else ""
    if found.rechecked:
        then += one_line("; ".join([found.rechecked.says, *found.rechecked.notes]), 1000) + ". "
    degraded = f" Degraded: {one_line(found.degraded)}." if found.degraded else ""
    if not hits:
        return Answer(f"{then}Nothing found.{degraded} {hint}", values)
    corrected = f" Showing results for `{one_line(found.corrected)}`." if found.corrected else ""
    fits = "" if found.fits else " Nothing fits well; these come nearest, and may not answer the question."
    head = f"{then}{count(len(hits), 'hit')}, best first.{corrected}{fits}{degraded}"
    body = quoted("\n".join(lines), whence="quoted from the pages at the addresses in it")
    return Answer(f"{head}\n{body}", {"quoted": f"titles, headings and snippets are {NOTICE}", **values})


def _then(as_of: Then) -> str:
    """What answers, and what cannot."""
    told = "; ".join(one_line(one.says) for one in as_of.sources[:SOURCES_LISTED])
    more = len(as_of.sources) - SOURCES_LISTED
    return f"Not what is visible now, but {as_of.says}: {told}{f' and {more} more' if more > 0 else ''}. "


def sources(
    found: Sequence[Source], documents: Mapping[int, int], standings: Mapping[int, Standing]
) -> Answer:
    rows = [
        {
            "source": one.label,
            "version": one.version,
            "kind": one.kind,
            "location": without_credentials(one.location),
            "documents": documents[one.id],
            "generation": one.active_generation,
            "status": one.status.value,
            "state": standings[one.id].state.value,
            "state_text": standings[one.id].says,
            "verified_at": _iso(one.last_success_at),
            "left_out": one.left_out,
            "key": one.key,
            "last_mode": one.result and one.result.mode,
            "last_processed": one.result.processed if one.result else 0,
            "last_failed": one.result.failed if one.result else 0,
            "last_outcome": one.result and one.result.state,
            "last_outcome_text": one.result and one.result.words,
        }
        for one in found
    ]
    if not rows:
        return Answer("There are no sources yet; a person adds them with `rowen add`.", {"sources": []})
    lines = [
        f"{one.label}: {one.kind}, {count(documents[one.id], 'document')}, {standings[one.id].state.value}, "
        f"verified {_when(one.last_success_at)}{_short_of(one)}, "
        + one_line(without_credentials(one.location), 200)
        + "".join(f"; left out {said}" for said in sentences(one.left_out))
        for one in found
    ]
    return Answer("\n".join(lines), {"sources": rows})


def _short_of(source: Source) -> str:
    """What the last run did not bring."""
    words = source.result.words if source.result else None
    return f", last run {words}" if words else ""


def version(chosen: Source, wanted: str, others: Sequence[Source]) -> Answer:
    exact = chosen.version == wanted
    versions = [one.version for one in others]
    fit = "that very version" if exact else f"the best match for `{wanted}`"
    stored = ", ".join(f"`{one}`" if one else "(no version)" for one in versions)
    return Answer(
        f"`{chosen.label}` is {fit}. Stored, newest first: {stored}.",
        {"source": chosen.label, "version": chosen.version, "exact": exact, "versions": versions},
    )


def document(
    one: Document,
    part: Excerpt,
    verified: datetime | None,
    *,
    headings: int = HEADINGS_LISTED,
    aliases: Sequence[str] = (),
    stale_anchor: str = "",
) -> Answer:
    """`headings` of what was left out are named, on each side. `stale_anchor` was asked for and is gone."""
    left_out = [f"{low} to {high}" if low < high else f"{low}" for low, high in _gaps(part)]
    how = WORDS.get(one.verified_by or "")
    about = (
        f"document {one.id} of `{one.source}`, generation {one.generation}, fetched {_when(one.fetched_at)}, "
        f"verified {_when(verified)}{f' ({how})' if how else ''}, {likely(one.p_fresh)}"
    )
    if part.sections:
        head = f"{_sections(part)} of {about}; all of it is about {part.tokens:,} tokens."
    else:
        head = f"There is no text in {about}."
    if stale_anchor:
        head += f" The page has no place `#{one_line(stale_anchor, 200)}`: this is its beginning."
    if part.cut:
        head += " Only the beginning of that section fits: ask with a larger `budget_tokens`."
    if left_out:
        head += (
            f" Left out: sections {' and '.join(left_out)}; ask with `section` (a number or a heading) "
            "or a larger `budget_tokens`."
        )
    outside = [f"Title: {one_line(one.title)}", f"URL: {one_line(one.url, 2000)}"]
    outside += [
        f"Left out {where}: {_outline(outline, headings)}"
        for where, outline in (("before", part.before), ("after", part.after))
        if outline
    ]
    text = quoted("\n".join([*outside, "", part.text.strip("\n")]), whence="quoted from the document")
    values = {
        "source": one.source,
        "url": one.url,
        "aliases": list(aliases[:ALIASES_LISTED]),
        "title": one.title,
        "document_id": one.id,
        "generation": one.generation,
        "fetched_at": _iso(one.fetched_at),
        "verified_at": _iso(verified),
        "verified_by": one.verified_by,
        "p_fresh": None if one.p_fresh is None else round(one.p_fresh, 4),
        "sections": [part.first, part.last],
        "sections_total": part.sections,
        "tokens_total": part.tokens,
        "cut": part.cut,
        "left_out": [list(gap) for gap in _gaps(part)],
        "text": text,
    }
    return Answer(f"{head}\n{text}", values)


def changes(found: Changes) -> Answer:
    counts = Counter(item.change for item in found.items)
    said = (
        ", ".join(f"{counts[kind]} {word}" for kind, (_, word) in CHANGES.items() if counts[kind])
        or "nothing changed"
    )
    go_on = (
        f"there is more: ask with since={found.cursor}" if found.more else f"next time: since={found.cursor}"
    )
    values = {
        "quoted": f"titles, headings and addresses are {NOTICE}",
        "changes": [_change(item) for item in found.items],
        "cursor": str(found.cursor),
        "more": found.more,
    }
    head = f"{said[:1].upper()}{said[1:]}; {go_on}."
    if not found.items:
        return Answer(head, values)
    body = quoted("\n".join(map(_change_line, found.items)), whence="quoted from the documents")
    return Answer(f"{head}\n{body}", values)


def compared(found: Compared) -> Answer:
    """Two versions of one thing: the lines are bounded, the counts are of everything."""
    values = {
        "quoted": f"titles, names and addresses are {NOTICE}",
        **shapes.Compared.show(found),
        "changes": [],
        "cursor": "",
        "more": any(
            sum(found.counts[f"{what}_{change}"] for change in ("added", "removed", "changed")) > len(listed)
            for what, listed in (("symbols", found.symbols), ("sections", found.sections))
        ),
    }
    head = f"From {found.before} to {found.after}: {found.summary}."
    lines = [one_line(f"{one.note.words} ({one.url})", COMPARED_CHARS) for one in found.symbols]
    lines += [
        one_line(f"{one.title}: {one.note.words} ({one.url})", COMPARED_CHARS) for one in found.sections
    ]
    lines += [one_line(f"new page {one.title} ({one.url})", COMPARED_CHARS) for one in found.pages_added]
    lines += [one_line(f"page {one.title} removed", COMPARED_CHARS) for one in found.pages_removed]
    if not lines:
        return Answer(head, values)
    return Answer(f"{head}\n{quoted(chr(10).join(lines), whence='quoted from the documents')}", values)


def refreshed(source: Source, ended: Receipt | Run) -> Answer:
    if isinstance(ended, Receipt):
        values = runs.Receipt.show(ended)
    else:
        values = runs.Run.show(ended, source=source.label)
    said = (
        f"`{source.label}`: {ended.result.words or ended.result.state}, generation {ended.generation}: "
        + ", ".join(
            f"{values[name]} {word}" for name, word in OUTCOMES.items() if name in TOLD or values[name]
        )
        + "."
        + "".join(f"\nleft out {said}" for said in sentences(values["left_out"]))
    )
    for word in (ended.error, values.get("hint") and f"hint: {values['hint']}"):
        if word:
            # An error names what a server said.
            said += f"\n{one_line(word, 600)}"
    return Answer(said, values, failed=not ended.status.is_good)


def _change(item: Touched) -> dict[str, Any]:
    return {
        "change": item.change,
        "source": item.source,
        "url": item.url,
        "title": item.title,
        "document_id": item.document_id,
        "at": _iso(item.at),
        "headings": list(item.headings),
        "fields": list(item.fields),
    }


def _change_line(item: Touched) -> str:
    if item.change == SOURCE_REMOVED:
        return f"{CHANGES[item.change][0]} source {item.source} with all its documents ({_when(item.at)})"
    name = one_line(item.title or item.reference)
    number = f", document {item.document_id}" if item.document_id else ""
    about = f"{one_line(item.url, 2000)}; {item.source}, {_when(item.at)}{number}"
    line = f"{CHANGES[item.change][0]} {name} ({about})"
    if item.fields and "text" not in item.fields:
        line += f"\n    new metadata: {one_line(', '.join(item.fields), 200)}"
    if item.headings:
        line += "\n    " + " | ".join(one_line(heading, 80) for heading in item.headings)
    return line


def _sections(part: Excerpt) -> str:
    if part.first == part.last:
        return f"Section {part.first} of {part.sections}"
    return f"Sections {part.first} to {part.last} of {part.sections}"


def _gaps(part: Excerpt) -> list[tuple[int, int]]:
    around = [(1, part.first - 1), (part.last + 1, part.sections)]
    return [(low, high) for low, high in around if low <= high]


def _outline(outline: Sequence[Heading], most: int) -> str:
    listed = [f"{one.number} {one_line(one.path, 80)}" for one in outline[:most]]
    rest = len(outline) - len(listed)
    return " | ".join(listed) + (f" | and {rest} more" if rest else "")


def _when(moment: datetime | None) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%MZ}" if moment else "never"


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def problem(message: str, hint: str | None) -> str:
    """An error in words, on two lines at most, also when it quotes a page."""
    said = clean(message)
    return f"{said}\nhint: {clean(hint)}" if hint else said
