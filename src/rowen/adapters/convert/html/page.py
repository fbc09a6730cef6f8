"""An HTML page to the Markdown of its main content, and the links of the whole page.

Pure and synchronous: the bytes were decoded before, and the child process bounds time and memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from turbohtml import Document, Element, Markdown, Text, parse

from rowen.adapters.convert.definition import with_ends
from rowen.adapters.convert.html.anchors import with_anchors
from rowen.adapters.convert.html.content import least_pruned, main_content
from rowen.adapters.convert.html.reshape import reshape
from rowen.adapters.convert.tidy import tidy
from rowen.core.document import Converted
from rowen.core.web import urls
from rowen.core.web.whatwg import joined


def _wrapped_in(mark: str) -> Callable[[Element, str], str]:
    def wrap(element: Element, inner: str) -> str:
        words = inner.strip()
        if not words or "\n\n" in words:
            return inner
        before, after = " " * inner[0].isspace(), " " * inner[-1].isspace()
        return f"{before}{mark}{words}{mark}{after}"

    return wrap


_OPTIONS = Markdown(
    # The renderer writes emphasis of a whole page as HTML when one bold run holds a character past Latin-1.
    converters={
        **dict.fromkeys(("em", "i"), _wrapped_in("*")),
        **dict.fromkeys(("strong", "b"), _wrapped_in("**")),
        **dict.fromkeys(("del", "s"), _wrapped_in("~~")),
    },
    # Identifiers fill documentation, and inside a word an underscore means nothing to Markdown.
    escaping=Markdown.Escaping(underscores=False),
    tables=Markdown.Tables(cell_blocks="text"),
)
_DETOURS = "frame[src], meta[http-equiv=refresh i][content]"
_REFRESH = re.compile(r"url\s*=\s*['\"]?([^'\"]+)", re.IGNORECASE)
_TITLE_PARTS = re.compile(r"\s+[|—–·•»:-]\s+")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BOXES = ("div", "p", "header", "center")
_FIRST_SECTION = re.compile(r"[01I](?:\.\d+)*[.)]? ")
_NUMBER = re.compile(r"[\d.]+ +")
_WORD = re.compile(r"\w+")
_LINK_WORDS = re.compile(r"\[\w+\][\s#¶]*$")
_CREDENTIALS = re.compile(r"(\]\(<?[a-z][a-z0-9+.-]*://)[^\s/@()<>]*@", re.IGNORECASE)
MAX_LINKS = 10_000
"""A page leads to at most so many addresses: the first ones, in page order."""
_LINKS = "a[href], area[href], link[rel~=next i][href], link[rel~=prev i][href]"


def convert_html(text: str, url: str) -> Converted:
    document = parse(text, positions=False)
    base = _base(document, url)
    links, links_left_out = _links(document, base)
    canonical = document.select_one("link[rel~=canonical i][href]")
    page_title = _words(document.select_one("title"))
    metadata = _metadata(document)

    heading, markdown = _render(main_content(document), base, page_title, text)
    if not markdown:
        heading, markdown = _render(least_pruned(parse(text, positions=False)), base, page_title, text)
    title = heading or page_title or url
    if not heading and (markdown or page_title):
        # The title is part of what the page says: it must be found, and its change is a change.
        markdown = f"# {_as_heading(title)}\n\n{markdown}".rstrip("\n") + "\n"
    return Converted(
        title=title,
        text=markdown,
        links=links,
        canonical=urls.normalise(canonical.attr("href") or "", base) if canonical is not None else None,
        metadata=metadata,
        links_left_out=links_left_out,
    )


def _render(content: Element | None, base: str, page_title: str, page: str) -> tuple[str, str]:
    """(the first h1, the Markdown) of a content."""
    if content is None:
        return "", ""
    _remove_site_name(content, page_title)
    _promote_title(content, page_title)
    heading = reshape(content, page)
    content.resolve_links(base)
    markdown = with_ends(with_anchors(tidy(content.to_markdown(_OPTIONS))))
    if "@" in markdown:
        # A password in a link must not be stored.
        markdown = _CREDENTIALS.sub(r"\1", markdown)
    return heading, markdown


def _remove_site_name(content: Element, page_title: str) -> None:
    """A first heading that is the name of the site, on every page: `Streams | Node.js documentation`.

    Others name the site first, `Node.js | Streams`: then no heading below has the first part of the title.
    Where the title leaves the site out, its name is a link to it, and a heading below has the title.
    """
    own, *around = _TITLE_PARTS.split(page_title.casefold())
    first, *others = content.select("h1, h2, h3") or (None,)
    if first is None or first.tag != "h1":
        return
    words = _words(first).rstrip("¶# ").casefold()
    if around:
        names_site = words != own and words in around and any(_is_called(heading, own) for heading in others)
    else:
        link = first.select_one("a[href]:not([href^='#'])")
        title = _NUMBER.sub("", own)
        names_site = (
            link is not None
            and _words(link).casefold() == words
            and title not in words
            and any(title in _words(heading).casefold() for heading in others if heading.tag != "h3")
        )
    if names_site:
        first.decompose()


def _is_called(heading: Element, name: str) -> bool:
    """Another h1 may say more (`Source of jars`); a lower one says the name, and perhaps a link (`[src]`)."""
    words = _WORD.findall(_LINK_WORDS.sub("", _words(heading).casefold()))
    wanted = _WORD.findall(name)
    return words == wanted or (heading.tag == "h1" and set(wanted) <= set(words))


def _promote_title(content: Element, page_title: str) -> None:
    """A page whose first heading is its title, only lower: the title is not written twice."""
    first = content.select_one("h1, h2, h3")
    if first is not None and first.tag != "h1" and content.select_one("h1") is None:
        words = _words(first).rstrip("¶# ")
        if words and (
            words == page_title
            or page_title.startswith((f"{words} —", f"{words} –", f"{words} -", f"{words} |"))
        ):
            first.tag = "h1"
    else:
        _head_with_title(content, page_title)


def _head_with_title(content: Element, page_title: str) -> None:
    """A page with its title in a box, where each section is an h1: one h1 above all of them."""
    headings = list(content.iter_elements(_HEADINGS))
    tops = [_words(heading).rstrip("¶# ") for heading in headings if heading.tag == "h1"]
    # One h1 below a name may be the page's title below that of the site; a number says that it is not.
    if not tops or page_title in tops or (len(tops) == 1 and _FIRST_SECTION.match(tops[0]) is None):
        return
    box = _box_above(content, page_title)
    if box is not None:
        for heading in headings:
            heading.tag = f"h{min(int(heading.tag[1]) + 1, 6)}"
        box.tag = "h1"


def _box_above(content: Element, words: str) -> Element | None:
    """The box before all headings in which these words stand and no others."""
    for box in content.iter_elements((*_HEADINGS, *_BOXES)):
        if box.tag in _HEADINGS:
            return None
        own = "".join(node.data for node in box.children if isinstance(node, Text))
        if words and " ".join(own.split()) == words == _words(box):
            return box
    return None


def _base(document: Document, url: str) -> str:
    element = document.select_one("base[href]")
    if element is None:
        return url
    try:
        base = joined(url, element.attr("href") or "")
    except ValueError:
        return url
    return base if base.startswith(("http:", "https:")) else url


def _links(document: Document, base: str) -> tuple[tuple[str, ...], int]:
    """Each address the page leads to, once, in page order; and how many links were not looked at."""
    written = dict.fromkeys([element.attr("href") or "" for element in document.select(_LINKS)])
    for element in document.select(_DETOURS):
        written[element.attr("src") or _refresh_target(element.attr("content") or "")] = None
    # Most links of a documentation page differ in their fragment only.
    targets = dict.fromkeys([href.partition("#")[0].strip() for href in written])
    found: dict[str, None] = {}
    for at, target in enumerate(targets):
        if len(found) >= MAX_LINKS:
            return tuple(found), len(targets) - at
        # An empty target is a link to this page, which leads nowhere new.
        if target and (address := urls.normalise(target, base)) is not None:
            found[address] = None
    return tuple(found), 0


def _refresh_target(content: str) -> str:
    """The address in `5; url='next.html'`."""
    found = _REFRESH.search(content)
    return found[1].strip() if found else ""


def _metadata(document: Document) -> dict[str, str]:
    metadata = {}
    description = document.select_one("meta[name=description i][content]")
    if description is not None and (words := " ".join((description.attr("content") or "").split())):
        metadata["description"] = words
    root = document.root
    if root is not None and (language := (root.attr("lang") or "").strip()):
        metadata["lang"] = language
    return metadata


def _words(element: Element | None) -> str:
    return " ".join(element.text.split()) if element is not None else ""


def _as_heading(title: str) -> str:
    return title.replace("\\", "\\\\").replace("`", "\\`").replace("*", "\\*").replace("[", "\\[")
