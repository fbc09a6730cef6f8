"""MDN: a page for each function, property, element and header of the web."""

from __future__ import annotations

import re

from turbohtml import Element

from rowen.adapters.convert.html.generators.member import Page, Title, words

MARKER = ".baseline-indicator, .example-header .language-name, section[aria-labelledby=specifications]"
_CLUTTER = ".baseline-indicator, .article-footer, mdn-copy-button, .icon-link"
_KINDS = frozenset((
    "property", "method", "event", "constructor", "header", "element", "attribute", "statement", "function",
    "interface", "operator", "type", "selector", "descriptor", "directive",
))  # fmt: skip
_OF_AN_INTERFACE = re.compile(
    r"(?P<outer>\w+): (?P<name>[\w-]+)(?:\(\))? (?:static )?(?P<kind>\w+)(?: of .*)?"
)
_ELEMENT = re.compile(r"<(?P<name>[\w-]+)>")


def read(content: Element) -> Page:
    content.remove(_CLUTTER)
    for described in content.select(
        "#parameters ~ dl, #parameters ~ div > dl, section[aria-labelledby=parameters] dl"
    ):
        described.attrs["class"] = "parameter"
    heading = content.select_one("h1")
    if heading is None or content.select_one("#syntax, #specifications") is None:
        return Page(None, [])
    kind, name = _named(words(heading))
    return Page(Title(heading, kind, name) if name else None, [])


def _named(title: str) -> tuple[str, str]:
    if found := _OF_AN_INTERFACE.fullmatch(title):
        return found["kind"], f"{found['outer']}.{found['name']}"
    if found := _ELEMENT.match(title):
        return "element", found["name"]
    first, *others = title.split()
    kind = next((word for word in reversed(others) if word in _KINDS), "")
    if first.endswith("()"):
        name = first.removesuffix("()")
        return kind or ("method" if "." in name else "function"), name
    if not kind and others:
        return "", ""
    return kind or ("property" if "." in first else "reference"), first
