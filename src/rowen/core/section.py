"""Values of the section tree. How text becomes sections is in `split.py`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from rowen.records import NamedTuple, dataclass


class Form(StrEnum):
    """What most of a passage is."""

    PROSE = "prose"
    CODE = "code"
    TABLE = "table"
    DETAILS = "details"
    """Facts about what the text is of (files, contacts, tags): found by its words, and never embedded."""


DETAILS_HEADING = "## Details {#details .details}"
"""The line above the facts about an item. What stands before it is what the item says."""


class Symbol(NamedTuple):
    """What a section defines: a function, a class, a setting, a term."""

    name: str
    """As it is written in full: `asyncio.TaskGroup.create_task`, `work_mem`."""
    kind: str


_SOURCE = "source "


def in_source(kind: str) -> str:
    """The kind of what source code defines: a manual that defines the same name is the better answer."""
    return _SOURCE + kind


EXTENSION = in_source("extension")
"""More members of what is defined elsewhere: `impl Shelf` of Rust."""


def is_in_source(kind: str | None) -> bool:
    return kind is not None and kind.startswith(_SOURCE)


@dataclass(frozen=True, slots=True)
class Section:
    """A place in a content. Its id is its position: made here, before any store has seen it."""

    position: int
    level: int
    """0 for what stands before the first heading, else the heading's level."""
    parent: int | None
    """Position of the enclosing section; parts of a long section share one parent."""
    heading: str
    heading_path: tuple[str, ...]
    anchor: str | None
    """Where a link to it leads: its own anchor, or the nearest of the sections around it."""
    start: int
    end: int
    """`content[start:end]` is this section with its heading line; the slices tile the content exactly."""
    text: str
    """The section's own text: the slice without the heading line, outer blank lines and targets of links."""
    passage_hash: bytes
    kept: tuple[int, ...]
    """How the text is cut out of the slice, in turns: so many characters go, so many stay."""
    symbol: Symbol | None = None
    link_share: float = 0.0
    """How much of the text is text of links, from 0 to 1."""
    form: Form = Form.PROSE


@dataclass(frozen=True, slots=True)
class Passage:
    """The text of a section with its heading path: keyword-indexed and embedded once, ever."""

    hash: bytes
    heading_path: str
    text: str

    @property
    def embeddable(self) -> str:
        return f"{self.heading_path}\n{self.text}" if self.heading_path else self.text


def cut_out(slice_: str, kept: Sequence[int]) -> str:
    """What is kept of a slice."""
    if len(kept) == 2:
        return slice_[kept[0] : kept[0] + kept[1]]
    pieces: list[str] = []
    at = 0
    for gone, stay in zip(kept[::2], kept[1::2], strict=True):
        at += gone
        pieces.append(slice_[at : at + stay])
        at += stay
    return "".join(pieces)


PATH_SEPARATOR = " › "
"""Between the headings of a path, wherever a path is shown or stored as one string."""


def join_path(path: tuple[str, ...]) -> str:
    return PATH_SEPARATOR.join(path)


def prose_of(text: str) -> str:
    """What an item says, without the facts about it."""
    return text.partition(f"\n{DETAILS_HEADING}\n")[0]
