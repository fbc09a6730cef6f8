"""JSON-LD by its shape: expanded, compacted, framed or a flat graph, with the contexts that stand in it.

A context says what the names of a document mean: aliases, prefixes, languages, which texts are addresses. One
that is only named by an address is never fetched: the names of its document are known by their ends, which is
how the published contexts of DCAT name them. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rowen.kinds.api.datasets.graphs.nodes import MAX_DEPTH, Node, absolute, listed, local

_LISTS = ("@graph", "@set", "@list", "@included", "@nest")
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_MAX_STEPS = 10
"""A prefix that stands for a name with a prefix, and so on."""


class Term(NamedTuple):
    """What a name of a document stands for."""

    name: str
    """A full or shortened name, or a keyword; empty for one that stands for nothing."""
    kind: str = ""
    """`@id` or `@vocab` for texts that are addresses."""
    container: tuple[str, ...] = ()
    language: str | None = None
    """Of its texts; None for that of the context."""
    reverse: bool = False


class Context:
    """The names of one `@context`, above those of the contexts around it."""

    def __init__(self, base: str, outer: Context | None = None) -> None:
        self.base: str = outer.base if outer else base
        self._outer = outer
        self._terms: dict[str, Term] = {}
        self._meanings: dict[str, tuple[str, Term | None]] = {}
        self._vocabulary: str = outer._vocabulary if outer else ""
        self.language: str = outer.language if outer else ""

    def with_its(self, said: Any, page: str) -> Context:
        """The context inside an element that has `@context`."""
        inner = Context(page, self)
        for one in listed(said) if said is not None else [None]:
            if one is None:
                inner = Context(page)
            elif isinstance(one, Mapping):
                inner._take(one)
        return inner

    def _take(self, said: Mapping[str, Any]) -> None:
        for name, value in said.items():
            match name, value:
                case "@base", str() | None:
                    self.base = absolute(value, self.base) if value else ""
                case "@vocab", str() | None:
                    self._vocabulary = value or ""
                case "@language", str() | None:
                    self.language = value or ""
                case str(), _ if not name.startswith("@"):
                    self._terms[name] = _term(name, value)

    def term(self, name: str) -> Term | None:
        context: Context | None = self
        for _ in range(MAX_DEPTH + 2):
            if context is None:
                return None
            if (found := context._terms.get(name)) is not None:
                return found
            context = context._outer
        return None

    def meaning(self, name: str) -> tuple[str, Term | None]:
        """A name written out, and its term where it has one."""
        found = self._meanings.get(name)
        if found is None:
            found = self._meanings[name] = self.full(name), self.term(name)
        return found

    def full(self, name: str) -> str:
        """A name of a property or a type, written out as far as this context can."""
        for _ in range(_MAX_STEPS):
            if name.startswith("@"):
                return name
            term = self.term(name)
            if term is not None and term.name != name:
                name = term.name
                continue
            prefix, colon, rest = name.partition(":")
            if not colon:
                return self._vocabulary + name if self._vocabulary and term is None else name
            found = self.term(prefix) if not rest.startswith("//") else None
            if found is None or not found.name or found.name == prefix:
                return name
            name = found.name + rest
        return name

    def address(self, name: str, *, of_a_name: bool = False) -> str:
        """What `@id` says: an address, a shortened one, or one below the base."""
        if of_a_name and self.term(name) is not None:
            return self.full(name)
        prefix, colon, rest = name.partition(":")
        if colon and prefix != "_" and not rest.startswith("//") and self.term(prefix) is not None:
            return self.full(name)
        return absolute(name, self.base)


def _term(name: str, said: Any) -> Term:
    if isinstance(said, str):
        return Term(said)
    if not isinstance(said, Mapping):
        return Term("")
    given, backwards = said.get("@id", name), said.get("@reverse")
    container = tuple(one for one in listed(said.get("@container")) if isinstance(one, str))
    kind, language = said.get("@type"), said.get("@language", ...)
    return Term(
        given if isinstance(given, str) else "",
        kind if isinstance(kind, str) else "",
        container,
        None if language is ... else language if isinstance(language, str) else "",
        isinstance(backwards, str),
    )


def renames(said: Any) -> bool:
    """Does a context that stands in a document call anything by a name that is not the end of its own?"""
    for one in listed(said):
        for name, value in one.items() if isinstance(one, Mapping) else ():
            if not isinstance(name, str) or name.startswith("@"):
                continue
            term = _term(name, value)
            # A prefix ends with what separates it from a name.
            shortens = ":" in term.name and not term.name.endswith(("/", "#", ":"))
            if term.container or term.name.startswith("@") or (shortens and local(term.name) != name):
                return True
    return False


def nodes_in(answer: Any, *, url: str) -> list[Any]:
    """The nodes of a document; what is no node stays what it is."""
    context = Context(url)
    return [_plain(one, context, url, 0) for one in (answer if isinstance(answer, list) else [answer])]


def _plain(value: Any, context: Context, url: str, depth: int) -> Any:
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, list):
        return [_plain(one, context, url, depth + 1) for one in value]
    if not isinstance(value, dict):
        return value
    if "@context" in value:
        context = context.with_its(value["@context"], url)
    said = {key: context.meaning(key) for key in value}
    if any(name == "@value" for name, _ in said.values()):
        return {said[key][0]: below for key, below in value.items()}
    node: Node = {}
    for key, (name, term) in said.items():
        below = value[key]
        if name == "@id":
            if isinstance(below, str):
                node["@id"] = context.address(below)
        elif name in ("@type", _TYPE):
            given = [one.get("@id") if isinstance(one, dict) else one for one in listed(below)]
            node.setdefault("@type", []).extend(
                local(context.full(one)) for one in given if isinstance(one, str)
            )
        elif name in _LISTS or name == "@reverse" or (term is not None and term.reverse):
            node.setdefault("@graph", []).extend(listed(_plain(below, context, url, depth + 1)))
        elif name and not name.startswith("@"):
            values = node.setdefault(local(name), [])
            values += _values(below, term, context, url, depth + 1)
    return node


def _values(value: Any, term: Term | None, context: Context, url: str, depth: int) -> Iterator[Any]:
    container = term.container if term else ()
    if isinstance(value, dict) and "@value" not in value and "@id" not in value:
        if "@language" in container:
            for language, texts in value.items():
                for text in listed(texts):
                    yield text if language.startswith("@") else {"@value": text, "@language": language}
            return
        if "@index" in container or "@id" in container:
            value = list(value.values())
    language = context.language if term is None or term.language is None else term.language
    kind = term.kind if term else ""
    for one in listed(value):
        if isinstance(one, str) and kind in ("@id", "@vocab"):
            yield {"@id": context.address(one, of_a_name=kind == "@vocab")}
        elif isinstance(one, str):
            yield {"@value": one, "@language": language} if language and not kind else one
        else:
            found = _plain(one, context, url, depth)
            # A list or a set is its members.
            for each in (
                found["@graph"] if isinstance(found, dict) and found.keys() == {"@graph"} else (found,)
            ):
                yield {"@value": each, "@language": language} if language and isinstance(each, str) else each
