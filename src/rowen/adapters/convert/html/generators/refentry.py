"""DocBook's reference pages: a page for each command or function, as man pages are."""

from __future__ import annotations

from turbohtml import Element

from rowen.adapters.convert.html.generators.member import Page, Title, words

MARKER = "div.refnamediv"
_NAME = frozenset(("Name", "NAME"))


def read(content: Element) -> Page:
    if len(content.select("div.refnamediv")) > 1:
        return Page(None, [])
    box = content.select_one("div.refnamediv")
    heading = box.select_one("h1, h2") if box is not None else None
    line = box.select_one("p") if box is not None else None
    if heading is None:
        return Page(None, [])
    said = words(line)
    names = said.partition(" — ")[0] if " — " in said else said.partition(" - ")[0]
    if words(heading) in _NAME and names != said:
        heading.set_text(names)
    heading.tag = "h1"
    called = words(heading)
    is_function = content.select_one(".funcsynopsis, .funcprototype") is not None or called.endswith("()")
    name = called.partition("(")[0].partition(",")[0].strip()
    return Page(Title(heading, "function" if is_function else "command", name), [])
