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


async def test_every_page_fits_on_a_narrow_phone(chromium: Browser, scene: Person) -> None:
    async with a_tab(chromium, scene, viewport={"width": 320, "height": 640}) as tab:
        for address in (
            *MAIN,
            "/settings",
            "/handoffs",
            "/workers",
            "/add",
            "/sources/handbook/runs/1",
        ):
            await tab.go(address)
            assert tab.status == 200
            assert await tab.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, address
        await tab.go("/")
        boxes = await tab.page.locator("main button:visible, main a.btn:visible").all()
        heights = [(await box.bounding_box() or {"height": 0})["height"] for box in boxes]
        assert heights and min(heights) >= 44


async def test_forced_colours_keep_the_marks_of_a_diff_and_the_shapes_of_states(
    chromium: Browser, scene: Person
) -> None:
    async with a_tab(chromium, scene, forced_colors="active") as tab:
        await tab.go(MAIN[3])
        line = "e => getComputedStyle(e).textDecorationLine"
        assert await tab.page.locator("del").first.evaluate(line) == "line-through"
        assert await tab.page.locator("ins").first.evaluate(line) == "underline"
        await tab.go("/")
        shape = "e => getComputedStyle(e, '::before').width"
        assert await tab.page.locator(".st-held").first.evaluate(shape) == "10px"


async def test_a_printed_page_has_no_controls(chromium: Browser, scene: Person) -> None:
    async with a_tab(chromium, scene) as tab:
        await tab.go("/sources/handbook")
        await tab.page.emulate_media(media="print")
        for part in (".bar", "footer", ".acts"):
            assert not await tab.page.locator(part).first.is_visible(), part
        assert await tab.page.locator("h1").is_visible()


async def test_dark_is_dark_and_light_is_light(chromium: Browser, scene: Person) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    for scheme, colour in (("light", "rgb(250, 250, 246)"), ("dark", "rgb(20, 22, 15)")):
        async with a_tab(chromium, scene, color_scheme=scheme) as tab:
            await tab.go("/")
            assert await tab.page.evaluate(ground) == colour


async def test_the_chart_is_one_tab_stop_and_arrows_move_in_it(chromium: Browser, scene: Person) -> None:
    async with a_tab(chromium, scene) as tab:
        await tab.go("/sources/handbook")
        runs = tab.page.locator("a[data-run]")
        newest = await runs.count() - 1
        await runs.nth(newest).focus()
        await tab.page.keyboard.press("ArrowLeft")
        assert await runs.nth(newest - 1).evaluate("e => e === document.activeElement")
        assert await tab.page.locator('a[data-run][tabindex="0"]').count() == 1
