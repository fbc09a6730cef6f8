"""The `web` kind: a documentation site, crawled by its links and sitemaps.

With `render`, pages go through a browser before they are converted; without it, pages that look empty until
their scripts have run are counted, and the run says so.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Any

from rowen.core.params import Param, switch
from rowen.core.source import Source
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested
from rowen.engine.ports import Ports
from rowen.fetching import credentials
from rowen.kinds.crawl.crawl import crawl
from rowen.kinds.crawl.settings import crawl_params
from rowen.kinds.web.pages import WebPages

PARAMS = (
    *crawl_params(scope="subpages", max_depth=None),
    Param(name="sitemap", default=True, parse=switch, identity=True, help="Also find pages in sitemaps"),
    Param(
        name="render",
        default=False,
        parse=switch,
        identity=True,
        help="Let a browser run each changed page's scripts first; needs `rowen[render]` and Chromium",
    ),
    *credentials.PARAMS,
)


def harvest(
    ports: Ports, source: Source, settings: Mapping[str, Any], intake: Intake
) -> Coroutine[Any, Any, Harvested]:
    return crawl(ports, source, settings, intake, WebPages(ports, intake.counters))
