"""Definition lists, which Markdown does not have.

Short ones become lists, `- **term**: text`. Those that hold code, tables or several paragraphs, as API
references do, become terms in bold or as code above plain text: nothing is indented out of shape.
"""

from __future__ import annotations

from collections.abc import Iterator

from turbohtml import Element, Text

_TOO_MUCH_FOR_AN_ITEM = "pre, table, blockquote, h1, h2, h3, h4, h5, h6, p + p, div"


def reshape_definitions(lists: list[Element]) -> None:
    # From the inside out, so that an outer list sees what became of its inner ones.
    for outer in reversed(lists):
        entries = list(_entries(outer))
        signatures = [node for node in entries if node.tag == "dt" and node.has_class("sig")]
        for signature in signatures:
            _as_code(signature)
        if signatures or any(
            node.tag == "dd" and node.select_one(_TOO_MUCH_FOR_AN_ITEM) is not None for node in entries
        ):
            _flatten(outer, entries)
        else:
            _itemise(outer, entries)


def _entries(outer: Element) -> Iterator[Element]:
    """Terms and definitions; HTML allows a div around each group."""
    for node in outer.children:
        if isinstance(node, Element):
            if node.tag == "div":
                yield from (inner for inner in node.children if isinstance(inner, Element))
            else:
                yield node


def _as_code(signature: Element) -> None:
    """An API signature is code: `f(a, *, b=None)`, not a line of emphasised words."""
    code = Element("code")
    code.set_text(" ".join(signature.text.split()))
    signature.clear()
    signature.append(code)


def _flatten(outer: Element, entries: list[Element]) -> None:
    for node in entries:
        if node.tag == "dt":
            if node.select_one("code, strong, b, p, div") is None:
                node.wrap_children(Element("strong"))
            node.tag = "p"
        elif node.tag == "dd":
            node.tag = "div"
    outer.tag = "div"


def _itemise(outer: Element, entries: list[Element]) -> None:
    items: list[Element] = []
    defined = True
    for node in entries:
        children = list(node.children)
        if node.tag == "dt":
            term = Element("strong")
            term.extend(children)
            if defined:
                items.append(Element("li", None, [term]))
            else:
                items[-1].extend([Text(", "), term])
            defined = False
        elif node.tag == "dd":
            if not items:
                items.append(Element("li"))
            elif defined:
                items[-1].append(Text(" "))
            else:
                items[-1].append(Text(" " if items[-1].text.rstrip().endswith(":") else ": "))
            first = next((c for c in children if not (isinstance(c, Text) and not c.data.strip())), None)
            if isinstance(first, Element) and first.tag == "p":
                children = [*first.children, *children[children.index(first) + 1 :]]
            items[-1].extend(children)
            defined = True
    outer.clear()
    outer.extend(items)
    outer.tag = "ul"
