"""rustdoc: a page for each item of a crate, its methods in blocks of implementations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from turbohtml import Element, Text

from rowen.adapters.convert.html.generators.member import Member, Page, Title, bare, joined, unfold, words

MARKER = ".main-heading, h1.fqn"
# The last two stand on every page with other names in them: what the compiler finds out for every type.
_CLUTTER = (
    "a.src, .srclink, .rightside, a.anchor, a.doc-anchor, summary.hideme, rustdoc-toolbar, .out-of-band, "
    ".sub-heading, .rustdoc-breadcrumbs, #copy-path, "
    "#synthetic-implementations, #synthetic-implementations-list, #blanket-implementations, "
    "#blanket-implementations-list"
)
_ITEMS = (
    "section.method, section.tymethod, section.associatedconstant, section.associatedtype, section.variant, "
    "span.structfield"
)
_KINDS = {
    "fn": "function", "mod": "module", "crate": "module", "derive": "macro", "attr": "macro",
    "tymethod": "method", "associatedconstant": "constant", "associatedtype": "type",
    "structfield": "field", "alias": "type",
}  # fmt: skip
_AGAIN = re.compile(r"-\d+$")


def read(content: Element) -> Page:
    path = "".join("".join(crumbs.text.split()) for crumbs in content.select(".rustdoc-breadcrumbs"))
    content.remove(_CLUTTER)
    for condition in content.select(".code-header > .where"):
        condition.insert_before(Text(" "))
    for box in content.select("[id$='-list']"):
        del box.attrs["id"]
    title = _title(content, path)
    unfold(content, "summary:has(section)")
    return Page(title, list(_members(content, title.name if title is not None else "")))


def _title(content: Element, path: str) -> Title | None:
    heading = content.select_one("h1")
    named = bare(words(heading)).split()
    if heading is None or len(named) < 2:
        return None
    heading.set_text(words(heading))
    kind = named[-2].lower()
    # Older pages have the path in the heading.
    return Title(heading, _KINDS.get(kind, kind), joined("::", path, named[-1].rstrip("!")))


def _members(content: Element, around: str) -> Iterator[Member]:
    for item in content.select(_ITEMS):
        kind, _, name = (item.attr("id") or "").partition(".")
        # Methods of a foreign trait are defined where the trait is.
        if not name or item.has_class("trait-impl"):
            continue
        heading = item.select_one(".code-header")
        if heading is None:
            if item.tag != "span":
                continue
            heading = item
            heading.tag = "h3"
        signature = words(heading)
        full = joined("::", around, _AGAIN.sub("", name))
        yield Member(heading, _scope(item), item.attr("id") or "", _KINDS.get(kind, kind), full, signature)


def _scope(item: Element) -> Element:
    """The block that folds with an item, or the item and the text right after it."""
    folded = item.closest("details")
    first = folded.select_one(_ITEMS) if folded is not None else None
    if folded is not None and first == item:
        return folded
    text = next((node for node in item.next_siblings if isinstance(node, Element)), None)
    return text if text is not None and text.has_class("docblock") else item
