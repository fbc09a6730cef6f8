"""RDF/XML by the parser of the standard library: no entities, no document types, nothing fetched. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowen.errors import Unparseable
from rowen.kinds.api.datasets.graphs.nodes import MAX_DEPTH, Node, absolute, local

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_ELEMENTS = 4_000_000
_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_XML = "{http://www.w3.org/XML/1998/namespace}"
_LANG, _BASE = f"{_XML}lang", f"{_XML}base"


def read(body: bytes, *, url: str, hint: str) -> list[Node]:
    """Raises `Unparseable`; `hint` is for a body that is not RDF."""
    root = _root(body, url)
    if root.tag != f"{_RDF}RDF":
        raise Unparseable(f"`{url}`: XML, but not RDF", hint=hint, url=url)
    scope = _Scope("", url).within(root)
    return [_node(element, scope, 0) for element in root]


def _root(body: bytes, url: str) -> Element:
    from xml.etree import ElementTree

    class Bounded(ElementTree.TreeBuilder):
        elements = 0

        def start(self, tag: Any, attributes: Any, /) -> Any:
            self.elements += 1
            if self.elements > MAX_ELEMENTS:
                raise Unparseable(f"`{url}`: XML of more than {MAX_ELEMENTS:,} elements", url=url)
            return super().start(tag, attributes)

        def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
            raise Unparseable(f"`{url}`: XML with declarations of its own, which are not read", url=url)

    try:
        return ElementTree.fromstring(body, parser=ElementTree.XMLParser(target=Bounded()))
    except (ElementTree.ParseError, LookupError, ValueError) as exc:
        raise Unparseable(f"`{url}`: broken XML", url=url) from exc


class _Scope:
    """The language and the base of what stands in an element."""

    __slots__ = ("base", "language")

    def __init__(self, language: str, base: str) -> None:
        self.language = language
        self.base = base

    def within(self, element: Element) -> _Scope:
        language, base = element.get(_LANG), element.get(_BASE)
        if language is None and base is None:
            return self
        return _Scope(
            self.language if language is None else language,
            self.base if base is None else absolute(base, self.base),
        )


def _node(element: Element, scope: _Scope, depth: int) -> Node:
    scope = scope.within(element)
    node: Node = {"@type": [] if element.tag == f"{_RDF}Description" else [local(element.tag)]}
    about, named, blank = (element.get(f"{_RDF}{name}") for name in ("about", "ID", "nodeID"))
    if about is not None:
        node["@id"] = absolute(about, scope.base)
    elif named is not None or blank is not None:
        node["@id"] = absolute(f"#{named}", scope.base) if named is not None else f"_:{blank}"
    if depth > MAX_DEPTH:
        return node
    _said_by_attributes(element, node, scope)
    for below in element:
        if below.tag == f"{_RDF}type":
            node["@type"].append(local(below.get(f"{_RDF}resource", "")))
        else:
            node.setdefault(local(below.tag), []).extend(_values(below, scope, depth + 1))
    return node


def _said_by_attributes(element: Element, node: Node, scope: _Scope) -> None:
    for attribute, text in element.attrib.items():
        if attribute == f"{_RDF}type":
            node["@type"].append(local(text))
        elif not attribute.startswith((_RDF, _XML)):
            node.setdefault(local(attribute), []).append(_literal(text, scope))


def _values(element: Element, scope: _Scope, depth: int) -> list[Any]:
    scope = scope.within(element)
    to, blank = element.get(f"{_RDF}resource"), element.get(f"{_RDF}nodeID")
    if to is not None or blank is not None:
        return [{"@id": absolute(to, scope.base) if to is not None else f"_:{blank}"}]
    match element.get(f"{_RDF}parseType"):
        case "Resource":
            return [_node(element, scope, depth) | {"@type": []}]
        case "Literal":
            text = "".join(element.itertext()).strip()
            return [text] if text else []
    if len(element):
        return [_node(below, scope, depth) for below in element]
    text = (element.text or "").strip()
    if not text:
        return []
    return [text if f"{_RDF}datatype" in element.attrib else _literal(text, scope)]


def _literal(text: str, scope: _Scope) -> Any:
    return {"@value": text, "@language": scope.language} if scope.language else text
