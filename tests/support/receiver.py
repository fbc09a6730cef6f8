"""A program that takes web hooks: a real server, with the answers a test wants.

    async with Receiver() as receiver:
        receiver.answers += [Answer(500), Answer(429, {"Retry-After": "7"})]
        ...
        assert receiver.taken[0].changes == [...]

After the answers it was given it says 200 to everything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web


@dataclass(frozen=True)
class Answer:
    status: int
    """0 cuts the connection."""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Delivery:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def id(self) -> str:
        return self.headers["X-Rowen-Delivery"]

    @property
    def changes(self) -> list[tuple[str, str]]:
        """What became of each reference."""
        return [(one["reference"].rpartition("/")[2], one["change"]) for one in self.json["changes"]]


class Receiver:
    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.asked: list[Delivery] = []
        self.url = ""
        self._runner: web.ServerRunner | None = None

    @property
    def taken(self) -> list[Delivery]:
        return [one for one in self.asked if one.status == 200]

    @property
    def changes(self) -> list[tuple[str, str]]:
        """Of everything that was taken, each delivery once, as a receiver that looks at the id sees it."""
        return [change for one in {one.id: one for one in self.taken}.values() for change in one.changes]

    async def __aenter__(self) -> Self:
        self._runner = web.ServerRunner(web.Server(self._answer, access_log=None), shutdown_timeout=0.5)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/hook"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        answer = self.answers.pop(0) if self.answers else Answer(200)
        self.asked.append(Delivery(answer.status, dict(request.headers), body))
        if answer.status == 0:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        return web.Response(status=answer.status, headers=answer.headers)
