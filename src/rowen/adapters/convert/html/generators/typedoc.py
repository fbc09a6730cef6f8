"""TypeDoc: a page for each class, interface, function and variable of a module."""

from __future__ import annotations

from collections.abc import Iterator

from turbohtml import Element

from rowen.adapters.convert.html.generators.member import (
    Member,
    Page,
    Title,
    as_labels,
    bare,
    joined,
    taken,
    unfold,
    words,
)  # fmt: skip

MARKER = ".tsd-page-title"
# Where a thing is written changes with every edit of the file above it.
_CLUTTER = ".tsd-index-group, .tsd-index-panel, .tsd-sources, .tsd-flag, code.tsd-tag"
_KINDS = {
    "alias": "type",
    "enumeration": "enum",
    "call": "method",
    "enum": "member",
    "get": "property",
    "set": "property",
}
_PAGES = frozenset((
    "class", "interface", "function", "variable", "enumeration", "enum", "namespace", "module", "alias",
))  # fmt: skip


def read(content: Element) -> Page:
    path = [words(step) for step in content.select(".tsd-breadcrumb a")][:-1]
    content.remove(f"{_CLUTTER}, .tsd-breadcrumb")
    title = _title(content, path)
    as_labels(content, "h4, h5")
    unfold(content, "ul.tsd-signatures, ul.tsd-signatures > li, details > summary:has(h2, h3)")
    members = list(_members(content, title.name if title is not None else ""))
    for signature in content.select(".tsd-signature"):
        code = Element("code")
        code.set_text(words(signature))
        signature.clear()
        signature.append(code)
    return Page(title, members)


def _title(content: Element, path: list[str]) -> Title | None:
    heading = content.select_one(".tsd-page-title h1")
    named = bare(words(heading)).split()
    if heading is None or len(named) < 2 or named[-2].lower() not in _PAGES:
        return None
    kind = named[-2].lower()
    return Title(heading, _KINDS.get(kind, kind), joined(".", *path[1:], named[-1]))


def _members(content: Element, around: str) -> Iterator[Member]:
    for panel in content.select("section.tsd-member"):
        heading = panel.select_one("h3")
        if heading is None:
            continue
        target = panel.select_one("h3[id], a[id]")
        name = words(heading)
        signature = panel.select_one(".tsd-signature")
        typed = signature.select_one("[class*='tsd-kind-']") if signature is not None else None
        kind = _kind(typed)
        yield Member(
            heading, panel, (target.attr("id") or "") if target is not None else "", kind,
            joined(".", around, name), taken(signature),
        )  # fmt: skip


def _kind(typed: Element | None) -> str:
    classes = (typed.attr("class") or "").split() if typed is not None else []
    said = next((one.removeprefix("tsd-kind-") for one in classes if one.startswith("tsd-kind-")), "member")
    first = said.partition("-")[0]
    return _KINDS.get(first, first)
