"""The `web` kind: a documentation site, crawled by its links and sitemaps.

With `render`, pages go through a browser before they are converted; without it, pages that look empty until
their scripts have run are counted, and the run says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

from rowen.core.document import Converted
from rowen.core.params import Param, switch
from rowen.core.robots import Robots
from rowen.core.scripted import needs_scripts
from rowen.core.source import Source
from rowen.core.visits import Visit
from rowen.flows import credentials
from rowen.flows.crawl import Crawl
from rowen.flows.crawl_rules import Rules, crawl_params, open_client
from rowen.flows.harvest import Harvested
from rowen.flows.intake import Intake
from rowen.flows.render import Rendering
from rowen.flows.tools import Tools
from rowen.ports.fetcher import Response

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

LOOKS_EMPTY = "looks_empty_without_javascript"


async def harvest(tools: Tools, source: Source, params: Mapping[str, Any], intake: Intake) -> Harvested:
    async with open_client(tools, source, params, intake) as client, AsyncExitStack() as stack:
        rendering = None
        if params["render"]:
            rendering = await stack.enter_async_context(Rendering(tools, source.location, client.ask))
        rules = _Pages(tools, intake, rendering)
        return await Crawl(tools, source, params, intake, client, rules).run()


class _Pages(Rules):
    def __init__(self, tools: Tools, intake: Intake, rendering: Rendering | None) -> None:
        super().__init__(tools)
        self._intake = intake
        self._rendering = rendering

    async def page(self, visit: Visit, response: Response, robots: Robots | None) -> tuple[bytes, str]:
        content_type = response.headers.get("content-type", "")
        if self._rendering is None or "html" not in content_type:
            return response.body, content_type
        return await self._rendering.page(visit.url, response, robots), "text/html; charset=utf-8"

    def notice(self, response: Response, converted: Converted) -> None:
        if self._rendering is None and needs_scripts(response.body, converted.text):
            self._intake.counters.ignored[LOOKS_EMPTY] += 1
            empty = self._intake.counters.ignored[LOOKS_EMPTY]
            self.hint = (
                f"{empty} page{'s look' if empty > 1 else ' looks'} empty until scripts have run:"
                " add the site again with `--set render=true`, or `set = { render = true }` in rowen.toml"
            )
