"""What changed between two versions of one thing: two sources, matched by pages, names and sections.

Texts are read for pages that differ. A name is the same name wherever it is defined, so one that moved to
another page is neither new nor removed, nor is one that a page without changes defines as well.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from rowen.core.compare.matching import Matched, PageOf, match, path_key
from rowen.core.compare.notes import About, Folder, Note, compared, folders, of_symbols
from rowen.core.compare.outline import Defined, Outline, outline
from rowen.core.source import Source
from rowen.errors import UserError
from rowen.eventloop import in_thread
from rowen.ports.store.feed import Feed
from rowen.records import dataclass

PAGE = 500
TEXTS = 100
LISTED = 40
"""Lines of each kind; the counts are of all."""
MOST_PAGES = 50_000
_WORDS = re.compile(r"\w+")


class Placed(NamedTuple):
    """A note, and the page it is about."""

    note: Note
    title: str
    url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    before: str
    after: str
    counts: Mapping[str, int]
    """Of everything, also of what is not listed."""
    symbols: tuple[Placed, ...]
    """New and removed names, then those with another signature."""
    sections: tuple[Placed, ...]
    pages_added: tuple[PageOf, ...]
    pages_removed: tuple[PageOf, ...]
    folders: tuple[Folder, ...]

    @property
    def summary(self) -> str:
        counts = self.counts
        said = [
            f"{counts[f'{what}_{change}']:,} {word} {what if counts[f'{what}_{change}'] != 1 else what[:-1]}"
            for what in ("symbols", "sections", "pages")
            for change, word in (("added", "new"), ("removed", "removed"), ("changed", "changed"))
            if counts[f"{what}_{change}"]
        ]
        return ", ".join(said) or "no difference"


async def compare(store: Feed, before: Source, after: Source, *, limit: int = LISTED) -> Compared:
    """Raises `UserError` for a source that readers see nothing of, or that is too large to compare."""
    sides = [await _pages(store, one) for one in (before, after)]
    matched = match(*sides)
    changed = [pair for pair in matched.pairs if pair[0].content != pair[1].content]
    same = [now for was, now in matched.pairs if was.content == now.content]
    old = await _outlines(store, before, [*(one for one, _ in changed), *matched.removed])
    new = await _outlines(store, after, [*(one for _, one in changed), *matched.added])
    # Pages of a version link to pages of that version; addresses behind links are not what a page says.
    differing = [
        (was, now) for was, now in changed if not old[was.reference].says_the_same_as(new[now.reference])
    ]
    symbols = _symbols(old, new, _by_reference(sides[0]), _by_reference(sides[1]))
    come_or_gone = {one.note.name for one in symbols if one.note.change != "changed"}
    stayed = await _names_in(store, after, same, come_or_gone)
    symbols = [one for one in symbols if one.note.change == "changed" or one.note.name not in stayed]
    sections = [
        Placed(note, now.title, _at(now.url, note.anchor))
        for was, now in changed
        for note in compared(old[was.reference], new[now.reference])
        if note.about is About.SECTION
    ]
    reworded = [one for one in symbols if one.note.words.startswith("text of ")]
    telling = [one for one in symbols if one not in reworded]
    return Compared(
        before=before.label,
        after=after.label,
        counts=_counts(matched, len(differing), telling, sections) | {"symbols_reworded": len(reworded)},
        symbols=tuple(telling[:limit]),
        sections=tuple(sorted(sections, key=_weight)[:limit]),
        pages_added=tuple(matched.added[:limit]),
        pages_removed=tuple(matched.removed[:limit]),
        folders=tuple(folders(one.reference for one in matched.removed)),
    )


async def _pages(store: Feed, source: Source) -> dict[str, PageOf]:
    if not source.active_generation:
        raise UserError(
            f"source `{source.label}`: never synced, so there is nothing to compare",
            hint=f"rowen sync {source.label}",
        )
    found: dict[str, PageOf] = {}
    after = ""
    while page := await store.documents(source.id, after=after, limit=PAGE):
        after = page[-1].reference
        for one in page:
            key = path_key(one.reference, location=source.location, version=source.version)
            found.setdefault(key, PageOf(one.reference, one.url, one.title, one.content_hash))
        if len(found) > MOST_PAGES:
            raise UserError(f"source `{source.label}`: more than {MOST_PAGES:,} documents to compare")
    return found


async def _outlines(store: Feed, source: Source, pages: Sequence[PageOf]) -> dict[str, Outline]:
    found: dict[str, Outline] = {}
    references = [one.reference for one in pages]
    for start in range(0, len(references), TEXTS):
        some = references[start : start + TEXTS]
        texts = await store.documents(source.id, references=some, limit=len(some), text=True)
        made = await in_thread(lambda: {one.reference: outline(one.text) for one in texts})  # noqa: B023
        found |= made
    # A page that went while it was read says nothing.
    return {name: found.get(name, Outline(symbols={}, sections={})) for name in references}


async def _names_in(store: Feed, source: Source, pages: Sequence[PageOf], names: Collection[str]) -> set[str]:
    """Those of the names that one of the pages defines; pages without their last part are not cut."""
    last = {name.rpartition(".")[2] for name in names}

    def defined(texts: Sequence[str]) -> set[str]:
        told = (text for text in texts if not last.isdisjoint(_WORDS.findall(text)))
        return {name for text in told for name in outline(text).symbols if name in names}

    found: set[str] = set()
    for start in range(0, len(pages) if names else 0, TEXTS):
        some = [one.reference for one in pages[start : start + TEXTS]]
        read = await store.documents(source.id, references=some, limit=len(some), text=True)
        found |= await in_thread(defined, [one.text or "" for one in read])
    return found


def _symbols(
    old: Mapping[str, Outline],
    new: Mapping[str, Outline],
    pages_old: Mapping[str, PageOf],
    pages_new: Mapping[str, PageOf],
) -> list[Placed]:
    """Notes on names, wherever they are defined: new, removed, then changed."""
    before, home_before = _defined(old, pages_old)
    after, home_after = _defined(new, pages_new)
    order = {"added": 0, "removed": 1, "changed": 2}
    placed = []
    for note in of_symbols(before, after):
        page = home_after.get(note.name) or home_before[note.name]
        placed.append(Placed(note, page.title, _at(page.url, note.anchor)))
    return sorted(placed, key=lambda one: (order[one.note.change], one.note.name))


def _defined(
    outlines: Mapping[str, Outline], pages: Mapping[str, PageOf]
) -> tuple[dict[str, Defined], dict[str, PageOf]]:
    symbols: dict[str, Defined] = {}
    homes: dict[str, PageOf] = {}
    for reference, one in outlines.items():
        for name, symbol in one.symbols.items():
            # Of a name that several pages define, the one that shows a signature.
            if name not in symbols or (symbol.signature and not symbols[name].signature):
                symbols[name], homes[name] = symbol, pages[reference]
    return symbols, homes


def _by_reference(pages: Mapping[str, PageOf]) -> dict[str, PageOf]:
    return {one.reference: one for one in pages.values()}


def _counts(
    matched: Matched, changed: int, symbols: Sequence[Placed], sections: Sequence[Placed]
) -> dict[str, int]:
    def number(placed: Sequence[Placed], change: str) -> int:
        return sum(one.note.change == change for one in placed)

    return {
        "pages_added": len(matched.added),
        "pages_removed": len(matched.removed),
        "pages_changed": changed,
        "pages_same": len(matched.pairs) - changed,
        **{f"symbols_{change}": number(symbols, change) for change in ("added", "removed", "changed")},
        **{f"sections_{change}": number(sections, change) for change in ("added", "removed", "changed")},
    }


def _weight(one: Placed) -> tuple[int, str]:
    """New and removed sections before reworded ones."""
    return ({"added": 0, "removed": 1, "changed": 2}[one.note.change], one.title)


def _at(url: str, anchor: str | None) -> str:
    return f"{url}#{anchor}" if anchor else url
