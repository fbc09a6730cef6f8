"""The pages of the `web` kind: what a browser does with them, and which of them look empty without one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rowen.core.document import Converted
from rowen.core.source import Source
from rowen.core.web import urls
from rowen.fetching.client import Client
from rowen.fetching.inventory import announced_by
from rowen.fetching.site_files import SiteFiles
from rowen.kinds.crawl.pages import DELIVERED, Pages
from rowen.kinds.crawl.visits import Visit
from rowen.kinds.web.render import Rendering
from rowen.ports.fetcher import Response

LOOKS_EMPTY = "looks_empty_without_javascript"
FEW_WORDS = 40
_LOOKED_AT_BYTES = 200_000
_SCRIPT = re.compile(rb"<script\b", re.IGNORECASE)
_MOUNT = re.compile(
    rb"<(?:div|main|section)\b[^>]*\bid\s*=\s*[\"']?(?:root|app|__next|__nuxt|svelte|gatsby-|app-root)"
    rb"|<app-root\b|\bdata-reactroot\b|\bng-version\b",
    re.IGNORECASE,
)
_NOSCRIPT = re.compile(
    rb"<noscript\b[^>]*>(?:(?!</noscript)[\s\S]){0,2000}?\b(?:java\s?script|enable)\b", re.IGNORECASE
)


class WebPages(Pages):
    may_be_spread = True
    may_be_missing = True
    learns_wrapping = True
    _rendering: Rendering | None = None
    _files: SiteFiles

    async def open(
        self,
        source: Source,
        settings: Mapping[str, Any],
        client: Client,
        files: SiteFiles,
    ) -> None:
        self._files = files
        if settings["render"]:
            self._rendering = Rendering(self._ports, source.location, client.ask, files.heard)
            # What a page's scripts ask for belongs to the same visit, and one process asks a host at a time.
            self.may_be_spread = False

    async def root(self, visit: Visit, response: Response) -> bool:
        """A site that publishes the names it documents says so on its root."""
        announced = announced_by(response.body, visit.url) if response.status in DELIVERED else None
        inventory = announced or self._files.known_inventory
        if inventory is not None and urls.host_of(inventory) == urls.host_of(visit.url):
            await self._files.inventory(inventory)
        return True

    async def close(self) -> None:
        if self._rendering is not None:
            await self._rendering.aclose()

    async def body_of(self, url: str, response: Response) -> tuple[bytes, str]:
        content_type = response.headers.get("content-type", "")
        if self._rendering is None or "html" not in content_type:
            return response.body, content_type
        return await self._rendering.page(url, response), "text/html; charset=utf-8"

    def is_scripted(self, response: Response, converted: Converted) -> bool:
        return self._rendering is None and needs_scripts(response.body, converted.text)

    def notice_scripted(self) -> None:
        ignored = self._counters.ignored
        ignored[LOOKS_EMPTY] += 1
        empty = ignored[LOOKS_EMPTY]
        self.hint = (
            f"{empty} page{'s look' if empty > 1 else ' looks'} empty until scripts have run:"
            " add the site again with `--set render=true`, or `set = { render = true }` in rowen.toml"
        )


def has_marks(body: bytes) -> bool:
    """Cheap: is there a place for scripts to fill, or a note for browsers that run none?"""
    start = body[:_LOOKED_AT_BYTES]
    return _SCRIPT.search(body) is not None and (
        _MOUNT.search(start) is not None or _NOSCRIPT.search(start) is not None
    )


def needs_scripts(body: bytes, text: str) -> bool:
    """Does a page show nothing until its scripts have run? A guess; `text` is its content as Markdown."""
    return len(text) < FEW_WORDS * 40 and len(text.split()) < FEW_WORDS and has_marks(body)
