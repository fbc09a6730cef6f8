"""The `Renderer` port on Playwright and an installed Chromium. `open_renderer` is the way in."""

from rowen.adapters.render.browser import find_browser
from rowen.adapters.render.chromium import open_renderer

__all__ = ["find_browser", "open_renderer"]
