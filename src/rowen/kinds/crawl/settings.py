"""What kinds that crawl share and where they may differ: settings and rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rowen.core.document import Converted
from rowen.core.params import Param, one_of, optional, switch, whole
from rowen.core.run import Counters
from rowen.engine.ports import Ports
from rowen.fetching.robots import Robots
from rowen.kinds.crawl.visits import Visit
from rowen.kinds.settings import CONCURRENCY, DELAY_S, EXCLUDE, INCLUDE, MAX_DELETED_SHARE
from rowen.ports.fetcher import Response


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


class Rules:
    """What a kind of crawl decides for itself. These are the plain ones; kinds say where they differ."""

    refusal = "unsupported_type"
    """Why a body that is not wanted is left alone, in one word."""
    headers: Mapping[str, str] = {}
    """Sent with every question about a page."""
    hint: str | None = None
    """What a person should know after the run."""
    may_be_spread = False
    """Can a worker ask for a page with nothing but its source's settings?"""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    def accepts(self, content_type: str, url: str) -> bool:
        """Is a body of this type worth reading?"""
        return self._ports.converter.handles(content_type, url)

    def why_not(self, url: str) -> str | None:
        """A reason not to ask for an address that is in scope."""
        return None

    def outdated(self, visit: Visit) -> bool:
        """Is the stored version not what we want, even if the server says that it has not changed?"""
        return False

    async def root(self, visit: Visit, response: Response) -> bool:
        """The root has answered, before any other page is asked for. Is it what it should be?"""
        return True

    async def page(self, url: str, response: Response, robots: Robots | None) -> tuple[bytes, str]:
        """The body to convert, with its type: for a body that differs from the stored one."""
        return response.body, response.headers.get("content-type", "")

    def is_scripted(self, response: Response, converted: Converted) -> bool:
        """Does a page look empty until its scripts have run?"""
        return False

    def notice_scripted(self, counters: Counters) -> None:
        """There was such a page."""

    def metadata(self, visit: Visit, converted: Converted) -> Mapping[str, Any]:
        return converted.metadata
