"""A real Chromium on a real server, on one event loop for a whole module.

Where no Chromium is installed these tests do not run, and the last line of `make test` says how many; `make
browser` installs it where it can.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from rowen.adapters.render import find_browser
from rowen.errors import ConfigError
from tests.doors.web.browser.scene import PageClock, a_site, build
from tests.doors.web.conftest import Person, browsing
from tests.support.world import a_world

NO_CHROMIUM = "no Chromium is installed"
DEADLINE_MS = 60_000
"""How long a tab may take for one thing; a busy machine needs more than Playwright's five seconds."""
WATCH = """
window.shifted = 0; window.refused = [];
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifted += one.value;
}).observe({ type: "layout-shift", buffered: true });
document.addEventListener("securitypolicyviolation", (e) => {
  window.refused.push(e.violatedDirective + " " + e.blockedURI);
});
"""
"""What a page must not do, counted while it is shown."""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def chromium(anyio_backend: str) -> AsyncIterator[Browser]:
    try:
        path = find_browser()
    except ConfigError:
        pytest.skip(NO_CHROMIUM)
    expect.set_options(timeout=DEADLINE_MS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        await browser.close()


@dataclass
class Tab:
    """A page in a browser, with the trouble it reported."""

    page: Page
    person: Person
    errors: list[str] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    """Bytes of each answer, uncompressed, by path."""

    async def go(self, path: str) -> None:
        response = await self.page.goto(self.person.url + path)
        assert response is not None
        self.status = response.status

    async def text(self, selector: str = "main") -> str:
        return " ".join((await self.page.locator(selector).first.inner_text()).split())

    async def shifted(self) -> float:
        return float(await self.page.evaluate("window.shifted"))

    async def refused(self) -> list[str]:
        """What the Content-Security-Policy refused."""
        found: list[str] = await self.page.evaluate("window.refused")
        return found


@asynccontextmanager
async def a_tab(browser: Browser, person: Person, **options: Any) -> AsyncIterator[Tab]:
    context: BrowserContext = await browser.new_context(
        **{
            "viewport": {"width": 1280, "height": 900},
            "timezone_id": "UTC",
            "reduced_motion": "reduce",
            **options,
        }
    )
    context.set_default_timeout(DEADLINE_MS)
    if options.get("java_script_enabled", True):
        await context.add_init_script(WATCH)
    tab = Tab(await context.new_page(), person)
    tab.page.on("pageerror", lambda error: tab.errors.append(str(error)))
    tab.page.on("console", lambda said: tab.errors.append(said.text) if said.type == "error" else None)
    try:
        yield tab
    finally:
        await context.close()
    assert tab.errors == []


@pytest.fixture(scope="module")
async def scene(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Person]:
    """Weeks of runs, and a source in each state; tests that only look share it."""
    folder: Path = tmp_path_factory.mktemp("scene")
    with a_site() as site:
        async with a_world(folder, site, clock=PageClock()) as world:
            await build(world)
            async with browsing(world) as person:
                yield person


@pytest.fixture
async def tab(chromium: Browser, scene: Person) -> AsyncIterator[Tab]:
    async with a_tab(chromium, scene) as made:
        yield made
