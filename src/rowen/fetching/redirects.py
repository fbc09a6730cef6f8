"""Following redirects: the one loop for everything that is asked for over HTTP, crawled pages aside.

A crawl follows no redirect by itself: the page that a redirect leads to is a page of its own there, and the
frontier decides when it is asked for. The fetcher follows none either.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from rowen.core.web import urls
from rowen.errors import Unfetchable
from rowen.ports.fetcher import Request, Response

REDIRECTS = frozenset({301, 302, 303, 307, 308})
MAX_REDIRECTS = 5


def target_of(response: Response, at: str) -> str | None:
    """Where an answer redirects to; None when it does not, or names no address that can be asked."""
    if response.status not in REDIRECTS:
        return None
    return urls.normalise(response.headers.get("location", ""), at)


async def follow(
    ask: Callable[[Request], Awaitable[Response]],
    request: Request,
    *,
    may_follow: Callable[[str, str], bool] = lambda at, target: True,
    at_most: int = MAX_REDIRECTS,
) -> tuple[str, Response]:
    """The last address of a chain of redirects, and what it answered. Raises `Unfetchable` for a long chain.

    `may_follow` is asked with each redirect's own address and its target; where it says no, the redirect is
    the answer.
    """
    first = request.url
    for _ in range(at_most + 1):
        response = await ask(request)
        target = target_of(response, request.url)
        if target is None or not may_follow(request.url, target):
            return request.url, response
        request = replace(request, url=target)
    url = urls.without_credentials(first)
    raise Unfetchable(f"`{url}`: more than {at_most} redirects", url=url)
