"""Catalogues in DCAT, in all forms that are read, as one shape: that of DCAT-US `data.json`.

Reads `data.json`, JSON-LD by its shape (expanded, compacted, framed or a flat graph; contexts are not
fetched: a property is known by the end of its name) and RDF/XML. Turtle is refused with a hint to the other
forms. Links to a next page (hydra) come out as `next`. A data package is a catalogue with one dataset.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from rowen.core.web import json_body, urls
from rowen.errors import Unparseable
from rowen.kinds.api.datasets import data_package, dcat_us

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_INNER = frozenset(("publisher", "creator", "distribution", "contactPoint", "temporal", "spatial", "view"))
"""Properties whose values are looked into; of others a label is enough."""
_LABELS = ("prefLabel", "label", "name", "title", "fn")
_MAX_DEPTH = 40
_HINT = "give the address of its JSON-LD or RDF/XML form, often the same with `.jsonld` or `.rdf` at the end"

Node = dict[str, Any]


def read(body: bytes, *, content_type: str, url: str) -> dict[str, Any]:
    """`dataset`, and `next` and `total` when the catalogue is paged. Raises `Unparseable`."""
    shown = urls.without_credentials(url)
    start = body.removeprefix(b"\xef\xbb\xbf").lstrip()[:200].lower()
    if start[:1] in (b"{", b"["):
        return _from_json(body, shown)
    if start.startswith((b"<!doctype html", b"<html")):
        raise Unparseable(f"`{shown}`: a web page, not a catalogue", hint=_HINT, url=shown)
    if "turtle" in content_type or start.startswith((b"@prefix", b"prefix", b"@base", b"<http")):
        raise Unparseable(f"`{shown}`: a catalogue in Turtle, which is not read", hint=_HINT, url=shown)
    if start[:1] == b"<":
        return _catalogue(_from_xml(body, shown))
    raise Unparseable(f"`{shown}`: no catalogue: neither JSON nor RDF/XML", hint=_HINT, url=shown)


def _from_json(body: bytes, shown: str) -> dict[str, Any]:
    try:
        answer = json_body.read(body)
    except ValueError as exc:
        raise Unparseable(f"`{shown}`: broken JSON", url=shown) from exc
    if isinstance(answer, dict) and "@graph" not in answer and dcat_us.is_catalogue(answer):
        return {**answer, "dataset": dcat_us.datasets(answer)}
    if data_package.is_package(answer):
        return data_package.catalogue_of(answer, shown)
    if (
        isinstance(answer, list)
        and answer
        and all(isinstance(one, dict) and "identifier" in one for one in answer)
    ):
        # The first version of `data.json` had no catalogue around its datasets.
        return {"dataset": answer}
    nodes = [_plain(one, 0) for one in (answer if isinstance(answer, list) else [answer])]
    catalogue = _catalogue([node for node in nodes if isinstance(node, dict)])
    if not catalogue["dataset"] and not _is_catalogue(nodes):
        raise Unparseable(f"`{shown}`: JSON, but no catalogue of datasets", hint=_HINT, url=shown)
    return catalogue


def _is_catalogue(nodes: Iterable[Any]) -> bool:
    return any("Catalog" in node.get("@type", ()) for node in _all_nodes(nodes))


# one spelling for both syntaxes: a node has `@id`, `@type` (local names) and lists of values


def _plain(value: Any, depth: int) -> Any:
    """JSON-LD with local names; literals stay `{"@value": ..., "@language": ...}` or text."""
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, list):
        return [_plain(one, depth + 1) for one in value]
    if not isinstance(value, dict) or "@value" in value:
        return value
    node: Node = {}
    for key, below in value.items():
        if key == "@id":
            if isinstance(below, str):
                node["@id"] = below
        elif key == "@type":
            node["@type"] = [_local(one) for one in _listed(below) if isinstance(one, str)]
        elif key in ("@graph", "@set", "@list", "@included"):
            node["@graph"] = _listed(_plain(below, depth + 1))
        elif not key.startswith("@"):
            node.setdefault(_local(key), []).extend(_listed(_plain(below, depth + 1)))
    return node


def _from_xml(body: bytes, shown: str) -> list[Node]:
    from xml.etree import ElementTree

    if b"<!DOCTYPE" in body[:10_000] or b"<!ENTITY" in body[:10_000]:
        raise Unparseable(f"`{shown}`: XML with declarations of its own, which are not read", url=shown)
    try:
        root = ElementTree.fromstring(body)
    except ElementTree.ParseError as exc:
        raise Unparseable(f"`{shown}`: broken XML", url=shown) from exc
    if root.tag != f"{_RDF}RDF":
        raise Unparseable(f"`{shown}`: XML, but not RDF", hint=_HINT, url=shown)
    return [_node(element, root.get(_LANG, ""), 0) for element in root]


def _node(element: Element, language: str, depth: int) -> Node:
    language = element.get(_LANG, language)
    node: Node = {"@type": [] if element.tag == f"{_RDF}Description" else [_local(element.tag)]}
    name = element.get(f"{_RDF}about") or element.get(f"{_RDF}ID")
    if name or element.get(f"{_RDF}nodeID"):
        node["@id"] = name or f"_:{element.get(f'{_RDF}nodeID')}"
    if depth > _MAX_DEPTH:
        return node
    for attribute, text in element.attrib.items():
        if not attribute.startswith((_RDF, "{http://www.w3.org/XML/")):
            node.setdefault(_local(attribute), []).append(text)
    for below in element:
        if below.tag == f"{_RDF}type":
            node["@type"].append(_local(below.get(f"{_RDF}resource", "")))
        else:
            node.setdefault(_local(below.tag), []).extend(_values(below, language, depth + 1))
    return node


def _values(element: Element, language: str, depth: int) -> list[Any]:
    language = element.get(_LANG, language)
    to = element.get(f"{_RDF}resource")
    if to is not None:
        return [{"@id": to}]
    if (blank := element.get(f"{_RDF}nodeID")) is not None:
        return [{"@id": f"_:{blank}"}]
    if element.get(f"{_RDF}parseType") == "Resource":
        return [_node(element, language, depth) | {"@type": []}]
    if len(element):
        return [_node(below, language, depth) for below in element]
    text = (element.text or "").strip()
    return [{"@value": text, "@language": language} if language else text] if text else []


def _catalogue(nodes: list[Node]) -> dict[str, Any]:
    index: dict[str, Node] = {}
    datasets: dict[str, Node] = {}
    paging: Node = {}
    for node in _all_nodes(nodes):
        name = node.get("@id")
        if isinstance(name, str) and len(node) > 1:
            # What one node says and what another says of the same thing belong together.
            index[name] = index.get(name, {}) | node
        if "Dataset" in node.get("@type", ()):
            datasets.setdefault(name if isinstance(name, str) else f"_:{len(datasets)}", node)
            continue
        for key in ("nextPage", "next", "totalItems"):
            if node.get(key):
                paging.setdefault(key, node[key])
    catalogue: dict[str, Any] = {
        "dataset": [_resolved(index.get(name, node), index, 0) for name, node in datasets.items()]
    }
    for key, names in (("next", ("nextPage", "next")), ("total", ("totalItems",))):
        for found in (_first_text(paging.get(name)) for name in names):
            if found:
                catalogue.setdefault(key, found)
    return catalogue


def from_nodes(nodes: list[Node]) -> dict[str, Any]:
    """The first of some nodes of JSON-LD as a dataset; the others are what it points at."""
    plain = [_plain(one, 0) for one in nodes]
    return _resolved(plain[0], {node["@id"]: node for node in plain[1:]}, 0)


def _all_nodes(values: Iterable[Any]) -> Iterator[Node]:
    waiting = list(values)[::-1]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value[::-1]
        elif isinstance(value, dict) and "@value" not in value:
            yield value
            waiting += [below for key, below in value.items() if key not in ("@id", "@type")][::-1]


def _resolved(node: Node, index: dict[str, Node], depth: int) -> dict[str, Any]:
    plain: dict[str, Any] = {"@id": _iri(node) or ""}
    for key, values in node.items():
        if key in ("@id", "@type", "@graph"):
            continue
        many = _listed(values)
        if key in _INNER and depth < 2:
            # A graph has no order, and its next copy has another one.
            plain[key] = sorted((_inner(one, index, depth) for one in many), key=_sort_key)
        else:
            plain[key] = _by_language([_label(one, index) for one in many])
    return plain


def _inner(value: Any, index: dict[str, Node], depth: int) -> Any:
    if isinstance(value, dict) and "@value" not in value:
        return _resolved(index.get(value.get("@id", ""), value), index, depth + 1)
    # A publisher that is only a name.
    return {"name": value["@value"] if isinstance(value, dict) else value}


def _label(value: Any, index: dict[str, Node]) -> Any:
    if not isinstance(value, dict) or "@value" in value:
        return value
    node = index.get(value.get("@id", ""), value)
    for key in _LABELS:
        if node.get(key):
            return _by_language(_listed(node[key]))
    return _iri(node)


def _iri(node: Node) -> str | None:
    """Names of blank nodes mean nothing outside the copy they stand in."""
    name = node.get("@id")
    return name if isinstance(name, str) and not name.startswith("_:") else None


def _sort_key(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def _by_language(values: list[Any]) -> Any:
    """Texts that say their language become a map of languages; one value stands alone."""
    tagged: dict[str, Any] = {}
    bare: list[Any] = []
    for value in values:
        if isinstance(value, dict) and "@value" in value:
            language = value.get("@language")
            if isinstance(language, str) and language:
                tagged.setdefault(language, []).append(value["@value"])
            else:
                bare.append(value["@value"])
        elif value is not None:
            bare.append(value)
    if tagged:
        spelt = {language: sorted(texts, key=str) for language, texts in sorted(tagged.items())}
        return spelt | {"": sorted(bare, key=_sort_key)} if bare else spelt
    return bare[0] if len(bare) == 1 else sorted(bare, key=_sort_key)


def _first_text(values: Any) -> str:
    for value in _listed(values):
        found = value.get("@id") or value.get("@value") if isinstance(value, dict) else value
        if isinstance(found, str | int):
            return str(found)
    return ""


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _local(name: str) -> str:
    """The end of a name: `dct:title`, `http://purl.org/dc/terms/title` and `title` are the same."""
    return name.rstrip("/#").replace("}", "/").rsplit("/", 1)[-1].rsplit("#", 1)[-1].rsplit(":", 1)[-1]
