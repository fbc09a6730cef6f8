"""What a page looks like to everybody: axe in light, dark and on a phone; 320 px, forced colours, print,
no script.
"""

from __future__ import annotations

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser

from tests.doors.web.browser.conftest import a_tab
from tests.doors.web.conftest import Person

pytestmark = pytest.mark.anyio

MAIN = ("/", "/search?q=cancel+a+task", "/sources/handbook", "/sources/handbook/diff/10..11")
LOOKS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True},
    "narrow": {"viewport": {"width": 320, "height": 640}, "color_scheme": "dark"},
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("address", MAIN)
async def test_axe_finds_nothing(chromium: Browser, scene: Person, address: str, look: str) -> None:
    async with a_tab(chromium, scene, **LOOKS[look]) as tab:
        await tab.go(address)
        assert tab.status == 200
        found = await Axe().run(tab.page)
        assert found.violations_count == 0, found.generate_report()
        assert await tab.refused() == []
        assert await tab.shifted() < 0.01
        wide = await tab.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0
