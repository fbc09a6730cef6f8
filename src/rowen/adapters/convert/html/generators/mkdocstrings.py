"""mkdocstrings: objects of a Python module as headings inside a page of MkDocs."""

from __future__ import annotations

from collections.abc import Iterator

from turbohtml import Element

from rowen.adapters.convert.html.generators.member import Member, Page, taken, words

MARKER = ".doc-object > .doc-heading"
_CLUTTER = ".doc-labels, .doc-symbol, details.mkdocstrings-source, .doc-contents > details.quote"
_KINDS = frozenset(("module", "class", "function", "attribute", "type"))


def read(content: Element) -> Page:
    content.remove(_CLUTTER)
    return Page(None, list(_members(content)))


def _members(content: Element) -> Iterator[Member]:
    for heading in content.select(".doc-object > .doc-heading[id]"):
        scope = heading.parent
        if not isinstance(scope, Element):
            continue
        classes = (scope.attr("class") or "").split()
        said = [one.removeprefix("doc-") for one in classes if one.startswith("doc-")]
        kind = next((one for one in said if one in _KINDS), "symbol")
        if kind == "function" and scope.parent is not None and _is_in_a_class(scope):
            kind = "method"
        anchor = heading.attr("id") or ""
        after = next((node for node in heading.next_siblings if isinstance(node, Element)), None)
        signature = taken(after) if after is not None and after.has_class("doc-signature") else words(heading)
        yield Member(heading, scope, anchor, kind, anchor, signature)


def _is_in_a_class(scope: Element) -> bool:
    outer = next(
        (node for node in scope.ancestors if isinstance(node, Element) and node.has_class("doc-object")), None
    )
    return outer is not None and outer.has_class("doc-class")
