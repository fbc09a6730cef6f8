"""The settings that kinds which crawl share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rowen.core.freshness.recheck import share_of
from rowen.core.freshness.schedule import budget_of
from rowen.core.params import Param, how, one_of, optional, switch, what, whole
from rowen.core.rules.duration import Duration
from rowen.core.source import Source
from rowen.core.web.scope import Scope
from rowen.kinds.settings import CA_FILE, CONCURRENCY, DELAY_S, EXCLUDE, INCLUDE, MAX_DELETED_SHARE


def covers(source: Source, settings: Mapping[str, Any]) -> Callable[[str], bool]:
    """Which addresses the settings choose. Depth, number and robots.txt are for the crawl to say."""
    scope = Scope.from_settings(source.location, settings)
    return lambda url: scope.why_not(url) is None


def crawl_params(*, scope: str, max_depth: int | None) -> tuple[Param, ...]:
    """The settings of every kind that crawls, with the defaults that differ."""
    return (
        what(
            "scope",
            scope,
            "Which addresses belong to the source: below the root's folder, its host, or its domain",
            one_of("subpages", "host", "domain"),
        ),
        what(
            "max_depth",
            max_depth,
            "How many links away from the root a page may be; none for no limit",
            optional(whole(0, 1000)),
        ),
        what("max_pages", 20_000, "How many pages a generation may have", whole(1, 10_000_000)),
        what(
            "max_endless",
            None,
            "How many of them may be pages of series that look endless, such as calendars and long rows of"
            " pages that lead to nothing else; none for a quarter of `max_pages`, at most 500",
            optional(whole(0, 10_000_000)),
        ),
        INCLUDE,
        EXCLUDE,
        what("robots", True, "Keep to robots.txt; switch it off for a site of your own only", switch),
        how(
            "orphans", "drop", "What happens to a page that nothing links to any more", one_of("drop", "keep")
        ),
        CONCURRENCY,
        DELAY_S,
        how(
            "max_crawl_delay_s",
            60.0,
            "The longest `Crawl-delay` of robots.txt that is kept; a longer one is shortened to it",
            Duration(0, 3600, bare="s"),
        ),
        how(
            "freshness",
            None,
            "The share of readers' hits to keep current, such as `95%`: runs request the pages that takes",
            optional(share_of),
        ),
        how(
            "budget",
            None,
            "How many pages runs may request, such as `5000/day`: those where it gains most",
            optional(budget_of),
        ),
        MAX_DELETED_SHARE,
        CA_FILE,
    )
