"""One catalogue of three datasets in every form that it may come in."""

from __future__ import annotations

import json
from typing import Any

from pyoxigraph import RdfFormat, parse, serialize

BASE = "https://data.example.org"
DCAT, DCT = "http://www.w3.org/ns/dcat#", "http://purl.org/dc/terms/"
CONTEXT = {
    "dcat": DCAT, "dct": DCT, "foaf": "http://xmlns.com/foaf/0.1/", "d": f"{BASE}/d/",
    "id": "@id", "kind": "@type", "titre": "dct:title", "texte": "dct:description", "mots": "dcat:keyword",
    "editeur": "dct:publisher", "nom": "foaf:name", "code": "dct:identifier", "date": "dct:issued",
    "lien": {"@id": "dcat:downloadURL", "@type": "@id"}, "page": {"@id": "dcat:landingPage", "@type": "@id"},
    "fichiers": {"@id": "dcat:distribution", "@container": "@set"}, "forme": "dct:format",
}  # fmt: skip


def datasets(number: int = 3) -> list[dict[str, Any]]:
    """As `data.json` has them."""
    return [
        {
            "identifier": f"one-{n}", "title": f"Rain {n}", "description": f"How much rain fell in place {n}",
            "keyword": ["rain", "water"], "publisher": {"name": "Office"}, "issued": "2020-01-01",
            "landingPage": f"{BASE}/pages/{n}",
            "distribution": [{"title": "Table", "downloadURL": f"{BASE}/{n}.csv", "format": "CSV"}],
        }
        for n in range(number)
    ]  # fmt: skip


def data_json() -> str:
    return json.dumps({"conformsTo": "https://project-open-data.cio.gov/v1.1/schema", "dataset": datasets()})


def json_ld() -> str:
    """With names of its own for everything, which its context explains."""
    graph = [
        {
            "id": f"d:{n}", "kind": "dcat:Dataset", "titre": one["title"], "texte": one["description"],
            "mots": one["keyword"], "editeur": {"nom": "Office"}, "code": one["identifier"],
            "date": {"@value": "2020-01-01", "@type": "http://www.w3.org/2001/XMLSchema#date"},
            "page": one["landingPage"],
            "fichiers": [{"titre": "Table", "lien": f"{BASE}/{n}.csv", "forme": "CSV"}],
        }
        for n, one in enumerate(datasets())
    ]  # fmt: skip
    return json.dumps({"@context": CONTEXT, "@graph": graph})


def turtle(number: int = 3, *, first: int = 0, more: str = "") -> str:
    said = [
        f"""
        d:{n} a dcat:Dataset ; dct:title "{one["title"]}" ; dct:description "{one["description"]}" ;
          dct:identifier "{one["identifier"]}" ; dcat:keyword "water", "rain" ;
          dcat:landingPage <{one["landingPage"]}> ;
          dct:issued "2020-01-01"^^<http://www.w3.org/2001/XMLSchema#date> ;
          dct:publisher [ <http://xmlns.com/foaf/0.1/name> "Office" ] ;
          dcat:distribution [ dct:title "Table" ; dcat:downloadURL <{BASE}/{n}.csv> ; dct:format "CSV" ] .
        <#cat> dcat:dataset d:{n} .
        """
        for n, one in enumerate(datasets(first + number))
        if n >= first
    ]
    prefixes = f"@prefix dcat: <{DCAT}> .\n@prefix dct: <{DCT}> .\n@prefix d: <{BASE}/d/> .\n"
    return prefixes + "@prefix hydra: <http://www.w3.org/ns/hydra/core#> .\n" + "".join(said) + more


def written(form: RdfFormat, **options: Any) -> str:
    statements = parse(turtle(**options), format=RdfFormat.TURTLE, base_iri=f"{BASE}/cat")
    made = serialize((one.triple for one in statements), format=form)
    assert made is not None
    return made.decode()


FORMS = {
    "data.json": (data_json, "application/json"),
    "aliases.jsonld": (json_ld, "application/ld+json"),
    "expanded.jsonld": (lambda: written(RdfFormat.JSON_LD), "application/ld+json"),
    "catalog.ttl": (turtle, "text/turtle; charset=utf-8"),
    "catalog.nt": (lambda: written(RdfFormat.N_TRIPLES), "application/n-triples"),
    "catalog.nq": (lambda: written(RdfFormat.N_QUADS), "application/n-quads"),
    "catalog.trig": (lambda: written(RdfFormat.TRIG), "application/trig"),
    "catalog.rdf": (lambda: written(RdfFormat.RDF_XML), "application/rdf+xml"),
}
