"""Catalogues in DCAT, in all forms that are read, as one shape: that of DCAT-US `data.json`.

Reads `data.json`, JSON-LD and RDF/XML (`graphs` has their readers). Turtle and its relatives come here as
JSON-LD: the converter's child process reads them first, see `syntax_of`. Links to a next page (hydra) come
out as `next`. A data package is a catalogue with one dataset.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from rowen.core.web import json_body, urls
from rowen.errors import Unparseable
from rowen.kinds.api.datasets import data_package, dcat_us
from rowen.kinds.api.datasets.graphs import json_ld, rdf_xml
from rowen.kinds.api.datasets.graphs.nodes import Node, listed

_INNER = frozenset(("publisher", "creator", "distribution", "contactPoint", "temporal", "spatial", "view"))
"""Properties whose values are looked into; of others a label is enough."""
_LABELS = ("prefLabel", "label", "name", "title", "fn")
_DATASETS = frozenset(("Dataset", "DatasetSeries"))
_HINT = (
    "give the address of its JSON-LD, RDF/XML or Turtle, often the same with `.jsonld` or `.ttl` at the end"
)
_SYNTAXES = {
    "text/turtle": "ttl",
    "application/turtle": "ttl",
    "application/x-turtle": "ttl",
    "text/n3": "ttl",
    "application/n-triples": "nt",
    "application/n-quads": "nq",
    "application/trig": "trig",
}
_JSON = re.compile(rb'\{\s*["}]|\[\s*(?:[{"]|\]\s*\Z)')
_COMMENTS = re.compile(rb"(?:\s+|#[^\n]*\n)*")
_TURTLE = re.compile(
    rb"@prefix\b|@base\b|prefix\s+\S*:\s*<|base\s+<|<[a-z][a-z0-9+.-]*:[^>\s]*>\s|_:\w", re.IGNORECASE
)


def syntax_of(body: bytes, content_type: str) -> str:
    """Which syntax a graph is in, by the ending of its files; empty for JSON, XML and what is no graph.

    Turtle has N-Triples in it, so that a body without a type is taken for Turtle.
    """
    start = body.removeprefix(json_body.BOM)[:10_000]
    begun = start.lstrip()[:200]
    if _JSON.match(begun) or begun[:5].lower() in (b"<?xml", b"<rdf:", b"<!doc", b"<html"):
        return ""
    named = _SYNTAXES.get(content_type.partition(";")[0].strip().lower(), "")
    if named:
        return named
    told = _COMMENTS.match(start)
    return "ttl" if _TURTLE.match(start, told.end() if told else 0) else ""


def read(body: bytes, *, content_type: str, url: str) -> dict[str, Any]:
    """`dataset`, and `next` and `total` when the catalogue is paged. Raises `Unparseable`."""
    shown = urls.without_credentials(url)
    start = body.removeprefix(json_body.BOM).lstrip()[:200].lower()
    if start.startswith((b"<!doctype html", b"<html")):
        raise Unparseable(f"`{shown}`: a web page, not a catalogue", hint=_HINT, url=shown)
    if syntax_of(body, content_type):
        raise Unparseable(f"`{shown}`: a catalogue in Turtle that was not converted", hint=_HINT, url=shown)
    if start[:1] in (b"{", b"["):
        return _from_json(body, shown)
    if start[:1] == b"<":
        return _catalogue(rdf_xml.read(body, url=shown, hint=_HINT))
    raise Unparseable(f"`{shown}`: no catalogue: neither JSON nor RDF", hint=_HINT, url=shown)


def _from_json(body: bytes, shown: str) -> dict[str, Any]:
    try:
        answer = json_body.read(body)
    except ValueError as exc:
        raise Unparseable(f"`{shown}`: broken JSON", url=shown) from exc
    if _is_data_json(answer):
        around = {name: value for name, value in answer.items() if name not in dcat_us.LISTS}
        paging = _paging(_all_nodes(json_ld.nodes_in(around, url=shown)))
        return {**answer, **paging, "dataset": dcat_us.datasets(answer)}
    if data_package.is_package(answer):
        return data_package.catalogue_of(answer, shown)
    if (
        isinstance(answer, list)
        and answer
        and all(isinstance(one, dict) and "identifier" in one for one in answer)
    ):
        # The first version of `data.json` had no catalogue around its datasets.
        return {"dataset": answer}
    nodes = json_ld.nodes_in(answer, url=shown)
    catalogue = _catalogue([node for node in nodes if isinstance(node, dict)])
    if not catalogue["dataset"] and not _is_catalogue(nodes):
        raise Unparseable(f"`{shown}`: can be read, but is no catalogue of datasets", hint=_HINT, url=shown)
    return catalogue


def _is_data_json(answer: Any) -> bool:
    if not isinstance(answer, dict) or "@graph" in answer or not dcat_us.is_catalogue(answer):
        return False
    return not json_ld.renames(answer.get("@context"))


def _is_catalogue(nodes: Iterable[Any]) -> bool:
    return any({"Catalog", "Collection"} & set(node.get("@type", ())) for node in _all_nodes(nodes))


def _catalogue(nodes: list[Node]) -> dict[str, Any]:
    index: dict[str, Node] = {}
    datasets: dict[str, Node] = {}
    others: list[Node] = []
    for node in _all_nodes(nodes):
        name = node.get("@id")
        named = isinstance(name, str) and len(node) > 1
        if named and (known := index.setdefault(str(name), node)) is not node:
            # What one node says and what another says of the same thing belong together.
            _add(known, node)
        if not _DATASETS.isdisjoint(node.get("@type", ())):
            datasets.setdefault(name if isinstance(name, str) else f"_:{len(datasets)}", node)
            continue
        others.append(node)
        for member in listed(node.get("member")):
            if isinstance(member, dict) and not member.get("@type") and member.get("title"):
                # A member of a collection that says no type.
                datasets.setdefault(str(member.get("@id") or f"_:{len(datasets)}"), member)
    found = [_resolved(index.get(name, node), index, 0) for name, node in datasets.items()]
    return {"dataset": [dcat_us.with_a_name(one) for one in found], **_paging(others)}


def _add(node: Node, more: Node) -> None:
    for key, values in more.items():
        if key != "@id":
            node[key] = listed(node.get(key))
            node[key] += listed(values)


def _paging(nodes: Iterable[Node]) -> dict[str, str]:
    """`next` and `total` of a catalogue that comes in pages, by the words of hydra."""
    said: Node = {}
    for node in nodes:
        for key in ("nextPage", "next", "totalItems"):
            if node.get(key):
                said.setdefault(key, node[key])
    found = {
        "next": _first_text(said.get("nextPage")) or _first_text(said.get("next")),
        "total": _first_text(said.get("totalItems")),
    }
    return {key: text for key, text in found.items() if text}


def from_nodes(nodes: list[Node]) -> dict[str, Any]:
    """The first of some nodes of JSON-LD as a dataset; the others are what it points at."""
    plain = json_ld.nodes_in(nodes, url="")
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
        many = listed(values)
        if key == "identifier":
            # A name has no language, also in a file that gives one to all its texts.
            many = [one["@value"] if isinstance(one, dict) and "@value" in one else one for one in many]
        if key in _INNER and depth < 2:
            # A graph has no order, and its next copy has another one.
            inner = {_sort_key(found): found for found in (_inner(one, index, depth) for one in many)}
            plain[key] = [inner[one] for one in sorted(inner)]
        else:
            plain[key] = _by_language([_label(one, index) for one in many])
    return plain


def _inner(value: Any, index: dict[str, Node], depth: int) -> Any:
    if isinstance(value, str) and value in index:
        # A context that was not fetched says that such a text is an address.
        value = index[value]
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
            return _by_language(listed(node[key]))
    return _iri(node)


def _iri(node: Node) -> str | None:
    """Names of blank nodes mean nothing outside the copy they stand in."""
    name = node.get("@id")
    return name if isinstance(name, str) and not name.startswith("_:") else None


def _sort_key(value: Any) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        # A number beyond 64 bits.
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
        spelt = {language: _as_a_set(texts) for language, texts in sorted(tagged.items())}
        return spelt | {"": _as_a_set(bare)} if bare else spelt
    return bare[0] if len(bare) == 1 else _one_or_all(_as_a_set(bare))


def _as_a_set(values: list[Any]) -> list[Any]:
    """A graph says a thing once, in no order."""
    if len(values) < 2:
        return values
    said = {_sort_key(value): value for value in values}
    return [said[one] for one in sorted(said)]


def _one_or_all(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def _first_text(values: Any) -> str:
    for value in listed(values):
        found = value.get("@id") or value.get("@value") if isinstance(value, dict) else value
        if isinstance(found, str | int):
            return str(found)
    return ""
