"""Rewrite a content tree so that its plain rendering as Markdown says what the page says.

Headings get their anchor and lose their permalink, images lose what changes with every build, formulas become
their TeX. Code, tables and definition lists have their own modules. Works in place on a tree pruned before.
"""

from __future__ import annotations

import re

from turbohtml import Element, Node, Text

from rowen.adapters.convert.definition import Definition, Place, usable
from rowen.adapters.convert.html.anchors import mark_anchors
from rowen.adapters.convert.html.codeblocks import join_lines, reshape_code
from rowen.adapters.convert.html.definitions import reshape_definitions
from rowen.adapters.convert.html.entries import reshape_entries
from rowen.adapters.convert.html.members import mark_members
from rowen.adapters.convert.html.sections import BOXES
from rowen.adapters.convert.html.tables import reshape_tables

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_OTHERS = ("pre", "table", "img", "sup", "math", "label", "summary")
# Zero-width spaces stand for the permalink in some themes.
_PERMALINK = re.compile(
    "[\\s\u200b\ufeff¶#§🔗⚓∞]*|permalink|link|anchor|link to this heading", re.IGNORECASE
)
_CODE_OVER_LINES = re.compile(r"<(?:code|kbd|samp)\b[^<>]*>[^<\n]*\n", re.IGNORECASE)
_NOTES = frozenset(("note", "tip", "warning", "caution", "important", "sidebar"))
_MAX_TITLE_OF_A_NOTE = 60


def reshape(content: Element, page: str) -> str:
    """Works in place; answers with the words of the first h1, or nothing. `page` is its source."""
    title, after_title = "", False
    if "</em><" in page:
        _join_emphasis(content)
    found: dict[str, list[Element]] = {tag: [] for tag in _OTHERS}
    lists: list[tuple[Element, Place]] = []
    place = Place(1)
    marked = mark_members(content, page)
    for element in list(content.iter_elements((*_HEADINGS, *_OTHERS, "dl"))):
        if element.tag == "dl":
            lists.append((element, place))
            continue
        if element.tag in found:
            if element.tag != "table" or not reshape_entries(element, place):
                found[element.tag].append(element)
            continue
        if element in marked.members:
            place, after_title = marked.members[element], False
            continue
        if _is_title_of_a_note(element):
            element.wrap_children(Element("strong"))
            element.tag = "p"
            continue
        if title and after_title and " ".join(element.text.split()).rstrip("¶# ") == title:
            # The title once more: every path below would have it twice.
            element.replace_with(Element("a", {"id": _anchor(element) or ""}))
            continue
        words = _reshape_heading(element, marked.definition if element == marked.title else None)
        place = Place(int(element.tag[1])) if words else place
        after_title = bool(words) and not title and element.tag == "h1"
        title = words if after_title else title
    reshape_code(content, found["pre"])
    if _CODE_OVER_LINES.search(page):
        join_lines(content)
    reshape_tables(found["table"])
    reshape_definitions(lists)
    _reshape_images(found["img"])
    _reshape_formulas(found["math"])
    for raised in found["sup"]:
        # 2<sup>10</sup> is not 210; a raised link is a footnote's and needs no mark.
        if raised.parent and raised.text.strip()[:1].isalnum() and raised.select_one("a") is None:
            raised.insert_before(Text("^"))
    for label in found["label"]:
        # A list of definitions that was reshaped has left out what is neither a term nor a definition.
        if label.parent:
            label.insert_after(Text(" "))
    for caption in (*found["summary"], *content.select(".admonition-title")):
        caption.wrap_children(Element("strong"))
    mark_anchors(content)
    content.remove("a[aria-hidden=true]")
    for titled in content.select("a[title]"):
        # A tooltip repeats the text or the address.
        del titled.attrs["title"]
    content.strip_tags("a:not([href]), a[href=''], a[href^='javascript:']")
    return title


def _join_emphasis(content: Element) -> None:
    """Emphasis in pieces without a gap is how Sphinx sets a type; `*Sequence**[**str**]*` is no Markdown."""
    for parent in {em.parent: None for em in content.select("em + em, em + a:has(> em), a:has(> em) + em")}:
        run: list[Element] = []
        for node in [*(parent.children if isinstance(parent, Element) else ()), None]:
            pieces = _emphasised(node)
            if pieces:
                run += pieces
                continue
            for piece in run if len(run) > 1 else ():
                piece.unwrap()
            run = []


def _emphasised(node: Node | None) -> list[Element]:
    """The emphasis that a node is, or that is all there is in a link."""
    if not isinstance(node, Element):
        return []
    if node.tag == "em":
        return [node]
    inner = node.children if node.tag == "a" else ()
    return [one for one in inner if isinstance(one, Element)] if all(map(_is_em, inner)) else []


def _is_em(node: Node) -> bool:
    return isinstance(node, Element) and node.tag == "em"


def _is_title_of_a_note(heading: Element) -> bool:
    """DocBook writes the word above a note as a heading."""
    parent = heading.parent
    return (
        isinstance(parent, Element)
        and parent.tag == "div"
        and not _NOTES.isdisjoint((parent.attr("class") or "").split())
        and len(heading.text) <= _MAX_TITLE_OF_A_NOTE
    )


def _reshape_heading(heading: Element, definition: Definition | None) -> str:
    anchor = _anchor(heading)
    for link in heading.select("a"):
        if _PERMALINK.fullmatch(link.text.strip()):
            link.decompose()
    # A heading is read in paths and lists of results: words only.
    heading.strip_tags("a, img")
    for gap in heading.select("br"):
        gap.replace_with(Text(" "))
    words = " ".join(heading.text.split())
    if not words:
        heading.decompose()
    else:
        anchor = anchor if anchor is not None and usable(anchor) else ""
        if definition is not None:
            heading.append(Text(definition._replace(anchor=anchor).marks()))
        elif anchor:
            heading.append(Text(f" {{#{anchor}}}"))
    return words


def _anchor(heading: Element) -> str | None:
    """What a link to this heading ends with: its id, that of the section it opens, or a named anchor's."""
    own = heading.attr("id")
    if own:
        return own
    inner = heading.select_one("a[id], a[name], span[id]")
    if inner is not None:
        return _name(inner)
    opened = _opened_by(heading)
    if opened is not None:
        return opened
    for node in heading.previous_siblings:
        if isinstance(node, Element):
            if _is_empty(node):
                named = _name(node) or _name(node.select_one("[id], a[name]"))
            else:
                named = _name_at_the_end(node)
            if named:
                return named
        if not _is_empty(node):
            break
    return None


def _opened_by(heading: Element) -> str | None:
    """The id of the nearest box around a heading in which nothing is said before it."""
    node = heading
    for outer in heading.ancestors:
        if not isinstance(outer, Element) or not all(_is_empty(before) for before in node.previous_siblings):
            return None
        name = _name(outer)
        if name and name.lower() not in BOXES and outer.tag != "body":
            return name
        node = outer
    return None


def _name_at_the_end(element: Element) -> str | None:
    """Of an anchor between an unclosed paragraph and a heading: parsers put it into the paragraph."""
    last = next(
        (node for node in reversed(element.children) if isinstance(node, Element) or node.text.strip()), None
    )
    return _name(last) if isinstance(last, Element) and last.tag == "a" and _is_empty(last) else None


def _name(element: Element | None) -> str | None:
    return (element.attr("id") or element.attr("name")) if element is not None else None


def _is_empty(node: Node) -> bool:
    return not (isinstance(node, Text | Element) and node.text.strip())


def _reshape_images(images: list[Element]) -> None:
    for image in images:
        source = image.attr("src") or ""
        alt = " ".join((image.attr("alt") or "").split())
        if image.parent is None:
            continue
        if not alt:
            image.decompose()
        elif not source or source.startswith("data:"):
            image.replace_with(Text(alt))
        else:
            # What follows is nearly always the build's stamp on the file; a new stamp is no new text.
            image.attrs["src"] = source.partition("?")[0]


def _reshape_formulas(formulas: list[Element]) -> None:
    for formula in formulas:
        source = formula.select_one("annotation[encoding='application/x-tex']")
        if source is not None and formula.parent is not None:
            code = Element("code")
            code.set_text(source.text.strip())
            formula.replace_with(code)
