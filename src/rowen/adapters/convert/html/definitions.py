"""Definition lists, which Markdown does not have.

Terms that have an address, as in API references and manuals, become sections of their own: see `sections.py`.
Other short lists become lists, `- **term**: text`; those that hold code, tables or several paragraphs become
terms in bold or as code above plain text, so that nothing is indented out of shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from turbohtml import Element, Text

from rowen.adapters.convert.definition import Definition, Place, plain_name, usable
from rowen.adapters.convert.html.sections import end_of, open_section, signature_of

_TOO_MUCH_FOR_AN_ITEM = "pre, table, blockquote, h1, h2, h3, h4, h5, h6, p + p, div"
_DEFINES_NOTHING = frozenset(("footnote", "citation", "field-list", "option-list", "toc", "simple"))
_DOMAINS = frozenset(("py", "c", "cpp", "js", "std", "rst", "php", "rb", "go", "java", "sh", "http"))
# What the class of a list, or of a term's code, says that a thing is.
_KINDS = {
    "cmdoption": "option", "envvar": "variable", "envar": "variable", "glossary": "term", "describe": "term",
    "varname": "setting", "structfield": "field", "literal": "value", "command": "command", "type": "type",
    "classname": "class", "function": "function", "option": "option", "symbol": "symbol", "filename": "file",
    "parameter": "parameter",
}  # fmt: skip
# What manuals in AsciiDoc define: `--quiet`, `-b <branch>`, `core.editor`, `GIT_DIR`.
_FORMS = {
    "option": re.compile(r"--?\w.*"),
    "setting": re.compile(r"[a-z]\w*(?:\.[\w<>*-]+)+"),
    "variable": re.compile(r"[A-Z][A-Z\d]*(?:_[A-Z\d]+)+"),
}
# An index names what is defined elsewhere; a cell of a table is one line of Markdown and holds no heading.
_NO_SECTIONS = ".index, .indexdiv, .indextable, .genindextable, td, th"
_NAMES_OF_OPTIONS = ("-", "/")
_GIVEN = re.compile(r"[\s=\[<(,]")


def reshape_definitions(lists: list[tuple[Element, Place]]) -> None:
    """Lists in page order, each with its place among the headings."""
    inside: dict[Element, Place] = {}
    """The places that the definitions found so far make for the lists in them."""
    found: list[tuple[Element, dict[Element, Definition], Place]] = []
    for outer, place in lists:
        around = (node for node in outer.ancestors if isinstance(node, Element))
        place = next((inside[node] for node in around if node in inside), place)
        definitions = _definitions(outer, place)
        last = place
        for node in _entries(outer):
            if node in definitions:
                last = place.inside(definitions[node])
            elif node.tag == "dd" and definitions:
                inside[node] = last
        found.append((outer, definitions, place))
    # From the inside out, so that an outer list sees what became of its inner ones.
    for outer, definitions, place in reversed(found):
        if definitions:
            _as_sections(outer, definitions, place)
        else:
            _as_text(outer)


def _definitions(outer: Element, place: Place) -> dict[Element, Definition]:
    """What the terms of a list define, where they have an address or are lists of names by their kind."""
    classes = (outer.attr("class") or "").split()
    if not _DEFINES_NOTHING.isdisjoint(classes) or outer.closest(_NO_SECTIONS) is not None:
        return {}
    kind = _kind_of_list(classes)
    typed = isinstance(outer.parent, Element) and outer.parent.has_class("dlist")
    if typed:
        _join_spellings(outer)
    # Of a name with several signatures, Sphinx gives the first one the address.
    terms = [node for node in _entries(outer) if node.tag == "dt" and not _is_further_signature(node)]
    found = {}
    for term in terms:
        anchor = _anchor(term)
        definition = _typed(term, place) if typed and not anchor else None
        if anchor or ("variablelist" in classes and term.select_one("code") is not None):
            definition = _definition(term, anchor, kind, place)
        if definition is not None and (definition.anchor or definition.name):
            found[term] = definition
    # One address in a long list is that of the list.
    return found if len(found) * 2 >= len(terms) else {}


def _join_spellings(outer: Element) -> None:
    """AsciiDoc writes `-q` and `--quiet` as two terms above one definition; one term has both."""
    first: Element | None = None
    for node in list(_entries(outer)):
        if node.tag != "dt" or _anchor(node):
            first = None
        elif first is None:
            first = node
        else:
            if first.select_one(".term") is None:
                first.wrap_children(Element("span", {"class": "term"}))
            first.append(Element("span", {"class": "term"}, list(node.children)))
            node.decompose()


def _typed(term: Element, place: Place) -> Definition | None:
    """What is typed as it is written; AsciiDoc gives neither a kind nor, before 2.0, an address."""
    spellings = [_words(one) for one in term.select(".term")] or [_words(term)]
    kind = next((kind for kind, form in _FORMS.items() if all(map(form.fullmatch, spellings))), None)
    if kind is None:
        return None
    return place.definition("", kind, plain_name(_name_of(spellings)), signature_of(term))


def _kind_of_list(classes: list[str]) -> str:
    named = [name for name in classes if name not in _DOMAINS and name.isalpha()]
    if classes and (classes[0] in _DOMAINS or classes[0] in _KINDS) and named:
        return _KINDS.get(named[0], named[0])
    return ""


def _anchor(term: Element) -> str:
    inner = term.select_one("a[id], a[name], span[id]")
    anchor = term.attr("id") or (inner and (inner.attr("id") or inner.attr("name")))
    return anchor if anchor and usable(anchor) else ""


def _is_further_signature(term: Element) -> bool:
    return term.has_class("sig") and not _anchor(term)


def _definition(term: Element, anchor: str, kind: str, place: Place) -> Definition:
    words = signature_of(term)
    if term.has_class("sig"):
        # What stands around the names of an option are its values and commas.
        if kind == "option" and (spellings := [_words(part) for part in term.select(".sig-name")]):
            return place.definition(anchor, kind, _name_of(spellings), words)
        called = "".join("".join(part.text.split()) for part in term.select(".sig-prename, .sig-name"))
        is_id = called and anchor.endswith(called.rpartition(".")[2])
        name = anchor if is_id else called or anchor
        return place.definition(anchor, kind or "term", name, words)
    codes = term.select("code, tt, kbd")
    if codes and not kind:
        kind = next((_KINDS[one] for one in (codes[0].attr("class") or "").split() if one in _KINDS), "term")
    name = _name_of([_words(code) for code in codes]) if codes else words
    return place.definition(anchor, kind or "term", name if anchor else plain_name(name), words)


def _name_of(spellings: list[str]) -> str:
    """What a reader types: of options the long spelling, without what it is given."""
    options = [one for one in spellings if one.startswith(_NAMES_OF_OPTIONS)]
    return _GIVEN.split(max(options, key=len), maxsplit=1)[0] if options else spellings[0]


def _words(element: Element) -> str:
    return " ".join(element.text.split())


def _as_sections(outer: Element, definitions: dict[Element, Definition], place: Place) -> None:
    defined: Definition | None = None
    text: Element | None = None
    for node in list(_entries(outer)):
        if node.tag == "dd":
            node.tag, text = "div", node
            continue
        if defined is not None and text is None and _is_further_signature(node):
            _as_code(node)
            node.tag = "p"
            continue
        if defined is not None and text is not None:
            text.insert_after(end_of(defined))
        defined, text = definitions.get(node), None
        if defined is not None:
            open_section(node, defined, place)
        else:
            _as_paragraph(node)
    if defined is not None and text is not None:
        text.insert_after(end_of(defined))
    outer.tag = "div"
    for around in outer.ancestors:
        # Text indented by mistake is a quotation to Sphinx; a heading behind `>` would open no section.
        if isinstance(around, Element) and around.tag == "blockquote":
            around.tag = "div"


def _as_text(outer: Element) -> None:
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
    code.set_text(signature_of(signature))
    signature.clear()
    signature.append(code)


def _flatten(outer: Element, entries: list[Element]) -> None:
    for node in entries:
        if node.tag == "dt":
            _as_paragraph(node)
        elif node.tag == "dd":
            node.tag = "div"
    outer.tag = "div"


def _as_paragraph(term: Element) -> None:
    if term.select_one("code, strong, b, p, div") is None:
        term.wrap_children(Element("strong"))
    term.tag = "p"


def _itemise(outer: Element, entries: list[Element]) -> None:
    items: list[Element] = []
    defined = True
    for node in entries:
        children = list(node.children)
        if node.tag == "dt":
            term = Element("strong")
            term.extend(children)
            address = node.attr("id")
            named = [Element("a", {"id": address}), term] if address else [term]
            if defined:
                items.append(Element("li", None, named))
            else:
                items[-1].extend([Text(", "), *named])
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
