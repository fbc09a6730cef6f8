"""A SPARQL endpoint of datasets in DCAT, which evaluates what it is asked and cuts answers to rows."""

from __future__ import annotations

import json

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, QueryResultsFormat, Store

from tests.support.portals.skeleton import Family, Record, Reply

_DCAT, _DCT = "http://www.w3.org/ns/dcat#", "http://purl.org/dc/terms/"
_FOAF, _TYPE = "http://xmlns.com/foaf/0.1/", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


class Endpoint(Family):
    kind = "sparql"
    start = "/sparql"
    rows_each = 11
    """So many rows a dataset has: answers are cut, in silence, behind those of `most` datasets and a few."""

    def answer(self, path: str, params: dict[str, str], base: str) -> Reply:
        if path != "/sparql" or "query" not in params:
            return Reply("a query, please", 400, "text/plain")
        try:
            results = self._store(base).query(params["query"])
        except (SyntaxError, ValueError) as exc:
            return Reply(str(exc), 400, "text/plain")
        found = json.loads(results.serialize(format=QueryResultsFormat.JSON) or b"{}")
        if "results" in found:
            del found["results"]["bindings"][self.most * self.rows_each + 5 :]
        return Reply(json.dumps(found), 200, "application/sparql-results+json")

    def _store(self, base: str) -> Store:
        store = Store()
        for number, (name, one) in enumerate(self.live.items()):
            store.extend(_quads(NamedNode(f"https://data.example/{name}"), one, f"b{number}"))
        return store


def _quads(dataset: NamedNode, one: Record, blank: str) -> list[Quad]:
    publisher, file = NamedNode("https://data.example/city"), BlankNode(blank)
    told = [
        (dataset, _TYPE, NamedNode(f"{_DCAT}Dataset")),
        (dataset, f"{_DCT}title", Literal(one.title, language="en")),
        (dataset, f"{_DCT}description", Literal(one.text, language="en")),
        (dataset, f"{_DCAT}keyword", Literal("water")),
        (dataset, f"{_DCAT}keyword", Literal("rivers")),
        (dataset, f"{_DCT}publisher", publisher),
        (publisher, f"{_FOAF}name", Literal("City")),
        (dataset, f"{_DCAT}distribution", file),
        (file, f"{_DCT}title", Literal("Table")),
        (file, f"{_DCAT}downloadURL", NamedNode(f"{dataset.value}.csv")),
    ]
    return [Quad(about, NamedNode(verb), value) for about, verb, value in told]
