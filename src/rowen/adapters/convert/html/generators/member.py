"""What a generator's page says of the names it defines, and small readings that several generators share."""

from __future__ import annotations

from typing import NamedTuple

from turbohtml import Element


class Title(NamedTuple):
    """A page about one name: its heading keeps its words."""

    heading: Element
    kind: str
    name: str
    """In full."""


class Member(NamedTuple):
    """A name with a heading of its own."""

    heading: Element
    scope: Element
    """Where it ends; the heading stands in it or before it."""
    anchor: str
    kind: str
    name: str
    """In full."""
    signature: str
    """Empty where the page shows it as code, below the heading."""


class Page(NamedTuple):
    title: Title | None
    members: list[Member]
    """In page order, those around others first."""


def words(element: Element | None) -> str:
    return " ".join(element.text.split()) if element is not None else ""


def taken(element: Element | None) -> str:
    """The words of an element that goes, because they are said elsewhere."""
    said = words(element)
    if element is not None:
        element.decompose()
    return said


def joined(separator: str, *parts: str) -> str:
    return separator.join([part for part in parts if part])


def unfold(content: Element, boxes: str) -> None:
    """Lists whose items hold headings, and captions that hold them, are boxes."""
    for box in content.select(boxes):
        box.tag = "div"


def bare(name: str) -> str:
    """`Larder` of `Larder<T extends Jar>`."""
    return name.partition("<")[0].strip()


def as_labels(content: Element, headings: str) -> None:
    """Headings inside members that have no address ("Parameters") are labels and no sections."""
    for label in content.select(headings):
        if not label.attr("id"):
            label.wrap_children(Element("strong"))
            label.tag = "p"
