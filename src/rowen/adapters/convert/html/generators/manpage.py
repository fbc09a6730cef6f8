"""Man pages as AsciiDoc writes them: `git-clean(1) Manual Page`, and below it what the command does."""

from __future__ import annotations

import re

from turbohtml import Element

from rowen.adapters.convert.html.generators.member import Page, Title, words

MARKER = "#header > h1 + h2"
_TITLE = re.compile(r"(\S+)\((\d)\w*\) Manual Page")
_COMMANDS = frozenset("168")


def read(content: Element) -> Page:
    title = content.select_one("#header > h1")
    label = content.select_one(MARKER)
    named = _TITLE.fullmatch(words(title)) if title is not None else None
    if title is None or label is None or named is None:
        return Page(None, [])
    # Its name and purpose are what the page says of itself, and no section about names.
    label.decompose()
    title.set_text(f"{named[1]}({named[2]})")
    return Page(Title(title, "command" if named[2] in _COMMANDS else "term", named[1]), [])
