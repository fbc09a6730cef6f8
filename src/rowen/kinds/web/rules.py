"""The rules of the `web` kind: what a browser does with pages, and which of them look empty without one."""

from __future__ import annotations

from rowen.core.document import Converted
from rowen.core.run import Counters
from rowen.engine.ports import Ports
from rowen.fetching.robots import Robots
from rowen.kinds.crawl.settings import Rules
from rowen.kinds.web.render import Rendering
from rowen.kinds.web.scripted import needs_scripts
from rowen.ports.fetcher import Response

LOOKS_EMPTY = "looks_empty_without_javascript"


class PageRules(Rules):
    def __init__(self, ports: Ports, rendering: Rendering | None = None) -> None:
        super().__init__(ports)
        self._rendering = rendering
        # What a page's scripts ask for belongs to the same visit, and there is one visitor at a time.
        self.may_be_spread = rendering is None

    async def page(self, url: str, response: Response, robots: Robots | None) -> tuple[bytes, str]:
        content_type = response.headers.get("content-type", "")
        if self._rendering is None or "html" not in content_type:
            return response.body, content_type
        return await self._rendering.page(url, response, robots), "text/html; charset=utf-8"

    def is_scripted(self, response: Response, converted: Converted) -> bool:
        return self._rendering is None and needs_scripts(response.body, converted.text)

    def notice_scripted(self, counters: Counters) -> None:
        counters.ignored[LOOKS_EMPTY] += 1
        empty = counters.ignored[LOOKS_EMPTY]
        self.hint = (
            f"{empty} page{'s look' if empty > 1 else ' looks'} empty until scripts have run:"
            " add the site again with `--set render=true`, or `set = { render = true }` in rowen.toml"
        )
