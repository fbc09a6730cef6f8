"""The changelog of a source as every door writes it: JSON, Markdown, and an Atom feed (RFC 4287).

The ids of a feed follow from what an entry is about, so that writing it again gives the same feed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape

from rowen.core.compare.notes import sentence
from rowen.core.generation import Cause
from rowen.core.source import Source
from rowen.doors.shapes.shape import Shape, Time
from rowen.doors.words import CHANGES
from rowen.reading.changes import Release, SourceChanges
from rowen.sinks.atom.rules import legal, moment, urn

ATOM = "application/atom+xml"
MARKDOWN = "text/markdown; charset=utf-8"
LISTED = 30
"""Documents of an Atom entry."""


class Note(Shape, schema_name="ChangelogNote"):
    about: str
    """`symbol` for a name that is defined, else `section`"""
    change: str
    """`added`, `changed` or `removed`"""
    name: str
    words: str
    """For people"""
    anchor: str | None


class ChangedDocument(Shape):
    change: str
    """`added`, `changed` or `removed`, over the whole stretch"""
    reference: str
    url: str
    title: str
    at: Time
    sections: list[str]
    """Heading paths whose text is new or gone"""
    notes: list[Note]
    """New, removed and changed names and sections, where history has both versions"""


class RemovedFolder(Shape):
    path: str
    references: list[str]
    words: str


class Changelog(Shape):
    source: str
    since: Time | None
    until: Time | None
    from_generation: int
    to_generation: int
    counts: dict[str, int]
    more: int
    """How many documents changed besides the listed ones"""
    documents: list[ChangedDocument]
    folders: list[RemovedFolder]
    """Folders many documents went from"""


def markdown(found: SourceChanges) -> str:
    """One source, its documents by what became of them."""
    until = f" ({found.until:%Y-%m-%d})" if found.until else ""
    lines = [f"## {_plain(found.source)}{until}", "", found.summary[:1].upper() + found.summary[1:] + "."]
    for change, title in (("added", "New"), ("changed", "Updated"), ("removed", "Removed")):
        told = [one for one in found.told if one.change == change]
        gone = found.folders if change == "removed" else ()
        if not told and not gone:
            continue
        lines += ["", f"### {title}", ""]
        lines += [f"- {folder.words}" for folder in gone]
        for one in told:
            name = _plain(one.title) or one.reference
            link = f"[{name}]({one.url.replace(')', '%29')})" if change != "removed" else name
            lines.append(f"- {link}" + (f": {_prose(sentence(one.notes))}" if one.notes else ""))
    if found.untold:
        lines += ["", f"And {found.untold:,} more."]
    return "\n".join(lines) + "\n"


def atom(source: Source, releases: Sequence[Release], *, now: datetime, url: str | None = None) -> str:
    """An entry for each moment at which readers saw a change, the newest first."""
    newest = releases[0].activation.at if releases else source.created_at.astimezone(UTC)
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"  <id>{urn('changelog', source.kind, source.label)}</id>",
        f"  <title>{_text(f'Changes in {source.label}')}</title>",
        f"  <updated>{moment(min(newest, now))}</updated>",
        "  <author><name>Rowen</name></author>",
        "  <generator>Rowen</generator>",
    ]
    if url:
        lines.append(f'  <link rel="self" type="{ATOM}" href="{_text(url)}"/>')
    for one in releases:
        lines += _entry(source, one)
    return "\n".join([*lines, "</feed>", ""])


def _entry(source: Source, one: Release) -> list[str]:
    shown = one.activation
    counts = {kind: sum(change.kind == kind for change in one.changes) for kind in CHANGES}
    said = ", ".join(f"{counts[kind]:,} {word}" for kind, (_, word) in CHANGES.items() if counts[kind])
    if shown.cause is Cause.ROLLBACK:
        said = f"back to generation {shown.generation}: {said or 'no difference'}"
    items = "".join(f"<li>{line}</li>" for line in _items(one))
    content = f"<p>{escape(said)}</p><ul>{items}</ul>"
    return [
        "  <entry>",
        # Activations are numbered anew in a new store; the time tells such entries apart.
        f"    <id>{urn('changelog', source.label, str(shown.id), shown.at.isoformat())}</id>",
        f"    <title>{_text(f'{source.label}: {said}')}</title>",
        f"    <updated>{moment(shown.at)}</updated>",
        f'    <content type="html">{_text(content)}</content>',
        "  </entry>",
    ]


def _items(one: Release) -> Iterable[str]:
    gone = {reference for folder in one.folders for reference in folder.references}
    yield from (escape(folder.words) for folder in one.folders)
    told = [change for change in one.changes if change.reference not in gone]
    for change in told[:LISTED]:
        name = escape(change.title or change.reference)
        if change.kind != "removed" and change.url.startswith(("http://", "https://")):
            name = f'<a href="{escape(change.url)}">{name}</a>'
        notes = one.notes.get(change.reference, ())
        words = f": {escape(sentence(notes))}" if notes else ""
        yield f"{CHANGES[change.kind][1]}: {name}{words}"
    if len(told) > LISTED:
        yield f"and {len(told) - LISTED:,} more"


def _plain(text: str) -> str:
    """A title is a stranger's text: it opens no link and begins no heading."""
    return _plain_part(" ".join(text.split()))


def _prose(text: str) -> str:
    """The same for a note, whose names stand in code."""
    parts = text.split("`")
    return "`".join(part if number % 2 else _plain_part(part) for number, part in enumerate(parts))


def _plain_part(text: str) -> str:
    return text.replace("[", "\\[").replace("]", "\\]").replace("<", "&lt;")


def _text(value: str) -> str:
    return escape(legal(value))
