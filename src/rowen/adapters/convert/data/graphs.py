"""Graphs in Turtle, N-Triples, N-Quads and TriG as flat JSON-LD, by pyoxigraph of the extra `rowen[rdf]`.

The statements of all graphs of a file are one graph. Nothing is fetched: these syntaxes name addresses and
ask for none. A file that ends in the middle of a statement is refused whole.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import orjson

from rowen.core.document import Converted
from rowen.core.rules.words import count
from rowen.core.web.json_body import BOM
from rowen.errors import Unparseable

MAX_STATEMENTS = 2_000_000
NAMES = {"ttl": "Turtle", "nt": "N-Triples", "nq": "N-Quads", "trig": "TriG"}
_FORMATS = {"ttl": "TURTLE", "nt": "N_TRIPLES", "nq": "N_QUADS", "trig": "TRIG"}
_PACKAGE = "pyoxigraph"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_HINT = "pip install 'rowen[rdf]'"

Nodes = dict[str, dict[str, Any]]


def require(syntax: str, url: str) -> None:
    """Raises `Unparseable` when the library is not installed; `extra` says so to callers."""
    if find_spec(_PACKAGE) is None:
        raise Unparseable(
            f"`{url}`: reading {NAMES[syntax]} needs an extra that is not installed",
            hint=_HINT,
            url=url,
            extra="rdf",
        )


def convert_graph(body: bytes, url: str, syntax: str) -> Converted:
    """The graph as the text of a document without a title."""
    require(syntax, url)
    oxigraph: Any = import_module(_PACKAGE)
    try:
        parser = oxigraph.parse(
            body.removeprefix(BOM), format=getattr(oxigraph.RdfFormat, _FORMATS[syntax]), base_iri=url
        )
        nodes = _nodes(parser, oxigraph, url)
    except (SyntaxError, ValueError, UnicodeError) as exc:
        raise Unparseable(f"`{url}`: broken {NAMES[syntax]}: {exc}", url=url) from exc
    return Converted("", orjson.dumps(list(nodes.values())).decode())


def _nodes(statements: Any, oxigraph: Any, url: str) -> Nodes:
    iri, blank, literal = oxigraph.NamedNode, oxigraph.BlankNode, oxigraph.Literal
    nodes: Nodes = {}
    for number, statement in enumerate(statements):
        if number >= MAX_STATEMENTS:
            raise Unparseable(
                f"`{url}`: a graph of more than {count(MAX_STATEMENTS, 'statement')}",
                hint="add the pages of the catalogue, or the addresses of its parts as kind `dcat_list`",
                url=url,
            )
        about, value = statement.subject, statement.object
        named = type(about) is iri
        if not named and type(about) is not blank:
            continue
        subject = about.value if named else f"_:{about.value}"
        node = nodes.get(subject)
        if node is None:
            node = nodes[subject] = {"@id": subject}
        verb = statement.predicate.value
        if type(value) is literal:
            said: Any = value.value
            if value.language:
                said = {"@value": said, "@language": value.language}
        elif type(value) is iri:
            said = {"@id": value.value}
        elif type(value) is blank:
            said = {"@id": f"_:{value.value}"}
        else:
            continue
        if verb == _TYPE:
            if type(value) is iri:
                node.setdefault("@type", []).append(value.value)
        else:
            node.setdefault(verb, []).append(said)
    return nodes
