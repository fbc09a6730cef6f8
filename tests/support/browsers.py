"""Tests in a real browser. Without one they still hold that Rowen says so plainly."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import ParamSpec

import pytest

from rowen.adapters.render import find_browser, open_renderer
from rowen.errors import ConfigError
from rowen.ports.renderer import RendererOptions

P = ParamSpec("P")


def there_is_one() -> bool:
    try:
        find_browser()
    except ConfigError:
        return False
    return True


def in_a_browser(test: Callable[P, Awaitable[None]]) -> Callable[P, Awaitable[None]]:
    @functools.wraps(test)
    async def run(*args: P.args, **kwargs: P.kwargs) -> None:
        if there_is_one():
            await test(*args, **kwargs)
            return
        with pytest.raises(ConfigError, match="pages cannot be rendered") as caught:
            async with open_renderer(RendererOptions()):
                pass
        assert caught.value.hint

    return run
