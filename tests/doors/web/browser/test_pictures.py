"""The pictures of the documentation: `make screenshots` writes them; every run takes them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.async_api import Browser

from tests.doors.web.browser.conftest import a_tab
from tests.doors.web.conftest import Person

pytestmark = pytest.mark.anyio

PICTURES = {
    "sources": ("/", {}),
    "source-dark": ("/sources/handbook", {"color_scheme": "dark"}),
    "search": ("/search?q=cancel+a+task&source=python%403.13", {}),
    "diff": ("/sources/handbook/diff/10..11", {"viewport": {"width": 1280, "height": 640}}),
    "sources-phone": ("/", {"viewport": {"width": 390, "height": 844}}),
}
ADDRESSES = {
    "handbook": "https://handbook.acme.example",
    "python": "https://docs.python.org",
    "postgresql": "https://www.postgresql.org",
    "kubernetes": "https://kubernetes.io",
    "madrid": "https://jobs.example",
    "strange": "https://strange.example",
    "runbooks": "https://runbooks.acme.example",
}
SHOW = """(names) => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode())
    node.data = node.data.replace(/(https?:\\/\\/)?127\\.0\\.0\\.1:\\d+\\/?(\\w*)/g,
      (all, scheme, name) => names[name] ? (scheme ? names[name] : names[name].slice(8)) : all);
}"""
"""The test's own site has an address of this machine; a picture shows the one it stands for."""


@pytest.mark.parametrize("name", PICTURES)
async def test_a_picture_is_taken(chromium: Browser, scene: Person, tmp_path: Path, name: str) -> None:
    address, look = PICTURES[name]
    folder = Path(os.environ.get("ROWEN_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    async with a_tab(chromium, scene, **look) as tab:
        await tab.go(address)
        assert tab.status == 200
        await tab.page.evaluate(SHOW, ADDRESSES)
        picture = await tab.page.screenshot(path=folder / f"{name}.png")
        assert 10_000 < len(picture) < 200_000
