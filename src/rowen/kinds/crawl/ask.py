"""Asking for one page and reading what came: the part of a crawl that any process may do."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rowen.core import hashing
from rowen.core.run import Counters
from rowen.engine.ports import Ports
from rowen.errors import Unfetchable
from rowen.fetching.robots import Robots
from rowen.kinds.crawl.question import Answer, Question
from rowen.kinds.crawl.settings import Rules
from rowen.ports.fetcher import Request, Response

DELIVERED = frozenset({200, 203})
NOT_MODIFIED = Answer(status=304)


class Pages:
    def __init__(
        self,
        ports: Ports,
        rules: Rules,
        counters: Counters,
        *,
        robots: Callable[[str], Robots | None] = lambda url: None,
    ) -> None:
        """`robots` is for what a page asks for itself, while it is rendered."""
        self._converter = ports.converter
        self._rules = rules
        self._counters = counters
        self._robots = robots

    def request(self, question: Question) -> Request:
        def wanted(status: int, headers: Mapping[str, str]) -> bool:
            # Other answers have small bodies; reading them keeps the connection usable.
            accepted = self._rules.accepts(headers.get("content-type", ""), question.url)
            return status not in DELIVERED or accepted

        return Request(question.url, question.validators, headers=self._rules.headers, wanted=wanted)

    async def read(self, question: Question, response: Response) -> Answer:
        """What the crawl decides by; a page that is not the stored version is converted."""
        if response.status == 304:
            return NOT_MODIFIED
        content_type, target = (response.headers.get(name, "") for name in ("content-type", "location"))
        if response.refused or response.status not in DELIVERED:
            return Answer(
                status=response.status, content_type=content_type, target=target, refused=response.refused
            )
        url, validators = question.url, response.validators
        body_hash = hashing.of_bytes(response.body)
        if question.body_hash == body_hash:
            return Answer(status=response.status, validators=validators, body_hash=body_hash)
        if not response.body.strip() and question.has_document:
            raise Unfetchable(f"`{url}`: an empty body where there was a page", url=url)
        body, content_type = await self._rules.page(url, response, self._robots(url))
        self._counters.parses += 1
        converted = await self._converter.convert(body, content_type=content_type, url=url)
        return Answer(
            status=response.status,
            content_type=content_type,
            validators=validators,
            body_hash=body_hash,
            converted=converted,
            scripted=self._rules.is_scripted(response, converted),
        )
