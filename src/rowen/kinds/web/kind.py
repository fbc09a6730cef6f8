"""The `web` kind: a documentation site, crawled by its links and sitemaps.

With `render`, pages go through a browser before they are converted; without it, pages that look empty until
their scripts have run are counted, and the run says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

from rowen.core.params import Param, switch
from rowen.core.source import Source
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested
from rowen.engine.ports import Ports
from rowen.fetching import credentials
from rowen.fetching.client import open_client
from rowen.kinds.crawl.crawl import Crawl
from rowen.kinds.crawl.settings import crawl_params
from rowen.kinds.web.render import Rendering
from rowen.kinds.web.rules import PageRules

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


async def harvest(ports: Ports, source: Source, params: Mapping[str, Any], intake: Intake) -> Harvested:
    async with (
        open_client(ports, source.location, params, intake.counters) as client,
        AsyncExitStack() as stack,
    ):
        rendering = None
        if params["render"]:
            rendering = await stack.enter_async_context(Rendering(ports, source.location, client.ask))
        return await Crawl(ports, source, params, intake, client, PageRules(ports, rendering)).run()
