"""The settings that kinds which crawl share."""

from __future__ import annotations

from rowen.core.params import Param, one_of, optional, switch, whole
from rowen.kinds.settings import CONCURRENCY, DELAY_S, EXCLUDE, INCLUDE, MAX_DELETED_SHARE


def crawl_params(*, scope: str, max_depth: int | None) -> tuple[Param, ...]:
    """The settings of every kind that crawls, with the defaults that differ."""
    return (
        Param(
            name="scope",
            default=scope,
            parse=one_of("subpages", "host", "domain"),
            identity=True,
            help="Which addresses belong to the source: below the root's folder, its host, or its domain",
        ),
        Param(
            name="max_depth",
            default=max_depth,
            parse=optional(whole(0, 1000)),
            identity=True,
            help="How many links away from the root a page may be; none for no limit",
        ),
        Param(
            name="max_pages",
            default=20_000,
            parse=whole(1, 10_000_000),
            identity=True,
            help="How many pages a generation may have",
        ),
        INCLUDE,
        EXCLUDE,
        Param(
            name="robots",
            default=True,
            parse=switch,
            identity=True,
            help="Keep to robots.txt; switch it off for a site of your own only",
        ),
        Param(
            name="orphans",
            default="drop",
            parse=one_of("drop", "keep"),
            identity=False,
            help="What happens to a page that nothing links to any more",
        ),
        CONCURRENCY,
        DELAY_S,
        MAX_DELETED_SHARE,
    )
