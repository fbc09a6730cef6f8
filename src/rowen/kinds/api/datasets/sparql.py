"""Datasets out of a SPARQL endpoint: what is asked, and what the answer's rows say of each.

The rows are the properties of some datasets, in the order of their addresses, and of the things they point
at. Endpoints cut answers to so many rows in silence: each row says how many its dataset has, and a dataset
whose rows did not all come is left to the next page. Pure.
"""

from __future__ import annotations

from typing import Any

from rowen.errors import Unparseable
from rowen.kinds.api.datasets import dcat
from rowen.kinds.api.presets.preset import read_json

_ROWS = (
    "{ ?dataset ?p ?o } UNION { ?dataset ?p ?o . ?o ?q ?v"
    " . FILTER(?p IN (dcat:distribution, dct:publisher, dct:creator, dcat:contactPoint, dct:temporal)) }"
)
QUERY = (
    "PREFIX dcat: <http://www.w3.org/ns/dcat#> PREFIX dct: <http://purl.org/dc/terms/>"
    " SELECT ?dataset ?n ?p ?o ?q ?v WHERE {"
    " { SELECT ?dataset (COUNT(*) AS ?n) WHERE { ?dataset a dcat:Dataset"
    ' . FILTER(isIRI(?dataset) && STR(?dataset) > "{cursor}") '
    + _ROWS
    + " } GROUP BY ?dataset ORDER BY STR(?dataset) LIMIT {limit} } "
    + _ROWS
    + " } ORDER BY STR(?dataset)"
)


def read(body: bytes, *, content_type: str, url: str) -> dict[str, Any]:
    """`dataset`, in the shape of a catalogue in DCAT, of the datasets that came whole."""
    answer = read_json(body, content_type=content_type, url=url)
    if isinstance(answer, dict) and isinstance(answer.get("boolean"), bool):
        return {"dataset": [], "boolean": answer["boolean"]}
    results = answer.get("results") if isinstance(answer, dict) else None
    rows = results.get("bindings") if isinstance(results, dict) else None
    if not isinstance(rows, list):
        raise Unparseable(f"`{url}`: JSON, but no results of a SPARQL query", url=url)
    came: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if isinstance(row, dict) and (name := _text(row.get("dataset"))) and '"' not in name:
            came.setdefault(name, []).append(row)
    whole = [name for name, some in came.items() if len(some) >= _number(some[0].get("n"))]
    if came and not whole:
        raise Unparseable(
            f"`{url}`: the endpoint cuts its answers before the first dataset is whole",
            hint="a dataset has more properties than the endpoint answers rows",
            url=url,
        )
    return {"dataset": [dcat.from_nodes(_nodes(name, came[name])) for name in sorted(whole)]}


def _nodes(name: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The dataset and what it points at, as a graph."""
    nodes: dict[str, dict[str, Any]] = {name: {"@id": name}}
    for row in rows:
        about, verb, value = name, row.get("p"), row.get("o")
        if "q" in row:
            about, verb, value = _id(row.get("o")), row.get("q"), row.get("v")
        said = nodes.setdefault(about, {"@id": about}).setdefault(_text(verb), [])
        found = _value(value)
        if found not in said:
            said.append(found)
    return list(nodes.values())


def _value(term: Any) -> Any:
    if not isinstance(term, dict):
        return ""
    if term.get("type") in ("uri", "bnode"):
        return {"@id": _id(term)}
    language = term.get("xml:lang")
    return {"@value": _text(term), "@language": language} if language else _text(term)


def _id(term: Any) -> str:
    text = _text(term)
    return f"_:{text}" if isinstance(term, dict) and term.get("type") == "bnode" else text


def _text(term: Any) -> str:
    value = term.get("value") if isinstance(term, dict) else None
    return value if isinstance(value, str) else ""


def _number(term: Any) -> int:
    text = _text(term)
    return int(text) if text.isascii() and text.isdigit() else 0
