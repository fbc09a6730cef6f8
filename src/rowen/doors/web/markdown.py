"""Fetched text as a person reads it: from Markdown, by an allowlist.

The parser gives tokens; what is written for each is decided here, and a token that is not listed is written
as its text. No HTML of the source passes, no image is shown, and a link leads to http or https, or nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from rowen.core.search.snippet import stem
from rowen.core.split import Stretch, outline
from rowen.doors.web.words import marked

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

BLOCKS = ("p", "ul", "ol", "li", "blockquote", "table", "thead", "tbody", "tr", "th", "td")
PLAIN = frozenset((*BLOCKS, "em", "strong", "s"))
"""Elements that are written as they are, without any attribute."""
BREAKS = {"hardbreak": Markup("<br>"), "softbreak": Markup("\n"), "hr": Markup("<hr>")}
_HEADING_LINE = re.compile(r"\A\s*(?:#{1,6}[ \t][^\n]*|[^\n]+\n[=-]{2,}[ \t]*)(?:\n|\Z)")
_OUR_MARKS = re.compile(r"<a id=\"[^\"<>]*\"></a>|^<!-- /[^\s<>]+ -->$", re.MULTILINE)
_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    return _WORD.findall(text)


def without_marks(text: str) -> str:
    """Markdown without the marks that only Rowen reads: names of places that links lead to."""
    return _OUR_MARKS.sub("", text)


def stems(said: Iterable[str]) -> frozenset[str]:
    """Words as they are compared: the word that was looked for, with any ending."""
    return frozenset(map(stem, set(said)))


# The next key of a person who types, and the next hit that is looked at, mostly show the same document.
@lru_cache(maxsize=8)
def blocks(text: str) -> tuple[tuple[Stretch, str], ...]:
    """The sections of a text, each with its Markdown below the heading."""
    found: list[tuple[Stretch, str]] = []
    for section in outline(text):
        body = text[section.start : section.end]
        if found and found[-1][0].heading_path == section.heading_path and not _begins(section, body):
            found[-1] = (found[-1][0], found[-1][1] + body)
        else:
            found.append((section, _HEADING_LINE.sub("", body, count=1) if section.level else body))
    return tuple(found)


def _begins(section: Stretch, body: str) -> bool:
    """Does it begin with its own heading, rather than go on with the section before it?"""
    return bool(section.level) and _HEADING_LINE.match(body) is not None


def html(text: str, *, terms: Collection[str] = ()) -> Markup:
    """The HTML of a piece of Markdown; the words that were looked for are marked."""
    return Markup("").join(_written(_tokens(text), stems(terms)))


# The next key shows most of what this one shows, with other words marked.
@lru_cache(maxsize=32)
def _tokens(text: str) -> Sequence[Token]:
    return _parser().parse(without_marks(text))


@cache
def _parser() -> MarkdownIt:
    # Loaded when the first text is shown.
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable(["table", "strikethrough"])


def _written(tokens: Sequence[Token], looked_for: frozenset[str]) -> list[Markup]:
    made: list[Markup] = []
    links: list[bool] = []
    for token in tokens:
        kind = token.type
        if kind == "inline":
            made += _written(token.children or (), looked_for)
        elif kind == "text":
            made.append(_marked(token.content, looked_for))
        elif kind == "code_inline":
            made.append(Markup("<code>{}</code>").format(_marked(token.content, looked_for)))
        elif kind in ("fence", "code_block"):
            made.append(
                Markup('<pre tabindex="0"><code>{}</code></pre>\n').format(_marked(token.content, looked_for))
            )
        elif kind in BREAKS:
            made.append(BREAKS[kind])
        elif kind == "image":
            made.append(Markup('<span class="soft">[image{}]</span>').format(_named(token)))
        elif kind == "link_open":
            made.append(_link(str(token.attrGet("href") or ""), links))
        elif kind == "link_close":
            made.append(Markup("</a>") if links.pop() else Markup(""))
        elif token.tag in PLAIN and token.nesting:
            if not token.hidden:
                made.append(Markup(f"<{'/' if token.nesting < 0 else ''}{token.tag}>"))
        elif token.tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            # Only inside lists and quotations: headings of sections are written by the page.
            made.append(Markup("</b></p>") if token.nesting < 0 else Markup("<p><b>"))
        else:
            made.append(escape(token.content))
    return made


def _named(image: Token) -> Markup:
    alt = image.content.strip()
    return Markup(": {}").format(alt) if alt else Markup("")


def _link(href: str, links: list[bool]) -> Markup:
    shown = href.lower().startswith(("http://", "https://"))
    links.append(shown)
    if not shown:
        return Markup("")
    return Markup('<a href="{}" rel="noreferrer noopener">').format(href)


def _marked(text: str, looked_for: frozenset[str]) -> Markup:
    if not looked_for:
        return escape(text)
    found = [word.span() for word in _WORD.finditer(text) if stem(word[0].lower()) in looked_for]
    return marked(text, found)
