"""The facts about a dataset as a section of its document: who, where, when, and every file.

They are found by their words and shown to who reads the document. They are not embedded and are no part of
what the dataset says, so that another file or tag costs no embedding. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from rowen.core.section import DETAILS_HEADING
from rowen.kinds.api.datasets.dataset import format_of, text_of
from rowen.kinds.api.datasets.languages import Version, marked
from rowen.kinds.api.tables import columns as tables
from rowen.kinds.api.tables.columns import Column

MAX_CHARS = 400_000
"""So much of them is indexed; the record that is kept has everything."""
_FILES = ("resources", "formats")
_UNSAID = frozenset({"languages", "name", "organization_name", "license_id", *_FILES})
"""Names for programs, which say nothing that others do not; files have lines of their own."""


_SHAPE = re.compile(
    r"(?:SRID=\d+;)?\s*(?:MULTI)?(?:POINT|LINESTRING|POLYGON|GEOMETRYCOLLECTION)\s*[ZM]*\s*\(", re.IGNORECASE
)
"""Well-known text of a shape: hundreds of kilobytes of numbers that nobody looks for by words."""


class File(NamedTuple):
    name: str = ""
    url: str = ""
    format: str = ""
    description: str = ""
    also: tuple[str, ...] = ()
    """Its name and description in other languages."""
    columns: tuple[Column, ...] = ()


class Text(NamedTuple):
    text: str
    left_out: int
    """Facts, files and columns for which there was no room, and 1 for the rest of a description."""


def document_text(
    title: str,
    description: str,
    facts: Mapping[str, Any],
    files: Sequence[File],
    versions: Sequence[Version] = (),
    columns: Sequence[Column] = (),
) -> Text:
    """A dataset's document: what it says, in each of its languages, then the facts about it.

    `columns` are those of the dataset itself, where a portal does not say which file has them.
    """
    said, cut = _said(title, description, versions)
    lines: list[str] = []
    room, left_out = MAX_CHARS, int(cut)
    # What every dataset says first, a long schema last.
    for line in (*_facts(facts), *map(_file, files)):
        if len(line) > room:
            left_out += 1
        elif line:
            room -= len(line)
            lines.append(line)
    for line, facts_in_it in _schemas(files, columns):
        if len(line) > room:
            left_out += facts_in_it
        elif line:
            room -= len(line)
            lines.append(line)
    if lines:
        facts_said = "\n- ".join(lines)
        said += f"\n{DETAILS_HEADING}\n\n- {facts_said}\n"
    return Text(said, left_out)


def _schemas(files: Sequence[File], columns: Sequence[Column]) -> Iterator[tuple[str, int]]:
    """Columns, each line with how many facts it has."""
    if columns:
        yield from tables.lines("", columns)
    for one in files:
        if one.columns:
            yield from tables.lines(_line(one.name) or _line(one.url), one.columns)


def _said(title: str, description: str, versions: Sequence[Version]) -> tuple[str, int]:
    if not versions:
        return text_of(title, description)
    parts = [
        text_of(one.title, one.description, mark=marked(one.language), below=one is not versions[0])
        for one in versions
    ]
    return "\n".join(text for text, _ in parts), sum(cut for _, cut in parts)


def _facts(facts: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    for name, value in facts.items():
        if name in _UNSAID:
            continue
        if type(value) is str:
            text = "" if value.endswith(")") and _SHAPE.match(value) else " ".join(value.split())
        elif type(value) is list or not isinstance(value, Mapping):
            many = value if isinstance(value, list | tuple) else [value]
            text = ", ".join([line for one in many if (line := _line(one))])
        else:
            lines += _facts(value)
            continue
        if text:
            lines.append(f"{_label(name)}: {text}")
    return lines


@lru_cache(maxsize=1_000)
def _label(name: str) -> str:
    return _line(name.replace("_", " ")).capitalize()


def _file(one: File) -> str:
    name, url, form, description, also, _ = one
    said = _line(name)
    if form and (shown := _format(form)):
        said = f"{said} ({shown})" if said else f"({shown})"
    if description and (about := _line(description)):
        said = f"{said}: {about}" if said else about
    for other in filter(None, map(_line, also)):
        said = f"{said} / {other}" if said else other
    if url:
        said = f"{said} <{_line(url)}>" if said else f"<{_line(url)}>"
    return said


@lru_cache(maxsize=1_000)
def _format(text: str) -> str:
    return _line(format_of(text))


def _line(value: Any) -> str:
    if type(value) is str:
        return " ".join(value.split())
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""
