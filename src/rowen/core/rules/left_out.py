"""What a run knew of and left out because of a limit: the reasons, their words, and what changes them.

The counts live with the other reasons in `Counters.ignored`; this module says which of those reasons are
limits, and which are about items that readers keep. Receipts, `status`, REST and MCP all show `left_out`
and `sentences` of it.
"""

from __future__ import annotations

from collections.abc import Mapping

from rowen.records import NamedTuple

OVER_MAX_PAGES = "over_max_pages"
TOO_DEEP = "too_deep"
ENDLESS = "looks_endless"
TOO_MANY_MISSES = "too_many_misses"
TOO_MANY_LINKS = "too_many_links"
TOO_LARGE = "too_large"
SITEMAP_TOO_LONG = "sitemap_too_long"
SITEMAP_UNREAD = "sitemap_unread"
NOT_INDEXED = "not_indexed"
BEYOND_PAGES = "beyond_pages"
SAME_ID = "same_id"
COLUMNS_NOT_ASKED = "columns_not_asked"
UNLINKED = "unlinked_but_kept"
NOT_REACHED = "not_reached_but_kept"
LOOKS_EMPTY = "looks_empty_without_javascript"


class Limit(NamedTuple):
    one: str
    many: str
    """What is left out, and why."""
    advice: str
    """What changes it; empty when no setting does."""


LIMITS: Mapping[str, Limit] = {
    OVER_MAX_PAGES: Limit(
        "address over `max_pages`", "addresses over `max_pages`", "`rowen edit` raises `max_pages`"
    ),
    TOO_DEEP: Limit(
        "address over `max_depth`", "addresses over `max_depth`", "`rowen edit` raises `max_depth`"
    ),
    ENDLESS: Limit(
        "address of a calendar, a session or another series that looks endless, with what only it leads to",
        "addresses of calendars, sessions or other series that look endless, with what only they lead to",
        "`max_endless` takes more of them, `exclude` spends nothing on them",
    ),
    TOO_MANY_MISSES: Limit(
        "address after too many that gave no page",
        "addresses after too many that gave no page",
        "`exclude` the dead ones",
    ),
    TOO_LARGE: Limit("item too large", "items too large", "raise `fetch.max_body_bytes`"),
    TOO_MANY_LINKS: Limit(
        "link of a page that has more than 10,000",
        "links of pages that have more than 10,000",
        "a sitemap names pages without a limit for each page",
    ),
    SITEMAP_TOO_LONG: Limit(
        "address of a sitemap that is too long",
        "addresses of sitemaps that are too long",
        "add parts of the site as sources of their own",
    ),
    SITEMAP_UNREAD: Limit("file of sitemaps", "files of sitemaps", ""),
    BEYOND_PAGES: Limit(
        "dataset behind the last page that the portal answers",
        "datasets behind the last page that the portal answers",
        "",
    ),
    SAME_ID: Limit(
        "item with the id of another on its page",
        "items with the id of another on their page",
        "is `id` what tells items apart?",
    ),
    COLUMNS_NOT_ASKED: Limit(
        "table that was not asked for its columns",
        "tables that were not asked for their columns",
        "later runs ask them; `columns` is how many one run asks",
    ),
    NOT_INDEXED: Limit(
        "fact, file or column of a dataset that has too many to index",
        "facts, files or columns of datasets that have too many to index",
        "their records are kept whole: `rowen show --record`",
    ),
}


KEPT: Mapping[str, tuple[str, str]] = {
    UNLINKED: ("that nothing links to", "that nothing links to"),
    NOT_REACHED: ("that was not reached", "that were not reached"),
    LOOKS_EMPTY: ("that looks empty without JavaScript", "that look empty without JavaScript"),
}
"""Reasons that are counted among the others and leave nothing out: the words for one item and for several."""


def kept(ignored: Mapping[str, int]) -> list[str]:
    """`2 that nothing links to`: what a run noticed about items that readers keep."""
    found = [(reason, ignored.get(reason, 0)) for reason in KEPT]
    return [f"{count:,} {KEPT[reason][count != 1]}" for reason, count in found if count]


def left_out(ignored: Mapping[str, int]) -> dict[str, int]:
    """The limits among the reasons why items were not requested, most first."""
    found = [(reason, count) for reason, count in ignored.items() if reason in LIMITS and count]
    return dict(sorted(found, key=lambda one: (-one[1], one[0])))


def sentences(counts: Mapping[str, int]) -> list[str]:
    """`2 items too large: raise `fetch.max_body_bytes``: how many of what, and what changes it."""
    said = []
    for reason, count in counts.items():
        limit = LIMITS.get(reason) or Limit(reason.replace("_", " "), reason.replace("_", " "), "")
        words = f"{count:,} {limit.one if count == 1 else limit.many}"
        said.append(f"{words}: {limit.advice}" if limit.advice else words)
    return said
