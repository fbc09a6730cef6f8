"""Find the main content of a page and take away what is not content.

Rules by element, role and class, not by scoring: documentation has pages of nothing but code, tables or
links, and a heuristic throws those away. What is removed here never reaches the content hash, so a build
stamp in a footer or a new nonce is no change.
"""

from __future__ import annotations

import re

from turbohtml import Document, Element, Text

_MAIN = "main, [role=main]"
_HEADINGS = "h1, h2, h3, h4, h5, h6"

# Never text of the page, wherever it stands. Elements are found by their name in a tenth of the time that a
# selector takes for as many names.
_MACHINERY = (
    "script", "style", "template", "noscript", "iframe", "object", "embed", "canvas", "svg", "link", "meta",
    "audio", "video", "dialog", "input", "button", "select", "textarea", "datalist", "progress", "meter",
)  # fmt: skip
_NAVIGATION = ("nav", "menu")
_ROLES = frozenset((
    "navigation", "search", "banner", "contentinfo", "dialog", "alertdialog", "menu", "menubar", "toolbar",
))  # fmt: skip
_FOOTERS = "footer:not(.footnotes, [role=doc-endnotes], blockquote footer)"
# The [hidden] panels of a tab group are content: the reader opens them.
# Permalinks are often hidden, but hold the anchor of their heading: `reshape` reads it and removes them.
_UNSEEN = "[aria-hidden=true]:not(a), [hidden]:not([role=tabpanel], [hidden=until-found])"

# Spans of highlighted code are most of a page's classes; none of theirs has a hyphen.
_NAMED = "[class]:not(span, code, em, strong), span[class*='-']"
# Class names that documentation generators and common themes give to what surrounds the text.
_CLASSES = frozenset((
    # permalinks beside headings
    "headerlink", "hash-link", "header-anchor", "heading-anchor", "anchor-link", "anchorjs-link", "permalink",
    "headeranchor-link", "heading-link", "anchor__link", "sl-anchor-link", "viewcode-link", "viewcode-back",
    "tsd-anchor-icon", "heading-permalink",
    # where am I
    "breadcrumb", "breadcrumbs", "theme-doc-breadcrumbs", "wy-breadcrumbs", "bd-breadcrumbs", "md-path",
    "skip-link", "skip-to-content", "md-skip", "skiplink", "screen-reader-text", "sr-only", "visually-hidden",
    # tables of contents
    "toc", "table-of-contents", "tableofcontents", "page-toc", "pagetoc", "md-sidebar", "md-toc", "bd-toc",
    "theme-doc-toc-mobile", "theme-doc-toc-desktop", "tocsidebar", "toc-drawer", "on-this-page", "bd-sidebar",
    "bd-sidebar-secondary", "sphinxsidebar", "sidebar-nav", "site-sidebar", "docs-sidebar", "sidebar-menu",
    "VPDocAside", "VPLocalNav", "col-sidebar", "col-menu", "reference-toc", "in-this-article", "document-toc",
    "topNav", "subNav", "bottomNav", "skipNav", "top-nav", "sub-nav", "skip-nav", "navpath",
    # which version, which language
    "rst-versions", "version-switcher", "version-switcher__container", "version_switcher", "version-select",
    "version-selector", "md-version", "version-dropdown", "version_switcher_placeholder",
    "language_switcher_placeholder", "language-menu", "language-switcher",
    # previous and next
    "pagination", "pagination-nav", "prev-next", "prev-next-area", "prev-next-footer", "rst-footer-buttons",
    "page-nav", "pager", "doc-pagination", "related-pages", "md-footer", "VPDocFooter", "bottom-of-page",
    "navheader", "navfooter", "related",
    # edit this page, when it was edited
    "edit-this-page", "theme-edit-this-page", "edit-page-link", "edit-link", "edit-page", "md-source-file",
    "md-content__button", "theme-last-updated", "last-updated", "lastupdated", "last-update", "page-edit",
    "github-edit", "theme-doc-footer", "page-actions", "git-revision-date-localized-plugin", "page-feedback",
    "md-feedback", "was-this-helpful", "share-buttons", "social-share",
    # beside code
    "copybtn", "copybutton", "copy-button", "copy-btn", "code-copy", "clipboard-copy", "md-clipboard",
    "example-header", "code-block-language", "code-lang", "code-language", "language-name", "highlight-lang",
    "code-block-lang",
    # cookie bars and other notices of the site
    "cookie-bar", "cookie-banner", "cookie-consent", "cookie-notice", "cookiebar", "cookieconsent",
    "cc-window", "cc-banner", "consent-banner", "gdpr-banner", "announcement-bar", "md-announce", "md-banner",
    "theme-doc-version-banner", "theme-doc-version-badge",
))  # fmt: skip
# Ids say less: a section about cookies or navigation has them too. They count on bare boxes only.
_IDS = frozenset((
    "toc", "TOC", "table-of-contents", "sidebar", "cookie-banner", "cookie-consent", "cookie-notice",
    "cookie-bar", "cookiebar", "onetrust-consent-sdk", "CybotCookiebotDialog", "cookie-law-info-bar",
    "navigation", "footer", "breadcrumbs",
))  # fmt: skip
_BOXES = "div[id]:not(.section), aside[id], ul[id]"
_KEPT = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "body", "main", "article", "section"))

# Texinfo and gtk-doc give the links to the pages around a key.
_KEYS_TO_PAGES = "a[accesskey=n], a[accesskey=p], a[accesskey=u]"
_WAYS = re.compile(r"(?:[\W_]|\b(?:next|prev|previous|up|top|first|last|contents|index)\b)*", re.IGNORECASE)

_SIDEBAR = re.compile(
    r"\b(?:sidebar|toc|nav|menu|related|share|promo|newsletter|advert|ads|banner)\b", re.IGNORECASE
)
_NOTE = re.compile(
    r"admonition|note|tip|warn|caution|danger|info|important|callout|aside|topic|example|hint|box|quote|definition",
    re.IGNORECASE,
)
_LINK_SHARE_OF_NAVIGATION = 0.6


def main_content(document: Document) -> Element | None:
    """The element that holds the content, pruned in place; None for a page without a body."""
    body = document.select_one("body")
    if body is None:
        return None
    content = _largest(body.select(_MAIN))
    if content is not None:
        _prune(content)
        return content
    _prune_site_header(body)
    _prune(body)
    return _only_article(body) or body


def least_pruned(document: Document) -> Element | None:
    """All of the body but machinery: for a page of which the rules above left nothing."""
    body = document.select_one("body")
    if body is not None:
        _remove(body, _MACHINERY)
    return body


def _largest(elements: list[Element]) -> Element | None:
    if len(elements) < 2:
        return elements[0] if elements else None
    return max(elements, key=lambda element: len(element.text))


def _only_article(body: Element) -> Element | None:
    """The article that is most of the page; a list of articles has none."""
    article = _largest(body.select("article"))
    if article is None or len(article.text) * 2 < len(body.text):
        return None
    # A page title beside the article is worth more than the little that stands around it.
    return article if article.select_one("h1") or not body.select_one("h1") else None


def _prune(content: Element) -> None:
    _remove(content, (*_MACHINERY, *_NAVIGATION))
    content.remove(f"{_UNSEEN}, {_FOOTERS}")
    for element in content.select("[role]"):
        if element.attr("role") in _ROLES:
            element.decompose()
    verdicts: dict[str, bool] = {}
    for element in content.select(_NAMED):
        classes = element.attr("class") or ""
        verdict = verdicts.get(classes)
        if verdict is None:
            verdict = verdicts[classes] = _is_named_boilerplate(classes)
        if verdict and element.tag not in _KEPT and not (element.tag == "a" and element.attr("id")):
            element.decompose()
    for box in content.select(_BOXES):
        if box.attr("id") in _IDS:
            box.decompose()
    _prune_ways(content)
    for aside in content.select("aside, .sidebar, [role=complementary]"):
        if _is_boilerplate_aside(aside):
            aside.decompose()
    for form in content.select("form"):
        # Some old servers wrap the whole page in one form; that one has headings or paragraphs.
        if form.select_one(f"{_HEADINGS}, p, pre, table, li") is None:
            form.decompose()


def _prune_ways(content: Element) -> None:
    """Lines and tables of keys to the pages around: `Next: ..., Up: ...` above each node of Texinfo."""
    keys = content.select(_KEYS_TO_PAGES)
    for box in dict.fromkeys(link.closest("table.navigation") or link.parent for link in keys):
        if isinstance(box, Element) and (box.tag == "table" or _says_where_only(box)):
            box.decompose()


def _says_where_only(box: Element) -> bool:
    own = "".join(node.data for node in box.children if isinstance(node, Text))
    inner = [node.tag for node in box.children if isinstance(node, Element)]
    return _WAYS.fullmatch(own) is not None and set(inner) <= {"a", "br"}


def _remove(content: Element, tags: tuple[str, ...]) -> None:
    for element in list(content.iter_elements(tags)):
        element.decompose()


def _is_named_boilerplate(classes: str) -> bool:
    names = classes.split()
    if "contents" in names:
        # The local table of contents of docutils.
        return "local" in names or "topic" in names
    return not _CLASSES.isdisjoint(names)


def _is_boilerplate_aside(aside: Element) -> bool:
    if (
        aside.attr("role") in ("note", "doc-footnote", "doc-tip")
        or aside.select_one(".sidebar-title") is not None
    ):
        return False
    named = f"{aside.attr('class') or ''} {aside.attr('id') or ''}"
    if _SIDEBAR.search(named):
        return True
    return not _NOTE.search(named) and _link_share(aside) > _LINK_SHARE_OF_NAVIGATION


def _link_share(element: Element) -> float:
    total = len("".join(element.text.split()))
    linked = sum(len("".join(link.text.split())) for link in element.select("a[href]"))
    return linked / total if total else 1.0


def _prune_site_header(body: Element) -> None:
    """Remove headers of the site. One that holds the page's only h1 stays: it is the title of the page."""
    headers = [h for h in body.select("header, div#header") if h.closest("article, section") is None]
    titles = len(body.select("h1"))
    for header in headers:
        inside = len(header.select("h1"))
        if inside and inside == titles:
            continue
        header.decompose()
