"""A browser that runs the scripts of a page and answers with the page as they left it.

The browser itself reaches no network: every request of a page is put to the caller's `load`, which decides
and fetches within its own address policy.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from rowen.records import dataclass


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a page asked for, a script or some data."""

    status: int
    headers: Mapping[str, str]
    body: bytes


Load = Callable[[str, Mapping[str, str]], Awaitable[Loaded | None]]
"""Address and request headers in, the answer out; None when the page does not get it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RendererOptions:
    user_agent: str = "rowen"
    timeout_s: float = 30.0
    """For one page, from start to end."""
    max_body_bytes: int = 10_000_000


class Renderer(Protocol):
    async def render(self, url: str, body: bytes, content_type: str, load: Load) -> bytes:
        """The page at `url`, whose HTML is `body`, as HTML in UTF-8 after its scripts have run.

        Raises `FetchTimeout`, `BodyTooLarge`, `Unparseable`, or `ConfigError` when there is no browser.
        """
        ...


class OpenRenderer(Protocol):
    def __call__(self, options: RendererOptions) -> AbstractAsyncContextManager[Renderer]:
        """One browser, closed at the end. Raises `ConfigError` when there is none."""
        ...
