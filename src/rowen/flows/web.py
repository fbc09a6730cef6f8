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
from rowen.flows import credentials
from rowen.flows.crawl import Crawl
from rowen.flows.crawl_rules import crawl_params, open_client
from rowen.flows.harvest import Harvested
from rowen.flows.intake import Intake
from rowen.flows.render import Rendering
from rowen.flows.tools import Tools
from rowen.flows.web_rules import PageRules

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


async def harvest(tools: Tools, source: Source, params: Mapping[str, Any], intake: Intake) -> Harvested:
    async with open_client(tools, source, params, intake.counters) as client, AsyncExitStack() as stack:
        rendering = None
        if params["render"]:
            rendering = await stack.enter_async_context(Rendering(tools, source.location, client.ask))
        return await Crawl(tools, source, params, intake, client, PageRules(tools, rendering)).run()
