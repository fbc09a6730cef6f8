"""Pages in a headless Chromium: each in a context of its own, within a time limit, away from the network.

Playwright hands us every request of a page. The page itself is answered with the body that was fetched
already, scripts and data by `load`, style sheets with nothing; images, fonts, media, frames, sockets, pop-ups
and downloads are refused, and so is everything that is not a GET.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from rowen.adapters.render.browser import DEAD_PROXY, FLAGS, find_browser, may_use_sandbox
from rowen.errors import BodyTooLarge, ConfigError, FetchTimeout, Unparseable
from rowen.ports.renderer import Load, RendererOptions

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page, Playwright, Route

_LOADED = frozenset(("script", "xhr", "fetch"))
_START_S = 30.0
_CLOSE_S = 5.0
_QUIET_SHARE = 0.3
"""Of a page's time: how long to wait for its requests to end. Pages that poll never are quiet."""


@asynccontextmanager
async def open_renderer(
    options: RendererOptions, *, browser: str = "", sandbox: bool = True
) -> AsyncIterator[ChromiumRenderer]:
    executable = find_browser(browser)
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        renderer = ChromiumRenderer(playwright, executable, sandbox and may_use_sandbox(), options)
        try:
            await renderer.start()
            yield renderer
        finally:
            await renderer.close()


class ChromiumRenderer:
    def __init__(
        self, playwright: Playwright, executable: str, sandbox: bool, options: RendererOptions
    ) -> None:
        self._playwright = playwright
        self._executable = executable
        self._sandbox = sandbox
        self._options = options
        self._browser: Browser | None = None
        self._starting = asyncio.Lock()

    async def start(self) -> Browser:
        """The running browser; a new one when it died."""
        from playwright.async_api import Error

        async with self._starting:
            if self._browser is None or not self._browser.is_connected():
                try:
                    self._browser = await self._playwright.chromium.launch(
                        executable_path=self._executable,
                        headless=True,
                        args=FLAGS,
                        chromium_sandbox=self._sandbox,
                        proxy={"server": DEAD_PROXY, "bypass": "<-loopback>"},
                        timeout=_START_S * 1000,
                    )
                except Error as exc:
                    raise ConfigError(
                        f"browser `{self._executable}`: does not start: {_first_line(exc)}",
                        hint="in a container, `ROWEN_RENDER_SANDBOX=false` may help"
                        if self._sandbox
                        else None,
                    ) from exc
            return self._browser

    async def close(self) -> None:
        if self._browser is not None:
            await self._browser.close()

    async def render(self, url: str, body: bytes, content_type: str, load: Load) -> bytes:
        from playwright.async_api import Error

        context: BrowserContext | None = None
        try:
            async with asyncio.timeout(self._options.timeout_s):
                browser = await self.start()
                context = await browser.new_context(
                    user_agent=self._options.user_agent,
                    accept_downloads=False,
                    service_workers="block",
                )
                html = await self._content(context, url, body, content_type, load)
        except TimeoutError as exc:
            raise FetchTimeout(
                f"`{url}`: not rendered within {self._options.timeout_s:g} s",
                url=url,
                timeout_s=self._options.timeout_s,
            ) from exc
        except Error as exc:
            raise Unparseable(f"`{url}`: the browser gave up on it: {_first_line(exc)}", url=url) from exc
        finally:
            if context is not None:
                await self._close_context(context)
        limit = self._options.max_body_bytes
        if len(html) > limit:
            raise BodyTooLarge(
                f"`{url}`: rendered, it is larger than {limit} bytes", url=url, limit_bytes=limit
            )
        return html

    async def _content(
        self, context: BrowserContext, url: str, body: bytes, content_type: str, load: Load
    ) -> bytes:
        from playwright.async_api import TimeoutError as PlaywrightTimeout

        answers = _Answers(url, body, content_type, load)
        await context.route("**/*", answers.answer)
        await context.route_web_socket("**/*", lambda socket: socket.close())
        page = await context.new_page()
        answers.page = page
        timeout_ms = self._options.timeout_s * 1000
        # Waiting for more here would wait in vain for a page that a script tried to leave.
        await page.goto(url, wait_until="commit", timeout=timeout_ms)
        with suppress(PlaywrightTimeout):  # what is there by then is what there is
            await page.wait_for_load_state("networkidle", timeout=timeout_ms * _QUIET_SHARE)
        return (await page.content()).encode("utf-8", "replace")

    async def _close_context(self, context: BrowserContext) -> None:
        from playwright.async_api import Error

        try:
            async with asyncio.timeout(_CLOSE_S):
                await context.close()
        except (Error, TimeoutError):
            # A page in an endless loop: the browser goes, the next page gets a new one.
            if self._browser is not None:
                browser, self._browser = self._browser, None
                await browser.close()


class _Answers:
    """What one page gets."""

    def __init__(self, url: str, body: bytes, content_type: str, load: Load) -> None:
        self._url = url
        self._body = body
        self._content_type = content_type
        self._load = load
        self._given = False
        self.page: Page | None = None

    async def answer(self, route: Route) -> None:
        from playwright.async_api import Error

        try:
            await self._answer(route)
        except Error:
            return  # the page was closed while we were busy

    async def _answer(self, route: Route) -> None:
        request = route.request
        kind = request.resource_type
        if request.is_navigation_request():
            await self._navigate(route)
        elif request.method != "GET":
            await route.abort()
        elif kind == "stylesheet":
            # Refused, it would stop scripts that wait for their styles.
            await route.fulfill(status=200, headers={"content-type": "text/css"}, body="")
        elif kind in _LOADED and request.url.startswith(("http:", "https:")):
            loaded = await self._load(request.url, await request.all_headers())
            if loaded is None:
                await route.abort()
            else:
                await route.fulfill(status=loaded.status, headers=dict(loaded.headers), body=loaded.body)
        else:
            await route.abort()

    async def _navigate(self, route: Route) -> None:
        if self.page is None or route.request.frame != self.page.main_frame:
            await route.abort()  # a frame or a pop-up
        elif self._given:
            # A script sends the reader elsewhere: the browser stays where it is.
            await route.abort("aborted")
        else:
            self._given = True
            headers = {"content-type": self._content_type or "text/html"}
            await route.fulfill(status=200, headers=headers, body=self._body)


def _first_line(exc: Exception) -> str:
    return str(exc).strip().partition("\n")[0][:200]
