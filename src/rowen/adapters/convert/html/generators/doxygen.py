"""Doxygen: a page for each class, file and group; a member is a heading before a box."""

from __future__ import annotations

import re
from collections.abc import Iterator

from turbohtml import Element

from rowen.adapters.convert.html.generators.member import Member, Page, Title, bare, taken, words

MARKER = "div.memitem, div.headertitle, table.memberdecls"
_CLUTTER = (
    ".header > .summary, address.footer, hr.footer, #top, .mlabels-right, "
    ".overload, .ingroups, tr[class^='separator'], .dynheader, .dyncontent"
)
_PAGES = {
    "class": "class",
    "struct": "struct",
    "union": "union",
    "namespace": "namespace",
    "interface": "interface",
}
_KINDS = {
    "Constructor": "constructor", "Member Function": "method", "Function": "function", "Member Data": "field",
    "Field": "field", "Member Enumeration": "enum", "Enumeration": "enum", "Typedef": "type",
    "Member Typedef": "type", "Macro": "macro", "Variable": "variable", "Property": "property",
}  # fmt: skip
_REFERENCE = re.compile(r"(?P<name>\S+)(?: (?P<kind>\w+))(?: Template)? Reference\b")
_NAMED = re.compile(r"[~\w:]+(?:operator\W+)?$")


def read(content: Element) -> Page:
    content.remove(_CLUTTER)
    _cut_origin(content)
    title = _title(content)
    for decls in content.select("table.memberdecls"):
        _split_table(decls)
    return Page(title, list(_members(content)))


def _cut_origin(content: Element) -> None:
    """The line at the end that says which files a page was generated from, and links to their source."""
    for rule in content.select(".contents > hr"):
        said = rule.next_sibling
        if said is not None and said.text.lstrip().startswith("The documentation for this"):
            for node in [rule, said, *said.next_siblings]:
                node.extract()
    for link in content.select(".contents > p > a"):
        if words(link).startswith(("Go to the source code", "More...")):
            link.decompose()


def _title(content: Element) -> Title | None:
    heading = content.select_one(".headertitle .title")
    if heading is None:
        return None
    heading.tag = "h1"
    found = _REFERENCE.search(words(heading).replace(", ", ","))
    if found is None or found["kind"].lower() not in _PAGES:
        return None
    return Title(heading, found["kind"].lower(), bare(found["name"]))


def _members(content: Element) -> Iterator[Member]:
    kind = "member"
    for element in content.select("h2.groupheader, div.memitem"):
        if element.tag == "h2":
            group = words(element).removesuffix(" Documentation")
            kind = next((said for begin, said in _KINDS.items() if group.startswith(begin)), "member")
            continue
        before = [node for node in element.previous_siblings if isinstance(node, Element)][:2]
        heading = next((node for node in before if node.has_class("memtitle")), None)
        target = next((node for node in before if node.tag == "a"), None)
        prototype = element.select_one(".memproto")
        named = words(element.select_one("td.memname"))
        if prototype is None or target is None or not named:
            continue
        if heading is None:
            heading = Element("h2")
            element.insert_before(heading)
        heading.tag = "h3"
        signature = _signature(taken(prototype))
        yield Member(
            heading,
            element,
            target.attr("id") or target.attr("name") or "",
            kind,
            _name(named, kind),
            signature,
        )
        target.decompose()
        yield from _enumerators(element, _name(named, kind))


def _name(prototype: str, kind: str) -> str:
    if kind == "macro":
        return prototype.removeprefix("#define").split()[0]
    found = _NAMED.search(prototype.rstrip(" ("))
    return found[0] if found else prototype.split()[-1]


def _enumerators(box: Element, enum: str) -> Iterator[Member]:
    for row in box.select("table.fieldtable tr"):
        target, cell = row.select_one("td.fieldname a[id]"), row.select_one("td.fieldname")
        if target is None or cell is None:
            continue
        text = row.select_one("td.fielddoc")
        name = words(cell)
        heading = Element("h4")
        scope = Element("div", None, [heading, *(text.children if text is not None else ())])
        table = row.closest("table")
        if table is not None:
            table.insert_before(scope)
        yield Member(heading, scope, target.attr("id") or "", "constant", f"{enum}::{name}", name)
    box.remove("table.fieldtable:has(td.fieldname a[id])")


def _signature(prototype: str) -> str:
    plain = re.sub(r" ?\( ?", "(", prototype)
    plain = re.sub(r" (?=[),])", "", plain)
    return re.sub(r"([&*]) (?=\w)", r"\1", plain)


def _split_table(decls: Element) -> None:
    """The list of members has its heading inside the table."""
    heading = decls.select_one("h2, h3")
    row = heading.closest("tr") if heading is not None else None
    if heading is not None and row is not None:
        decls.insert_before(heading)
        row.decompose()
