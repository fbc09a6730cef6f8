"""Following redirects, in one place for everything but crawled pages."""

from __future__ import annotations

from itertools import pairwise

import pytest

from rowen.core.document import Validators
from rowen.errors import Unfetchable
from rowen.fetching.redirects import follow
from rowen.ports.fetcher import Request, Response

pytestmark = pytest.mark.anyio

SITE = "https://docs.example.org"


class Chain:
    """Answers with redirects along a chain of addresses, and 200 at its end."""

    def __init__(self, *paths: str, status: int = 301) -> None:
        self._next = {f"{SITE}{at}": to for at, to in pairwise(paths)}
        self._status = status
        self.asked: list[Request] = []

    async def ask(self, request: Request) -> Response:
        self.asked.append(request)
        to = self._next.get(request.url)
        headers = {} if to is None else {"location": to}
        return Response(200 if to is None else self._status, request.url, headers, b"", 0)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_the_last_address_and_its_answer_come_back(status: int) -> None:
    chain = Chain("/a", "/b", "/c", status=status)
    at, response = await follow(chain.ask, Request(f"{SITE}/a", Validators("tag"), {"Accept": "text/html"}))
    assert (at, response.status) == (f"{SITE}/c", 200)
    assert {(one.validators, one.headers["Accept"]) for one in chain.asked} == {
        (Validators("tag"), "text/html")
    }


async def test_a_chain_that_is_too_long_is_given_up() -> None:
    chain = Chain("/a", "/b", "/c", "/d", "/e")
    with pytest.raises(Unfetchable, match=r"`https://docs\.example\.org/a`: more than 3 redirects"):
        await follow(chain.ask, Request(f"{SITE}/a"), at_most=3)
    assert len(chain.asked) == 4


async def test_a_redirect_that_must_not_be_followed_is_the_answer() -> None:
    chain = Chain("/a", "/b", "/private")
    at, response = await follow(
        chain.ask, Request(f"{SITE}/a"), may_follow=lambda at, target: not target.endswith("/private")
    )
    assert (at, response.status) == (f"{SITE}/b", 301)


@pytest.mark.parametrize("status", [300, 304, 404])
async def test_an_answer_that_is_no_redirect_ends_the_chain(status: int) -> None:
    chain = Chain("/a", "/b", status=status)
    assert (await follow(chain.ask, Request(f"{SITE}/a")))[0] == f"{SITE}/a"


async def test_a_redirect_without_an_address_that_can_be_asked_is_the_answer() -> None:
    chain = Chain("/a", "mailto:x@example.org")
    assert (await follow(chain.ask, Request(f"{SITE}/a")))[1].status == 301
